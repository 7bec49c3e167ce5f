package e2e

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bradfitz/gomemcache/memcache"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// The tests here are public bug reports about other software, as small inputs.

// A form's POST to a URL whose page is a file must reach the app.
func TestCaseO1(t *testing.T) {
	shop := newApp(map[string]string{"POST /products": "created"})
	s := setup{app: shop, files: map[string]string{"products.html": "the list"}}
	edge := s.start(t)
	wantBody(t, send(t, edge.Addr, get("/products")), "the list")
	wantBody(t, send(t, edge.Addr, form("/products", "name=x")), "created")
	wantBody(t, send(t, edge.Addr, get("/products")), "the list")
	if n := shop.total(); n != 1 {
		t.Errorf("the app saw %d requests, want the POST only", n)
	}
}

// The second page of a list is not the first one.
func TestCaseO2(t *testing.T) {
	blog := newApp(map[string]string{"GET /blog?page=2": "page 2", "GET /cold?page=2": "cold page 2", "GET /cold": "cold page 1"})
	s := setup{app: blog, files: map[string]string{"blog.html": "page 1"}}
	edge := s.start(t)
	wantBody(t, send(t, edge.Addr, get("/blog")), "page 1")
	wantBody(t, send(t, edge.Addr, get("/blog?page=2")), "page 2")
	wantBody(t, send(t, edge.Addr, get("/blog?utm_source=x")), "page 1")
	wantBody(t, send(t, edge.Addr, get("/blog?%75tm_source=x&gclid=1")), "page 1")
	wantBody(t, send(t, edge.Addr, get("/blog?utm_source=x&page=2")), "page 2")
	wantBody(t, send(t, edge.Addr, get("/cold?page=2")), "cold page 2")
	wantBody(t, send(t, edge.Addr, get("/cold")), "cold page 1")
}

// Any number of trailing slashes is one page, or one redirect.
func TestCaseO3(t *testing.T) {
	files := map[string]string{"slug.html": "the page", "index.html": "home"}
	targets := []string{"/slug/", "/slug//", "/slug///?utm_source=x"}
	t.Run("strip", func(t *testing.T) {
		s := setup{app: newApp(nil), files: files}
		edge := s.start(t)
		for _, target := range append(targets, "/slug") {
			a := send(t, edge.Addr, get(target))
			wantBody(t, a, "the page")
			wantHit(t, a, "")
		}
		wantBody(t, send(t, edge.Addr, get("/")), "home")
		wantBody(t, send(t, edge.Addr, get("//")), "home")
	})
	t.Run("redirect", func(t *testing.T) {
		s := setup{app: newApp(map[string]string{"POST /slug/": "posted"}), files: files, site: `trailing_slash = "redirect"`}
		edge := s.start(t)
		for _, target := range targets {
			a := send(t, edge.Addr, get(target))
			if a.status != http.StatusPermanentRedirect {
				t.Errorf("%s gives %d, want 308", target, a.status)
			}
			want := "/slug"
			if _, query, ok := strings.Cut(target, "?"); ok {
				want += "?" + query
			}
			if got := strings.TrimPrefix(a.header.Get("Location"), "http://"+host); got != want {
				t.Errorf("%s leads to %q, want %q", target, got, want)
			}
		}
		wantBody(t, send(t, edge.Addr, get("/slug")), "the page")
		wantBody(t, send(t, edge.Addr, get("/")), "home")
		wantBody(t, send(t, edge.Addr, form("/slug/", "a=1")), "posted")
	})
}

// An image is a file, though a page of its name exists and its bytes look like
// directives.
func TestCaseO5(t *testing.T) {
	const jpeg = "\xff\xd8\xff\xe0<!--#echo var=\"uri\" -->rest"
	s := setup{app: newApp(nil), files: map[string]string{"images/foo.jpg": jpeg, "images/foo.jpg.html": "the page"}}
	edge := s.start(t)
	a := send(t, edge.Addr, get("/images/foo.jpg"))
	wantBody(t, a, jpeg)
	wantField(t, a, "Content-Type", "image/jpeg")
	tag, date := a.header.Get("Etag"), a.header.Get("Last-Modified")
	if tag == "" || strings.HasPrefix(tag, "W/") || date == "" {
		t.Errorf("ETag %q, Last-Modified %q; want a strong tag and a date", tag, date)
	}
	part := send(t, edge.Addr, get("/images/foo.jpg", "Range: bytes=0-1"))
	if part.status != http.StatusPartialContent || part.body != jpeg[:2] {
		t.Errorf("a range gives %d %q, want 206 with two bytes", part.status, part.body)
	}
	for _, condition := range []string{"If-None-Match: " + tag, "If-Modified-Since: " + date} {
		if a := send(t, edge.Addr, get("/images/foo.jpg", condition)); a.status != http.StatusNotModified || a.body != "" {
			t.Errorf("%s gives %d %q, want 304", condition, a.status, a.body)
		}
	}
}

