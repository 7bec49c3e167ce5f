package warm

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

func TestNewRefuses(t *testing.T) {
	f := func(o Options, want string) {
		t.Helper()
		if o.Edge == "" {
			o.Edge = "http://a"
		}
		if _, err := New(o); err == nil || err.Error() != want {
			t.Errorf("%+v: %v, want %s", o, err, want)
		}
	}
	edge := func(s string) string { return fmt.Sprintf("edge %q: a URL is wanted, like http://127.0.0.1:8080", s) }
	for _, s := range []string{"127.0.0.1:8080", "localhost", "ftp://a", "http://", "http:///x", "http://a b", "unix:/x", " http://a"} {
		f(Options{Edge: s}, edge(s))
	}
	f(Options{Edge: "http://me:pw@a"}, `edge "http://me:xxxxx@a": a URL without user and password is wanted; they go into an Authorization field`)
	for _, s := range []string{"http://a:80/x", "http://a:80?x", "http://a:80/?", "http://a:80/#x"} {
		f(Options{Edge: s}, fmt.Sprintf("edge %q: a URL without path and query is wanted, like http://a:80", s))
	}
	for _, s := range []string{"http://a", "a/b", "a b", "a\n", "me@a"} {
		f(Options{Host: s}, fmt.Sprintf("host %q: a host name is wanted, with or without a port", s))
	}
	f(Options{Concurrency: -1}, "concurrency -1: a number from 1 to 1000 is wanted")
	f(Options{Concurrency: 1001}, "concurrency 1001: a number from 1 to 1000 is wanted")
	f(Options{Rate: -1}, "rate -1: requests a second are wanted, from 0.001 to 1000000, or 0 for no bound")
	f(Options{Rate: 1e-9}, "rate 1e-09: requests a second are wanted, from 0.001 to 1000000, or 0 for no bound")
	f(Options{Silence: -1}, "silence -1ns: a time above 0 is wanted")
	f(Options{Header: []string{"X"}}, `header "X": a field is wanted, like "Name: value"`)
	f(Options{Header: []string{"X : y"}}, `header "X : y": a field is wanted, like "Name: value"`)
	f(Options{Header: []string{"X: a\r\nY: b"}}, `header "X: a\r\nY: b": a field is wanted, like "Name: value"`)
	f(Options{Header: []string{"host: a"}}, `header "host: a": the host has a setting of its own`)
	f(Options{Header: []string{"content-length: 1"}}, `header "content-length: 1": the client sets this field itself`)
	f(Options{Cookies: []string{"a"}}, `cookie "a": one cookie is wanted, like "name=value"`)
	f(Options{Cookies: []string{"a=1; b=2"}}, `cookie "a=1; b=2": one cookie is wanted, like "name=value"`)
	f(Options{Cookies: []string{"=1"}}, `cookie "=1": one cookie is wanted, like "name=value"`)
}

