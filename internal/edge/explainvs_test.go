package edge

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ssiedge/ssiedge/internal/realtest"
	"github.com/ssiedge/ssiedge/pagecache"
)

// compared compares a URL of testHost with another request, with no error.
func (e *testEdge) compared(url string, fields []string, vs string, vsFields ...string) Comparison {
	e.t.Helper()
	q := ExplainRequest{URL: url, Fields: append([]string{"Host: " + testHost}, fields...)}
	c, err := e.Compare(q, q.Against(vs, vsFields))
	if err != nil {
		e.t.Fatalf("%s vs %s: %v", url, vs, err)
	}
	return c
}

// text is a difference in a line.
func (d ExplainedDifference) text() string {
	text := strings.TrimSpace(d.Part+" "+d.Name) + ":"
	for _, v := range []*string{d.First, d.Second} {
		if v == nil {
			text += " -"
		} else {
			text += " " + *v
		}
	}
	if d.Apart {
		text += " APART"
	}
	return text
}

func (c *Comparison) texts() (all []string) {
	for _, d := range c.Differences {
		all = append(all, d.text())
	}
	return all
}

func explains(d ExplainedDifference, why, cure string) bool {
	return strings.Contains(d.Why, why) && strings.Contains(d.Cure, cure)
}

// comparedEdge has a site of every sort of setting that keeps requests apart.
func comparedEdge(t *testing.T, addr string) *testEdge {
	t.Helper()
	hour := &Lifetime{For: time.Hour}
	return newEdge(t, withSite(pulling), withMemcached(addr, "{host}{path}"),
		withFiles(t, map[string]string{"f.html": "file", "style.css": "css", "g.html": "other"}),
		withApp(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "max-age=3600")
			if strings.HasPrefix(r.URL.Path, "/varies") {
				w.Header().Set("Vary", "Accept-Language, Cookie, X-Theme")
			}
			if r.URL.Path == "/never" {
				w.Header().Set("Cache-Control", "no-store")
			}
		}),
		withRule(Rule{Paths: []string{"/listed*"}, Cache: hour, Cookies: &Cookies{Mode: CookiesListed, Names: []string{"lang"}}, KeyHeaders: []string{"X-Theme"}}),
		withRule(Rule{Paths: []string{"/ruled*"}, Cache: hour}),
		withRule(Rule{Paths: []string{"/by*"}, Bypass: &Bypass{Cookies: []string{"admin"}, Headers: []string{"X-Preview"}}}),
		withRule(Rule{Paths: []string{"/none*"}, Query: &QueryFilter{Mode: QueryNone}}),
		withRule(Rule{Paths: []string{"/off"}, Cache: &Lifetime{Off: true}}),
	)
}

