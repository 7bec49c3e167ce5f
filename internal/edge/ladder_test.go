package edge

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// firstKept is an app whose fragments are kept, stale on arrival, and go wrong as
// their path says from the second time on.
func firstKept(t testing.TB, control string) string {
	var mu sync.Mutex
	seen := map[string]bool{}
	return newRawApp(t, func(c net.Conn) {
		r := bufio.NewReader(c)
		for {
			q, err := http.ReadRequest(r)
			if err != nil {
				return
			}
			mu.Lock()
			again := seen[q.URL.Path]
			seen[q.URL.Path] = true
			mu.Unlock()
			if !again {
				fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nAge: 100\r\nCache-Control: %s\r\nContent-Length: 3\r\n\r\nold", control)
			} else if !misbehave(c, q.URL.Path) {
				return
			}
		}
	})
}

// TestLadder: fresh; stale for a timeout, an error, a 5xx and a body that broke
// off, within its window; the stub, for those and any 4xx; the error message. And
// never a part.
func TestLadder(t *testing.T) {
	const window, none = "max-age=60, stale-if-error=1000", "max-age=60"
	for _, test := range []struct {
		what                   string
		stale, stub, plain     string // within a window; without one, with and without a stub
		pastedStale, pastedNow string // where errors are pasted, within a window and without
	}{
		{"ok", "F", "F", "F", "F", "F"},
		{"404", "stub", "stub", "[error]", "no", "no"},
		{"500", "old", "stub", "[error]", "no", "no"},
		{"short", "old", "stub", "[error]", "half", "half"},
		{"reset", "old", "stub", "[error]", "old", "[error]"},
		{"coded", "old", "stub", "[error]", "old", "[error]"},
		{"silent", "old", "stub", "[error]", "old", "[error]"},
	} {
		files := map[string]string{
			"plain.html": `[<!--#include virtual="/` + test.what + `" -->]`,
			"stub.html":  `<!--#block name="s" -->stub<!--#endblock -->[<!--#include virtual="/` + test.what + `" stub="s" -->]`,
		}
		first := map[bool]string{false: none, true: window}
		ask := func(target string, within, paste bool) *answer {
			e := newEdge(t, keepingPages(), withOrigin(firstKept(t, first[within])), withFiles(t, files), withSite(func(s *Site) {
				s.SSI.PasteErrors, s.Cache.StaleIfError = paste, 0
				s.SSI.Timeout = 2 * patience
				if test.what == "silent" {
					s.SSI.Timeout = 60 * time.Millisecond
				}
			}))
			e.get("/" + test.what) // into memory
			return e.get(target)
		}
		ask("/stub", true, false).is(t, 200, "["+test.stale+"]")
		ask("/stub", false, false).is(t, 200, "["+test.stub+"]")
		ask("/plain", false, false).is(t, 200, "["+test.plain+"]")
		ask("/plain", true, true).is(t, 200, "["+test.pastedStale+"]")
		ask("/plain", false, true).is(t, 200, "["+test.pastedNow+"]")
	}
}

// TestPastedPartIsNobodysToKeep: a body that broke off, as nginx pastes it.
func TestPastedPartIsNobodysToKeep(t *testing.T) {
	e := newEdge(t, withSite(patient), withOrigin(newMisbehaving(t)), withSite(func(s *Site) { s.SSI.PasteErrors = true }),
		withFiles(t, map[string]string{"p.html": `<!--#include virtual="/short" -->`}))
	a := e.get("/p")
	a.is(t, 200, "half")
	a.has(t, "Cache-Control", "no-store")
	if log := e.log.String(); !strings.Contains(log, "only a part") {
		t.Errorf("the log does not tell of it:\n%s", log)
	}
}

