package edge

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ssiedge/ssiedge/pagecache"
)

// step is one answer of a scripted app.
type step struct {
	status int // 0: 200
	fields []string
	body   string
}

// script is an app that gives its answers in turn, the last one again and again.
type script struct {
	mu    sync.Mutex
	steps []step
}

func (s *script) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	next := s.steps[0]
	if len(s.steps) > 1 {
		s.steps = s.steps[1:]
	}
	s.mu.Unlock()
	for _, f := range next.fields {
		name, value, _ := strings.Cut(f, ": ")
		w.Header().Add(name, value)
	}
	if next.status != 0 {
		w.WriteHeader(next.status)
	}
	io.WriteString(w, next.body)
}

// newScripted starts an edge that pulls pages before an app with a script.
func newScripted(t testing.TB, steps []step, changes ...func(*Options)) (*testEdge, *tally) {
	t.Helper()
	return newPulling(t, (&script{steps: steps}).ServeHTTP, changes...)
}

// has fails the test unless the app's n-th request has that field in one
// line; "": not at all.
func (a *tally) has(t testing.TB, n int, name, want string) {
	t.Helper()
	all := a.requests()
	if n >= len(all) {
		t.Fatalf("the app was asked %d times, want %d", len(all), n+1)
	}
	got := all[n].Header.Values(name)
	if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || got[0] != want) {
		t.Errorf("request %d: %s is %q, want %q", n, name, got, want)
	}
}

const lastYear = "Sun, 30 Nov 2025 12:00:00 GMT"

// stalePage is an answer whose lifetime is over when it comes.
func stalePage(body string, fields ...string) step {
	return step{body: body, fields: append([]string{"Cache-Control: max-age=60", "Age: 100"}, fields...)}
}

func unchanged(fields ...string) step { return step{status: 304, fields: fields} }

// The validators go out byte for byte, the visitor's own stay behind, and a 304
// makes the page fresh for everybody, with the fields that it brings.
func TestValidation(t *testing.T) {
	for _, test := range []struct{ tag, modified string }{
		{`"a,b"`, ""}, {`W/"a"`, ""}, {`a`, ""}, {"", lastYear}, {`"a"`, lastYear}, {"", "Sunday, 30-Nov-25 12:00:00 GMT"},
	} {
		var validators []string
		if test.tag != "" {
			validators = append(validators, "Etag: "+test.tag)
		}
		if test.modified != "" {
			validators = append(validators, "Last-Modified: "+test.modified)
		}
		e, app := newScripted(t, []step{
			stalePage("page", append(validators, "X-Old: 1", "X-New: 1")...),
			unchanged(append(validators, "X-New: 2", "Content-Length: 99")...),
		})
		e.get("/p").has(t, "Cache-Status", "ssiedge; fwd=uri-miss; stored; detail=expired")
		a := e.get("/p", `If-None-Match: "mine"`, "If-Match: ", "Range: bytes=0-1", `If-Range: "x"`)
		a.has(t, "Cache-Status", "ssiedge; fwd=stale; fwd-status=304; stored")
		app.has(t, 1, "If-None-Match", test.tag)
		app.has(t, 1, "If-Modified-Since", test.modified)
		app.has(t, 1, "Range", "")
		app.has(t, 1, "If-Range", "")
		hit := e.get("/p")
		hit.is(t, 200, "page")
		hit.hit(t, "memory")
		for _, a := range []*answer{a, hit} {
			a.has(t, "X-Old", "1")
			a.has(t, "X-New", "2")
			a.has(t, "Via", "1.1 ssiedge")
		}
		app.was(t, 2)
	}
}

// Conditions of the visitor are held against the page that a 304 renewed.
func TestValidationForConditions(t *testing.T) {
	e, app := newScripted(t, []step{stalePage("page", `Etag: "a"`), unchanged(`Etag: "a"`, "Age: 100")})
	e.get("/p")
	a := e.get("/p", `If-None-Match: "b", "a"`)
	a.is(t, 304, "")
	a.has(t, "Cache-Status", "ssiedge; fwd=stale; stored; detail=expired")
	e.get("/p", `If-None-Match: "b"`).is(t, 200, "page")
	part := e.get("/p", "Range: bytes=1-2")
	part.is(t, 206, "ag")
	part.has(t, "Cache-Status", "ssiedge; fwd=stale; fwd-status=304; stored; detail=expired")
	app.was(t, 4)
}

