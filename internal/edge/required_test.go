package edge

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// needs makes fragments below /need required.
func needs(o *Options) {
	withRule(Rule{Paths: []string{"/need/*"}, Required: ptr(true)})(o)
}

// misbehave answers the path of a request on c: the last segment says how.
func misbehave(c net.Conn, path string) (goOn bool) {
	switch path[strings.LastIndexByte(path, '/')+1:] {
	case "404":
		io.WriteString(c, "HTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\nno")
	case "500":
		io.WriteString(c, "HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nno")
	case "204":
		io.WriteString(c, "HTTP/1.1 204 No Content\r\n\r\n")
	case "short":
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
		return false
	case "reset":
		return false
	case "silent":
		io.Copy(io.Discard, c)
		return false
	case "coded":
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Encoding: x-odd\r\nContent-Length: 2\r\n\r\nno")
	default:
		io.WriteString(c, "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 1\r\n\r\nF")
	}
	return true
}

// newMisbehaving starts an app whose fragments go wrong as their paths say.
func newMisbehaving(t testing.TB) string {
	return newRawApp(t, func(c net.Conn) {
		r := bufio.NewReader(c)
		for {
			q, err := http.ReadRequest(r)
			if err != nil || !misbehave(c, q.URL.Path) {
				return
			}
		}
	})
}

// TestRequired: without the fragment there is no page, whatever the page has for
// that case; and nobody keeps a page that stands and falls with one.
func TestRequired(t *testing.T) {
	page := func(what string) string {
		return `<!--#block name="s" -->stub<!--#endblock -->[<!--#include virtual="/need/` + what + `" stub="s" -->]`
	}
	files := map[string]string{"504.html": "our 504", "need/file.html": "file"}
	for _, what := range []string{"ok", "file", "204", "404", "500", "short", "reset", "silent", "coded"} {
		files[what+".html"] = page(what)
	}
	slow := withRule(Rule{Paths: []string{"/need/silent"}, Timeout: ptr(50 * time.Millisecond)})
	e := newEdge(t, withOrigin(newMisbehaving(t)), withFiles(t, files), needs, slow, withSite(func(s *Site) { s.SSI.FlushAfter = 0 }))
	for what, want := range map[string]struct {
		status int
		body   string
	}{
		"ok": {200, "[F]"}, "file": {200, "[file]"}, "204": {200, "[stub]"},
		"404": {502, string(ownPage(502))}, "500": {502, string(ownPage(502))}, "short": {502, string(ownPage(502))},
		"reset": {502, string(ownPage(502))}, "coded": {502, string(ownPage(502))}, "silent": {504, "our 504"},
	} {
		a := e.get("/" + what)
		a.is(t, want.status, want.body)
		control := "private, no-store"
		if want.status != 200 {
			control = "no-store"
		}
		a.has(t, "Cache-Control", control)
		a.has(t, "Etag", "")
	}
	if log := e.log.String(); !strings.Contains(log, "problem=required page=/500") {
		t.Errorf("the log does not tell which page failed for which fragment:\n%s", log)
	}
}

// TestRequiredHead: for a HEAD the fragment is pending, and nobody is asked.
func TestRequiredHead(t *testing.T) {
	app := newRecorder(t, nil)
	e := newEdge(t, withOrigin(app.url), withFiles(t, map[string]string{"p.html": `<!--#include virtual="/need/x" -->`}), needs)
	a := e.do("HEAD", "/p")
	a.is(t, 200, "")
	a.has(t, "Cache-Control", "private, no-store")
	if n := len(app.all()); n != 0 {
		t.Errorf("the app was asked %d times", n)
	}
}

// TestRequiredPasted: where errors are pasted, they are no failures.
func TestRequiredPasted(t *testing.T) {
	e := newEdge(t, withOrigin(newMisbehaving(t)), needs, withSite(func(s *Site) { s.SSI.PasteErrors = true }),
		withFiles(t, map[string]string{"p.html": `<!--#include virtual="/need/404" -->`, "q.html": `<!--#include virtual="/need/reset" -->`}))
	e.get("/p").is(t, 200, "no")
	if a := e.get("/q"); a.StatusCode != 502 {
		t.Errorf("no answer at all: %d, want 502", a.StatusCode)
	}
}

// TestRequiredWithoutOrigin: a required file that is missing.
func TestRequiredWithoutOrigin(t *testing.T) {
	e := newEdge(t, needs, withFiles(t, map[string]string{"p.html": `<!--#include virtual="/need/none" -->`}))
	if a := e.get("/p"); a.StatusCode != 502 {
		t.Errorf("%d, want 502", a.StatusCode)
	}
}

// TestRequiredAtTheDeadline: the time for the assembly is over, for the page and
// for the fragment.
func TestRequiredAtTheDeadline(t *testing.T) {
	e := newEdge(t, withOrigin(newMisbehaving(t)), needs, withSite(func(s *Site) { s.SSI.Timeout = 60 * time.Millisecond }),
		withFiles(t, map[string]string{"p.html": `<!--#include virtual="/need/silent" -->`}))
	if a := e.get("/p"); a.StatusCode != 504 {
		t.Errorf("%d, want 504", a.StatusCode)
	}
}

