package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// blocker is an app whose answer to /slow waits until it is let go.
type blocker struct {
	began   chan struct{} // one value for each request to /slow
	release chan struct{} // closed: all of them go on
}

func newBlocker() *blocker {
	return &blocker{began: make(chan struct{}, 16), release: make(chan struct{})}
}

func (b *blocker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/slow" {
		b.began <- struct{}{}
		select {
		case <-b.release:
		case <-r.Context().Done(): // the edge is gone
		}
	}
	fmt.Fprint(w, "done")
}

// background sends a request on a goroutine of its own.
func background(addr string, r request) <-chan result {
	done := make(chan result, 1)
	go func() {
		a, err := exchange(addr, r)
		done <- result{a, err}
	}()
	return done
}

type result struct {
	answer
	err error
}

// refuses waits until nobody accepts connections at addr.
func refuses(t testing.TB, addr string) {
	t.Helper()
	realtest.Eventually(t, addr+" is closed", func() bool {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			conn.Close()
		}
		return err != nil
	})
}

func TestSignalDrains(t *testing.T) {
	app := newBlocker()
	s := setup{app: app}
	edge := s.start(t)
	slow := background(edge.Addr, get("/slow"))
	<-app.began
	edge.Signal(syscall.SIGTERM)
	refuses(t, edge.Addr)
	if edge.Ended() {
		t.Fatal("ssiedge ended while a request was under way")
	}
	close(app.release)
	if r := <-slow; r.err != nil || r.status != http.StatusOK || r.body != "done" {
		t.Errorf("the request under way got %d %q (%v), want its whole answer", r.status, r.body, r.err)
	}
	if code := edge.Exit(t); code != 0 {
		t.Errorf("exit code %d after draining, want 0", code)
	}
}

func TestSecondSignalStops(t *testing.T) {
	app := newBlocker()
	s := setup{app: app}
	edge := s.start(t)
	slow := background(edge.Addr, get("/slow"))
	<-app.began
	edge.Signal(syscall.SIGTERM)
	refuses(t, edge.Addr)
	edge.Signal(syscall.SIGTERM)
	if code := edge.Exit(t); code == 0 {
		t.Error("exit code 0, though a request was cut off")
	}
	if r := <-slow; r.err == nil {
		t.Errorf("the request under way got %d %q from an app that never answered", r.status, r.body)
	}
}

func TestInterruptStops(t *testing.T) {
	s := setup{app: newApp(nil)}
	edge := s.start(t)
	edge.Signal(syscall.SIGINT)
	if code := edge.Exit(t); code != 0 {
		t.Errorf("exit code %d after Ctrl-C, want 0", code)
	}
}

func TestReload(t *testing.T) {
	app := newBlocker()
	s := setup{app: app, files: map[string]string{"p.html": "page"}}
	edge := s.start(t)
	marked := func(value string) string {
		return s.config(t) + fmt.Sprintf("[[site.rule]]\npath = [\"*\"]\nresponse_headers = {set = {X-Config = %q}}\n", value)
	}
	says := func(value string) bool { return send(t, edge.Addr, get("/p")).header.Get("X-Config") == value }
	slow := background(edge.Addr, get("/slow"))
	<-app.began

	edge.WriteConfig(t, realtest.EdgeOptions{Config: marked("second")})
	edge.Signal(syscall.SIGHUP)
	realtest.Eventually(t, "the second configuration is in force", func() bool { return says("second") })

	edge.WriteConfig(t, realtest.EdgeOptions{Config: marked("third") + "expiress = \"1h\"\nssi = 3\n"})
	edge.Signal(syscall.SIGHUP)
	realtest.Eventually(t, "both mistakes are in the log", func() bool {
		return regexp.MustCompile(`ssiedge\.toml:\d+:\d+: .*expiress`).MatchString(edge.Stderr.String()) &&
			regexp.MustCompile(`ssiedge\.toml:\d+:\d+: .*ssi`).MatchString(edge.Stderr.String())
	})
	if !says("second") {
		t.Error("a configuration with mistakes has changed something")
	}
	if a := post(t, edge.Admin+"/reload", "application/json", ""); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, "expiress") {
		t.Errorf("POST /reload with mistakes gives %d %s, want 422 that names them", a.status, short(a.body))
	}
	if !says("second") {
		t.Error("a refused reload has changed something")
	}

	edge.WriteConfig(t, realtest.EdgeOptions{Config: marked("fourth")})
	if a := post(t, edge.Admin+"/reload", "application/json", ""); a.status != http.StatusOK {
		t.Errorf("POST /reload gives %d %s, want 200", a.status, short(a.body))
	}
	if !says("fourth") {
		t.Error("POST /reload answered before the configuration was in force")
	}
	close(app.release)
	if r := <-slow; r.err != nil || r.body != "done" {
		t.Errorf("a request from before the reloads got %q (%v), want its answer", r.body, r.err)
	}
}

// ended is a program that has run to its end.
type ended struct {
	code           int
	stdout, stderr string
}