// TestStubSpeaksOfTheFragment: its variables and relative includes are those of
// the fragment, whatever way it failed.
func TestStubSpeaksOfTheFragment(t *testing.T) {
	e := newEdge(t, withSite(patient), withOrigin(newMisbehaving(t)), withFiles(t, map[string]string{
		"d/p.html": `<!--#block name="s" --><!--#echo var="uri" --> <!--#echo var="args" --> <!--#include virtual="near.txt" --><!--#endblock -->` +
			`[<!--#include virtual="/f/404?a=1" stub="s" -->][<!--#include virtual="/f/204?a=2" stub="s" -->]`,
		"f/near.txt": "near", "d/moved.html": `<!--#block name="s" --><!--#echo var="uri" --><!--#endblock --><!--#include virtual="/moved" stub="s" -->`,
	}), withRule(Rule{Paths: []string{"/moved"}, Redirect: ptr("/x")}))
	e.get("/d/moved").is(t, 200, "/moved")
	e.get("/d/p").is(t, 200, "[/f/404 a=1 near][/f/204 a=2 near]")
}

// TestStaleFragmentAtHand: within its window a fragment in memory makes the page
// complete at once, though the fill behind it waits; a HEAD starts none.
func TestStaleFragmentAtHand(t *testing.T) {
	app := &aging{control: "public, stale-while-revalidate=1000", wait: make(chan struct{})}
	e, _ := newPulling(t, app.ServeHTTP, withFiles(t, map[string]string{"p.html": `[<!--#include virtual="/f" -->]`}),
		withSite(func(s *Site) { s.SSI.FlushAfter = 0 }))
	e.get("/f")
	e.do("HEAD", "/p").has(t, "Content-Length", "8")
	if n := app.count.Load(); n != 1 {
		t.Errorf("a HEAD made the edge ask: %d times", n)
	}
	a := e.get("/p")
	a.is(t, 200, "[page 1]")
	a.has(t, "Content-Length", "8")
	a.has(t, "Cache-Control", "max-age=0")
	close(app.wait)
}

// TestFollowerHasHisOwnDeadline: who waits for another's fragment waits no longer
// than his own page may take; the fill goes on.
func TestFollowerHasHisOwnDeadline(t *testing.T) {
	g := newGated(includes(says("F", "Cache-Control: max-age=60")))
	e, app := newPulling(t, g.ServeHTTP, withSite(func(s *Site) { s.SSI.Timeout = 600 * time.Millisecond }))
	first, second := e.begin("/page-slow"), e.begin("/page-slow")
	<-g.entered
	first.answer().is(t, 200, "page [error]")
	second.answer().is(t, 200, "page [error]")
	e.begin("/page-slow").answer().is(t, 200, "page [error]")
	close(g.release)
	for deadline := time.Now().Add(patience); ; {
		if a := e.get("/page-slow"); a.body == "page F" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the fill did not go on")
		}
	}
	if n := app.fragments("/slow"); n != 1 {
		t.Errorf("asked %d times, want once", n)
	}
}

// TestFragmentsByTheirRules: timeout, cookies, origin, headers and lifetime are
// those of the rule for the fragment's path, not of the page's.
func TestFragmentsByTheirRules(t *testing.T) {
	var count atomic.Int32
	other := newApp(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "private, max-age=5")
		fmt.Fprintf(w, "%d %s %s %s", count.Add(1), r.Header.Get("Cookie"), r.Header.Get("Accept-Language"), r.Header.Get("User-Agent"))
	})
	e, app := newPulling(t, includes(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Header.Get("Cookie")) }), withRule(Rule{
		Paths: []string{"/other"}, Origin: poolOf(other), Cache: &Lifetime{For: time.Hour},
		Cookies: &Cookies{Mode: CookiesListed, Names: []string{"lang"}}, KeyHeaders: []string{"Accept-Language"},
	}))
	fields := []string{"Cookie: s=ana; lang=pt", "Accept-Language: pt", "User-Agent: test"}
	for range 2 {
		a := e.get("/page-other", fields...)
		a.is(t, 200, "page 1 lang=pt pt ")
		if c := a.Header.Get("Cache-Control"); !strings.HasPrefix(c, "private") {
			t.Errorf("the answer depends on a cookie, and says %q", c)
		}
	}
	e.get("/page-other", "Cookie: s=ana; lang=de", "Accept-Language: pt").is(t, 200, "page 2 lang=de pt ")
	e.get("/page-own", fields...).is(t, 200, "page s=ana; lang=pt")
	if n := app.fragments("/other"); n != 0 {
		t.Errorf("the page's app was asked %d times for a fragment of another", n)
	}
}

