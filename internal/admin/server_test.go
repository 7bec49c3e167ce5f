package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const token = "s3cret"

// complete are options with every endpoint; what a test does not set does
// nothing.
func complete() Options {
	return Options{
		Metrics: prometheus.NewRegistry(),
		Ready:   func() error { return nil },
		Reload:  func() error { return nil },
		Version: "1.2.3",
	}
}

// call is a request to an admin endpoint, on loopback unless it says otherwise.
type call struct {
	method, path string
	host         string // "": 127.0.0.1:8081
	fields       []string
}

func (c call) do(s *Server) *http.Response { return c.doBody(s, "") }

func (c call) doBody(s *Server, body string) *http.Response {
	r := httptest.NewRequest(c.method, c.path, strings.NewReader(body))
	r.Host = "127.0.0.1:8081"
	if c.host != "" {
		r.Host = c.host
	}
	for _, f := range c.fields {
		name, value, _ := strings.Cut(f, ": ")
		r.Header.Add(name, value)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, r *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// decoded is a JSON answer.
func decoded(t *testing.T, r *http.Response) map[string]any {
	t.Helper()
	if got := r.Header.Get("Content-Type"); got != "application/json" {
		t.Errorf("content type %q", got)
	}
	var v map[string]any
	if text := body(t, r); json.Unmarshal([]byte(text), &v) != nil {
		t.Fatalf("no JSON: %q", text)
	}
	return v
}

const jsonType = "Content-Type: application/json"

// Who may do what: the token rules.
func TestAccess(t *testing.T) {
	bearer := "Authorization: Bearer " + token
	tests := []struct {
		name  string
		token string
		call  call
		want  int
	}{
		// Without a token, on loopback.
		{"health", "", call{method: "GET", path: "/healthz"}, 200},
		{"health, HEAD", "", call{method: "HEAD", path: "/healthz"}, 200},
		{"health is open to any Host", "", call{method: "GET", path: "/healthz", host: "lb.example"}, 200},
		{"ready", "", call{method: "GET", path: "/readyz"}, 200},
		{"version", "", call{method: "GET", path: "/version"}, 200},
		{"metrics", "", call{method: "GET", path: "/metrics"}, 200},
		{"reload", "", call{method: "POST", path: "/reload", fields: []string{jsonType}}, 200},
		{"reload with a charset", "", call{method: "POST", path: "/reload", fields: []string{"Content-Type: Application/JSON; charset=utf-8"}}, 200},
		{"reload by a form", "", call{method: "POST", path: "/reload", fields: []string{"Content-Type: application/x-www-form-urlencoded"}}, 415},
		{"reload by text", "", call{method: "POST", path: "/reload", fields: []string{"Content-Type: text/plain; a=application/json"}}, 415},
		{"reload of no type", "", call{method: "POST", path: "/reload"}, 415},
		{"no profiles", "", call{method: "GET", path: "/debug/pprof/"}, 404},
		{"no profile of the heap", "", call{method: "GET", path: "/debug/pprof/heap"}, 404},
		{"own origin", "", call{method: "POST", path: "/reload", fields: []string{jsonType, "Origin: http://127.0.0.1:8081"}}, 200},
		{"foreign origin", "", call{method: "POST", path: "/reload", fields: []string{jsonType, "Origin: http://evil.example"}}, 403},
		{"foreign origin, reading", "", call{method: "GET", path: "/version", fields: []string{"Origin: http://evil.example"}}, 403},
		{"origin on another port", "", call{method: "POST", path: "/reload", fields: []string{jsonType, "Origin: http://127.0.0.1:3000"}}, 403},
		{"opaque origin", "", call{method: "POST", path: "/reload", fields: []string{jsonType, "Origin: null"}}, 403},
		{"empty origin", "", call{method: "POST", path: "/reload", fields: []string{jsonType, "Origin: "}}, 403},
		{"two origins", "", call{method: "POST", path: "/reload", fields: []string{jsonType, "Origin: http://127.0.0.1:8081", "Origin: http://evil.example"}}, 403},
		{"rebound name", "", call{method: "GET", path: "/version", host: "evil.example:8081"}, 403},
		{"rebound name, its own origin", "", call{method: "POST", path: "/reload", host: "evil.example:8081", fields: []string{jsonType, "Origin: http://evil.example:8081"}}, 403},
		{"rebound, unknown path", "", call{method: "GET", path: "/none", host: "evil.example"}, 403},
		{"localhost", "", call{method: "GET", path: "/version", host: "LocalHost:8081"}, 200},
		{"under localhost", "", call{method: "GET", path: "/version", host: "edge.localhost."}, 200},
		{"IPv6", "", call{method: "GET", path: "/version", host: "[::1]:8081"}, 200},
		{"IPv6 without a port", "", call{method: "GET", path: "/version", host: "[::1]"}, 200},
		{"127.1.2.3", "", call{method: "GET", path: "/version", host: "127.1.2.3"}, 200},
		{"name that begins like an address", "", call{method: "GET", path: "/version", host: "127.0.0.1.evil.example"}, 403},
		{"name that begins like localhost", "", call{method: "GET", path: "/version", host: "localhost.evil.example"}, 403},
		{"name that ends like localhost", "", call{method: "GET", path: "/version", host: "evil-localhost"}, 403},
		{"all addresses", "", call{method: "GET", path: "/version", host: "0.0.0.0:8081"}, 403},
		{"another address", "", call{method: "GET", path: "/version", host: "192.0.2.1:8081"}, 403},
		{"a token where none is set", "", call{method: "GET", path: "/version", fields: []string{bearer}}, 200},

		// With a token, anywhere.
		{"t: health", token, call{method: "GET", path: "/healthz", host: "edge.example"}, 200},
		{"t: ready", token, call{method: "GET", path: "/readyz", host: "edge.example"}, 200},
		{"t: version", token, call{method: "GET", path: "/version", host: "edge.example", fields: []string{bearer}}, 200},
		{"t: scheme of any case", token, call{method: "GET", path: "/version", fields: []string{"Authorization: bEARER   " + token}}, 200},
		{"t: reload of no type", token, call{method: "POST", path: "/reload", host: "edge.example", fields: []string{bearer}}, 200},
		{"t: foreign origin", token, call{method: "POST", path: "/reload", fields: []string{bearer, "Origin: http://evil.example"}}, 200},
		{"t: profiles", token, call{method: "GET", path: "/debug/pprof/", fields: []string{bearer}}, 200},
		{"t: profile of goroutines", token, call{method: "GET", path: "/debug/pprof/goroutine?debug=1", fields: []string{bearer}}, 200},
		{"t: command line", token, call{method: "GET", path: "/debug/pprof/cmdline", fields: []string{bearer}}, 200},
		{"t: none, version", token, call{method: "GET", path: "/version"}, 401},
		{"t: none, metrics", token, call{method: "GET", path: "/metrics"}, 401},
		{"t: none, reload", token, call{method: "POST", path: "/reload", fields: []string{jsonType}}, 401},
		{"t: none, profiles", token, call{method: "GET", path: "/debug/pprof/heap"}, 401},
		{"t: none, unknown path", token, call{method: "GET", path: "/none"}, 401},
		{"t: wrong", token, call{method: "GET", path: "/version", fields: []string{"Authorization: Bearer s3cres"}}, 401},
		{"t: a part", token, call{method: "GET", path: "/version", fields: []string{"Authorization: Bearer s3c"}}, 401},
		{"t: more", token, call{method: "GET", path: "/version", fields: []string{bearer + "x"}}, 401},
		{"t: empty", token, call{method: "GET", path: "/version", fields: []string{"Authorization: Bearer "}}, 401},
		{"t: another scheme", token, call{method: "GET", path: "/version", fields: []string{"Authorization: Basic " + token}}, 401},
		{"t: no scheme", token, call{method: "GET", path: "/version", fields: []string{"Authorization: " + token}}, 401},
		{"t: in the query", token, call{method: "GET", path: "/version?token=" + token}, 401},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := complete()
			o.Token = tt.token
			reloaded := false
			o.Reload = func() error { reloaded = true; return nil }
			r := tt.call.do(New(o))
			if r.StatusCode != tt.want {
				t.Fatalf("%d, want %d: %s", r.StatusCode, tt.want, body(t, r))
			}
			if want := tt.call.path == "/reload" && tt.want == 200; reloaded != want {
				t.Errorf("reloaded %v", reloaded)
			}
			if r.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("Cache-Control %q", r.Header.Get("Cache-Control"))
			}
			if tt.want >= 400 {
				if v := decoded(t, r); v["error"] == "" || v["error"] == nil || v["cure"] == "" || v["cure"] == nil {
					t.Errorf("refused with %v", v)
				}
			}
			if got := r.Header.Get("WWW-Authenticate"); (tt.want == 401) != strings.HasPrefix(got, "Bearer ") {
				t.Errorf("WWW-Authenticate %q", got)
			}
		})
	}
}

