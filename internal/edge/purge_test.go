package edge

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ssiedge/ssiedge/internal/realtest"
	"github.com/ssiedge/ssiedge/origin"
	"github.com/ssiedge/ssiedge/pagecache"
)

// counting is an app whose every answer is another, and may be kept.
type counting struct{ asked atomic.Int64 }

func (a *counting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "max-age=600")
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, "%s%s %d", r.Host, r.URL.RequestURI(), a.asked.Add(1))
}

// withKeeping says that the pages of the first site are kept.
func withKeeping() func(*Options) {
	return withSite(func(s *Site) {
		s.Cache.FillWait, s.Cache.SoftWindow, s.Cache.NotKeepable = patience, time.Hour, time.Minute
	})
}

// newPurged starts an edge over an app that counts.
func newPurged(t testing.TB, changes ...func(*Options)) (*testEdge, *counting) {
	t.Helper()
	app := new(counting)
	return newEdge(t, append([]func(*Options){withKeeping(), withApp(t, app.ServeHTTP)}, changes...)...), app
}

// purged purges, and fails the test where that cannot be done.
func (e *testEdge) purged(c PurgeCall) PurgeResult {
	e.t.Helper()
	res, err := e.Purge(c)
	if err != nil {
		e.t.Fatalf("purge %+v: %v", c, err)
	}
	return res
}

// visit asks for /path or http(s)://host/path as a visitor does, and gives the body.
func (e *testEdge) visit(url string) string {
	e.t.Helper()
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		return e.get(url).body
	}
	host, path, _ := strings.Cut(rest, "/")
	return e.get("/"+path, "Host: "+host, "X-Forwarded-Proto: "+scheme).body
}

func TestPurgeURL(t *testing.T) {
	tests := []struct {
		purge string
		hits  []string
		stays []string
	}{
		{"/page", []string{"/page", "/page?a=1", "http://other.example/page"}, []string{"/pages", "/page/x", "/"}},
		{"/page/", []string{"/page", "/page?a=1"}, []string{"/page/x"}}, // what was stored without its slash
		{"/x/../%70age//?utm_source=1", []string{"/page", "/page?a=1"}, nil},
		{"/page?a=1", []string{"/page?a=1", "/page?a=1&utm_source=2"}, []string{"/page", "/page?a=2", "/page?a=1&b=1"}},
		{"http://www.example.com/page", []string{"/page", "https://www.example.com/page"}, []string{"http://other.example/page", "http://www.example.com:81/page"}},
		{"HTTPS://WWW.example.com:443/page", []string{"/page", "https://www.example.com/page"}, []string{"http://other.example/page"}},
		{"http://www.example.com:81/page", []string{"http://www.example.com:81/page"}, []string{"/page"}},
		{"http://www.example.com/page?a=1", []string{"/page?a=1"}, []string{"/page", "http://other.example/page?a=1"}},
		{"/caf%c3%a9", []string{"/caf%C3%A9"}, []string{"/page"}},
	}
	for _, test := range tests {
		t.Run(test.purge, func(t *testing.T) {
			e, _ := newPurged(t, withTrust("127.0.0.0/8"))
			before := map[string]string{}
			for _, url := range append(append([]string(nil), test.hits...), test.stays...) {
				before[url] = e.visit(url)
				if again := e.visit(url); again != before[url] {
					t.Fatalf("%s is not kept: %q, then %q", url, before[url], again)
				}
			}
			res := e.purged(PurgeCall{URLs: []string{test.purge}})
			if res.ID == "" || res.Seq != 1 || res.Left != nil {
				t.Errorf("%+v, want an id, the number 1, nothing left", res)
			}
			for _, url := range test.hits {
				if e.visit(url) == before[url] {
					t.Errorf("%s is still answered with %q", url, before[url])
				}
			}
			for _, url := range test.stays {
				if got := e.visit(url); got != before[url] {
					t.Errorf("%s is %q, want what was kept: %q", url, got, before[url])
				}
			}
		})
	}
}

// An include's query is not filtered; a purge by the URL that the page wrote
// reaches it all the same.
func TestPurgeIncludeWithDroppedParameter(t *testing.T) {
	app := new(counting)
	e := newEdge(t, withKeeping(), withFiles(t, map[string]string{"p.shtml": `<!--#include virtual="/f?a=1&utm_source=2" -->`}),
		withApp(t, app.ServeHTTP))
	first := e.get("/p.shtml").body
	if again := e.get("/p.shtml").body; again != first {
		t.Fatalf("the fragment is not kept: %q, then %q", first, again)
	}
	if res := e.purged(PurgeCall{URLs: []string{"/f?a=1&utm_source=2"}}); res.Matched["memory"] != 1 {
		t.Errorf("matched %v, want 1", res.Matched)
	}
	if again := e.get("/p.shtml").body; again == first {
		t.Errorf("the fragment is still %q", first)
	}
}