// TestManyLargeFragments: what a page gathers of fragments is bounded by max_page
// as what it prints is, though each is within max_fragment, and though they print
// nothing.
func TestManyLargeFragments(t *testing.T) {
	const most = 1_000_000
	hidden := `<!--#if expr="" -->` + strings.Repeat("x", 100_000) + `<!--#endif -->`
	page := ""
	for i := range 12 {
		page += fmt.Sprintf(`<!--#include virtual="/f%d" -->`, i)
	}
	for name, framing := range map[string]string{
		"length":  fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(hidden), hidden),
		"chunked": fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(hidden), hidden),
	} {
		for _, control := range []string{"no-store", "max-age=60"} {
			app := newRecorder(t, func(string, string) string {
				return "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nCache-Control: " + control + "\r\n" + framing
			})
			e := newEdge(t, keepingPages(), withSite(patient), withOrigin(app.url), withFiles(t, map[string]string{"p.html": page}),
				withSite(func(s *Site) { s.SSI.MaxPage, s.SSI.Timeout = most, patience }))
			if a := e.get("/p"); a.StatusCode != 500 || strings.Contains(a.body, "xxx") {
				t.Errorf("%s, %s: %d %.100q, want our 500", name, control, a.StatusCode, a.body)
			}
			if log := e.log.String(); !strings.Contains(log, "problem=page") {
				t.Errorf("%s, %s: the log does not tell of max_page:\n%s", name, control, log)
			}
		}
	}
}

// TestIncludesStayOnTheSite, whatever a visitor sends, and what he sends does not
// become a field or another request.
func TestIncludesStayOnTheSite(t *testing.T) {
	app := newRecorder(t, func(head, _ string) string { return htmlAnswer("F") })
	e := newEdge(t, withSite(patient), withOrigin(app.url), withFiles(t, map[string]string{
		"p.html": `<!--#include virtual="$arg_to" --><!--#include virtual="/x?$cookie_c" --><!--#include virtual="/y$http_x_name" -->`,
	}), withSite(func(s *Site) { s.Query = QueryFilter{Mode: QueryNone} }))
	for _, fields := range [][]string{
		{"Cookie: c=1 HTTP/1.1%0d%0aX-Evil: 1"}, {"X-Name: ?a HTTP/1.1"}, {"X-Name: \t#\\@evil.example"},
		{"Cookie: c=a b&#x\\d"}, {"X-Name: //evil.example"},
	} {
		e.get("/p?to=http://evil.example/x", fields...)
		e.get("/p?to=//evil.example/x", fields...)
		e.get("/p?to=%2f%2fevil.example", fields...)
	}
	for _, head := range app.all() {
		lines := strings.Split(strings.TrimSuffix(head, "\r\n\r\n"), "\r\n")
		if parts := strings.Split(lines[0], " "); len(parts) != 3 || parts[0] != "GET" || !strings.HasPrefix(parts[1], "/") || parts[2] != "HTTP/1.1" {
			t.Errorf("request line %q", lines[0])
		}
		if hosts := fieldLines(head, "Host"); len(hosts) != 1 || hosts[0] != testHost {
			t.Errorf("asked of %q", hosts)
		}
		if v := fieldLines(head, "X-Evil"); v != nil {
			t.Errorf("a field was injected: %q", v)
		}
	}
}
