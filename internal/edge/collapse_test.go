package edge

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ssiedge/ssiedge/internal/realtest"
	"github.com/ssiedge/ssiedge/pagecache"
)

// gated is an app whose GETs of paths that begin with /slow wait at a gate.
type gated struct {
	answer  http.HandlerFunc
	entered chan struct{} // one for each that waits
	release chan struct{} // closed, or one for each that may go on
}

func newGated(answer http.HandlerFunc) *gated {
	return &gated{answer: answer, entered: make(chan struct{}, 10_000), release: make(chan struct{})}
}

func (g *gated) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == "GET" && strings.HasPrefix(r.URL.Path, "/slow") {
		g.entered <- struct{}{}
		<-g.release
	}
	g.answer(w, r)
}

// pending is a request whose answer a test reads later.
type pending struct {
	t     testing.TB
	r     *bufio.Reader
	leave func() error
}

// begin sends a GET.
func (e *testEdge) begin(target string, fields ...string) *pending {
	e.t.Helper()
	c := e.dial()
	if _, err := io.WriteString(c, request11("GET", target, fields...)); err != nil {
		e.t.Fatal(err)
	}
	return &pending{e.t, bufio.NewReader(c), c.Close}
}

func (p *pending) answer() *answer { p.t.Helper(); return readAnswer(p.t, p.r, "GET") }

// crowd sends n GETs of a target, of which one has led the app to its gate
// before the others come.
func (e *testEdge) crowd(n int, g *gated, target string, fields ...string) []*pending {
	e.t.Helper()
	all := []*pending{e.begin(target, fields...)}
	<-g.entered
	for range n - 1 {
		all = append(all, e.begin(target, fields...))
	}
	return all
}

func TestCollapse(t *testing.T) {
	g := newGated(says("page", "Cache-Control: max-age=60"))
	e, app := newPulling(t, g.ServeHTTP, func(o *Options) { o.Limits.Connections = 1200 })
	const visitors = 1000
	all := e.crowd(visitors, g, "/slow")
	close(g.release)
	collapsed := 0
	for i, p := range all {
		a := p.answer()
		a.is(t, 200, "page")
		switch s := a.Header.Get("Cache-Status"); {
		case i == 0 && s != "ssiedge; fwd=uri-miss; stored", i > 0 && !strings.Contains(s, "; hit;") && s != "ssiedge; fwd=uri-miss; stored; collapsed":
			t.Fatalf("visitor %d: Cache-Status is %q", i, s)
		case strings.HasSuffix(s, "collapsed"):
			collapsed++
		}
	}
	app.was(t, 1)
	if n := int(e.metrics.collapsed.Load()); n != collapsed {
		t.Errorf("%d counted as collapsed, want %d", n, collapsed)
	}
}

// Visitors who come all at once, with nobody there first, ask once all the same.
func TestCollapseAtOnce(t *testing.T) {
	e, app := newPulling(t, says("page", "Cache-Control: max-age=60"))
	for i := range 50 {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() { e.get(fmt.Sprintf("/p%d", i)).is(t, 200, "page") })
		}
		wg.Wait()
	}
	app.was(t, 50)
}

// The visitor who began the fill leaves; the others get its page.
func TestLeaderLeaves(t *testing.T) {
	g := newGated(says("page", "Cache-Control: max-age=60"))
	e, app := newPulling(t, g.ServeHTTP)
	c := e.dial()
	io.WriteString(c, request11("GET", "/slow"))
	<-g.entered
	follower := e.begin("/slow")
	c.Close()
	close(g.release)
	follower.answer().is(t, 200, "page")
	app.was(t, 1)
}

// A failure of the origin: who is nobody in particular gets the same, the others
// go for themselves; nothing is marked.
func TestLeaderFails(t *testing.T) {
	g := newGated(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Cookie") != "" {
			says("own "+r.Header.Get("Cookie"))(w, r)
			return
		}
		w.WriteHeader(503)
	})
	e, app := newPulling(t, g.ServeHTTP, func(o *Options) { o.Limits.Connections = 200 })
	all := e.crowd(50, g, "/slow")
	var own []*pending
	for i := range 3 {
		own = append(own, e.begin("/slow", fmt.Sprintf("Cookie: s=%d", i)))
	}
	realtest.Eventually(t, "all visitors are there", func() bool { return e.open() == len(all)+len(own) })
	close(g.release)
	for _, p := range all {
		if a := p.answer(); a.StatusCode != 503 {
			t.Errorf("%d, want 503", a.StatusCode)
		}
	}
	for i, p := range own {
		p.answer().is(t, 200, fmt.Sprintf("own s=%d", i))
	}
	if n := len(app.requests()); n >= len(all)+len(own) {
		t.Errorf("the app was asked %d times by 53 visitors", n)
	}
	e.get("/p")
	if e.state.Load().store.notKeepable.Has(testKey("/p")) {
		t.Error("a failure left a mark")
	}
}