// Directives in an included file of another suffix run.
func TestCaseO6(t *testing.T) {
	s := setup{app: newApp(nil), files: map[string]string{
		"p.html":   `<!--#include virtual="/foot.inc" -->`,
		"foot.inc": `v<!--#set var="n" value="1" --><!--#echo var="n" -->`,
	}}
	edge := s.start(t)
	wantBody(t, send(t, edge.Addr, get("/p.html")), "v1")
}

// Attributes after the path, a path that climbs, a folder.
func TestCaseO8(t *testing.T) {
	s := setup{app: newApp(nil), files: map[string]string{
		"header.html":       "the header",
		"a/p.html":          `<!--# block name="shush" --><!--# endblock --><!--# include virtual="../header.html" stub="shush" -->`,
		"q.html":            `<!--# include virtual="/nested/" -->`,
		"nested/index.html": "the index",
	}}
	edge := s.start(t)
	wantBody(t, send(t, edge.Addr, get("/a/p.html")), "the header")
	wantBody(t, send(t, edge.Addr, get("/q.html")), "the index")
}

// The keys of the app's framework are not the edge's own.
func TestCaseO9(t *testing.T) {
	t.Run("prefix", func(t *testing.T) {
		server := realtest.Memcached(t)
		set(t, server.Addr, ":1:/p", "the page", 0)
		s := setup{app: newApp(nil), top: fmt.Sprintf("[memcache]\nservers = [%q]\ntimeout = \"20s\"", server.Addr), site: `published = ":1:{path}"`}
		edge := s.start(t)
		a := send(t, edge.Addr, get("/p"))
		wantBody(t, a, "the page")
		wantHit(t, a, "published")
	})
	t.Run("raw path, as Rails has it", func(t *testing.T) {
		w := newWorld(t, false)
		config := strings.Replace(w.parityConfig(""), `"{path}"`, `"{raw_path}"`, 1)
		edge := realtest.Edge(t, realtest.EdgeOptions{Config: config})
		const page = "/mc/region/info/S%C3%A3o-Paulo"
		w.ask(t, http.MethodGet, page)
		before := w.renders(t, "GET /mc/region/info/S%C3%A3o-Paulo")
		a := send(t, edge.Addr, get(page))
		wantHit(t, a, "published")
		if !strings.Contains(a.body, "<h1>São-Paulo</h1>") {
			t.Errorf("got %d %s", a.status, short(a.body))
		}
		if after := w.renders(t, "GET /mc/region/info/S%C3%A3o-Paulo"); before == 0 || after != before {
			t.Errorf("the app rendered the page %d times, then %d, want once", before, after)
		}
	})
}

// HTML from memcached is HTML; a marshalled value is no page.
func TestCaseO10(t *testing.T) {
	server := realtest.Memcached(t)
	small, large := strings.Repeat("a", 100), strings.Repeat("b", 20_000)
	set(t, server.Addr, "/p1", small, 0)
	set(t, server.Addr, "/p2", large, 0)
	set(t, server.Addr, "/p.json", `{"a":1}`, 0)
	set(t, server.Addr, "/ruby", "\x04\x08\x49\x22\x06a", 1)
	s := setup{app: newApp(map[string]string{"/ruby": "from the app"}), top: fmt.Sprintf("[memcache]\nservers = [%q]\ntimeout = \"20s\"", server.Addr), site: `published = "{path}"`}
	edge := s.start(t)
	for target, want := range map[string]struct{ body, media string }{
		"/p1":     {small, "text/html"},
		"/p2":     {large, "text/html"},
		"/p.json": {`{"a":1}`, "application/json"},
		"/ruby":   {"from the app", "text/html"},
	} {
		a := send(t, edge.Addr, get(target))
		wantBody(t, a, want.body)
		if got := mediaType(a); got != want.media {
			t.Errorf("%s is %q, want %q", target, got, want.media)
		}
	}
	realtest.Eventually(t, "a warning that names the key", func() bool {
		return edge.Stderr.Contains("/ruby") && strings.Contains(strings.ToLower(edge.Stderr.String()), "flag")
	})
}

// set stores a raw value in memcached.
func set(t testing.TB, addr, key, value string, flags uint32) {
	t.Helper()
	c := memcache.New(addr)
	c.Timeout = time.Minute // the machine may be busy
	defer c.Close()
	if err := c.Set(&memcache.Item{Key: key, Value: []byte(value), Flags: flags}); err != nil {
		t.Fatal(err)
	}
}

