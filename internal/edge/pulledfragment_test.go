package edge

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ssiedge/ssiedge/internal/realtest"
	"github.com/ssiedge/ssiedge/pagecache"
)

// includes is an app whose page /page-NAME includes /NAME, and is kept; fragment
// answers for everything else.
func includes(fragment http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if name, ok := strings.CutPrefix(r.URL.Path, "/page-"); ok {
			w.Header().Set("Cache-Control", "public, max-age=600")
			fmt.Fprintf(w, `page <!--#include virtual="/%s" -->`, name)
			return
		}
		fragment(w, r)
	}
}

// fragments are the requests for a path so far.
func (a *tally) fragments(path string) (n int) {
	for _, r := range a.requests() {
		if r.URL.Path == path {
			n++
		}
	}
	return n
}

func TestPulledFragmentIsShared(t *testing.T) {
	e, app := newPulling(t, includes(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", map[string]string{"/public": "public, max-age=60", "/plain": "max-age=60", "/ruled": "private"}[r.URL.Path])
		fmt.Fprintf(w, "[%s]", r.Header.Get("Cookie"))
	}), withRule(forAnHour("/ruled")))
	for _, test := range []struct {
		name    string
		bodies  [3]string // of a visitor without cookies, Ana, Bob
		asked   int
		control string // of Bob's
	}{
		{"public", [3]string{"page []", "page []", "page []"}, 1, "max-age=60"},
		{"plain", [3]string{"page []", "page []", "page []"}, 1, "max-age=60"},
		{"ruled", [3]string{"page []", "page []", "page []"}, 1, "private, max-age=600"},
	} {
		var last *answer
		for i, fields := range [][]string{nil, {"Cookie: s=ana"}, {"Cookie: s=bob"}} {
			last = e.get("/page-"+test.name, fields...)
			last.is(t, 200, test.bodies[i])
		}
		if got := last.Header.Get("Cache-Control"); got != test.control {
			t.Errorf("%s: Cache-Control is %q, want %q", test.name, got, test.control)
		}
		if n := app.fragments("/" + test.name); n != test.asked {
			t.Errorf("%s: asked %d times, want %d", test.name, n, test.asked)
		}
	}
	app.was(t, 6)
}

// A fragment whose key holds a cookie is that visitor's: the assembled answer is
// nobody else's to keep, even where the fragment says public.
func TestKeyedFragmentIsPrivate(t *testing.T) {
	rule := Rule{Paths: []string{"/name"}, Cookies: &Cookies{Mode: CookiesListed, Names: []string{"s"}}, Cache: &Lifetime{For: time.Hour}}
	e, app := newPulling(t, includes(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "public, max-age=60")
		fmt.Fprintf(w, "[%s]", r.Header.Get("Cookie"))
	}), withRule(rule))
	for range 2 {
		for _, who := range []string{"ana", "bob", ""} {
			body, fields := "page []", []string(nil)
			if who != "" {
				body, fields = "page [s="+who+"]", []string{"Cookie: s=" + who + "; other=x"}
			}
			a := e.get("/page-name", fields...)
			a.is(t, 200, body)
			if c := a.Header.Get("Cache-Control"); !strings.HasPrefix(c, "private") {
				t.Errorf("%q says %q, want private", a.body, c)
			}
		}
	}
	if n := app.fragments("/name"); n != 3 {
		t.Errorf("asked %d times, want 3", n)
	}
}

// What may be personal is asked for by each on his own, also while another's
// waits.
func TestPersonalFragmentsAreNotCoalesced(t *testing.T) {
	g := newGated(includes(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		fmt.Fprintf(w, "[%s]", r.Header.Get("Cookie"))
	}))
	e, app := newPulling(t, g.ServeHTTP)
	e.get("/page-x") // a page that is kept
	ana, bob := e.begin("/page-slow", "Cookie: s=ana"), e.begin("/page-slow", "Cookie: s=bob")
	<-g.entered
	<-g.entered // both are asked for at once
	close(g.release)
	ana.answer().is(t, 200, "page [s=ana]")
	bob.answer().is(t, 200, "page [s=bob]")
	e.get("/page-slow").is(t, 200, "page []")
	if n := app.fragments("/slow"); n != 3 {
		t.Errorf("asked %d times, want 3", n)
	}
}