// TestRequiredDeeper: in a kept fragment it holds the head; found after the head
// has left, it is an ordinary failure.
func TestRequiredDeeper(t *testing.T) {
	release := make(chan struct{})
	e, _ := newPulling(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/kept":
			w.Header().Set("Cache-Control", "max-age=60")
			io.WriteString(w, `<!--#include virtual="/need/it" -->`)
		case "/late":
			<-release
			io.WriteString(w, `<!--#include virtual="/need/it" -->`)
		default:
			w.WriteHeader(500)
		}
	}, needs, withFiles(t, map[string]string{
		"kept-in.html": `first <!--#include virtual="/kept" -->`,
		"late-in.html": `first <!--#include virtual="/late" -->`,
	}))
	e.get("/kept") // into memory
	if a := e.get("/kept-in"); a.StatusCode != 502 {
		t.Errorf("in a kept fragment: %d, want 502", a.StatusCode)
	}
	c := e.dial()
	io.WriteString(c, request11("GET", "/late-in"))
	r := bufio.NewReader(c)
	head := rawHead(t, r)
	if chunk := readChunk(t, r); chunk != "first " || !strings.HasPrefix(head, "HTTP/1.1 200 ") {
		t.Errorf("head %q, first chunk %q", head, chunk)
	}
	close(release)
	if rest, _ := io.ReadAll(r); string(rest) != "7\r\n[error]\r\n0\r\n\r\n" {
		t.Errorf("then %q, want the error message", rest)
	}
}

// TestRequiredIsNotCoalesced, though it is nobody's in particular; and yet it is
// kept.
func TestRequiredIsNotCoalesced(t *testing.T) {
	g := newGated(says("F", "Cache-Control: max-age=60"))
	e, app := newPulling(t, g.ServeHTTP, withRule(Rule{Paths: []string{"/slow"}, Required: ptr(true)}),
		withFiles(t, map[string]string{"p.html": `[<!--#include virtual="/slow" -->]`}))
	first, second := e.begin("/p"), e.begin("/p")
	<-g.entered
	<-g.entered
	close(g.release)
	for _, p := range []*pending{first, second, e.begin("/p")} {
		a := p.answer()
		a.is(t, 200, "[F]")
		a.has(t, "Cache-Control", "private, no-store")
	}
	app.was(t, 2)
}

// TestRequiredServesTheStalePage: the page that was kept before is served where
// that is allowed. One that needs the same fragment fails, and nobody is asked
// for it twice.
func TestRequiredServesTheStalePage(t *testing.T) {
	for _, test := range []struct {
		name, old string
		window    int
		status    int
		body      string
	}{
		{"an old page without it", "old", 1000, 200, "old"},
		{"no window", "old", 0, 502, string(ownPage(502))},
		{"an old page with it", `<!--#include virtual="/need/it" -->`, 1000, 502, string(ownPage(502))},
		{"an old page with its like", `old <!--#include virtual="/need/it?like" -->`, 1000, 200, "old F"},
	} {
		var pages, fragments atomic.Int32
		e, _ := newPulling(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			switch {
			case r.URL.RawQuery == "like":
				io.WriteString(w, "F")
			case r.URL.Path == "/need/it" && fragments.Add(1) > 0:
				w.WriteHeader(500)
			case pages.Add(1) == 1:
				w.Header().Set("Age", "100")
				w.Header().Set("Cache-Control", fmt.Sprintf("max-age=60, stale-if-error=%d", test.window))
				io.WriteString(w, test.old)
			default:
				w.Header().Set("Cache-Control", "max-age=60")
				io.WriteString(w, `new <!--#include virtual="/need/it" -->`)
			}
		}, needs, withSite(func(s *Site) { s.Cache.StaleIfError = 0 }))
		e.get("/p")
		fragments.Store(0)
		a := e.get("/p")
		a.is(t, test.status, test.body)
		if n := fragments.Load(); n != 1 {
			t.Errorf("%s: the fragment was asked for %d times, want once", test.name, n)
		}
	}
}

// TestHeadHoldLetsGo: a required fragment and one whose cookies are forwarded
// hold the head together, and both are in the answer.
func TestHeadHoldLetsGo(t *testing.T) {
	gates := map[string]chan struct{}{"/need/it": make(chan struct{}), "/login": make(chan struct{})}
	entered := make(chan struct{}, 2)
	e := newEdge(t, needs, withRule(Rule{Paths: []string{"/login"}, ForwardSetCookie: ptr(true)}), withSite(func(s *Site) { s.SSI.FlushAfter = 0 }),
		withFiles(t, map[string]string{"p.html": `[<!--#include virtual="/need/it" -->|<!--#include virtual="/login" -->]`}),
		withApp(t, func(w http.ResponseWriter, r *http.Request) {
			entered <- struct{}{}
			<-gates[r.URL.Path]
			w.Header().Set("Set-Cookie", "from="+r.URL.Path)
			io.WriteString(w, r.URL.Path)
		}))
	p := e.begin("/p")
	<-entered
	<-entered
	close(gates["/need/it"])
	realtest.Eventually(t, "the first fragment", func() bool { return e.metrics.includes[includeOrigin].Load() == 1 })
	close(gates["/login"])
	a := p.answer()
	a.is(t, 200, "[/need/it|/login]")
	a.has(t, "Set-Cookie", "from=/login")
	a.has(t, "Cache-Control", "private, no-store")
}