// A HEAD neither empties the page nor calls a fragment.
func TestCaseO11(t *testing.T) {
	site := newApp(map[string]string{"/cold": "a cold page", "/f": "fragment"})
	s := setup{app: site, files: map[string]string{"p.html": `<p><!--#include virtual="/f" --></p>`, "plain.html": "plain page"}}
	edge := s.start(t)
	head := func(target string) answer {
		return send(t, edge.Addr, request{method: http.MethodHead, target: target})
	}
	for _, target := range []string{"/plain", "/cold"} {
		first, full, last := head(target), send(t, edge.Addr, get(target)), head(target)
		if full.status != http.StatusOK || full.body == "" {
			t.Errorf("GET %s gives %d %q, want the page", target, full.status, full.body)
		}
		for _, a := range []answer{first, last} {
			if a.status != full.status || a.body != "" {
				t.Errorf("HEAD %s gives %d %q, want %d and no body", target, a.status, a.body, full.status)
			}
			for _, field := range []string{"Content-Type", "Content-Length", "Etag", "Last-Modified"} {
				if target == "/plain" || field == "Content-Type" {
					wantField(t, a, field, full.header.Get(field))
				}
			}
		}
	}
	if a := head("/p"); a.status != http.StatusOK || a.body != "" || site.count("GET /f") != 0 {
		t.Errorf("HEAD /p gives %d %q after %d calls of the fragment, want 200, nothing, none", a.status, a.body, site.count("GET /f"))
	}
	wantBody(t, send(t, edge.Addr, get("/p")), "<p>fragment</p>")
	head("/p")
	if n := site.count("GET /f"); n != 1 {
		t.Errorf("the fragment was called %d times, want once, by GET", n)
	}
	if n := site.count("HEAD /cold"); n != 2 {
		t.Errorf("the app saw %d HEAD requests for a page of its own, want 2", n)
	}
}

// A fragment that comes compressed all the same is readable in the page.
func TestCaseO12(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	fmt.Fprint(z, "readable <!--#echo var=\"request_method\" -->")
	z.Close()
	coded := func(coding string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if accept := r.Header.Get("Accept-Encoding"); accept != "" && accept != "identity" {
				t.Errorf("the edge asks the origin for %q, want identity", accept)
			}
			w.Header().Set("Content-Type", "text/html")
			w.Header().Set("Content-Encoding", coding)
			w.Write(packed.Bytes())
		}
	}
	mux := http.NewServeMux()
	mux.Handle("/f", coded("gzip"))
	mux.Handle("/odd", coded("rot13"))
	s := setup{app: mux, files: map[string]string{"p.html": `<p><!--#include virtual="/f" --></p>`, "q.html": `<p><!--#include virtual="/odd" --></p>`}}
	edge := s.start(t)
	for _, accept := range []string{"Accept-Encoding: gzip", "Accept-Encoding: br, gzip;q=0.5", "X-None: 1"} {
		a := send(t, edge.Addr, get("/p", accept))
		wantBody(t, a, "<p>readable GET</p>")
		wantField(t, a, "Content-Encoding", "")
	}
	wantBody(t, send(t, edge.Addr, get("/q")), "<p>[an error occurred while processing the directive]</p>")
}

// The queries of a sitemap arrive as they are meant, and once each; the pages are
// there then.
func TestCaseO13(t *testing.T) {
	shop := newApp(map[string]string{"/test/": "a page"})
	s := setup{app: pagesOf(shop), site: `trailing_slash = "keep"`}
	edge := s.start(t)
	sitemap := file(t, `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>http://127.0.0.1:18340/test/?a=1&amp;b=2</loc></url>
<url><loc> <![CDATA[http://127.0.0.1:18340/test/?a=1&b=2]]>
</loc></url>
<url><loc>
  <![CDATA[ http://127.0.0.1:18340/test/?c=1&d=2 ]]></loc></url>
</urlset>`)
	if e := command(t, "warm", "--edge", edge.URL, "--sitemap", sitemap, "--host", host); e.code != 0 {
		t.Fatalf("ssiedge warm ends with %d: %s%s", e.code, e.stdout, e.stderr)
	}
	for _, target := range []string{"/test/?a=1&b=2", "/test/?c=1&d=2"} {
		if n := shop.count("GET " + target); n != 1 {
			t.Errorf("the app was asked %d times for %s, want once", n, target)
		}
		wantKept(t, send(t, edge.Addr, get(target)), "a page")
	}
	if n := shop.total(); n != 2 {
		t.Errorf("the app was asked %d times, want 2", n)
	}
}

// Directives are found in bytes, not in parsed HTML.
func TestCaseO15(t *testing.T) {
	s := setup{app: newApp(nil), files: map[string]string{
		"d.html": "today",
		"p.html": `<meta content="on <!--#include virtual="/d.html" -->, at"><script>var u = "<!--#include virtual="/d.html" -->";</script><a title='<!--#include virtual='/d.html' -->'>`,
	}}
	edge := s.start(t)
	wantBody(t, send(t, edge.Addr, get("/p")), `<meta content="on today, at"><script>var u = "today";</script><a title='today'>`)
}
