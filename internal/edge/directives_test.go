package edge

import (
	"strings"
	"testing"
	"time"
)

func honouring() func(*Options) {
	return withSite(func(s *Site) { s.Cache.RequestDirectives = true })
}

// What a visitor's Cache-Control has done, of pages of an age of 100 seconds.
func TestRequestDirectives(t *testing.T) {
	const hit, asked, own = "ssiedge; hit; ttl=", "ssiedge; fwd=request; ", "ssiedge; fwd=stale; "
	for _, test := range []struct {
		id      string
		control string // of the page; its Age is 100
		request string // fields of the visitor's, joined by "|"
		want    string // how Cache-Status begins
	}{
		{"REQ_2", "max-age=200", "Cache-Control: max-age=600", hit},
		{"REQ_2", "max-age=200", "Cache-Control: max-age=50", asked},
		{"REQ_2", "max-age=200", "Cache-Control: max-age=0", asked},
		{"REQ_2", "max-age=200", "Cache-Control: Max-Age=\"50\"", asked},
		{"REQ_2", "max-age=200", "Cache-Control: max-age=nonsense", asked},
		{"REQ_2", "max-age=200", "Cache-Control: max-age=600, max-age=50", hit},
		{"REQ_2", "max-age=200", "Cache-Control: max-age=600|Cache-Control: no-cache", asked},
		{"REQ_3", "max-age=200", "Cache-Control: min-fresh=50", hit},
		{"REQ_3", "max-age=200", "Cache-Control: min-fresh=500", asked},
		{"REQ_4", "max-age=60", "Cache-Control: max-stale=1000", hit},
		{"REQ_4", "max-age=60", "Cache-Control: max-stale", hit},
		{"REQ_4", "max-age=60", "Cache-Control: max-stale=10", own},
		{"REQ_4", "max-age=60", "Cache-Control: max-stale=1000, max-age=50", own},
		{"REQ_4", "max-age=60", "Cache-Control: max-stale=1000, max-age=500", hit},
		{"REQ_4", "max-age=60, must-revalidate", "Cache-Control: max-stale", own},
		{"REQ_4", "max-age=60, proxy-revalidate", "Cache-Control: max-stale", own},
		{"REQ_4", "s-maxage=60", "Cache-Control: max-stale", own},
		{"REQ_4", "no-cache", "Cache-Control: max-stale", own},
		{"REQ_5", "max-age=200", "Cache-Control: no-cache", asked},
		{"REQ_6", "max-age=200", "Cache-Control: no-store", hit},
		{"REQ_7", "max-age=200", "Cache-Control: only-if-cached", hit},
		{"REQ_7", "max-age=60", "Cache-Control: only-if-cached", ""},
		{"REQ_7", "max-age=60", "Cache-Control: only-if-cached, max-stale", hit},
		{"REQ_7", "max-age=200", "Cache-Control: only-if-cached, max-age=5", ""},
		{"REQ_9", "max-age=200", "Pragma: no-cache", asked},
		{"REQ_9", "max-age=200", "Pragma: foo", hit},
		{"REQ_9", "max-age=200", "Pragma: no-cache|Cache-Control: max-age=600", hit},
		{"REQ_9", "max-age=200", "Pragma: no-cache|Cache-Control: foo", hit},
		{"REQ_10", "max-age=200", "Cache-Control: foo, bar=\"max-age=0, no-cache\", no-cachex", hit},
		{"DIR_11", "max-age=200, immutable", "Cache-Control: max-age=0", hit},
		{"DIR_11", "max-age=200, immutable", "Cache-Control: no-cache", asked},
		{"DIR_11", "max-age=60, immutable", "Cache-Control: max-age=0", own},
		{"a window", "max-age=60, stale-while-revalidate=1000", "Cache-Control: max-stale=0", hit},
		{"a window", "max-age=60, stale-while-revalidate=1000", "Cache-Control: max-age=0", own},
		{"a window", "max-age=60, stale-while-revalidate=1000", "Cache-Control: max-age=500", own},
	} {
		t.Run(test.id, func(t *testing.T) {
			for _, honoured := range []bool{true, false} {
				e, app := newScripted(t, []step{{body: "page", fields: []string{"Cache-Control: " + test.control, "Age: 100", `Etag: "a"`}}},
					withSite(func(s *Site) { s.Cache.RequestDirectives = honoured }))
				e.get("/p")
				ignored := e.get("/p").Header.Get("Cache-Status")
				a := e.get("/p", strings.Split(test.request, "|")...)
				got := a.Header.Get("Cache-Status")
				switch {
				case !honoured && kindOf(got) != kindOf(ignored):
					t.Errorf("ignored: %s, %q: %q, without it %q", test.control, test.request, got, ignored)
				case honoured && test.want == "" && (a.StatusCode != 504 || got != ""):
					t.Errorf("%s, %q: %d %q, want 504", test.control, test.request, a.StatusCode, got)
				case honoured && test.want != "" && (a.StatusCode != 200 || !strings.HasPrefix(got, test.want)):
					t.Errorf("%s, %q: %d %q, want %q", test.control, test.request, a.StatusCode, got, test.want)
				case honoured && test.want == asked:
					app.has(t, len(app.requests())-1, "If-None-Match", `"a"`)
				}
			}
		})
	}
}

// kindOf is a Cache-Status without its numbers.
func kindOf(status string) string {
	return strings.Map(func(c rune) rune {
		if c >= '0' && c <= '9' {
			return -1
		}
		return c
	}, status)
}