func TestPurgeKeepsSlashApart(t *testing.T) {
	e, _ := newPurged(t, withSite(func(s *Site) { s.TrailingSlash = KeepSlash }))
	with, without := e.visit("/page/"), e.visit("/page")
	e.purged(PurgeCall{URLs: []string{"/page/"}})
	if e.visit("/page/") == with {
		t.Error("/page/ is not purged")
	}
	if e.visit("/page") != without {
		t.Error("/page is purged, want only /page/")
	}
}

// twoSites are a site of hosts, and one of every other.
func twoSites(t testing.TB) *testEdge {
	t.Helper()
	app := newApp(t, new(counting).ServeHTTP)
	return newEdge(t, func(o *Options) {
		o.Sites = []Site{testSite(), testSite()}
		o.Sites[0].Hosts = []string{"a.example", "*.b.example"}
		for i := range o.Sites {
			s := &o.Sites[i]
			s.Cache.FillWait, s.Cache.SoftWindow = patience, time.Hour
			s.Origin = &origin.Options{Name: "app", Servers: []string{app}, Timeout: patience, Idle: patience}
		}
		o.Sites[1].Query = QueryFilter{Mode: QueryAll}
	})
}

func TestPurgeSites(t *testing.T) {
	urls := []string{"http://a.example/p", "http://x.b.example/p", "http://a.example/q", "http://c.example/p", "http://c.example/q"}
	tests := []struct {
		call    PurgeCall
		hits    string // of urls, one digit each
		matched map[string]int
	}{
		{PurgeCall{All: true}, "01234", nil},
		{PurgeCall{All: true, Count: true}, "01234", map[string]int{"memory": 5}},
		{PurgeCall{All: true, Site: "A.example:8080"}, "012", nil},
		{PurgeCall{All: true, Site: "y.b.example", Count: true}, "012", map[string]int{"memory": 3}},
		{PurgeCall{All: true, Site: "any.example"}, "34", nil},
		{PurgeCall{URLs: []string{"/p"}}, "013", map[string]int{"memory": 3}},
		{PurgeCall{URLs: []string{"/p"}, Site: "a.example"}, "01", map[string]int{"memory": 2}},
		{PurgeCall{URLs: []string{"/p"}, Site: "c.example"}, "3", map[string]int{"memory": 1}},
		{PurgeCall{URLs: []string{"http://a.example/p", "/q"}}, "024", map[string]int{"memory": 3}},
		{PurgeCall{URLs: []string{"/none"}}, "", map[string]int{"memory": 0}},
		{PurgeCall{All: true, URLs: []string{"/p"}, Site: "c.example"}, "34", map[string]int{"memory": 2}},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%+v", test.call), func(t *testing.T) {
			e := twoSites(t)
			var before []string
			for _, url := range urls {
				before = append(before, e.visit(url))
			}
			dry := test.call
			dry.DryRun = true
			if res := e.purged(dry); res.ID != "" || res.Seq != 0 || res.Matched["memory"] != len(test.hits) {
				t.Errorf("dry run: %+v, want no id, number 0, %d matched", res, len(test.hits))
			}
			for i, url := range urls {
				if e.visit(url) != before[i] {
					t.Errorf("a dry run purges %s", url)
				}
			}
			if res := e.purged(test.call); fmt.Sprint(res.Matched) != fmt.Sprint(test.matched) || (res.Matched == nil) != (test.matched == nil) {
				t.Errorf("matched %v, want %v", res.Matched, test.matched)
			}
			if again := e.purged(dry); again.Matched["memory"] != 0 {
				t.Errorf("matched %v of pages that are purged already", again.Matched)
			}
			for i, url := range urls {
				hit := strings.Contains(test.hits, itoa(i))
				if got := e.visit(url) != before[i]; got != hit {
					t.Errorf("%s is purged: %v, want %v", url, got, hit)
				}
			}
		})
	}
}

