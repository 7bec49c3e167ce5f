package edge

import (
	"strings"
	"testing"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// TestStat: C5. fsize and flastmod know files, published values and pulled pages in
// memory, and never ask the app.
func TestStat(t *testing.T) {
	m := realtest.Memcached(t)
	memcachedSet(t, m.Addr, "/mc", 0, strings.Repeat("x", 2000))
	app := newRecorder(t, func(head, _ string) string {
		switch {
		case strings.HasPrefix(head, "GET /kept"):
			return htmlAnswer(strings.Repeat("x", 3000), "Last-Modified: Sun, 10 Mar 2024 12:34:56 GMT", "Cache-Control: max-age=60")
		case strings.HasPrefix(head, "GET /gone"):
			return "HTTP/1.1 404 No\r\nCache-Control: max-age=60\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nno"
		}
		return htmlAnswer("not kept")
	})
	root := writeFiles(t, map[string]string{
		"p.html": `<!--#config timefmt="%s" --><!--#fsize virtual="/dir/" -->|<!--#fsize file="dir/five" -->|<!--#flastmod virtual="/dir/index.html?x" -->|<!--#fsize virtual="/mc" -->|<!--#flastmod virtual="/mc" -->|` +
			`<!--#fsize virtual="/kept" -->|<!--#flastmod virtual="/kept" -->`,
		"q.html":         `<!--#fsize virtual="/other" -->|<!--#fsize virtual="/gone" -->|<!--#fsize virtual="/moved" -->|<!--#fsize virtual="/%2F" -->|<!--#fsize file="../q.html" -->|<!--#fsize virtual="//x.example/five" -->`,
		"dir/index.html": "index", "dir/five": "12345", "dir/p.html": `<!--#fsize file="five" --><!--#include virtual="/inner.html" -->`, "inner.html": `<!--#fsize file="five" -->`,
	})
	redate(t, root, "dir/index.html")
	e := newEdge(t, withRoot(root), withOrigin(app.url), withSite(patient), keepingPages(), withMemcached(m.Addr, "{raw_path}"), withRule(Rule{Paths: []string{"/moved"}, Redirect: new("/x")}))
	const failed = "[error]"
	e.get("/p").is(t, 200, "  5 |  5 |1710074096|2.0K|"+failed+"|"+failed+"|"+failed)
	if n := len(app.all()); n != 0 {
		t.Fatalf("the app was asked %d times", n)
	}
	for _, target := range []string{"/kept", "/gone"} {
		realtest.Eventually(t, target+" is kept", func() bool { return strings.Contains(e.get(target).Header.Get("Cache-Status"), "hit") })
	}
	asked := len(app.all())
	e.get("/p").is(t, 200, "  5 |  5 |1710074096|2.0K|"+failed+"|2.9K|1710074096")
	e.get("/q").is(t, 200, strings.Repeat(failed+"|", 5)+failed)
	e.get("/dir/p").is(t, 200, "  5 "+failed)
	if n := len(app.all()); n != asked {
		t.Errorf("the app was asked %d times for sizes", n-asked)
	}
}