// command runs ssiedge with arguments that make it end by itself.
func command(t testing.TB, args ...string) ended {
	t.Helper()
	cmd := exec.Command(realtest.EdgeBinary(t), args...)
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=50") // else each takes a second to end
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return ended{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// file writes a configuration and gives its path.
func file(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ssiedge.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// wantLine fails the test unless stderr is one line that holds all parts.
func (e ended) wantLine(t testing.TB, code int, parts ...string) {
	t.Helper()
	if e.code != code {
		t.Errorf("exit code %d, want %d", e.code, code)
	}
	if lines := strings.Count(strings.TrimSpace(e.stderr), "\n") + 1; lines != 1 || strings.TrimSpace(e.stderr) == "" {
		t.Errorf("stderr holds %d lines, want one:\n%s", lines, e.stderr)
	}
	for _, part := range parts {
		if !strings.Contains(e.stderr, part) {
			t.Errorf("stderr lacks %q: %s", part, e.stderr)
		}
	}
}

func TestStartUsedPort(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	const site = "[limits]\nconnections = 100\n[log]\naccess = \"off\"\n[[site]]\n[site.origin]\nservers = [\"http://127.0.0.1:9\"]\n[admin]\nlisten = %q\n"
	used, free := taken.Addr().String(), realtest.FreeAddr(t)
	t.Run("public", func(t *testing.T) {
		config := fmt.Sprintf("listen = [%q]\n"+site, used, free)
		command(t, "serve", "-c", file(t, config)).wantLine(t, 1, used, "in use")
	})
	t.Run("admin", func(t *testing.T) {
		config := fmt.Sprintf("listen = [%q]\n"+site, free, used)
		command(t, "serve", "-c", file(t, config)).wantLine(t, 1, used, "in use")
	})
}

func TestStartMissingRoot(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	e := command(t, "serve", "-c", file(t, fmt.Sprintf("listen = [%q]\n[[site]]\nroot = %q\n", realtest.FreeAddr(t), missing)))
	e.wantLine(t, 2, missing, "ssiedge.toml:3:")
	command(t, "serve", "--root", missing, "--listen", realtest.FreeAddr(t)).wantLine(t, 2, missing, "root")
}

func TestStartMissingFile(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "ssiedge.toml")
	command(t, "serve", "-c", missing).wantLine(t, 2, missing)
	command(t, "check", "-c", missing).wantLine(t, 2, missing)
}

func TestStartWithoutMemcached(t *testing.T) {
	nobody := realtest.FreeAddr(t)
	s := setup{
		app:  newApp(map[string]string{"/p": "from the app"}),
		top:  fmt.Sprintf("[memcache]\nservers = [%q]", nobody),
		site: `published = "{path}"`,
	}
	edge := s.start(t)
	wantBody(t, send(t, edge.Addr, get("/p")), "from the app")
	realtest.Eventually(t, "one warning about memcached", func() bool { return edge.Stderr.Contains(nobody) })
	var lines []string
	for line := range strings.Lines(edge.Stderr.String()) {
		if strings.Contains(line, nobody) && strings.Contains(strings.ToLower(line), "warn") {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		t.Errorf("no warning names %s:\n%s", nobody, edge.Stderr)
	}
}

func TestServeByFlags(t *testing.T) {
	w := t.TempDir()
	writeTree(t, w, map[string]string{"p.html": `page <!--#include virtual="/f" -->`})
	settle(t)
	server := realtest.FreeAddr(t)
	admin := realtest.ClaimAddr(t, 8081) // no flag names another
	s := setup{app: newApp(map[string]string{"/f": "fragment"})}
	_, after, _ := strings.Cut(s.config(t), "servers = [\"")
	origin, _, _ := strings.Cut(after, "\"")
	p := realtest.Start(t, exec.Command(realtest.EdgeBinary(t), "serve", "--root", w, "--origin", origin, "--listen", server))
	realtest.Eventually(t, "ssiedge serves", func() bool {
		if p.Ended() {
			t.Fatalf("ssiedge ended\n%s", p.Stderr)
		}
		_, err := exchange(server, get("/p"))
		return err == nil
	})
	wantBody(t, send(t, server, get("/p")), "page fragment")
	if a := call(t, http.MethodGet, "http://"+admin+"/healthz"); a.status != http.StatusOK {
		t.Errorf("%s answers %d, want 200", admin, a.status)
	}
	p.Signal(syscall.SIGTERM)
	if code := p.Exit(t); code != 0 {
		t.Errorf("exit code %d, want 0\n%s", code, p.Stderr)
	}
}

// A balancer speaks over a unix socket, and is believed about its visitors. A
// socket that a killed process has left behind is no obstacle.
func TestUnixListener(t *testing.T) {
	seen := make(chan string, 1)
	path := realtest.SocketPath(t)
	s := setup{app: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen <- r.Header.Get("X-Real-Ip") })}
	options := realtest.EdgeOptions{Listen: []string{"unix:" + path}, Config: s.config(t)}
	killed := realtest.Edge(t, options)
	killed.Signal(syscall.SIGKILL)
	killed.Exit(t)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("a killed process left no socket: %v", err)
	}
	edge := realtest.Edge(t, options)
	forwarded := get("/", "X-Forwarded-For: 192.0.2.7")
	for addr, want := range map[string]string{path: "192.0.2.7", edge.Addr: "127.0.0.1"} {
		if a := send(t, addr, forwarded); a.status != http.StatusOK {
			t.Fatalf("%s answers %d", addr, a.status)
		}
		if got := <-seen; got != want {
			t.Errorf("by way of %s the app sees the visitor %q, want %q", addr, got, want)
		}
	}
	edge.Signal(syscall.SIGTERM)
	if code := edge.Exit(t); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the socket is still there after the end")
	}
}