// A full answer takes the old page's place; a failure does not.
func TestValidationWithAnotherAnswer(t *testing.T) {
	e, app := newScripted(t, []step{
		stalePage("old", `Etag: "a"`), {status: 503, body: "down"}, stalePage("new", `Etag: "b"`), unchanged(`Etag: "b"`),
	})
	e.get("/p").is(t, 200, "old")
	if s := e.get("/p").Header.Get("Cache-Status"); !staleForError(503).MatchString(s) {
		t.Errorf("Cache-Status is %q", s)
	}
	e.get("/p").is(t, 200, "new")
	e.get("/p").is(t, 200, "new")
	app.has(t, 2, "If-None-Match", `"a"`)
	app.has(t, 3, "If-None-Match", `"b"`)
}

// A 304 about none of the pages that were asked about is no answer for whoever
// asked without conditions: the app is asked again.
func TestValidationOfAnother(t *testing.T) {
	e, app := newScripted(t, []step{stalePage("old", `Etag: "a"`), unchanged(`Etag: "b"`), stalePage("new", `Etag: "b"`)})
	e.get("/p")
	e.get("/p").is(t, 200, "new")
	app.has(t, 1, "If-None-Match", `"a"`)
	app.has(t, 2, "If-None-Match", "")
	app.was(t, 3)
}

// no-cache: kept, and asked about each time, by each visitor for himself; the
// page is not written again while nothing changes.
func TestValidationEachTime(t *testing.T) {
	gate := newGated((&script{steps: []step{
		{body: "page", fields: []string{"Cache-Control: no-cache, stale-while-revalidate=100", `Etag: "a"`}}, unchanged(`Etag: "a"`),
	}}).ServeHTTP)
	e, _ := newPulling(t, gate.ServeHTTP)
	first := e.begin("/slow")
	<-gate.entered
	waiting := e.begin("/slow") // joins the first, and is not given its answer
	gate.release <- struct{}{}
	first.answer().has(t, "Cache-Status", "ssiedge; fwd=uri-miss; stored; detail=no-cache")
	<-gate.entered
	gate.release <- struct{}{}
	waiting.answer()

	kept := e.keptPage("/slow")
	all := []*pending{e.begin("/slow"), e.begin("/slow"), e.begin("/slow")}
	for range all { // all of them are at the app at once
		<-gate.entered
	}
	close(gate.release)
	for _, p := range all {
		a := p.answer()
		a.is(t, 200, "page")
		a.has(t, "Cache-Status", "ssiedge; fwd=stale; fwd-status=304; stored; detail=no-cache")
	}
	if e.keptPage("/slow") != kept {
		t.Error("a page that did not change was put again")
	}
}

// keptPage is the page of a path in memory.
func (e *testEdge) keptPage(path string) *pagecache.Page {
	e.t.Helper()
	var found *pagecache.Page
	e.state.Load().store.pulled.Each(func(key []byte, p *pagecache.Page) {
		if u := keyURL(key); string(u.Path) == path {
			found = p
		}
	})
	if found == nil {
		e.t.Fatalf("no page of %s is kept", path)
	}
	return found
}

// A page that no use may do without validation, and that the app then refuses to
// have kept, goes.
func TestValidationEndsKeeping(t *testing.T) {
	for _, control := range []string{"no-store", "private", "max-age=60, no-store"} {
		e, app := newScripted(t, []step{stalePage("page", `Etag: "a"`), unchanged(`Etag: "a"`, "Cache-Control: "+control), stalePage("new")},
			withSite(func(s *Site) { s.Cache.NotKeepable = 0 }))
		e.get("/p")
		a := e.get("/p")
		a.is(t, 200, "page")
		if s := a.Header.Get("Cache-Status"); !strings.HasPrefix(s, "ssiedge; fwd=stale; fwd-status=304; detail=") {
			t.Errorf("%s: Cache-Status is %q", control, s)
		}
		e.get("/p").is(t, 200, "new")
		app.has(t, 2, "If-None-Match", "")
	}
}

// That is so, too, where a visitor's cookies have had the key marked before.
func TestValidationEndsKeepingAfterCookies(t *testing.T) {
	e, app := newScripted(t, []step{
		stalePage("page", `Etag: "a"`), unchanged(`Etag: "a"`),
		{body: "new", fields: []string{"Cache-Control: private"}}, {status: 503, body: "down"},
	})
	e.get("/p")
	e.get("/p", "Cookie: session=ana").is(t, 200, "page")
	e.get("/p").is(t, 200, "new")
	app.has(t, 2, "If-None-Match", `"a"`)
	e.get("/p").is(t, 503, "down")
}

