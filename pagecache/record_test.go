package pagecache

import (
	"testing"
)

// pageURL makes the URL of a page: site, host, path and query.
func pageURL(site, host, path, query string) PageURL {
	return PageURL{Site: site, Host: []byte(host), Path: []byte(path), Query: []byte(query)}
}

// What each pattern hits: one table for the record and for the index.
func TestMatches(t *testing.T) {
	tests := []struct {
		kind          Kind
		pattern, site string
		url           PageURL
		want          bool
	}{
		{KindURL, "/a", "", pageURL("s", "h", "/a", ""), true},
		{KindURL, "/a", "", pageURL("s", "h", "/a", "q=1"), true}, // every query
		{KindURL, "/a", "", pageURL("s", "", "/a", ""), true},
		{KindURL, "/a", "", pageURL("s", "h", "/a/", ""), false},
		{KindURL, "/a", "", pageURL("s", "h", "/a/b", ""), false},
		{KindURL, "/a", "", pageURL("s", "h", "/A", ""), false},
		{KindURL, "/a", "", pageURL("s", "h", "/", "a"), false},
		{KindURL, "/", "", pageURL("s", "h", "/", ""), true},
		{KindURL, "/a?q=1", "", pageURL("s", "h", "/a", "q=1"), true},
		{KindURL, "/a?q=1", "", pageURL("s", "h", "/a", "q=12"), false},
		{KindURL, "/a?q=1", "", pageURL("s", "h", "/a", ""), false},
		{KindURL, "/a?q=1?r", "", pageURL("s", "h", "/a", "q=1?r"), true},
		{KindURL, "/a?q=/b", "", pageURL("s", "h", "/a", "q=/b"), true},
		{KindURL, "/a?", "", pageURL("s", "h", "/a", ""), false}, // not canonical: no page has it
		{KindURL, "/a%3Fq", "", pageURL("s", "h", "/a", "q"), false},
		{KindURL, "h/a", "", pageURL("s", "h", "/a", ""), true},
		{KindURL, "h/a", "", pageURL("s", "h", "/a", "q=1"), true},
		{KindURL, "h/a", "", pageURL("s", "g", "/a", ""), false},
		{KindURL, "h/a?q=1", "", pageURL("s", "h", "/a", "q=1"), true},
		{KindURL, "h/a?q=1", "", pageURL("s", "h", "/a", ""), false},
		{KindURL, "h:81/a", "", pageURL("s", "h:81", "/a", ""), true},
		{KindURL, "h/a", "", pageURL("s", "h:81", "/a", ""), false},
		{KindURL, "/a", "s", pageURL("s", "h", "/a", ""), true},
		{KindURL, "/a", "t", pageURL("s", "h", "/a", ""), false},
		{KindURL, "h/a", "s", pageURL("", "h", "/a", ""), false},
		{KindAll, "", "", pageURL("s", "h", "/a", "q=1"), true},
		{KindAll, "", "s", pageURL("s", "h", "/a", ""), true},
		{KindAll, "", "t", pageURL("s", "h", "/a", ""), false},
	}
	for _, tt := range tests {
		r := Record{Seq: 1, Kind: tt.kind, Pattern: tt.pattern, Site: tt.site}
		if got := r.Matches(tt.url); got != tt.want {
			t.Errorf("%v %q of %q matches %q %s%s?%s: %v", tt.kind, tt.pattern, tt.site, tt.url.Site, tt.url.Host, tt.url.Path, tt.url.Query, got)
		}
		index := newPurgeIndex()
		index.add(&r)
		if got := index.newest(&tt.url).hard == 1; got != tt.want {
			t.Errorf("%v %q of %q in the index matches %q %s%s?%s: %v", tt.kind, tt.pattern, tt.site, tt.url.Site, tt.url.Host, tt.url.Path, tt.url.Query, got)
		}
	}
	for _, k := range []Kind{0, 3, 255} {
		if r := (Record{Kind: k}); r.Matches(pageURL("s", "h", "/a", "")) {
			t.Errorf("a record of %v matches", k)
		}
	}
}

func TestKindNames(t *testing.T) {
	for k, want := range map[Kind]string{KindURL: "url", KindAll: "all", 0: "kind(0)", 200: "kind(200)"} {
		if got := k.String(); got != want {
			t.Errorf("%d is %q, want %q", k, got, want)
		}
		if got, ok := parseKind(want); ok != (k == KindURL || k == KindAll) || ok && got != k {
			t.Errorf("%q is %v, %v", want, got, ok)
		}
	}
	if _, ok := parseKind(""); ok {
		t.Error("the empty name is a kind")
	}
}

func TestPageURLClone(t *testing.T) {
	host, path, query := []byte("h"), []byte("/a"), []byte("q")
	u := PageURL{Site: "s", Host: host, Path: path, Query: query}
	c := u.Clone()
	host[0], path[1], query[0] = 'x', 'x', 'x'
	if c.Site != "s" || string(c.Host) != "h" || string(c.Path) != "/a" || string(c.Query) != "q" {
		t.Errorf("the copy became %s%s?%s", c.Host, c.Path, c.Query)
	}
}