// testKey is the key of a page of the site for every host, where nothing is listed.
func testKey(target string) []byte {
	return []byte("*\x00http\x00" + testHost + "\x00" + target + "?\x00")
}

// What is known as not keepable is waited for by nobody; a request of nobody in
// particular goes out as a fill all the same, and takes the mark away.
func TestNotKeepable(t *testing.T) {
	keep, last := false, make(chan struct{})
	g := newGated(func(w http.ResponseWriter, r *http.Request) {
		if keep {
			w.Header().Set("Cache-Control", "max-age=60")
			if r.Header.Get("Cookie") == "" {
				<-last // the answers to the others would bring the mark back
			}
		}
		io.WriteString(w, r.Header.Get("Cookie"))
	})
	e, app := newPulling(t, g.ServeHTTP)
	first := e.begin("/slow")
	<-g.entered
	second := e.begin("/slow", "Cookie: s=ana")
	g.release <- struct{}{}
	first.answer().has(t, "Cache-Status", "ssiedge; fwd=uri-miss; detail=no-lifetime")
	<-g.entered // the second goes at once
	third, fourth := e.begin("/slow", "Cookie: s=bob"), e.begin("/slow")
	<-g.entered
	<-g.entered // nobody waits for it
	keep = true
	close(g.release)
	second.answer().is(t, 200, "s=ana")
	third.answer().is(t, 200, "s=bob")
	close(last)
	fourth.answer().has(t, "Cache-Status", "ssiedge; fwd=uri-miss; stored")
	app.was(t, 4)
	e.get("/slow", "Cookie: s=ana").hit(t, "memory")
}

func TestFillWait(t *testing.T) {
	g := newGated(says("page", "Cache-Control: max-age=60"))
	e, app := newPulling(t, g.ServeHTTP, withSite(func(s *Site) { s.Cache.FillWait = 10 * time.Millisecond }))
	first := e.begin("/slow")
	<-g.entered
	second := e.begin("/slow")
	<-g.entered // it did not wait for the first
	close(g.release)
	first.answer().is(t, 200, "page")
	second.answer().has(t, "Cache-Status", "ssiedge; fwd=uri-miss; detail=fill-wait")
	app.was(t, 2)
}

// A panic in the middle of a fill leaves nobody waiting.
func TestPanicInFill(t *testing.T) {
	e, app := newPulling(t, says("page", "Cache-Control: max-age=60"))
	ctx := requestByHand(e, "/p", nil)
	r := new(request)
	r.begin(e.Edge, ctx)
	if !r.admitted() || !r.hasSite() || !r.hasURL() {
		t.Fatal("the request is answered before its look-up")
	}
	r.lookup()
	flight, leader := r.state.store.flights.Join(r.keyed.key)
	if !leader || string(r.keyed.key) != string(testKey("/p")) {
		t.Fatalf("leads: %v, key %q", leader, r.keyed.key)
	}
	follower := e.begin("/p")
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		r.settings.origin = nil
		r.lead(flight)
	}()
	follower.answer().is(t, 200, "page")
	e.get("/p").is(t, 200, "page")
	if n := len(app.requests()); n > 2 {
		t.Errorf("the app was asked %d times", n)
	}
}

// What varies is waited for, and goes to those alone whom it fits.
func TestCollapseVariants(t *testing.T) {
	g := newGated(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		w.Header().Set("Vary", "Accept-Language")
		io.WriteString(w, r.Header.Get("Accept-Language"))
	})
	e, _ := newPulling(t, g.ServeHTTP)
	de := e.crowd(3, g, "/slow", "Accept-Language: de")
	en := []*pending{e.begin("/slow", "Accept-Language: en"), e.begin("/slow", "Accept-Language: en")}
	close(g.release)
	for _, p := range de {
		p.answer().is(t, 200, "de")
	}
	for _, p := range en {
		p.answer().is(t, 200, "en")
	}
}