// TestCompare: what differs, what of it keeps requests apart, and whether they
// then get one page, which serving them confirms.
func TestCompare(t *testing.T) {
	m := realtest.Memcached(t)
	memcachedSet(t, m.Addr, testHost+"/pub", 0, "published")
	memcachedSet(t, m.Addr, "b.example/pub", 0, "published elsewhere")
	e := comparedEdge(t, m.Addr)
	list := func(s ...string) []string { return s }
	for _, test := range []struct {
		url    string
		fields []string
		vs     string
		other  []string
		share  bool
		differ []string
		why    string // of the first difference
		cure   string
	}{
		{"/a", nil, "/a", nil, true, nil, "", ""},
		{"/a", nil, "/%61//./", nil, true, list("path: /a /%61//./"), `both are "/a"`, ""},
		{"/a", nil, "/b", nil, false, list("path: /a /b APART"), "two pages", ""},
		{"/a", nil, "/A", nil, false, list("path: /a /A APART"), "upper and lower case", "redirect"},
		{"/a", nil, "https://" + testHost + "/a", nil, false, list("scheme: http https APART"), "scheme", "redirect"},
		{"/a", nil, "http://b.example/a", nil, false, list("host: " + testHost + " b.example APART"), "Host", `redirect = "http://` + testHost + `{uri}"`},
		{"/a?x=1&utm_source=m", nil, "/a?x=1", nil, true, list("query utm_source: utm_source=m -"), "drops it", ""},
		{"/a?x=1", nil, "/a?x=2&y", nil, false, list("query x: x=1 x=2 APART", "query y: - y APART"), "in the key", `query = {drop = ["x"]}`},
		{"/a?x=1&y=2", nil, "/a?y=2&x=1", nil, false, list("query: x=1&y=2 y=2&x=1 APART"), "order", "sort = true"},
		{"/a?x=1", nil, "/a?x=%31", nil, false, list("query x: x=1 x=%31 APART"), "as it stands", ""},
		{"/none?x=1", nil, "/none?x=2", nil, true, list("query x: x=1 x=2"), `query = "none" at test.toml:103`, ""},
		{"/a", list("Cookie: s=1"), "", list("Cookie: s=2"), true, list("cookie s: 1 2"), "not in the key", `cookies = ["s"]`},
		{"/ruled", list("Cookie: s=1"), "", list("Cookie:"), true, list("cookie s: 1 -"), "go without it", ""},
		{"/listed", list("Cookie: s=1; lang=pt"), "", list("Cookie: lang=en; s=1"), false, list("cookie lang: pt en APART"), "cookies at test.toml:100", "take it out"},
		{"/listed", list("Cookie: s=1"), "", list("Cookie: s=2"), true, list("cookie s: 1 2"), "go without it", ""},
		{"/listed", list("X-Theme: dark"), "", list("X-Theme:"), false, list("header X-Theme: dark - APART"), "headers at test.toml:100", "take it out"},
		{"/ruled", list("Accept-Language: pt"), "", list("Accept-Language: en"), true, list("header Accept-Language: pt en"), "go without it", ""},
		{"/a", list("Accept-Language: pt"), "", list("Accept-Language: en"), true, list("header Accept-Language: pt en"), "names it in Vary", "Vary: Accept-Language"},
		{"/a", list("Authorization: Basic x"), "", list("Authorization:"), true, list("header Authorization: Basic x -"), "must-revalidate", "none"},
		{"/a", list("Accept-Encoding: gzip"), "", list("Accept-Encoding: br"), true, list("header Accept-Encoding: gzip br"), "compresses", ""},
		{"/a", list("X-Forwarded-Host: evil"), "", list("X-Forwarded-Host:"), true, list("header X-Forwarded-Host: evil -"), "go without it", ""},
		{"/by", list("Cookie: admin=1"), "", list("Cookie:"), false, list("cookie admin: 1 - APART"), "bypass at test.toml:102", "take it out"},
		{"/by", list("X-Preview: 1"), "", list("X-Preview:"), false, list("header X-Preview: 1 - APART"), "bypass at test.toml:102", "take it out"},
		{"/f", list("Cookie: s=1", "X-Theme: a"), "https://b.example/f", list("Cookie: s=2", "X-Theme: b"), true,
			list("scheme: http https", "host: "+testHost+" b.example", "cookie s: 1 2", "header X-Theme: a b"), "", ""},
		{"/f", nil, "/g", nil, false, list("path: /f /g APART"), "", ""},
		{"/style.css?v=1", nil, "/style.css?v=2", nil, true, list("query v: v=1 v=2"), "", ""},
		{"/f", nil, "/f?v=2", nil, false, list("query v: - v=2 APART"), "", ""},
		{"/pub", nil, "https://" + testHost + "/pub", nil, true, list("scheme: http https"), "", ""},
		{"/pub", nil, "http://b.example/pub", nil, false, list("host: " + testHost + " b.example APART"), "", ""},
		{"/off", nil, "/off", nil, false, nil, "", ""},
	} {
		c := e.compared(test.url, test.fields, test.vs, test.other...)
		if got := c.texts(); c.Share != test.share || !slices.Equal(got, test.differ) {
			t.Errorf("%s %q vs %s %q: share %v, %q; want %v, %q", test.url, test.fields, test.vs, test.other, c.Share, got, test.share, test.differ)
			continue
		}
		if len(c.Differences) > 0 && !explains(c.Differences[0], test.why, test.cure) {
			t.Errorf("%s vs %s: %+v, want %q, %q", test.url, test.vs, c.Differences[0], test.why, test.cure)
		}
		if c.Why == "" || c.First.URL == "" || c.Second.URL == "" {
			t.Errorf("%s vs %s: %+v", test.url, test.vs, c)
		}
	}
}

