package edge

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// aging is an app whose pages are older than their lifetime when they come, with
// such windows; each is numbered. After fail it answers with that status.
type aging struct {
	control string // further directives of Cache-Control
	count   atomic.Int32
	status  atomic.Int32
	cookies atomic.Value // those of the last request
	wait    chan struct{}
}

func (a *aging) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.cookies.Store(r.Header.Get("Cookie") + r.Header.Get("Authorization"))
	n := a.count.Add(1)
	if a.wait != nil && n > 1 {
		<-a.wait
	}
	if s := a.status.Load(); s != 0 {
		w.WriteHeader(int(s))
		io.WriteString(w, "failed")
		return
	}
	w.Header().Set("Age", "100")
	w.Header().Set("Cache-Control", "max-age=60, "+a.control)
	fmt.Fprintf(w, "page %d", n)
}

// A page within its window is served at once; one fill goes on behind it, without
// the visitor's cookies.
func TestStaleWhileRevalidate(t *testing.T) {
	app := &aging{control: "public, stale-while-revalidate=1000", wait: make(chan struct{})}
	e, all := newPulling(t, app.ServeHTTP)
	e.get("/p").has(t, "Cache-Status", "ssiedge; fwd=uri-miss; stored")
	for range 5 { // while the fill waits
		a := e.get("/p", "Cookie: session=ana", "Authorization: Basic YTpi")
		a.is(t, 200, "page 1")
		if s := a.Header.Get("Cache-Status"); !strings.HasPrefix(s, "ssiedge; hit; ttl=-") {
			t.Errorf("Cache-Status is %q", s)
		}
	}
	e.do("HEAD", "/p").has(t, "Content-Length", "6")
	realtest.Eventually(t, "the fill in the background", func() bool { return app.count.Load() == 2 })
	if got := app.cookies.Load(); got != "" {
		t.Errorf("the fill carried %q", got)
	}
	close(app.wait)
	realtest.Eventually(t, "the new page", func() bool { return e.get("/p").body != "page 1" })
	for _, r := range all.requests() {
		if r.Header.Get("Cookie")+r.Header.Get("Authorization") != "" {
			t.Errorf("a fill has %v", r.Header)
		}
	}
}

// The fill in the background knows a listed cookie: it is in the key.
func TestStaleWhileRevalidateListed(t *testing.T) {
	app := &aging{control: "stale-while-revalidate=1000"}
	rule := Rule{Paths: []string{"*"}, Cookies: &Cookies{Mode: CookiesListed, Names: []string{"lang"}}}
	e, _ := newPulling(t, app.ServeHTTP, withRule(rule))
	e.get("/p", "Cookie: lang=de; session=ana")
	e.get("/p", "Cookie: lang=de; session=bob").is(t, 200, "page 1")
	realtest.Eventually(t, "the fill in the background", func() bool { return app.count.Load() == 2 })
	if got := app.cookies.Load(); got != "lang=de" {
		t.Errorf("the fill carried %q", got)
	}
	if a := e.get("/p"); a.body == "page 1" || a.body == "page 2" {
		t.Errorf("who has no such cookie got %q", a.body)
	}
}

// What the fill in the background brings is kept for who has the field that the
// first visitor had, empty as it is: it is no page of those who have none.
func TestStaleWhileRevalidateEmptyField(t *testing.T) {
	for name, rule := range map[string]Rule{
		"Vary":    {Paths: []string{"*"}},
		"headers": {Paths: []string{"*"}, KeyHeaders: []string{"X-Tone"}},
	} {
		var count atomic.Int32
		e, _ := newPulling(t, func(w http.ResponseWriter, r *http.Request) {
			if len(rule.KeyHeaders) == 0 {
				w.Header().Set("Vary", "X-Tone")
			}
			w.Header().Set("Age", "100")
			w.Header().Set("Cache-Control", "max-age=60, stale-while-revalidate=1000")
			fmt.Fprintf(w, "%q %d", r.Header.Values("X-Tone"), count.Add(1))
		}, withRule(rule))
		e.get("/p").is(t, 200, `[] 1`)
		e.get("/p", "X-Tone: ").is(t, 200, `[""] 2`)
		e.get("/p", "X-Tone: ").is(t, 200, `[""] 2`)
		realtest.Eventually(t, name+": the new page", func() bool { return e.get("/p", "X-Tone: ").body != `[""] 2` })
		if a := e.get("/p"); !strings.HasPrefix(a.body, "[]") {
			t.Errorf("%s: who has no such field got %s", name, a.body)
		}
	}
}