// What is nobody's is asked for once, however many pages want it.
func TestFragmentsCollapse(t *testing.T) {
	g := newGated(includes(says("[]", "Cache-Control: max-age=60")))
	e, app := newPulling(t, g.ServeHTTP)
	all := []*pending{e.begin("/page-slow")}
	<-g.entered
	for range 20 {
		all = append(all, e.begin("/page-slow"))
	}
	close(g.release)
	for _, p := range all {
		p.answer().is(t, 200, "page []")
	}
	if n := app.fragments("/slow"); n != 1 {
		t.Errorf("asked %d times, want once", n)
	}
}

// The reply to a fragment's fill without the visitor's cookies, if nobody may
// keep it, is not his either.
func TestWithheldFragmentIsAskedAgain(t *testing.T) {
	for _, status := range []int{200, 403, 500} {
		e, _ := newPulling(t, includes(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "no-store")
			if r.Header.Get("Cookie") == "" {
				w.WriteHeader(status)
			}
			fmt.Fprintf(w, "[%s]", r.Header.Get("Cookie"))
		}), withRule(forAnHour("/name")))
		a := e.get("/page-name", "Cookie: s=ana")
		a.is(t, 200, "page [s=ana]")
		if c := a.Header.Get("Cache-Control"); !strings.Contains(c, "private") {
			t.Errorf("Cache-Control is %q", c)
		}
		e.get("/page-name", "Cookie: s=bob").is(t, 200, "page [s=bob]")
	}
}

// A fragment's cookies reach the visitor where the rule says so: the head waits
// for them, and the answer is nobody else's. Otherwise they end at the edge.
func TestForwardSetCookie(t *testing.T) {
	var count atomic.Int32
	g := newGated(includes(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "public, max-age=60")
		w.Header().Add("Set-Cookie", fmt.Sprintf("csrf=%d", count.Add(1)))
		fmt.Fprintf(w, "[%s]", r.Header.Get("Cookie"))
	}))
	rule := Rule{Paths: []string{"/slow"}, ForwardSetCookie: ptr(true)}
	e, _ := newPulling(t, g.ServeHTTP, withRule(rule))
	first, second := e.begin("/page-slow", "Cookie: s=ana"), e.begin("/page-slow", "Cookie: s=ana")
	<-g.entered
	<-g.entered // not even those of one visitor are coalesced
	close(g.release)
	var cookies []string
	for _, p := range []*pending{first, second, e.begin("/page-slow", "Cookie: s=ana")} {
		a := p.answer()
		a.is(t, 200, "page [s=ana]")
		a.has(t, "Cache-Control", "private, no-store")
		cookies = append(cookies, strings.Join(a.lines("Set-Cookie"), ","))
	}
	if cookies[0] == cookies[1] || cookies[1] == cookies[2] || !strings.HasPrefix(cookies[0], "csrf=") {
		t.Errorf("cookies are %q, want one for each answer", cookies)
	}
	before := e.metrics.droppedCookies.Load()
	e.get("/page-dropped").has(t, "Set-Cookie", "")
	if n := e.metrics.droppedCookies.Load() - before; n != 1 {
		t.Errorf("%d cookies counted as dropped, want 1", n)
	}
	e.do("HEAD", "/page-slow").has(t, "Cache-Control", "private, no-store")
}

// The ladder: stale while one fill runs, stale where the app fails.
func TestStaleFragment(t *testing.T) {
	app := &aging{control: "public, stale-while-revalidate=1000, stale-if-error=1000", wait: make(chan struct{})}
	e, _ := newPulling(t, includes(app.ServeHTTP))
	e.get("/page-f").is(t, 200, "page page 1")
	e.get("/page-f", "Cookie: s=ana").is(t, 200, "page page 1")
	realtest.Eventually(t, "a fill in the background", func() bool { return app.count.Load() == 2 })
	if got := app.cookies.Load(); got != "" {
		t.Errorf("the fill carried %q", got)
	}
	close(app.wait)

	failing := &aging{control: "public, stale-if-error=1000"}
	e, _ = newPulling(t, includes(failing.ServeHTTP))
	e.get("/page-f").is(t, 200, "page page 1")
	failing.status.Store(500)
	e.get("/page-f").is(t, 200, "page page 1")
	e.get("/page-f", "Cookie: s=ana").is(t, 200, "page page 1")
	e.get("/page-g").is(t, 200, "page [error]")
}