// TestCompareVary: the fields by which a kept page varies keep requests apart
// once it is known.
func TestCompareVary(t *testing.T) {
	e := comparedEdge(t, realtest.Memcached(t).Addr)
	pt := []string{"Accept-Language: pt, en", "X-Theme: dark"}
	if c := e.compared("/varies", pt, "", "Accept-Language: en"); !c.Share {
		t.Errorf("before anything is kept: %s %q", c.Why, c.texts())
	}
	e.get("/varies", pt...).has(t, "Cache-Status", "ssiedge; fwd=uri-miss; stored")
	for _, test := range []struct {
		fields []string
		share  bool
		differ string
		why    string
	}{
		{[]string{"Accept-Language: en"}, false, "header Accept-Language: pt, en en APART", "in Vary"},
		{[]string{"Accept-Language: pt,en"}, true, "header Accept-Language: pt, en pt,en", "mean the same"},
		{[]string{"X-Theme:"}, false, "header X-Theme: dark - APART", "in Vary"},
		{[]string{"Cookie: s=1"}, false, "cookie s: - 1 APART", "varies by Cookie"},
		{[]string{"X-Other: 1"}, true, "header X-Other: - 1", "as soon as"},
	} {
		c := e.compared("/varies", pt, "", test.fields...)
		if got := c.texts(); c.Share != test.share || len(got) != 1 || got[0] != test.differ || !strings.Contains(c.Differences[0].Why, test.why) {
			t.Errorf("%q: share %v, %q, %+v; want %v, %q, %q", test.fields, c.Share, c.Why, c.Differences, test.share, test.differ, test.why)
		}
	}
	e.get("/listed", "X-Theme: dark").has(t, "Cache-Status", "ssiedge; fwd=uri-miss; stored")
}

// TestCompareSites: each site has pages of its own, and what is not kept is not
// shared.
func TestCompareSites(t *testing.T) {
	e := newEdge(t, withSite(pulling), withSite(func(s *Site) { s.Hosts = []string{testHost} }), func(o *Options) {
		other := o.Sites[0]
		other.Where, other.Hosts = "test.toml:50", []string{"b.example"}
		o.Sites = append(o.Sites, other)
	}, withApp(t, func(w http.ResponseWriter, r *http.Request) {}))
	e.get("/never")
	c := e.compared("/a", nil, "http://b.example/a")
	if got := c.texts(); c.Share || len(got) != 2 || got[0] != "site: test.toml:1 test.toml:50 APART" {
		t.Errorf("two sites: %q %q", c.Why, got)
	}
	if c := e.compared("/never", nil, "/never"); !c.Share || !strings.Contains(c.Why, "could not be kept") || !c.First.Key.NotKeepable {
		t.Errorf("not keepable: %+v", c)
	}
	if c := e.compared("/a", nil, "/a", "If-Match: x"); c.Share || !strings.Contains(c.Why, "no kept page answers the second") {
		t.Errorf("a condition for the app: %+v", c.Why)
	}
	for _, test := range []struct{ url, vs, want string }{
		{"/%zz", "/a", "malformed escape"},
		{"/a", "/%zz", "the second request: url"},
		{"/a", "http://c.example/", "the second request: no site here"},
	} {
		q := ExplainRequest{URL: test.url, Fields: []string{"Host: " + testHost}}
		_, err := e.Compare(q, q.Against(test.vs, nil))
		if bad, ok := errors.AsType[*BadExplain](err); !ok || !strings.HasPrefix(bad.Reason, test.want) && !strings.Contains(bad.Reason, test.want) || bad.Cure == "" {
			t.Errorf("%s vs %s: %v, want %q", test.url, test.vs, err, test.want)
		}
	}
}