func TestPurgeBadCalls(t *testing.T) {
	e, _ := newPurged(t, withSite(func(s *Site) { s.Hosts = []string{"a.example"} }), func(o *Options) {
		other := testSite()
		other.Hosts = []string{"b.example"}
		o.Sites = append(o.Sites, other)
	})
	kept := e.visit("http://a.example/p")
	for _, c := range []PurgeCall{
		{},
		{Site: "a.example"},
		{All: true, Site: "c.example"},
		{All: true, Site: "a b"},
		{URLs: []string{"page"}},
		{URLs: []string{""}},
		{URLs: []string{"ftp://a.example/p"}},
		{URLs: []string{"http://a.example"}},
		{URLs: []string{"http://a.example?x"}},
		{URLs: []string{"http:///p"}},
		{URLs: []string{"http://user@a.example/p"}},
		{URLs: []string{"http://c.example/p"}},
		{URLs: []string{"http://b.example/p"}, Site: "a.example"},
		{URLs: []string{"/p", "/%00"}},
		{URLs: []string{"/p", "/%zz"}},
		{URLs: []string{"/p#x"}},
		{URLs: []string{"/p", "/../x"}},
		{URLs: []string{"/p", "/" + strings.Repeat("x", 65<<10)}},
		{URLs: []string{"/p", "/" + strings.Repeat("x", 65<<10)}, DryRun: true},
	} {
		_, err := e.Purge(c)
		if bad, ok := errors.AsType[*BadPurge](err); !ok || bad.Reason == "" || bad.Cure == "" {
			t.Errorf("%.100s: %v, want a reason and a cure", fmt.Sprintf("%+v", c), err)
		}
	}
	if e.visit("http://a.example/p") != kept {
		t.Error("a bad call purges")
	}
}

func TestPurgeNotRecorded(t *testing.T) {
	e, _ := newPurged(t)
	kept := e.visit("/p")
	e.state.Load().store.journal.Close()
	_, err := e.Purge(PurgeCall{URLs: []string{"/p"}})
	if _, bad := errors.AsType[*BadPurge](err); err == nil || bad {
		t.Errorf("%v, want an error that is not the caller's", err)
	}
	if e.visit("/p") != kept {
		t.Error("what could not be recorded purges all the same")
	}
	if done, failed := e.metrics.purges.Load(), e.metrics.purgesFailed.Load(); done != 0 || failed != 1 {
		t.Errorf("%d purges done, %d failed, want 0 and 1", done, failed)
	}
}

func TestPurgeSoft(t *testing.T) {
	release := make(chan struct{})
	asked := make(chan struct{}, 10)
	var n atomic.Int64
	e := newEdge(t, withKeeping(), withApp(t, func(w http.ResponseWriter, r *http.Request) {
		i := n.Add(1)
		asked <- struct{}{}
		if i > 1 {
			<-release
		}
		w.Header().Set("Cache-Control", "max-age=600")
		fmt.Fprintf(w, "answer %d", i)
	}))
	e.get("/p").is(t, 200, "answer 1")
	<-asked
	if res := e.purged(PurgeCall{URLs: []string{"/p"}, Soft: true}); res.Matched["memory"] != 1 {
		t.Errorf("matched %v, want 1", res.Matched)
	}
	if res := e.purged(PurgeCall{URLs: []string{"/p"}, Soft: true, DryRun: true}); res.Matched["memory"] != 0 {
		t.Errorf("matched %v of what is expired already", res.Matched)
	}
	if res := e.purged(PurgeCall{URLs: []string{"/p"}, DryRun: true}); res.Matched["memory"] != 1 {
		t.Errorf("matched %v of an expired page, which a hard purge would hit", res.Matched)
	}
	for range 5 {
		e.get("/p").is(t, 200, "answer 1")
	}
	<-asked // one fill runs
	close(release)
	realtest.Eventually(t, "the fill ends", func() bool { return e.get("/p").body == "answer 2" })
	if got := n.Load(); got != 2 {
		t.Errorf("the app was asked %d times, want 2", got)
	}
	e.purged(PurgeCall{URLs: []string{"/p"}})
	e.get("/p").is(t, 200, "answer 3")
}

func TestPurgeDuringFill(t *testing.T) {
	for _, soft := range []bool{false, true} {
		t.Run(fmt.Sprintf("soft %v", soft), func(t *testing.T) { purgeDuringFill(t, soft) })
	}
}

// purgeDuringFill purges a page while it is filled and somebody waits for it.
func purgeDuringFill(t *testing.T, soft bool) {
	asked, release := make(chan int64, 10), make(chan struct{})
	var n atomic.Int64
	e := newEdge(t, withKeeping(), withApp(t, func(w http.ResponseWriter, r *http.Request) {
		i := n.Add(1)
		asked <- i
		if i == 1 {
			<-release
		}
		w.Header().Set("Cache-Control", "max-age=600")
		fmt.Fprintf(w, "answer %d", i)
	}))
	answers := make(chan string, 2)
	get := func() { answers <- e.get("/p").body }
	go get()
	<-asked
	flight, ok := e.flightOf("/p")
	if !ok {
		t.Fatal("no fill is under way")
	}
	e.purged(PurgeCall{URLs: []string{"/p"}, Soft: soft})
	if flight.Valid() {
		t.Error("the fill is still valid after the purge")
	}
	e.get("/p").is(t, 200, "answer 2") // does not wait for the old one
	close(release)
	if got := <-answers; got != "answer 1" {
		t.Errorf("who asked before the purge got %q", got)
	}
	e.get("/p").is(t, 200, "answer 2") // the old one did not take its place
}

