package conf

import "testing"

func TestSame(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`1`, `1`, true},
		{`1`, `2`, false},
		{`1`, `"1"`, false},
		{`"a"`, `'a'`, true},
		{`["a", "b"]`, `["a","b"]`, true},
		{`["a", "b"]`, `["b", "a"]`, false},
		{`["a"]`, `["a", "b"]`, false},
		{`{a = 1, b = 2}`, `{b = 2, a = 1}`, true},
		{`{a = 1}`, `{a = 2}`, false},
		{`{a = 1}`, `{b = 1}`, false},
		{`{a = 1}`, `{a = 1, b = 1}`, false},
		{`{}`, `[]`, false},
	} {
		if got := same(parseDefault("k", c.a), parseDefault("k", c.b)); got != c.want {
			t.Errorf("%s and %s are the same: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}