func TestAgainst(t *testing.T) {
	q := ExplainRequest{URL: "/a", Fields: []string{"Host: h", "Cookie: a=1", "X-A: 1", "X-A: 2"}}
	for _, test := range []struct {
		url    string
		fields []string
		want   []string
	}{
		{"", nil, []string{"/a", "Host: h", "Cookie: a=1", "X-A: 1", "X-A: 2"}},
		{"/b", []string{"x-a: 3", "New: 1"}, []string{"/b", "Host: h", "Cookie: a=1", "x-a: 3", "New: 1"}},
		{"/b", []string{"COOKIE: "}, []string{"/b", "Host: h", "X-A: 1", "X-A: 2"}},
		{"http://other/b", nil, []string{"http://other/b", "Cookie: a=1", "X-A: 1", "X-A: 2"}},
		{"", []string{"no field"}, []string{"/a", "Host: h", "Cookie: a=1", "X-A: 1", "X-A: 2", "no field"}},
	} {
		got := q.Against(test.url, test.fields)
		if all := append([]string{got.URL}, got.Fields...); !slices.Equal(all, test.want) {
			t.Errorf("%s %q: %q, want %q", test.url, test.fields, all, test.want)
		}
	}
}

// TestCompareIsTrue: whatever two requests differ in, they are said to share a
// page exactly if the second, after the first, is a hit.
func TestCompareIsTrue(t *testing.T) {
	e := comparedEdge(t, realtest.Memcached(t).Addr)
	requests := []struct {
		url    string
		fields []string
	}{
		{"/a", nil}, {"/a/", nil}, {"/b", nil}, {"/a?x=1", nil}, {"/a?utm_medium=1", nil}, {"/a?x=1&gclid", nil},
		{"/a", []string{"Accept-Language: pt"}}, {"/a", []string{"Accept-Encoding: gzip"}}, {"/a", []string{"Connection: X-Theme", "X-Theme: 1"}},
		{"/ruled", nil}, {"/ruled", []string{"Cookie: s=1"}}, {"/ruled", []string{"X-Theme: 1"}}, {"/ruled", []string{"Authorization: Basic x"}},
		{"/listed", nil}, {"/listed", []string{"Cookie: lang=pt"}}, {"/listed", []string{"Cookie: lang=en; s=1"}}, {"/listed", []string{"X-Theme: 1"}},
		{"/varies", nil}, {"/varies", []string{"Accept-Language: pt"}}, {"/varies", []string{"X-Theme: 1"}}, {"/varies", []string{"X-Other: 1"}},
		{"/by", nil}, {"/by", []string{"X-Preview: 1"}}, {"/none", nil}, {"/none?x=1", nil}, {"/off", nil},
	}
	for _, first := range requests {
		for _, second := range requests {
			if _, _, err := e.state.Load().store.purges.Add([]pagecache.Record{{Kind: pagecache.KindAll}}); err != nil {
				t.Fatal(err)
			}
			e.get(first.url, first.fields...)
			fields := func(f []string) []string { return append([]string{"Host: " + testHost}, f...) }
			c, err := e.Compare(ExplainRequest{first.url, fields(first.fields)}, ExplainRequest{second.url, fields(second.fields)})
			if err != nil {
				t.Fatal(err)
			}
			status := e.get(second.url, second.fields...).Header.Get("Cache-Status")
			if hit := strings.HasPrefix(status, "ssiedge; hit"); hit != c.Share {
				t.Errorf("%v after %v: %s, and explained as share %v: %s", second, first, status, c.Share, c.Why)
			}
		}
	}
}
