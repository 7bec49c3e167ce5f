package edge

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/ssiedge/ssiedge/origin"
	"github.com/ssiedge/ssiedge/pagecache"
)

// echoApp answers with the request line that it got, and the body.
func echoApp(head, body string) string {
	line, _, _ := strings.Cut(head, "\r\n")
	text := line + "\n" + body
	return "HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\nContent-Type: text/plain\r\n" +
		"Content-Length: " + itoa(len(text)) + "\r\n\r\n" + text
}

func TestSiteByHost(t *testing.T) {
	named := func(body string, hosts ...string) Site {
		s := testSite()
		s.Hosts = hosts
		s.Files = withRootOnly(writeFiles(t, map[string]string{"p.html": body}))
		return s
	}
	e := newEdge(t, func(o *Options) {
		o.Sites = []Site{named("exact", "www.example.com"), named("wild", "*.example.com"), named("deep", "*.b.example.com")}
	})
	tests := []struct {
		host   string
		status int
		body   string
	}{
		{"www.example.com", 200, "exact"},
		{"WWW.Example.COM", 200, "exact"},
		{"www.example.com.", 200, "exact"},
		{"www.example.com:80", 200, "exact"},
		{"www.example.com:8080", 200, "exact"},
		{"a.example.com", 200, "wild"},
		{"x.y.example.com", 200, "wild"},
		{"x.b.example.com", 200, "deep"},
		{"b.example.com", 200, "wild"},
		{"example.com", 421, ""},
		{"example.org", 421, ""},
		{"127.0.0.1", 421, ""},
		{"[::1]:80", 421, ""},
	}
	for _, test := range tests {
		a := e.get("/p", "Host: "+test.host)
		if a.StatusCode != test.status || test.status == 200 && a.body != test.body {
			t.Errorf("%s: %d %q, want %d %q", test.host, a.StatusCode, a.body, test.status, test.body)
		}
	}
	e.send("GET http://www.example.com/p HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n\r\n").is(t, 200, "exact")
	if a := e.send("GET /p HTTP/1.0\r\n\r\n"); a.StatusCode != 421 {
		t.Errorf("no Host at all: %d, want 421 where no site takes every host", a.StatusCode)
	}
}

func TestSiteWithoutHostsTakesEveryHost(t *testing.T) {
	e := newEdge(t, withFiles(t, map[string]string{"p.html": "any"}))
	e.get("/p", "Host: whatever.test").is(t, 200, "any")
	e.send("GET /p HTTP/1.0\r\n\r\n").is(t, 200, "any")
}

func TestHealthPath(t *testing.T) {
	e := newEdge(t, func(o *Options) {
		o.HealthPath = "/edge-up"
		o.Sites[0].Hosts = []string{"only.example.com"}
	})
	a := e.get("/edge-up")
	a.is(t, 200, "ok\n")
	a.has(t, "Cache-Control", "no-store")
	if a := e.get("/edge-up/x"); a.StatusCode != 421 {
		t.Errorf("another path: %d, want 421", a.StatusCode)
	}
}

