package edge

import "testing"

func TestQueryFilter(t *testing.T) {
	drop := QueryFilter{Mode: QueryDrop, Names: []string{"utm_*", "gclid"}}
	keep := QueryFilter{Mode: QueryKeep, Names: []string{"page", "q", "f_*"}}
	sort := QueryFilter{Mode: QueryAll, Sort: true}
	tests := []struct {
		name        string
		filter      QueryFilter
		query, want string
	}{
		{"nothing", QueryFilter{}, "", ""},
		{"all stays, byte for byte", QueryFilter{}, "b=1&a=%zz&&%C3%a3=+&=;c;d&", "b=1&a=%zz&&%C3%a3=+&=;c;d&"},
		{"question marks", QueryFilter{}, "?a=?b", "?a=?b"},
		{"high bytes", QueryFilter{}, "a=\xff", "a=\xff"},
		{"a space, of an include", QueryFilter{}, "a=b c ", "a=b%20c%20"},
		{"none", QueryFilter{Mode: QueryNone}, "a=1&b=2", ""},
		{"drop one", drop, "a=1&gclid=2&b=3", "a=1&b=3"},
		{"drop by prefix", drop, "utm_source=x&a=1&utm_=y", "a=1"},
		{"drop all", drop, "utm_source=x", ""},
		{"drop a name without value", drop, "gclid&a", "a"},
		{"names are compared decoded", drop, "%75tm_source=x&%67clid=1&a=2", "a=2"},
		{"and only once", drop, "%2575tm_source=x", "%2575tm_source=x"},
		{"malformed escapes are themselves", drop, "gclid%=1&gclid%4=1", "gclid%=1&gclid%4=1"},
		{"case matters", drop, "UTM_source=x&Gclid=1", "UTM_source=x&Gclid=1"},
		{"whole names", drop, "gclid2=1&xgclid=1&utm=1", "gclid2=1&xgclid=1&utm=1"},
		{"values do not count", drop, "a=utm_source&b=gclid", "a=utm_source&b=gclid"},
		{"split at & only", drop, "a=1;gclid=2", "a=1;gclid=2"},
		{"empty parameters stay", drop, "a=1&&gclid=2&", "a=1&&"},
		{"keep", keep, "x=1&page=2&q=%41+b&page=3", "page=2&q=%41+b&page=3"},
		{"keep by prefix", keep, "f_a=1&f=2&f_=3", "f_a=1&f_=3"},
		{"keep decoded", keep, "p%61ge=2&pag%=3", "p%61ge=2"},
		{"keep none", keep, "a&b&&", ""},
		{"sort", sort, "c=3&a=1&b=2", "a=1&b=2&c=3"},
		{"sort is stable", sort, "b=2&a=2&b=1&a=1", "a=2&a=1&b=2&b=1"},
		{"sort is stable with many", sort, "b=1&b=2&b=3&b=4&b=5&b=6&b=7&b=8&b=9&a=1&b=10&b=11&b=12&a=2&b=13&b=14&b=15",
			"a=1&a=2&b=1&b=2&b=3&b=4&b=5&b=6&b=7&b=8&b=9&b=10&b=11&b=12&b=13&b=14&b=15"},
		{"sort by decoded names", sort, "%62=1&a=2&c=0", "a=2&%62=1&c=0"},
		{"sort shorter first", sort, "ab=1&a=2&&a", "&a=2&a&ab=1"},
		{"keep and sort", QueryFilter{Mode: QueryKeep, Names: []string{"a", "b"}, Sort: true}, "b=1&c=1&a=1", "a=1&b=1"},
		{"star alone", QueryFilter{Mode: QueryDrop, Names: []string{"*"}}, "a=1&b", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := parseCanonical(t, "/?"+tt.query, StripSlash, tt.filter)
			if string(c.query) != tt.want {
				t.Errorf("%q becomes %q, want %q", tt.query, c.query, tt.want)
			}
		})
	}
}