// flightOf finds a fill of a path that may be joined.
func (e *testEdge) flightOf(path string) (*pagecache.Flight, bool) {
	return e.state.Load().store.flights.Peek([]byte("*\x00http\x00" + testHost + "\x00" + path + "?\x00"))
}

func TestPurgeDuringFillWaitersAskAnew(t *testing.T) {
	asked, release := make(chan int64, 10), make(chan struct{})
	var n atomic.Int64
	e := newEdge(t, withKeeping(), withApp(t, func(w http.ResponseWriter, r *http.Request) {
		i := n.Add(1)
		asked <- i
		if i == 1 {
			<-release
		}
		w.Header().Set("Cache-Control", "max-age=600")
		fmt.Fprintf(w, "answer %d", i)
	}))
	leader, waiters := make(chan string, 1), make(chan string, 3)
	go func() { leader <- e.get("/p").body }()
	<-asked
	for range 3 {
		go func() { waiters <- e.get("/p").body }()
	}
	realtest.Eventually(t, "three wait", func() bool { return e.open() == 4 })
	e.purged(PurgeCall{All: true})
	close(release)
	if got := <-leader; got != "answer 1" {
		t.Errorf("who asked first got %q", got)
	}
	for range 3 {
		if got := <-waiters; got != "answer 2" {
			t.Errorf("one who waited got %q, want what was asked after the purge", got)
		}
	}
	if got := n.Load(); got != 2 {
		t.Errorf("the app was asked %d times, want 2", got)
	}
}

func TestPurgeOutlivesRestart(t *testing.T) {
	m := realtest.Memcached(t)
	state := t.TempDir()
	app := new(counting)
	url := newApp(t, app.ServeHTTP)
	start := func(t *testing.T) *testEdge {
		return newEdge(t, withKeeping(), withOrigin(url), func(o *Options) {
			o.State = state
			o.Memcache = &pagecache.MemcacheOptions{Servers: []string{m.Addr}, Timeout: 5 * time.Second}
		})
	}
	var purged, kept string
	t.Run("first", func(t *testing.T) {
		e := start(t)
		purged, kept = e.visit("/purged"), e.visit("/kept")
		e.purged(PurgeCall{URLs: []string{"/purged"}})
	})
	t.Run("second", func(t *testing.T) {
		e := start(t)
		a := e.get("/kept")
		a.is(t, 200, kept)
		if got := a.Header.Get("Cache-Status"); !strings.Contains(got, "detail=memcache") {
			t.Errorf("Cache-Status is %q, want a page from memcached", got)
		}
		if got := e.visit("/purged"); got == purged {
			t.Errorf("/purged is still %q after a restart", got)
		}
		if res := e.purged(PurgeCall{All: true}); res.Seq != 2 {
			t.Errorf("the second purge has the number %d, want 2", res.Seq)
		}
		if got := e.visit("/kept"); got == kept {
			t.Errorf("/kept is still %q", got)
		}
	})
}

func TestPurgeAfterReload(t *testing.T) {
	e, _ := newPurged(t)
	kept := e.visit("/p")
	e.options.Memory *= 2 // other tiers
	if err := e.Reload(e.options); err != nil {
		t.Fatal(err)
	}
	if got := e.visit("/p"); got == kept {
		t.Fatal("memory is the same after a reload, the test is about another one")
	}
	kept = e.visit("/p")
	e.purged(PurgeCall{URLs: []string{"/p"}})
	if e.visit("/p") == kept {
		t.Error("a page of the memory after a reload is not purged")
	}
}

func TestSiteID(t *testing.T) {
	many := make([]string, 100)
	for i := range many {
		many[i] = fmt.Sprintf("host-%d.example.com", i)
	}
	ids := map[string]bool{}
	for _, hosts := range [][]string{nil, {"a.example"}, {"a.example", "b.example"}, many, many[1:]} {
		id := siteID(hosts)
		if id == "" || len(id) > longestSiteID || ids[id] {
			t.Errorf("site of %d hosts is %q", len(hosts), id)
		}
		ids[id] = true
	}
}