// TestWhatIsSent looks at requests on the edge's side.
func TestWhatIsSent(t *testing.T) {
	var got []http.Header
	edge := newEdge(t, func(_ http.ResponseWriter, r *http.Request) { got = append(got, r.Header.Clone()) })
	addr := strings.TrimPrefix(edge.URL, "http://")
	src := "/path?q=%20\nhttps://www.example.com:8443/%7ex%2Fy//z/../?b=2&a=1&&c#d\nhttp://a//two\n/|é\\\n"

	newWarmer(t, Options{Edge: edge.URL + "/", Version: "1.2.3"}).Run(t.Context(), List("-", strings.NewReader(src)))
	want := []string{addr + " /path?q=%20", "www.example.com:8443 /%7ex%2Fy//z/../?b=2&a=1&&c", "a http://a//two", addr + ` /|%C3%A9\`}
	if diff := cmp.Diff(want, edge.requests()); diff != "" {
		t.Error(diff)
	}
	for _, h := range got {
		if diff := cmp.Diff(http.Header{"User-Agent": {"ssiedge-warm/1.2.3"}}, h); diff != "" {
			t.Error(diff)
		}
	}

	got = nil
	newWarmer(t, Options{
		Edge: edge.URL, Host: "other.example", Header: []string{"x-one: a,  b ", "X-One:c", "user-agent: mine", "Cookie: z=0"}, Cookies: []string{"a=1", "b="},
	}).Run(t.Context(), List("-", strings.NewReader("/p\nhttp://a//q\n")))
	if diff := cmp.Diff([]string{"other.example /p", "other.example http://other.example//q"}, edge.requests()[len(want):]); diff != "" {
		t.Error(diff)
	}
	for _, h := range got {
		if diff := cmp.Diff(http.Header{"User-Agent": {"mine"}, "X-One": {"a,  b", "c"}, "Cookie": {"z=0; a=1; b="}}, h); diff != "" {
			t.Error(diff)
		}
	}
}

// TestSitemapQueries is case O13: queries of sitemaps arrive as they are meant,
// once each.
func TestSitemapQueries(t *testing.T) {
	edge := newEdge(t, nil)
	src := `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>http://127.0.0.1:18340/test/?a=1&amp;b=2</loc></url>
<url><loc> <![CDATA[http://127.0.0.1:18340/test/?a=1&b=2]]>
</loc></url>
<url><loc>
	<![CDATA[ http://127.0.0.1:18340/test/?c=1&d=2 ]]></loc></url>
</urlset>`
	r := newWarmer(t, Options{Edge: edge.URL}).Run(t.Context(), SitemapFile("s.xml", strings.NewReader(src)))
	want := []string{"127.0.0.1:18340 /test/?a=1&b=2", "127.0.0.1:18340 /test/?c=1&d=2"}
	if diff := cmp.Diff(want, edge.requests()); diff != "" {
		t.Error(diff)
	}
	if r.Kept != 2 || r.URLs != 2 || r.Duplicates != 1 || !r.OK() {
		t.Errorf("%+v, want 2 kept and 1 duplicate", r)
	}
}

func TestNothingTwice(t *testing.T) {
	edge := newEdge(t, nil)
	src := "http://A/x\nhttps://a/x#y\nhttp://a/x?\nhttp://b/x\n/x\n" + edge.URL + "/x\n/out\n/out?x\nhttp://a/out\n"
	r := newWarmer(t, Options{Edge: edge.URL, Exclude: []string{"/out"}}).Run(t.Context(), List("-", strings.NewReader(src)))
	if got := len(edge.requests()); got != 4 || r.URLs != 4 || r.Duplicates != 2 || r.Excluded != 3 {
		t.Errorf("%d requests, %+v, want 4 URLs, 2 duplicates, 3 excluded", got, r)
	}
	// With one Host for all, they are one.
	r = newWarmer(t, Options{Edge: edge.URL, Host: "c"}).Run(t.Context(), List("-", strings.NewReader("http://a/x\nhttp://b/x\n/x\n")))
	if r.URLs != 1 || r.Duplicates != 2 {
		t.Errorf("%+v, want 1 URL, 2 duplicates", r)
	}
}

func TestTooManyURLs(t *testing.T) {
	edge := newEdge(t, nil)
	w := newWarmer(t, Options{Edge: edge.URL})
	w.limits.urls = 3
	r := w.Run(t.Context(), List("l", strings.NewReader("/1\n/2\n/2\n/3\n/3\n/4\n/5\n")))
	want := []Failure{{Place: "l:6", URL: "/4", Reason: "bad-entry", Error: "more than 3 URLs: the rest is left out"}}
	if diff := cmp.Diff(want, r.First); diff != "" || r.Kept != 3 || r.Failed != 1 {
		t.Errorf("%s%+v", diff, r)
	}
	r = w.Run(t.Context(), List("l", strings.NewReader("/1\n/2\n/3\n")))
	if r.Kept != 3 || !r.OK() {
		t.Errorf("%+v, want 3 kept", r)
	}
}

// TestConcurrency: as many requests as asked for are under way at once, and
// never more; connections are used again.
func TestConcurrency(t *testing.T) { synctest.Test(t, testConcurrency) }

func testConcurrency(t *testing.T) {
	const n, urls = 5, 100
	var under, most atomic.Int64
	all := make(chan struct{}) // closed once n requests are under way
	w := newWarmer(t, Options{Edge: "http://edge.example", Concurrency: n})
	edge := bubbleEdge(t, w, func(w http.ResponseWriter, r *http.Request) {
		now := under.Add(1)
		defer under.Add(-1)
		for m := most.Load(); now > m && !most.CompareAndSwap(m, now); m = most.Load() {
		}
		if now == n {
			select {
			case <-all:
			default:
				close(all)
			}
		}
		select {
		case <-all:
		case <-time.After(time.Second): // in a bubble: when nothing else goes on
			t.Error("fewer requests at once than wanted")
		}
		says("ssiedge; hit")(w, r)
	})
	var src strings.Builder
	for i := range urls {
		fmt.Fprintf(&src, "/%d\n", i)
	}
	r := w.Run(t.Context(), List("-", strings.NewReader(src.String())))
	if r.Present != urls || !r.OK() {
		t.Errorf("%+v, want %d present", r, urls)
	}
	if most.Load() != n {
		t.Errorf("%d requests at once, want %d", most.Load(), n)
	}
	if dialled := edge.dialled.Load(); dialled != n {
		t.Errorf("%d connections for %d requests, want %d", dialled, urls, n)
	}
}

// TestNothingIsLeftOpen: neither to the edge nor to the sitemap's server.
func TestNothingIsLeftOpen(t *testing.T) {
	edge := newEdge(t, nil)
	site := newEdge(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, urlset("http://a/1", "http://a/2")) })
	w := newWarmer(t, Options{Edge: edge.URL})
	w.transport = func() *http.Transport {
		tr := newTransport()
		tr.IdleConnTimeout = 0 // or time would do it, too
		return tr
	}
	if r := w.Run(t.Context(), SitemapURL(site.URL)); r.Kept != 2 {
		t.Errorf("%+v, want 2 kept", r)
	}
	for name, e := range map[string]*fakeEdge{"edge": edge, "site": site} {
		realtest.Eventually(t, "the connection to the "+name+" is closed", func() bool {
			return e.connections() == 0
		})
	}
}

func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	edge := newEdge(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/2" {
			cancel()
			<-r.Context().Done() // the visitor is gone
			return
		}
		says("ssiedge; hit")(w, r)
	})
	// The source does not end by itself, and its reads know of no context.
	src, feed := io.Pipe()
	defer feed.Close()
	go io.WriteString(feed, "/1\n/2\n/3\n")
	r := newWarmer(t, Options{Edge: edge.URL}).Run(ctx, List("-", src))
	if !r.Interrupted || r.OK() || r.URLs != 1 || r.Present != 1 {
		t.Errorf("%+v, want 1 present and interrupted", r)
	}
	if got := len(edge.requests()); got != 2 {
		t.Errorf("%d requests, want 2", got)
	}
}

func TestInterruptedWhileFetching(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	edge := newEdge(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	r := newWarmer(t, Options{Edge: edge.URL}).Run(ctx, SitemapURL(edge.URL+"/sitemap.xml"))
	if !r.Interrupted || r.OK() || r.URLs != 0 {
		t.Errorf("%+v, want nothing but interrupted", r)
	}
}

func TestProgressAndMistakes(t *testing.T) {
	edge := newEdge(t, nil)
	var progress []Progress
	var mistakes []string
	told := make(chan Progress, 3)
	w := newWarmer(t, Options{
		Edge: edge.URL, Progress: func(p Progress) { progress = append(progress, p); told <- p },
		Mistake: func(f Failure) { mistakes = append(mistakes, f.String()) },
	})
	src, feed := io.Pipe()
	go func() {
		io.WriteString(feed, "/1\nx\n/1\n")
		<-told
		io.WriteString(feed, "/2\n")
		feed.Close()
	}()
	w.Run(t.Context(), List("l", src))
	if len(progress) != 3 {
		t.Fatalf("%v, want 3 reports", progress)
	}
	for i, p := range progress {
		if p.Done != int64(i+1) || p.Listed < p.Done || p.Listed > 3 {
			t.Errorf("report %d: %+v", i, p)
		}
	}
	if last := progress[2]; last.Done != 3 || last.Listed != 3 || progress[0].All {
		t.Errorf("%+v, want 3 of 3 in the end", progress)
	}
	want := []string{"l:2: x: a URL or a path is wanted, like https://www.example.com/page or /page"}
	if diff := cmp.Diff(want, mistakes); diff != "" {
		t.Error(diff)
	}
}

// TestRunsAtOnce: a Warmer may run several times, at once too.
func TestRunsAtOnce(t *testing.T) {
	edge := newEdge(t, nil)
	w := newWarmer(t, Options{Edge: edge.URL, Concurrency: 3})
	var runs sync.WaitGroup
	for range 4 {
		runs.Go(func() {
			if r := w.Run(t.Context(), List("-", strings.NewReader("/1\n/2\n/1\n"))); r.Kept != 2 || r.Duplicates != 1 {
				t.Errorf("%+v, want 2 kept", r)
			}
		})
	}
	runs.Wait()
}

func ExampleWarmer_Run() {
	w, err := New(Options{Edge: "http://127.0.0.1:8080"})
	if err != nil {
		fmt.Println(err)
		return
	}
	report := w.Run(context.Background(), List("nothing.txt", strings.NewReader("# nothing yet\n")))
	report.Took = 0
	report.WriteText(os.Stdout)
	// Output:
	// http://127.0.0.1:8080: 0 URLs in 0.0 s, 0 B
	//
	// kept           0
	// already there  0
	// not kept       0
	// failed         0
}
