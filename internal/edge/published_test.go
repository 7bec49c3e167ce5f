package edge

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ssiedge/ssiedge/internal/realtest"
	"github.com/ssiedge/ssiedge/origin"
	"github.com/ssiedge/ssiedge/pagecache"
)

// memcachedSet stores a raw value, as an app's client does.
func memcachedSet(t testing.TB, addr, key string, flags int, value string) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	fmt.Fprintf(c, "set %s %d 0 %d\r\n%s\r\n", key, flags, len(value), value)
	answer := make([]byte, len("STORED\r\n"))
	if _, err := io.ReadFull(c, answer); err != nil || string(answer) != "STORED\r\n" {
		t.Fatalf("set %s: %q %v", key, answer, err)
	}
}

func withMemcached(addr string, keys ...string) func(*Options) {
	return func(o *Options) {
		o.Memcache = &pagecache.MemcacheOptions{Servers: []string{addr}, Timeout: 5 * time.Second}
		o.Sites[0].Published = &pagecache.PublishedOptions{Keys: keys}
	}
}

func TestPublishedInMemcached(t *testing.T) {
	m := realtest.Memcached(t)
	large := "<html>" + strings.Repeat("x", 20000)
	for key, value := range map[string]string{
		"/p1": "<html>raw", "/p2": large, "/p.json": `{"a":1}`,
		"/mc/S%C3%A3o-Paulo": "city", "/s": `at <!--#echo var="uri" -->`, "/both": "memcached",
	} {
		memcachedSet(t, m.Addr, key, 0, value)
	}
	memcachedSet(t, m.Addr, "/ruby", 1, "\x04\x08I\"")
	e := newEdge(t, withMemcached(m.Addr, "{raw_path}"), withFiles(t, map[string]string{"both.html": "file"}),
		withApp(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "app "+r.URL.RequestURI()) }))
	tests := []struct{ target, contentType, body string }{
		{"/p1", "text/html; charset=utf-8", "<html>raw"},
		{"/p2/", "text/html; charset=utf-8", large},
		{"/p.json", "application/json; charset=utf-8", `{"a":1}`},
		{"/mc/S%c3%a3o-Paulo?utm_source=1", "text/html; charset=utf-8", "city"},
	}
	for _, test := range tests {
		for range 2 {
			a := e.get(test.target)
			a.is(t, 200, test.body)
			a.has(t, "Content-Type", test.contentType)
			a.has(t, "Cache-Status", "ssiedge; hit; detail=published")
			a.has(t, "Via", "1.1 ssiedge")
			a.has(t, "Last-Modified", "")
			tag := a.Header.Get("Etag")
			e.get(test.target, "If-None-Match: "+tag).is(t, 304, "")
			e.get(test.target, "Range: bytes=1-3").is(t, 206, test.body[1:4])
			h := e.do("HEAD", test.target)
			h.is(t, 200, "")
			h.has(t, "Content-Length", itoa(len(test.body)))
		}
	}
	e.get("/s").is(t, 200, "at /s")
	e.get("/both").is(t, 200, "file")
	e.get("/ruby").is(t, 200, "app /ruby")
	e.get("/p1?page=2").is(t, 200, "app /p1?page=2")
	e.post("POST", "/p1", "x").is(t, 200, "app /p1")
	if log := e.log.String(); !strings.Contains(log, "/ruby") {
		t.Error("the log does not tell of the value with flags")
	}
	m.Stop()
	e.get("/gone").is(t, 200, "app /gone")
}

func TestPublishedKeyWithHostAndQuery(t *testing.T) {
	m := realtest.Memcached(t)
	memcachedSet(t, m.Addr, "http:www.example.com:/p?page=2", 0, "second")
	e := newEdge(t, withMemcached(m.Addr, "{scheme}:{host}:{path}?{query}"))
	e.get("/p?page=2", "Host: WWW.example.com:80").is(t, 200, "second")
	if a := e.get("/p?page=3"); a.StatusCode != 404 {
		t.Errorf("another query: %d, want 404", a.StatusCode)
	}
}

func TestErrorPagesOfTheSite(t *testing.T) {
	down := realtest.FreeAddr(t)
	e := newEdge(t, withFiles(t, map[string]string{
		"404.html": "no such thing", "502.html": "we are down",
		"504.html": `<!--#include virtual="/down" -->`,
	}), withOrigin(down), withRule(Rule{Paths: []string{"/internal"}, Internal: ptr(true)}))
	a := e.get("/down")
	a.is(t, 502, "we are down")
	a.has(t, "Content-Type", "text/html; charset=utf-8")
	a.has(t, "Cache-Control", "no-store")
	a.has(t, "Etag", "")
	a.has(t, "Last-Modified", "")
	e.do("HEAD", "/down").is(t, 502, "")
	e.get("/internal").is(t, 404, "no such thing")
	e.get("/404").is(t, 200, "no such thing")

	silent := newRawApp(t, func(c net.Conn) { io.Copy(io.Discard, c) })
	slow := newEdge(t, withFiles(t, map[string]string{"504.html": `<!--#include virtual="/down" -->`}),
		withSite(func(s *Site) {
			s.Origin = &origin.Options{Name: "app", Servers: []string{silent}, Timeout: 20 * time.Millisecond}
		}))
	if a := slow.get("/x"); a.StatusCode != 504 || !strings.Contains(a.body, "504 Gateway Timeout") {
		t.Errorf("%d %q, want our 504", a.StatusCode, a.body)
	}
}
