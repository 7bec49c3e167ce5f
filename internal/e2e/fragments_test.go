package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// All fragments of a page are asked for at once: the app answers none before it
// has seen all of them. They stand in the page in its own order all the same.
func TestFragmentsInParallel(t *testing.T) {
	const fragments = 20
	var all sync.WaitGroup
	all.Add(fragments)
	app := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		all.Done()
		all.Wait()
		fmt.Fprint(w, r.URL.Query().Get("n"))
	})
	var page, want strings.Builder
	for n := range fragments {
		fmt.Fprintf(&page, `<!--# include virtual="/f?n=%d" -->,`, n)
		fmt.Fprintf(&want, "%d,", n)
	}
	s := setup{app: app, files: map[string]string{"p.html": page.String()}}
	edge := s.start(t)
	wantBody(t, send(t, edge.Addr, get("/p")), want.String())
}

// What is ready leaves first: the text before a fragment arrives while the app
// still works on it, and what is after it has to wait.
func TestReadyTextLeavesFirst(t *testing.T) {
	app := newBlocker()
	s := setup{app: app, files: map[string]string{"p.html": `before <!--# include virtual="/slow" --> after`}}
	edge := s.start(t)
	conn, err := net.Dial("tcp", edge.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Minute))
	r := get("/p")
	r.last = true
	if _, err := conn.Write(r.bytes()); err != nil {
		t.Fatal(err)
	}
	<-app.began
	in, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Body.Close()
	first := make([]byte, len("before "))
	if _, err := io.ReadFull(in.Body, first); err != nil || string(first) != "before " {
		t.Fatalf("before the fragment came %q (%v), want the text before it", first, err)
	}
	if control := in.Header.Get("Cache-Control"); control != "private, no-cache" {
		t.Errorf("Cache-Control of a head that left early is %q, want private, no-cache", control)
	}
	for _, field := range []string{"Etag", "Expires", "Content-Length", "Last-Modified"} {
		if value := in.Header.Get(field); value != "" {
			t.Errorf("a head that left early says %s: %s", field, value)
		}
	}
	close(app.release)
	rest, err := io.ReadAll(in.Body)
	if err != nil || string(rest) != "done after" {
		t.Errorf("the rest is %q (%v)", rest, err)
	}
}

// A fragment is asked for with the visitor's own request, but for what speaks
// of the page: its body, its conditions, its range, its coding.
func TestFragmentRequest(t *testing.T) {
	seen := make(chan *http.Request, 4)
	app := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/page" {
			fmt.Fprint(w, `<!--# include virtual="/f?a=%20b&amp;c" -->`)
			return
		}
		body, _ := io.ReadAll(r.Body)
		seen <- r
		w.Header().Set("Set-Cookie", "fragment=1")
		w.Header().Set("Etag", `"fragment"`)
		fmt.Fprintf(w, "%s with %d bytes", r.Method, len(body))
	})
	s := setup{app: app, files: map[string]string{"p.html": `<!--# include virtual="/f?a=%20b&amp;c" -->`}}
	edge := s.start(t)
	visitor := []string{
		"Cookie: a=1;b=\"2 3\"", "User-Agent: tester", "Accept-Language: de", "Authorization: Basic eA==",
		"If-None-Match: \"x\"", "If-Modified-Since: Mon, 02 Jan 2006 15:04:05 GMT", "Range: bytes=0-1", "Accept-Encoding: gzip",
		"X-Forwarded-For: 192.0.2.1", "X-Real-Ip: 192.0.2.1",
	}
	for _, r := range []request{get("/p", visitor...), {method: http.MethodPost, target: "/page", body: "the page's body", fields: visitor}} {
		a := send(t, edge.Addr, r)
		wantBody(t, a, "GET with 0 bytes")
		wantField(t, a, "Set-Cookie", "")
		f := <-seen
		for name, want := range map[string]string{
			"Cookie": "a=1;b=\"2 3\"", "User-Agent": "tester", "Accept-Language": "de", "Authorization": "Basic eA==",
			"If-None-Match": "", "If-Modified-Since": "", "Range": "", "Content-Type": "", "Content-Length": "",
			"X-Real-Ip": "127.0.0.1", "X-Forwarded-For": "127.0.0.1", "X-Forwarded-Proto": "http", "X-Forwarded-Host": host,
		} {
			if got := strings.Join(f.Header.Values(name), ", "); got != want {
				t.Errorf("the fragment of %s was asked for with %s: %q, want %q", r.target, name, got, want)
			}
		}
		if accept := f.Header.Get("Accept-Encoding"); accept != "" && accept != "identity" {
			t.Errorf("the fragment was asked for with Accept-Encoding: %s", accept)
		}
		if f.Host != host || f.RequestURI != "/f?a=%20b&amp;c" {
			t.Errorf("the fragment was asked for as %s on %s", f.RequestURI, f.Host)
		}
	}
}