func TestWrongMethodAndPath(t *testing.T) {
	s := New(complete())
	tests := []struct {
		call  call
		want  int
		allow string
	}{
		{call{method: "POST", path: "/healthz", fields: []string{jsonType}}, 405, "GET, HEAD"},
		{call{method: "DELETE", path: "/metrics"}, 405, "GET, HEAD"},
		{call{method: "GET", path: "/reload"}, 405, "POST"},
		{call{method: "GET", path: "/"}, 404, ""},
		{call{method: "GET", path: "/healthz/"}, 404, ""},
		{call{method: "GET", path: "/purge"}, 405, "POST"},
	}
	for _, tt := range tests {
		r := tt.call.do(s)
		if r.StatusCode != tt.want || r.Header.Get("Allow") != tt.allow {
			t.Errorf("%s %s: %d, Allow %q, want %d, %q", tt.call.method, tt.call.path, r.StatusCode, r.Header.Get("Allow"), tt.want, tt.allow)
		}
		v := decoded(t, r)
		if tt.want == 404 && (!strings.Contains(v["cure"].(string), "POST /reload") || strings.Contains(v["cure"].(string), "pprof")) {
			t.Errorf("the cure for an unknown path is %q, want those that are there", v["cure"])
		}
	}
}

// What is not wired is not there.
func TestAbsentEndpoints(t *testing.T) {
	s := New(Options{})
	for _, c := range []call{{method: "GET", path: "/metrics"}, {method: "POST", path: "/reload", fields: []string{jsonType}}} {
		if r := c.do(s); r.StatusCode != 404 {
			t.Errorf("%s: %d, want 404", c.path, r.StatusCode)
		}
	}
	if r := (call{method: "GET", path: "/readyz"}).do(s); r.StatusCode != 200 {
		t.Errorf("/readyz: %d, want 200", r.StatusCode)
	}
}