// staleForError is the Cache-Status of a stale page that stands in for an answer
// of that status; -1: for none.
func staleForError(status int) *regexp.Regexp {
	said := ""
	if status > 0 {
		said = fmt.Sprintf("; fwd-status=%d", status)
	}
	return regexp.MustCompile("^ssiedge; fwd=stale" + said + `; ttl=-\d+; detail=stale-if-error$`)
}

func TestStaleIfError(t *testing.T) {
	for _, test := range []struct {
		control string
		status  int // of the app; -1: it hangs up
		stale   bool
	}{
		{"stale-if-error=1000", 500, true},
		{"stale-if-error=1000", 503, true},
		{"stale-if-error=1000", -1, true},
		{"stale-if-error=1000", 404, false},
		{"stale-if-error=10", 500, false},
		{"stale-if-error=1000, stale-while-revalidate=0, must-revalidate", 500, false},
	} {
		app := &aging{control: test.control}
		e, _ := newPulling(t, func(w http.ResponseWriter, r *http.Request) {
			if app.status.Load() < 0 {
				panic(http.ErrAbortHandler)
			}
			app.ServeHTTP(w, r)
		})
		e.get("/p").is(t, 200, "page 1")
		app.status.Store(int32(test.status))
		for _, fields := range [][]string{{"Cookie: a=1"}, nil} {
			a := e.get("/p", fields...)
			if stale := a.StatusCode == 200 && a.body == "page 1"; stale != test.stale {
				t.Errorf("%s, app says %d, %q: %d %q", test.control, test.status, fields, a.StatusCode, a.body)
			} else if stale && !staleForError(test.status).MatchString(a.Header.Get("Cache-Status")) {
				t.Errorf("app says %d: Cache-Status is %q", test.status, a.Header.Get("Cache-Status"))
			}
		}
	}
}

// A page that is stale says so when the origin is asked, and one that is not for
// all any more takes the old one with it.
func TestStalePageIsReplacedOrGoes(t *testing.T) {
	var private atomic.Bool
	e, _ := newPulling(t, func(w http.ResponseWriter, r *http.Request) {
		if private.Load() {
			w.Header().Set("Cache-Control", "private")
			io.WriteString(w, "private")
			return
		}
		w.Header().Set("Age", "100")
		w.Header().Set("Cache-Control", "max-age=60, stale-if-error=1000")
		io.WriteString(w, "open")
	}, withSite(func(s *Site) { s.Cache.NotKeepable = 0 }))
	e.get("/p").has(t, "Cache-Status", "ssiedge; fwd=uri-miss; stored")
	e.get("/p").has(t, "Cache-Status", "ssiedge; fwd=stale; stored")
	private.Store(true)
	e.get("/p").has(t, "Cache-Status", "ssiedge; fwd=stale; detail=private")
	e.get("/p").has(t, "Cache-Status", "ssiedge; fwd=uri-miss; detail=private")
}

// That a visitor shows who he is says nothing against a page: it stays for the
// time when the app fails.
func TestVisitorTakesNoStalePageAway(t *testing.T) {
	app := &aging{control: "stale-if-error=1000"}
	e, _ := newPulling(t, app.ServeHTTP, withSite(func(s *Site) { s.Cache.NotKeepable = time.Nanosecond }))
	e.get("/p").is(t, 200, "page 1")
	e.get("/p", "Cookie: a=1").has(t, "Cache-Status", "ssiedge; fwd=stale; detail=cookies")
	app.status.Store(500)
	e.get("/p").is(t, 200, "page 1")
}

// TestCloseGivesUpRefreshes: an app that never ends its answer does not hold up
// the end of the edge.
func TestCloseGivesUpRefreshes(t *testing.T) {
	asked := make(chan struct{})
	var count atomic.Int32
	e := newEdge(t, keepingPages(), withApp(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Age", "100")
		w.Header().Set("Cache-Control", "max-age=60, stale-while-revalidate=3600")
		io.WriteString(w, "page")
		if count.Add(1) > 1 {
			w.(http.Flusher).Flush()
			close(asked)
			<-r.Context().Done()
		}
	}))
	e.get("/p").is(t, 200, "page")
	e.get("/p").is(t, 200, "page")
	<-asked
	closed := make(chan struct{})
	go func() {
		e.Close()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(patience):
		t.Error("Close waits for the app")
	}
}