// An unsafe method that the app took removes the pulled pages of its URL, those of
// listed cookies too, and nothing else.
func TestInvalidate(t *testing.T) {
	listed, kept := forAnHour("/listed"), forAnHour("/kept")
	listed.Cookies = &Cookies{Mode: CookiesListed, Names: []string{"lang"}}
	kept.Invalidate = ptr(false)
	e, app := newPulling(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		if r.URL.Path == "/vary" {
			w.Header().Set("Vary", "Accept-Language")
		}
		switch r.Header.Get("X-Answer") {
		case "303":
			http.Redirect(w, r, "/p", http.StatusSeeOther)
		case "422":
			w.WriteHeader(422)
		case "500":
			w.WriteHeader(500)
		}
	}, withRule(listed), withRule(kept))
	for _, test := range []struct {
		target, method string
		fields         []string
		gone           bool
	}{
		{"/p", "POST", nil, true}, {"/p/?utm_x=1", "PUT", nil, true}, {"/p", "DELETE", nil, true}, {"/p", "PATCH", nil, true},
		{"/p", "PROPPATCH", nil, true}, {"/p", "POST", []string{"X-Answer: 303"}, true},
		{"/p", "POST", []string{"X-Answer: 422"}, false}, {"/p", "POST", []string{"X-Answer: 500"}, false},
		{"/p", "OPTIONS", nil, false}, {"/p?x=1", "POST", nil, false}, {"/other", "POST", nil, false},
		{"/p", "POST", []string{"Host: other.example"}, false},
		{"/listed", "POST", nil, true}, {"/listed", "POST", []string{"Cookie: lang=fr"}, true}, {"/vary", "POST", nil, true},
		{"/kept", "POST", nil, false},
	} {
		page := "/p"
		if !strings.HasPrefix(test.target, "/p") && test.target != "/other" {
			page = test.target
		}
		fields := []string{"Cookie: lang=de", "Accept-Language: de"}
		e.get(page)
		e.get(page, "Accept-Language: de")
		e.get(page, "Cookie: lang=de")
		e.get(page, fields...)
		e.get(page, fields...).hit(t, "memory")
		e.do(test.method, test.target, test.fields...)
		before := len(app.requests())
		e.get(page, fields...)
		if gone := len(app.requests()) > before; gone != test.gone {
			t.Errorf("%s %s %q: gone: %v", test.method, test.target, test.fields, gone)
		}
	}
}

// An unsafe method while a page is being filled: it is not kept, whether others
// could have joined that fill or not.
func TestInvalidateDuringFill(t *testing.T) {
	for _, unkeepable := range []bool{false, true} {
		g := newGated(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "max-age=60")
			io.WriteString(w, "page")
		})
		e, _ := newPulling(t, g.ServeHTTP)
		if unkeepable {
			e.state.Load().store.notKeepable.Add(testKey("/slow"), time.Hour)
		}
		old := e.begin("/slow")
		<-g.entered
		e.post("POST", "/slow", "x").is(t, 200, "page")
		close(g.release)
		a := old.answer()
		a.is(t, 200, "page")
		a.has(t, "Cache-Status", "ssiedge; fwd=uri-miss; detail=invalidated")
		e.get("/slow").has(t, "Cache-Status", "ssiedge; fwd=uri-miss; stored")
	}
}

// A purge while a page is being filled, too; who comes after it joins no fill
// from before it.
func TestPurgedDuringFill(t *testing.T) {
	g := newGated(says("page", "Cache-Control: max-age=60"))
	e, app := newPulling(t, g.ServeHTTP)
	old := e.begin("/slow")
	<-g.entered
	if _, _, err := e.state.Load().store.purges.Add([]pagecache.Record{{Kind: pagecache.KindAll}}); err != nil {
		t.Fatal(err)
	}
	follower := e.begin("/slow")
	close(g.release)
	old.answer().is(t, 200, "page")
	follower.answer().is(t, 200, "page")
	e.get("/slow").is(t, 200, "page")
	e.get("/slow").hit(t, "memory")
	app.was(t, 2)
}
