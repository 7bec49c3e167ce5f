package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// setup is a site of one test: files, an app in this process, and what else is
// to be in the configuration.
type setup struct {
	files map[string]string
	app   http.Handler // nil: the site has no origin
	top   string       // top-level keys and tables
	site  string       // keys of the site
	ssi   string       // keys of [site.ssi]
	rest  string       // further tables of the site: [[site.rule]]
	admin string       // keys of [admin]

	root string // set by start
}

// start writes the files, and starts the app and ssiedge before it.
func (s *setup) start(t testing.TB) *realtest.EdgeServer {
	t.Helper()
	s.root = t.TempDir()
	if s.files != nil {
		writeTree(t, s.root, s.files)
	}
	return realtest.Edge(t, realtest.EdgeOptions{Config: s.config(t), Admin: s.admin})
}

// waits is how long the edge waits for the app, and a visitor for another's
// fill, where a test is not about that: the app answers when the test lets it,
// and a busy machine may need longer than the defaults until then.
const waits = `"10m"`

// config gives the configuration; it starts the app.
func (s *setup) config(t testing.TB) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n[[site]]\n", s.top)
	if s.files != nil {
		fmt.Fprintf(&b, "root = %q\n", s.root)
	}
	fmt.Fprintf(&b, "fill_wait = %s\nnot_keepable = %s\n%s\n", waits, waits, s.site)
	if s.app != nil {
		server := httptest.NewServer(s.app)
		t.Cleanup(server.Close)
		fmt.Fprintf(&b, "[site.origin]\nservers = [%q]\ntimeout = %s\n", server.URL, waits)
	}
	fmt.Fprintf(&b, "[site.ssi]\n%s\n", s.ssi)
	if !strings.Contains(s.ssi, "timeout") {
		fmt.Fprintf(&b, "timeout = %s\n", waits)
	}
	b.WriteString(s.rest)
	return b.String()
}

// app answers paths with texts, and counts who asked for what.
type app struct {
	mu     sync.Mutex
	asked  map[string]int // by "METHOD target"
	answer map[string]string
}

func newApp(answers map[string]string) *app {
	return &app{asked: map[string]int{}, answer: answers}
}

// ServeHTTP answers with the text of "METHOD target", "METHOD path" or path; else with 404.
func (a *app) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	a.asked[r.Method+" "+r.RequestURI]++
	a.mu.Unlock()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	for _, key := range []string{r.Method + " " + r.RequestURI, r.Method + " " + r.URL.Path, r.URL.Path} {
		if text, ok := a.answer[key]; ok {
			fmt.Fprint(w, text)
			return
		}
	}
	w.WriteHeader(http.StatusNotFound)
	fmt.Fprintf(w, "the app has no %s %s", r.Method, r.RequestURI)
}

// count says how often "METHOD target" was asked for.
func (a *app) count(what string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.asked[what]
}

// total says how many requests came.
func (a *app) total() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := 0
	for _, count := range a.asked {
		n += count
	}
	return n
}

// wantBody fails the test unless the answer is 200 with that body.
func wantBody(t testing.TB, a answer, body string) {
	t.Helper()
	if a.status != http.StatusOK || a.body != body {
		t.Errorf("got %d %s, want 200 %s", a.status, short(a.body), short(body))
	}
}

// wantField fails the test unless a field has that value.
func wantField(t testing.TB, a answer, name, value string) {
	t.Helper()
	if got := strings.Join(a.header.Values(name), ", "); got != value {
		t.Errorf("%s is %q, want %q", name, got, value)
	}
}

// wantHit fails the test unless the edge says that it had the page.
func wantHit(t testing.TB, a answer, detail string) {
	t.Helper()
	if status := a.header.Get("Cache-Status"); !strings.HasPrefix(status, "ssiedge; hit") || !strings.Contains(status, "detail="+detail) {
		t.Errorf("Cache-Status is %q, want a hit with detail=%s", status, detail)
	}
}