// A page may include itself; the limits end it, and the edge lives on.
func TestIncludeLimits(t *testing.T) {
	const failed = "[an error occurred while processing the directive]"
	app := newApp(map[string]string{"/loop": `x<!--# include virtual="/loop" -->`, "/f": "f"})
	s := setup{
		app:   app,
		files: map[string]string{"self.html": `s<!--# include virtual="/self.html" -->`, "twice.html": strings.Repeat(`<!--# include virtual="/twice.html" -->`, 2), "many.html": strings.Repeat(`<!--# include virtual="/f" -->`, 12)},
		ssi:   "max_depth = 4\nmax_includes = 10",
	}
	edge := s.start(t)
	wantBody(t, send(t, edge.Addr, get("/self")), "sssss"+failed)
	wantBody(t, send(t, edge.Addr, get("/loop")), "xxxxx"+failed)
	wantBody(t, send(t, edge.Addr, get("/many")), strings.Repeat("f", 10)+failed+failed)
	if a := send(t, edge.Addr, get("/twice")); a.status != http.StatusOK || strings.Count(a.body, failed) == 0 || len(a.body) > 64*len(failed) {
		t.Errorf("a page that includes itself twice gives %d and %d bytes", a.status, len(a.body))
	}
	wantBody(t, send(t, edge.Addr, get("/f")), "f")
}

// A fragment that takes too long is given up: its stub stands for it.
func TestFragmentTimeout(t *testing.T) {
	app := newBlocker()
	s := setup{
		app:   app,
		files: map[string]string{"p.html": `<!--# block name="later" -->later<!--# endblock -->a <!--# include virtual="/slow" stub="later" --> b`},
		ssi:   "timeout = \"200ms\"",
	}
	edge := s.start(t)
	wantBody(t, send(t, edge.Addr, get("/p")), "a later b")
}

// An app that does not answer in time is a 504, one that breaks off a 502.
func TestOriginFailures(t *testing.T) {
	app := newBlocker()
	s := setup{
		app:   app,
		files: map[string]string{"504.html": "<h1>too slow</h1>", "p.html": "page"},
		rest:  "[[site.rule]]\npath = [\"/slow\"]\ntimeout = \"200ms\"\n",
	}
	edge := s.start(t)
	if a := send(t, edge.Addr, get("/slow")); a.status != http.StatusGatewayTimeout || a.body != "<h1>too slow</h1>" {
		t.Errorf("an app that is too slow gives %d %s, want 504 with the root's page", a.status, short(a.body))
	}
	wantBody(t, send(t, edge.Addr, get("/p")), "page")
	wantBody(t, send(t, edge.Addr, get("/quick")), "done")
}