func TestReady(t *testing.T) {
	o := complete()
	o.Ready = func() error { return errors.New(`site "a": root is gone`) }
	s := New(o)
	r := call{method: "GET", path: "/readyz"}.do(s)
	if v := decoded(t, r); r.StatusCode != 503 || v["error"] != `site "a": root is gone` {
		t.Errorf("%d %v", r.StatusCode, v)
	}
	if r := (call{method: "GET", path: "/healthz"}).do(s); r.StatusCode != 200 {
		t.Errorf("/healthz: %d, want 200 all the same", r.StatusCode)
	}
}

func TestVersion(t *testing.T) {
	if v := decoded(t, call{method: "GET", path: "/version"}.do(New(complete()))); v["version"] != "1.2.3" || v["go"] != runtime.Version() {
		t.Errorf("%v", v)
	}
}

func TestMetrics(t *testing.T) {
	o := complete()
	registry := prometheus.NewRegistry()
	counter := prometheus.NewCounter(prometheus.CounterOpts{Name: "test_things_total", Help: "Things."})
	registry.MustRegister(counter)
	counter.Add(7)
	o.Metrics = registry
	r := call{method: "GET", path: "/metrics"}.do(New(o))
	if text := body(t, r); !strings.Contains(text, "\ntest_things_total 7\n") || strings.Contains(text, "go_goroutines") {
		t.Errorf("%d: %s", r.StatusCode, text)
	}
}

func TestReload(t *testing.T) {
	o := complete()
	var err error
	o.Reload = func() error { return err }
	s := New(o)
	reload := call{method: "POST", path: "/reload", fields: []string{jsonType}}
	if v := decoded(t, reload.do(s)); v["reloaded"] != true {
		t.Errorf("%v", v)
	}
	err = errors.New("a.toml:1:2: <first>\na.toml:3:4: second")
	r := reload.do(s)
	v := decoded(t, r)
	list, _ := v["errors"].([]any)
	if r.StatusCode != 422 || len(list) != 2 || list[0] != "a.toml:1:2: <first>" || list[1] != "a.toml:3:4: second" {
		t.Errorf("%d %v", r.StatusCode, v)
	}
}