// memcachedTier is an edge whose pages lie in memcached alone, which is given so
// long to answer.
func memcachedTier(t *testing.T, timeout time.Duration) (*testEdge, *tally, *realtest.Server) {
	m := realtest.Memcached(t)
	e, app := newPulling(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/page" {
			io.WriteString(w, `page <!--#include virtual="/f" -->`)
			return
		}
		io.WriteString(w, "fragment")
	}, func(o *Options) {
		o.Memory = 0
		o.Memcache = &pagecache.MemcacheOptions{Servers: []string{m.Addr}, Timeout: timeout}
	})
	return e, app, m
}

func TestPulledInMemcached(t *testing.T) {
	e, app, _ := memcachedTier(t, patience)
	e.get("/page").is(t, 200, "page fragment")
	realtest.Eventually(t, "the page in memcached", func() bool {
		a := e.get("/page")
		a.is(t, 200, "page fragment")
		return strings.HasSuffix(a.Header.Get("Cache-Status"), "detail=memcache")
	})
	before := len(app.requests())
	e.get("/page").is(t, 200, "page fragment")
	e.get("/f").hit(t, "memcache")
	app.was(t, before)
	e.post("POST", "/f", "x")
	e.get("/f").has(t, "Cache-Status", "ssiedge; fwd=uri-miss; stored")
}

// memcached in trouble is a miss: nobody's request fails, and it is used again
// when it is back.
func TestMemcachedInTrouble(t *testing.T) {
	e, _, m := memcachedTier(t, 50*time.Millisecond)
	crowd := func(what string) {
		t.Helper()
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for j := range 5 {
					target := [2]string{"/page", "/f"}[(i+j)%2]
					e.get(target).is(t, 200, map[string]string{"/page": "page fragment", "/f": "fragment"}[target])
				}
			})
		}
		wg.Wait()
		if t.Failed() {
			t.Fatalf("memcached %s", what)
		}
	}
	crowd("is well")
	m.Hang(t)
	crowd("hangs")
	m.Resume()
	m.Stop()
	crowd("is killed")
	m.Restart(t)
	realtest.Eventually(t, "memcached is used again", func() bool {
		return strings.HasSuffix(e.get("/f").Header.Get("Cache-Status"), "detail=memcache")
	})
}

// TestStaleFragmentInEveryTier: within its windows a fragment is used wherever it
// lies, here in memcached alone.
func TestStaleFragmentInEveryTier(t *testing.T) {
	m := realtest.Memcached(t)
	app := &aging{control: "public, stale-while-revalidate=1000, stale-if-error=1000"}
	e, _ := newPulling(t, app.ServeHTTP, withFiles(t, map[string]string{"p.html": `[<!--#include virtual="/f" -->]`}), func(o *Options) {
		o.Memory = 0
		o.Memcache = &pagecache.MemcacheOptions{Servers: []string{m.Addr}, Timeout: patience}
	})
	realtest.Eventually(t, "the fragment in memcached", func() bool {
		return strings.Contains(e.get("/f").Header.Get("Cache-Status"), "; hit; ttl=-")
	})
	realtest.Eventually(t, "the fills behind it", func() bool { return e.state.Load().store.flights.Len() == 0 })
	app.status.Store(500)
	asked := app.count.Load()
	if a := e.get("/p"); !strings.HasPrefix(a.body, "[page ") {
		t.Errorf("%q, want the stale fragment", a.body)
	}
	realtest.Eventually(t, "a fill behind it", func() bool { return app.count.Load() > asked })
}