// The app sees who asks, as the edge knows it, and nothing of what concerns
// only the connection.
func TestOriginRequest(t *testing.T) {
	seen := make(chan *http.Request, 1)
	app := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen <- r })
	s := setup{app: app}
	edge := s.start(t)
	send(t, edge.Addr, get("/x", "Connection: X-Hop", "X-Hop: 1", "Keep-Alive: 5", "Proxy-Connection: keep-alive", "TE: trailers",
		"X-Forwarded-For: 192.0.2.1", "X-Forwarded-Proto: https", "X-Forwarded-Host: evil.example", "Forwarded: for=192.0.2.1", "X-Dup: 1", "X-Dup: 2"))
	r := <-seen
	for name, want := range map[string]string{
		"X-Hop": "", "Keep-Alive": "", "Proxy-Connection": "", "Te": "", "Connection": "",
		"X-Forwarded-For": "127.0.0.1", "X-Forwarded-Proto": "http", "X-Forwarded-Host": host, "X-Real-Ip": "127.0.0.1",
		"X-Dup": "1, 2", "Via": "1.1 ssiedge", "Surrogate-Capability": `ssiedge="SSI/1.0"`, "User-Agent": "", "Content-Type": "",
	} {
		if got := strings.Join(r.Header.Values(name), ", "); got != want {
			t.Errorf("the app sees %s: %q, want %q", name, got, want)
		}
	}
	if r.Host != host || r.Header.Get("X-Request-Id") == "" {
		t.Errorf("the app sees Host %q, X-Request-Id %q", r.Host, r.Header.Get("X-Request-Id"))
	}
	if strings.Contains(r.Header.Get("Forwarded"), "192.0.2.1") {
		t.Errorf("the app sees a stranger's Forwarded: %s", r.Header.Get("Forwarded"))
	}
}

// A deploy flips the link that root is; a page is published, changed, removed.
func TestPublishing(t *testing.T) {
	s := setup{app: newApp(map[string]string{"/late": "not yet", "/p": "gone"}), files: map[string]string{"p.html": "first"}}
	edge := s.start(t)
	wantBody(t, send(t, edge.Addr, get("/p")), "first")
	writeTree(t, s.root, map[string]string{"p.html": "the second version"})
	wantBody(t, send(t, edge.Addr, get("/p")), "the second version")
	wantBody(t, send(t, edge.Addr, get("/late")), "not yet")
	writeTree(t, s.root, map[string]string{"late.html": "published"})
	realtest.Eventually(t, "the new page is served", func() bool { return send(t, edge.Addr, get("/late")).body == "published" })
	removeFile(t, s.root, "p.html")
	wantBody(t, send(t, edge.Addr, get("/p")), "gone")
}

// Sites are told apart by Host; an unknown one is nobody's.
func TestSites(t *testing.T) {
	one, other := newApp(map[string]string{"/": "one"}), newApp(map[string]string{"/": "other"})
	a, b := setup{app: one, site: `hosts = ["www.example.com"]`}, setup{app: other, site: `hosts = ["*.example.org"]`}
	edge := realtest.Edge(t, realtest.EdgeOptions{Config: a.config(t) + b.config(t)})
	for name, want := range map[string]string{"www.example.com": "one", "WWW.Example.COM:80": "one", "a.b.example.org": "other", "x.example.org": "other"} {
		if got := sendTo(t, edge, name); got.body != want {
			t.Errorf("Host %s gives %d %s, want %q", name, got.status, short(got.body), want)
		}
	}
	for _, name := range []string{"example.com", "example.org", "evil.example", "127.0.0.1"} {
		if got := sendTo(t, edge, name); got.status != http.StatusMisdirectedRequest {
			t.Errorf("Host %s gives %d %s, want 421", name, got.status, short(got.body))
		}
	}
	if n := one.total() + other.total(); n != 4 {
		t.Errorf("the apps saw %d requests, want those four that were theirs", n)
	}
}

// sendTo asks for "/" of a host.
func sendTo(t testing.TB, edge *realtest.EdgeServer, name string) answer {
	t.Helper()
	return call(t, http.MethodGet, edge.URL+"/", "Host: "+name)
}