// A 304 to a request whose cookies the key does not know is that visitor's: it
// makes the page fresh for nobody, and takes it away from nobody.
func TestValidationWithCookies(t *testing.T) {
	e, app := newScripted(t, []step{
		{body: "page", fields: []string{"Cache-Control: max-age=0", `Etag: "a"`}},
		unchanged(`Etag: "a"`, "Cache-Control: max-age=60", "X-User: ana"),
	}, withSite(func(s *Site) { s.Cache.NotKeepable = time.Nanosecond }))
	e.get("/p")
	for _, fields := range [][]string{{"Cookie: session=ana"}, {"Authorization: Basic YTpi"}} {
		a := e.get("/p", fields...)
		a.is(t, 200, "page")
		a.has(t, "X-User", "ana")
		if s := a.Header.Get("Cache-Status"); !strings.HasPrefix(s, "ssiedge; fwd=stale; fwd-status=304; detail=") {
			t.Errorf("%q: Cache-Status is %q", fields, s)
		}
	}
	a := e.get("/p")
	a.is(t, 200, "page")
	a.has(t, "Cache-Status", "ssiedge; fwd=stale; fwd-status=304; stored")
	app.has(t, 3, "If-None-Match", `"a"`)
	e.get("/p").hit(t, "memory")
}

// Cookies in a 304 are for the visitor who asked (COO-3), if the page may be kept
// at all then.
func TestValidationSetsCookies(t *testing.T) {
	strip := withSite(func(s *Site) { s.Cache.SetCookie.Strip = true })
	keep := withSite(func(s *Site) { s.Cache.SetCookie.Keep = []string{"*"} })
	for name, test := range map[string]struct {
		change func(*Options)
		hit    bool
		later  string // what the next visitor gets
	}{
		"refuse": {func(*Options) {}, false, ""},
		"strip":  {strip, true, ""},
		"keep":   {keep, true, "a=2"},
	} {
		e, _ := newScripted(t, []step{
			stalePage("page", `Etag: "a"`), unchanged(`Etag: "a"`, "Set-Cookie: a=2"), stalePage("new", `Etag: "b"`),
		}, test.change)
		e.get("/p")
		a := e.get("/p")
		a.is(t, 200, "page")
		a.has(t, "Set-Cookie", "a=2")
		a = e.get("/p")
		a.has(t, "Set-Cookie", test.later)
		if (a.body == "page") != test.hit {
			t.Errorf("%s: the next visitor has %q, %q", name, a.body, a.Header.Get("Cache-Status"))
		}
	}
}

// Where the visitor's cookies were withheld, a 304 that may not be kept is not
// his: his request goes again as he sent it.
func TestValidationWithheld(t *testing.T) {
	e, app := newScripted(t, []step{
		{body: "page", fields: []string{"Age: 3600", `Etag: "a"`}}, unchanged(`Etag: "a"`, "Set-Cookie: a=2"), {body: "ana's", fields: []string{"Cache-Control: private"}},
	}, withRule(forAnHour("*")), withSite(func(s *Site) { s.Cache.SoftWindow = 0 }))
	e.get("/p")
	e.purged(PurgeCall{URLs: []string{"/p"}, Soft: true})
	a := e.get("/p", "Cookie: session=ana")
	a.is(t, 200, "ana's")
	a.has(t, "Set-Cookie", "")
	app.has(t, 1, "Cookie", "")
	app.has(t, 2, "Cookie", "session=ana")
}

// keptKey is the key of a path's page in memory.
func (e *testEdge) keptKey(path string) (found []byte) {
	e.state.Load().store.pulled.Each(func(key []byte, p *pagecache.Page) {
		if u := keyURL(key); string(u.Path) == path {
			found = key
		}
	})
	return found
}

// explain tells what would be asked about a page, and why.
func TestExplainValidation(t *testing.T) {
	e, app := newScripted(t, []step{stalePage("page", `Etag: "a"`, "Last-Modified: "+lastYear)})
	e.get("/p")
	x := e.explained("/p")
	for _, field := range []string{`If-None-Match: "a"`, "If-Modified-Since: " + lastYear} {
		if !slices.Contains(x.Origin.Fields, field) {
			t.Errorf("the app would get %q, want %s", x.Origin.Fields, field)
		}
	}
	if x.Answer.By != "origin" || x.Origin.Asked != "fill" || !strings.Contains(x.Answer.Why, "each use to be validated") {
		t.Errorf("%+v, asked: %s", x.Answer, x.Origin.Asked)
	}
	for _, r := range x.Origin.Replies {
		if r.Reply == "200, Cache-Control: no-cache, with ETag" && (!r.Kept || r.Validate != "no-cache" || r.TTL != 0) {
			t.Errorf("%+v", r)
		}
	}
	app.was(t, 1)
}
