package edge

import (
	"bufio"
	"strings"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// TestHitsAllocateNothing pins what a page from memory costs.
func TestHitsAllocateNothing(t *testing.T) {
	if realtest.Race {
		t.Skip("the race detector allocates")
	}
	m := realtest.Memcached(t)
	memcachedSet(t, m.Addr, "/mc", 0, noise(10_000))
	e := newEdge(t, withFiles(t, map[string]string{
		"p.html": noise(10_000), "i.png": "png", "c.css": "css", "c.css.gz": "gz",
	}), withMemcached(m.Addr, "{raw_path}"), withSite(func(s *Site) { s.Published.For = time.Hour }),
		withRule(Rule{Paths: []string{"/i*"}, Expires: ptr(time.Hour), Headers: &HeaderEdits{Set: []Field{{"X-A", "1"}}}}),
		withRule(Rule{Paths: []string{"*"}, Bypass: &Bypass{Cookies: []string{"admin"}, Headers: []string{"X-Preview"}}}))
	for _, target := range []string{"/p", "/i.png", "/c.css", "/mc"} {
		keptInMemory(t, e, target)
	}
	tests := []struct {
		name, target string
		fields       []string
		status       int
	}{
		{"file", "/p", nil, 200},
		{"file, slash and query dropped", "/p/?utm_source=x", nil, 200},
		{"file of another type, expires", "/i.png", nil, 200},
		{"not modified", "/p", []string{"If-None-Match: *"}, 304},
		{"range", "/p", []string{"Range: bytes=5-9"}, 206},
		{"sibling", "/c.css", []string{"Accept-Encoding: gzip, br"}, 200},
		{"memcached", "/mc", nil, 200},
		{"cookies", "/p", []string{"Cookie: a=1; b=2", "Cookie: c=3"}, 200},
	}
	for _, test := range tests {
		ctx := requestByHand(e, test.target, test.fields)
		ask := func() {
			ctx.Response.Reset()
			e.Handle(ctx)
		}
		ask()
		if s := ctx.Response.StatusCode(); s != test.status {
			t.Errorf("%s: %d, want %d", test.name, s, test.status)
			continue
		}
		if n := testing.AllocsPerRun(200, ask); n != 0 {
			t.Errorf("%s: %v allocations, want none", test.name, n)
		}
	}
}

// requestByHand is a request on a real connection, whose answer is not sent.
func requestByHand(e *testEdge, target string, fields []string) *fasthttp.RequestCtx {
	var ctx fasthttp.RequestCtx
	ctx.Init2(e.dial(), nil, false)
	head := strings.NewReader(request11("GET", target, fields...))
	if err := ctx.Request.Header.Read(bufio.NewReader(head)); err != nil {
		e.t.Fatal(err)
	}
	return &ctx
}

// TestAssembledPageAllocatesLittle is a bound, to see what grows: a page with a
// published fragment, and with one that is kept.
func TestAssembledPageAllocatesLittle(t *testing.T) {
	if realtest.Race {
		t.Skip("the race detector allocates")
	}
	e, _ := newPulling(t, says("kept", "Cache-Control: max-age=3600"), withFiles(t, map[string]string{
		"p.html": noise(10_000) + `<!--#include virtual="/f" -->`, "f.html": "f",
		"q.html": noise(10_000) + `<!--#include virtual="/kept" -->`,
	}))
	e.get("/kept").is(t, 200, "kept")
	for _, target := range []string{"/f", "/p", "/q"} { // fragments first, so that each is one page more
		keptInMemory(t, e, target)
	}
	for _, target := range []string{"/p", "/q"} {
		ctx := requestByHand(e, target, nil)
		if n := testing.AllocsPerRun(200, func() {
			ctx.Response.Reset()
			e.Handle(ctx)
		}); n > 24 {
			t.Errorf("%s: %v allocations, want at most 24", target, n)
		}
	}
}