func TestMethodsOfNoApp(t *testing.T) {
	origin := newRecorder(t, echoApp)
	e := newEdge(t, withOrigin(origin.url), withFiles(t, map[string]string{"p.html": "p"}))
	for _, request := range []string{
		"CONNECT www.example.com:443 HTTP/1.1\r\nHost: www.example.com:443\r\nConnection: close\r\n\r\n",
		request11("TRACE", "/p"),
	} {
		a := e.send(request)
		if a.StatusCode != 405 {
			t.Errorf("%.30q: %d, want 405", request, a.StatusCode)
		}
		a.has(t, "Allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
	}
	a := e.do("OPTIONS", "*")
	a.is(t, 204, "")
	a.has(t, "Allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
	if a := e.do("POST", "*"); a.StatusCode != 400 {
		t.Errorf("POST *: %d, want 400", a.StatusCode)
	}
	if n := len(origin.all()); n != 0 {
		t.Errorf("the app got %d requests, want none", n)
	}
}

func TestMethodsOnPublishedPage(t *testing.T) {
	origin := newRecorder(t, echoApp)
	e := newEdge(t, withOrigin(origin.url), withFiles(t, map[string]string{"products.html": "list"}))
	e.get("/products").is(t, 200, "list")
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "PROPFIND", "get"} {
		a := e.post(method, "/products//?b=2&utm_source=x&a=%7e", "name=x")
		a.is(t, 200, method+" /products//?b=2&utm_source=x&a=%7e HTTP/1.1\nname=x")
		a.has(t, "Cache-Status", "ssiedge; fwd=method")
	}
	e.do("OPTIONS", "/products").is(t, 200, "OPTIONS /products HTTP/1.1\n")
	e.get("/products").is(t, 200, "list")
	a := e.do("HEAD", "/products")
	a.is(t, 200, "")
	a.has(t, "Content-Length", "4")
}

func TestMethodsWithoutOrigin(t *testing.T) {
	e := newEdge(t, withFiles(t, map[string]string{"p.html": "p"}))
	for _, target := range []string{"/p", "/none"} {
		a := e.post("POST", target, "x")
		if a.StatusCode != 405 {
			t.Errorf("POST %s: %d, want 405", target, a.StatusCode)
		}
		a.has(t, "Allow", "GET, HEAD")
	}
	if a := e.get("/none"); a.StatusCode != 404 || !strings.Contains(a.body, "404 Not Found") {
		t.Errorf("GET /none: %d %q, want our 404", a.StatusCode, a.body)
	}
}

// TestGateOverTheWire sends what no client library would.
func TestGateOverTheWire(t *testing.T) {
	origin := newRecorder(t, echoApp)
	e := newEdge(t, withOrigin(origin.url), withFiles(t, map[string]string{"p.html": "p"}))
	tests := []struct {
		name, raw string
		status    int
	}{
		{"space in a name", "GET /p HTTP/1.1\r\nHost: a\r\nX y: 1\r\n\r\n", 400},
		{"space before the colon", "POST /p HTTP/1.1\r\nHost: a\r\nContent-Length : 1\r\n\r\nx", 400},
		{"length with a name", "POST /p HTTP/1.1\r\nHost: a\r\nContent-Length x: 1\r\n\r\n", 400},
		{"length and chunked", "POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
		{"two lengths", "POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx", 400},
		{"identity", "POST /p HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n", 400},
		{"gzip coding", "POST /p HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", 400},
		{"fold", "GET /p HTTP/1.1\r\nHost: a\r\nX: 1\r\n 2\r\n\r\n", 400},
		{"version", "GET /p HTTP/1.2\r\nHost: a\r\n\r\n", 505},
		{"version 2", "GET /p HTTP/2.0\r\nHost: a\r\n\r\n", 505},
		{"fragment", "GET /p#x HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		{"user in the target", "GET http://u@a/p HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		{"user in Host", "GET /p HTTP/1.1\r\nHost: u@a\r\n\r\n", 400},
		{"two hosts", "GET http://b/p HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		{"Host twice", "GET /p HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
		{"no Host", "GET /p HTTP/1.1\r\n\r\n", 400},
		{"another scheme", "GET ftp://a/p HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		{"relative", "GET p HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		{"NUL", "GET /p%00 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		{"NUL in the query", "GET /p?a=%00 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		{"above the root", "GET /../p HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		{"coded slash beside dots", "GET /a/..%2fp HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		{"coded backslash beside dots", "GET /a/%2e%2e%5cp HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		{"bad escape", "GET /p%zz HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		{"space in the target", "GET /p q HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		{"control in the target", "GET /p\x01 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		{"NUL in a value", "GET /p HTTP/1.1\r\nHost: a\r\nX: a\x00b\r\n\r\n", 400},
	}
	for _, test := range tests {
		a := e.send(test.raw)
		if a.StatusCode != test.status {
			t.Errorf("%s: %d, want %d", test.name, a.StatusCode, test.status)
		}
		if strings.HasPrefix(test.raw, "POST") && !a.Close {
			t.Errorf("%s: the connection goes on, though nobody knows where the next request begins", test.name)
		}
		if n := len(a.lines("Date")); n != 1 {
			t.Errorf("%s: %d Date fields, want one", test.name, n)
		}
	}
	if all := origin.all(); len(all) != 0 {
		t.Errorf("the app got %q, want nothing", all)
	}
	// What is only odd is answered.
	e.send("GET /%70 HTTP/1.1\r\nhOST: a\r\nConnection: close\r\n\r\n").is(t, 200, "p")
	e.send("\r\nGET /p HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").is(t, 200, "p")
	e.get("/a%2Fp").is(t, 200, "GET /a%2Fp HTTP/1.1\n")
}

func TestTrailingSlash(t *testing.T) {
	tests := []struct {
		mode         TrailingSlash
		target       string
		status       int
		body, moved  string
		alsoForHeads bool
	}{
		{StripSlash, "/a", 200, "page", "", true},
		{StripSlash, "/a/", 200, "page", "", true},
		{StripSlash, "/a//", 200, "page", "", true},
		{StripSlash, "//a", 200, "page", "", true},
		{StripSlash, "/./a", 200, "page", "", true},
		{StripSlash, "/x/../a///?utm_source=x", 200, "page", "", true},
		{StripSlash, "/a/?q=1", 200, "GET /a?q=1 HTTP/1.1\n", "", false},
		{StripSlash, "/b//c/", 200, "GET /b/c HTTP/1.1\n", "", false},
		{StripSlash, "/", 200, "home", "", true},
		{StripSlash, "//", 200, "home", "", true},

		{RedirectSlash, "/a", 200, "page", "", true},
		{RedirectSlash, "/a/", 308, "", "/a", true},
		{RedirectSlash, "/a//", 308, "", "/a", true},
		{RedirectSlash, "//a", 308, "", "/a", true},
		{RedirectSlash, "/./a", 308, "", "/a", true},
		{RedirectSlash, "/a/?q=1&utm_source=x", 308, "", "/a?q=1&utm_source=x", true},
		{RedirectSlash, "/", 200, "home", "", true},
		{RedirectSlash, "///evil.example/", 308, "", "/evil.example", true},

		{KeepSlash, "/a", 200, "page", "", true},
		{KeepSlash, "/a/", 200, "GET /a/ HTTP/1.1\n", "", false},
		{KeepSlash, "/a//", 200, "GET /a/ HTTP/1.1\n", "", false},
		{KeepSlash, "//a", 200, "page", "", true},
		{KeepSlash, "/./a", 200, "page", "", true},
		{KeepSlash, "/d/", 200, "index", "", true},
	}
	origin := newRecorder(t, echoApp)
	edges := map[TrailingSlash]*testEdge{}
	for _, mode := range []TrailingSlash{StripSlash, RedirectSlash, KeepSlash} {
		edges[mode] = newEdge(t, withOrigin(origin.url),
			withFiles(t, map[string]string{"a.html": "page", "index.html": "home", "d/index.html": "index"}),
			withSite(func(s *Site) { s.TrailingSlash = mode }))
	}
	for _, test := range tests {
		a := edges[test.mode].get(test.target)
		if a.StatusCode != test.status || a.body != test.body || a.Header.Get("Location") != test.moved {
			t.Errorf("mode %d, %s: %d %q to %q, want %d %q to %q", test.mode, test.target,
				a.StatusCode, a.body, a.Header.Get("Location"), test.status, test.body, test.moved)
		}
		if n := len(a.lines("Date")); n != 1 {
			t.Errorf("%s: %d Date fields, want one", test.target, n)
		}
		if !test.alsoForHeads {
			continue
		}
		if h := edges[test.mode].do("HEAD", test.target); h.StatusCode != test.status || h.body != "" {
			t.Errorf("mode %d, HEAD %s: %d %q, want %d", test.mode, test.target, h.StatusCode, h.body, test.status)
		}
	}
	edges[RedirectSlash].post("POST", "/a/", "x").is(t, 200, "POST /a/ HTTP/1.1\nx")
}

func TestInternalRule(t *testing.T) {
	origin := newRecorder(t, echoApp)
	e := newEdge(t, withOrigin(origin.url),
		withFiles(t, map[string]string{"fragments/f.html": "secret", "p.html": `[<!--#include virtual="/fragments/f" -->]`}),
		withRule(Rule{Paths: []string{"/fragments/*"}, Internal: ptr(true)}))
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"} {
		for _, target := range []string{"/fragments/f", "/fragments/f/", "//fragments/f", "/x/../fragments/f", "/fragment%73/f", "/fragments%2Ff", "/fragments/live"} {
			if a := e.do(method, target); a.StatusCode != 404 || strings.Contains(a.body, "secret") {
				t.Errorf("%s %s: %d %q, want 404", method, target, a.StatusCode, a.body)
			}
		}
	}
	if all := origin.all(); len(all) != 0 {
		t.Errorf("the app got %q, want nothing", all)
	}
	e.get("/p").is(t, 200, "[secret]")
}

func TestRuleRedirect(t *testing.T) {
	e := newEdge(t, withFiles(t, map[string]string{"old/p.html": "p"}),
		withRule(Rule{
			Paths: []string{"/old/*"}, Redirect: ptr("https://www.example.com{uri}"),
			Headers: &HeaderEdits{Set: []Field{{"Strict-Transport-Security", "max-age=60"}}},
		}),
		withRule(Rule{Paths: []string{"/gone"}, Redirect: ptr("/new")}))
	for _, method := range []string{"GET", "HEAD", "POST"} {
		a := e.do(method, "/old//p/?b=%7E&utm_source=x", "Content-Length: 0")
		if method != "POST" {
			a = e.do(method, "/old//p/?b=%7E&utm_source=x")
		}
		a.is(t, 308, "")
		a.has(t, "Location", "https://www.example.com/old/p?b=%7E&utm_source=x")
		a.has(t, "Strict-Transport-Security", "max-age=60")
		a.has(t, "Content-Type", "")
	}
	e.get("/gone").has(t, "Location", "/new")
}

func TestBypass(t *testing.T) {
	origin := newRecorder(t, echoApp)
	e := newEdge(t, withOrigin(origin.url), withFiles(t, map[string]string{"p.html": "page"}),
		withRule(Rule{Paths: []string{"*"}, Bypass: &Bypass{Cookies: []string{"admin"}, Headers: []string{"X-Preview"}}}))
	const past = "GET /p/?utm_source=x HTTP/1.1\n"
	tests := []struct {
		field, body string
	}{
		{"X-Other: 1", "page"},
		{"Cookie: a=1; b=2", "page"},
		{"Cookie: Admin=1", "page"},
		{"Cookie: notadmin=1; x=admin=1", "page"},
		{"Cookie: a=1; admin=1", past},
		{"cookie: a=1;admin=", past},
		{"X-Preview: 1", past},
		{"x-preview:", past},
	}
	for _, test := range tests {
		a := e.get("/p/?utm_source=x", test.field)
		a.is(t, 200, test.body)
		want := "ssiedge; hit; detail=file"
		if test.body == past {
			want = "ssiedge; fwd=bypass"
		}
		a.has(t, "Cache-Status", want)
	}
	e.get("/p", "Cookie: a=1", "Cookie: admin=2").is(t, 200, "GET /p HTTP/1.1\n")
}

func TestRulesLaterWins(t *testing.T) {
	other := newRecorder(t, func(head, body string) string { return strings.Replace(echoApp(head, body), "GET", "OTH", 1) })
	app := newRecorder(t, echoApp)
	e := newEdge(t, withOrigin(app.url),
		withRule(Rule{Paths: []string{"/a/*"}, Origin: &origin.Options{Name: "other", Servers: []string{other.url}}}),
		withRule(Rule{Paths: []string{"/a/b/*", "/z"}, Query: &QueryFilter{Mode: QueryKeep, Names: []string{"page"}}}),
		withRule(Rule{Paths: []string{"/a/*/internal"}, Internal: ptr(true)}),
		withRule(Rule{Paths: []string{"/a/b/c/internal"}, Internal: ptr(false)}))
	e.get("/x?q=1&gclid=2").is(t, 200, "GET /x?q=1 HTTP/1.1\n")
	e.get("/a/x?q=1").is(t, 200, "OTH /a/x?q=1 HTTP/1.1\n")
	e.get("/a/b/x?q=1&page=2").is(t, 200, "OTH /a/b/x?page=2 HTTP/1.1\n")
	e.get("/z?q=1&page=2").is(t, 200, "GET /z?page=2 HTTP/1.1\n")
	if a := e.get("/a/q/internal"); a.StatusCode != 404 {
		t.Errorf("internal: %d, want 404", a.StatusCode)
	}
	e.get("/a/b/c/internal").is(t, 200, "OTH /a/b/c/internal HTTP/1.1\n")
}

// TestPanic breaks the edge from within: a site whose query filter is gone.
func TestPanic(t *testing.T) {
	e := newEdge(t, withFiles(t, map[string]string{"p.html": "p"}))
	e.panics = 2
	site := e.state.Load().router.any
	filter := site.base.query
	site.base.query = nil
	c := e.dial()
	io.WriteString(c, "GET /p?q=1 HTTP/1.1\r\nHost: a\r\n\r\n")
	a := readAnswer(t, bufio.NewReader(c), "GET")
	if a.StatusCode != 500 || !strings.Contains(a.body, "500 Internal Server Error") {
		t.Errorf("%d %q, want our 500", a.StatusCode, a.body)
	}
	if !a.Close {
		t.Error("the connection goes on")
	}
	a.has(t, "Cache-Control", "no-store")
	for _, want := range []string{"panic", "nil pointer", "canonical.go"} {
		if !strings.Contains(e.log.String(), want) {
			t.Errorf("the log lacks %q", want)
		}
	}

	// The look for the site's own page may panic too.
	files := site.files
	site.files = new(pagecache.Files)
	if a := e.get("/p?q=1"); a.StatusCode != 500 {
		t.Errorf("%d, want 500", a.StatusCode)
	}
	site.files = files
	site.base.query = filter
	e.get("/p").is(t, 200, "p")
}

// TestPipelining sends several requests at once: answers come in order, whole.
func TestPipelining(t *testing.T) {
	e := newEdge(t, withFiles(t, map[string]string{"a.html": "A", "b.html": "B<!--#include virtual=\"/a\" -->", "big.bin": strings.Repeat("x", largeBody+10)}),
		withApp(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "app") }))
	c := e.dial()
	io.WriteString(c, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n"+
		"GET /big.bin HTTP/1.1\r\nHost: a\r\n\r\n"+
		"HEAD /a HTTP/1.1\r\nHost: a\r\n\r\n"+
		"POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"+
		"GET /b HTTP/1.1\r\nHost: a\r\n\r\n"+
		"GET /none HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
	r := bufio.NewReader(c)
	readAnswer(t, r, "GET").is(t, 200, "A")
	readAnswer(t, r, "GET").is(t, 200, strings.Repeat("x", largeBody+10))
	readAnswer(t, r, "HEAD").is(t, 200, "")
	readAnswer(t, r, "POST").is(t, 200, "app")
	readAnswer(t, r, "GET").is(t, 200, "BA")
	readAnswer(t, r, "GET").is(t, 200, "app")
	if _, err := r.ReadByte(); err != io.EOF {
		t.Errorf("after the last answer: %v, want the end", err)
	}
}