// no-store: nothing of the answer is kept, and nobody waits for it.
func TestRequestNoStore(t *testing.T) {
	e, app := newScripted(t, []step{{body: "page", fields: []string{"Cache-Control: max-age=60"}}}, honouring())
	e.get("/p", "Cache-Control: no-store").has(t, "Cache-Status", "ssiedge; fwd=uri-miss; detail=request")
	e.get("/p").has(t, "Cache-Status", "ssiedge; fwd=uri-miss; stored")
	e.get("/p", "Cache-Control: no-store").hit(t, "memory")
	app.was(t, 2)
}

// Who insists on the app does not get what was asked for another (COL-6), and his
// answer is kept for all.
func TestRequestNoCacheAsksAlone(t *testing.T) {
	gate := newGated((&script{steps: []step{
		{body: "one", fields: []string{"Cache-Control: max-age=60"}}, {body: "two", fields: []string{"Cache-Control: max-age=60"}},
	}}).ServeHTTP)
	e, _ := newPulling(t, gate.ServeHTTP, honouring())
	first := e.begin("/slow")
	<-gate.entered
	insists := e.begin("/slow", "Cache-Control: no-cache")
	<-gate.entered // without waiting for the first
	close(gate.release)
	bodies := []string{first.answer().body, insists.answer().body}
	if bodies[0] == bodies[1] {
		t.Errorf("both got %q", bodies)
	}
	e.get("/slow").hit(t, "memory")
}

// stale-if-error of a visitor (RFC 5861, section 4) opens a window that the page
// does not forbid.
func TestRequestStaleIfError(t *testing.T) {
	for _, test := range []struct {
		control, request string
		want             int
	}{
		{"max-age=60", "stale-if-error=1000", 200},
		{"max-age=60", "stale-if-error=5", 503},
		{"max-age=60", "foo", 503},
		{"max-age=60, must-revalidate", "stale-if-error=1000", 503},
	} {
		e, _ := newScripted(t, []step{
			{body: "page", fields: []string{"Cache-Control: " + test.control, "Age: 100", `Etag: "a"`}}, {status: 503, body: "down"},
		}, honouring(), withSite(func(s *Site) { s.Cache.StaleIfError = 0 }))
		e.get("/p")
		if a := e.get("/p", "Cache-Control: "+test.request); a.StatusCode != test.want {
			t.Errorf("%s, %s: %d, want %d", test.control, test.request, a.StatusCode, test.want)
		}
	}
}

// What is published is always of now.
func TestRequestDirectivesOfPublishedPages(t *testing.T) {
	e, app := newScripted(t, []step{{body: "app"}}, honouring(), withFiles(t, map[string]string{"a.html": "file"}))
	for _, control := range []string{"no-cache", "max-age=0", "only-if-cached", "no-store"} {
		e.get("/a", "Cache-Control: "+control).is(t, 200, "file")
	}
	e.get("/b", "Cache-Control: only-if-cached").has(t, "Cache-Control", "no-store")
	app.was(t, 0)
}

func TestExplainRequestDirectives(t *testing.T) {
	e, _ := newScripted(t, []step{{body: "page", fields: []string{"Cache-Control: max-age=200", "Age: 100", `Etag: "a"`}}}, honouring(),
		withSite(func(s *Site) { s.Cache.NotKeepable = time.Minute }))
	e.get("/p")
	for _, test := range []struct {
		control, by, asked, why string
	}{
		{"foo", "memory", "no", "fresh for"},
		{"no-cache", "origin", "fill", "the request's Cache-Control has the origin asked"},
		{"only-if-cached, max-age=1", "nobody", "no", "only-if-cached"},
		{"no-store, max-age=1", "origin", "forward", "no-store"},
	} {
		x := e.explained("/p", "Cache-Control: "+test.control)
		if x.Answer.By != test.by || x.Origin.Asked != test.asked || !strings.Contains(x.Answer.Why, test.why) {
			t.Errorf("%s: %+v, origin asked: %s", test.control, x.Answer, x.Origin.Asked)
		}
	}
	e.purged(PurgeCall{URLs: []string{"/p"}, Soft: true})
	if x := e.explained("/p", "Cache-Control: max-stale"); x.Answer.By != "memory" || !x.Answer.Stale {
		t.Errorf("max-stale: %+v", x.Answer)
	}
}

// only-if-cached is never forwarded, also where nothing is kept at all.
func TestRequestOnlyIfCachedKeepsNothing(t *testing.T) {
	e, app := newScripted(t, []step{{body: "app"}}, honouring(), withRule(Rule{Paths: []string{"*"}, Cache: &Lifetime{Off: true}}))
	if a := e.get("/p", "Cache-Control: only-if-cached"); a.StatusCode != 504 {
		t.Errorf("%d, want 504", a.StatusCode)
	}
	app.was(t, 0)
	e.get("/p", "Cache-Control: no-cache").is(t, 200, "app")
}

// Immutable may stand in a line of its own.
func TestImmutableInASecondLine(t *testing.T) {
	e, app := newScripted(t, []step{{body: "page", fields: []string{"Cache-Control: max-age=200", "Cache-Control: immutable", `Etag: "a"`}}},
		withSite(func(s *Site) { s.Cache.RequestDirectives = true }))
	e.get("/p")
	e.get("/p", "Cache-Control: max-age=0").is(t, 200, "page")
	app.was(t, 1)
}