// Two reloads never run at once.
func TestReloadOneAtATime(t *testing.T) {
	o := complete()
	var mu sync.Mutex
	o.Reload = func() error {
		if !mu.TryLock() {
			t.Error("two at once")
			return nil
		}
		defer mu.Unlock()
		runtime.Gosched()
		return nil
	}
	s := New(o)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() { call{method: "POST", path: "/reload", fields: []string{jsonType}}.do(s) })
	}
	wg.Wait()
}

func TestPanic(t *testing.T) {
	var log bytes.Buffer
	o := complete()
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	o.Ready = func() error { panic("broken") }
	o.Reload = func() error { panic("broken, too") }
	s := New(o)
	for range 2 { // a lock that is held on would hang the second one
		for _, c := range []call{{method: "GET", path: "/readyz"}, {method: "POST", path: "/reload", fields: []string{jsonType}}} {
			if r := c.do(s); r.StatusCode != 500 || decoded(t, r)["error"] == nil {
				t.Errorf("%s: %d, want 500", c.path, r.StatusCode)
			}
		}
	}
	if text := log.String(); !strings.Contains(text, "broken, too") || !strings.Contains(text, "server_test.go") {
		t.Errorf("the log has no stack: %s", text)
	}
}

// A panic in the middle of an answer cuts it off instead of ending it well.
func TestPanicInMidAnswer(t *testing.T) {
	s := New(complete())
	s.endpoints = []endpoint{{"/half", reading, true, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "half")
		http.NewResponseController(w).Flush()
		panic("broken")
	}}}
	_, url := serve(t, s)
	r, err := http.Get(url + "/half")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if b, err := io.ReadAll(r.Body); err == nil {
		t.Errorf("got %q and a clean end", b)
	}
}

// serve runs s on a free port until the end of the test.
func serve(t *testing.T, s *Server) (done <-chan error, url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	result := make(chan error, 1)
	go func() { result <- s.Serve(l) }()
	t.Cleanup(func() {
		s.Shutdown(t.Context())
		http.DefaultClient.CloseIdleConnections()
	})
	return result, "http://" + l.Addr().String()
}

// Shutdown waits for a request under way, then Serve returns nil.
func TestShutdown(t *testing.T) {
	o := complete()
	entered, leave := make(chan struct{}), make(chan struct{})
	o.Ready = func() error { close(entered); <-leave; return nil }
	s := New(o)
	done, url := serve(t, s)
	status := make(chan int, 1)
	go func() {
		r, err := http.Get(url + "/readyz")
		if err != nil {
			t.Error(err)
			status <- 0
			return
		}
		r.Body.Close()
		status <- r.StatusCode
	}()
	<-entered
	stopped := make(chan error, 1)
	go func() { stopped <- s.Shutdown(context.Background()) }()
	if err := <-done; err != nil { // the listener closes at once
		t.Errorf("Serve: %v", err)
	}
	close(leave)
	if got := <-status; got != 200 {
		t.Errorf("the request under way: %d, want 200", got)
	}
	if err := <-stopped; err != nil {
		t.Errorf("Shutdown: %v", err)
	}
}

// A Shutdown that may not wait cuts off what is under way.
func TestShutdownBounded(t *testing.T) {
	o := complete()
	entered, leave := make(chan struct{}), make(chan struct{})
	o.Ready = func() error { close(entered); <-leave; return nil }
	s := New(o)
	done, url := serve(t, s)
	failed := make(chan error, 1)
	go func() {
		r, err := http.Get(url + "/readyz")
		if err == nil {
			r.Body.Close()
		}
		failed <- err
	}()
	<-entered
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Shutdown(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Shutdown: %v, want the context's error", err)
	}
	if err := <-failed; err == nil {
		t.Error("the request under way went on")
	}
	close(leave)
	<-done
}

func TestServeTellsOfABrokenListener(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if err := New(complete()).Serve(l); err == nil {
		t.Error("no error")
	}
}

func TestTimeoutsAreSet(t *testing.T) {
	h := New(complete()).http
	for name, d := range map[string]time.Duration{"header": h.ReadHeaderTimeout, "read": h.ReadTimeout, "write": h.WriteTimeout, "idle": h.IdleTimeout} {
		if d <= 0 {
			t.Errorf("no %s timeout", name)
		}
	}
	if h.MaxHeaderBytes <= 0 || h.MaxHeaderBytes > 64<<10 {
		t.Errorf("heads of %d bytes", h.MaxHeaderBytes)
	}
}
