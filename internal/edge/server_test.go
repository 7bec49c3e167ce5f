package edge

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// TestConnectionLimit is over all listeners.
func TestConnectionLimit(t *testing.T) {
	e := newEdge(t, withFiles(t, map[string]string{"p.html": "p"}), func(o *Options) { o.Limits.Connections = 4 })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e.serve(l)
	ask := func(c net.Conn) error {
		io.WriteString(c, "GET /p HTTP/1.1\r\nHost: a\r\n\r\n")
		response, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err == nil {
			io.Copy(io.Discard, response.Body)
		}
		return err
	}
	var open []net.Conn
	for _, addr := range []string{e.addr, l.Addr().String(), e.addr, l.Addr().String()} {
		c := dialTo(t, addr)
		if err := ask(c); err != nil {
			t.Fatalf("connection %d of 4: %v", len(open)+1, err)
		}
		open = append(open, c)
	}
	for _, addr := range []string{e.addr, l.Addr().String()} {
		if err := ask(dialTo(t, addr)); err == nil {
			t.Error("a fifth connection was answered")
		}
	}
	if n := e.metrics.refused.Load(); n != 2 {
		t.Errorf("%d refused connections counted, want 2", n)
	}
	open[0].Close()
	realtest.Eventually(t, "the end of a connection makes room", func() bool { return e.open() == 3 })
	if err := ask(dialTo(t, l.Addr().String())); err != nil {
		t.Errorf("with room again: %v", err)
	}
	if err := ask(open[1]); err != nil {
		t.Errorf("an old connection: %v", err)
	}
}

// failingListener fails a few times before it accepts.
type failingListener struct {
	net.Listener
	errors []error
}

func (l *failingListener) Accept() (net.Conn, error) {
	if len(l.errors) > 0 {
		err := l.errors[0]
		l.errors = l.errors[1:]
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: err}
	}
	return l.Listener.Accept()
}

func TestShortageOfDescriptors(t *testing.T) {
	e := newEdge(t, withFiles(t, map[string]string{"p.html": "p"}))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e.serve(&failingListener{l, []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED}})
	c := dialTo(t, l.Addr().String())
	io.WriteString(c, request11("GET", "/p"))
	readAnswer(t, bufio.NewReader(c), "GET").is(t, 200, "p")
	if log := e.log.String(); strings.Count(log, "problem=accept") != 1 {
		t.Errorf("the log tells of the shortage not once: %s", log)
	}
}

func TestUnixListener(t *testing.T) {
	app := newRecorder(t, nil)
	e := newEdge(t, withOrigin(app.url))
	path := t.TempDir() + "/s"
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	e.serve(l)
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	io.WriteString(c, request11("GET", "/x", "X-Forwarded-For: 192.0.2.7", "X-Forwarded-Proto: https"))
	readAnswer(t, bufio.NewReader(c), "GET").is(t, 200, "ok")
	sameLines(t, fieldsOf(app.last(t), "X-Request-Id", "Traceparent", "Accept-Encoding", "Surrogate-Capability", "Via", "Host", "X-Forwarded-Host"),
		"X-Real-Ip: 192.0.2.7", "X-Forwarded-For: 192.0.2.7", "X-Forwarded-Proto: https")
}

func TestBadHeads(t *testing.T) {
	e := newEdge(t, func(o *Options) { o.Limits.Header, o.Limits.HeaderTimeout = 4096, 500*time.Millisecond })
	tests := []struct {
		name, raw string
		status    int
	}{
		{"large head", "GET / HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("x", 5000) + "\r\n\r\n", 431},
		{"long target", "GET /" + strings.Repeat("x", 5000) + " HTTP/1.1\r\nHost: a\r\n\r\n", 431},
		{"slow head", "GET / HTTP/1.1\r\nHost:", 408},
		{"slow body", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nx", 408},
		{"no HTTP", "hello\r\n\r\n", 400},
		{"TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 \r\n\r\n", 400},
	}
	for _, test := range tests {
		a := e.send(test.raw)
		if a.StatusCode != test.status || !a.Close {
			t.Errorf("%s: %d (connection ends: %v), want %d and the end", test.name, a.StatusCode, a.Close, test.status)
		}
		if n := len(a.lines("Date")); n != 1 {
			t.Errorf("%s: %d Date fields", test.name, n)
		}
		a.has(t, "Server", "")
		if strings.Contains(strings.ToLower(a.body+a.head), "fasthttp") {
			t.Errorf("%s: %q names what is inside", test.name, a.body)
		}
	}
	if _, err := io.ReadAll(e.dial()); err != nil {
		t.Errorf("silent connection: %v, want its end", err)
	}
}

// TestIdleConnectionEnds quietly, after idle_timeout.
func TestIdleConnectionEnds(t *testing.T) {
	e := newEdge(t, withFiles(t, map[string]string{"p.html": "p"}), func(o *Options) { o.Limits.IdleTimeout = 50 * time.Millisecond })
	c := e.dial()
	io.WriteString(c, "GET /p HTTP/1.1\r\nHost: a\r\n\r\n")
	r := bufio.NewReader(c)
	readAnswer(t, r, "GET").is(t, 200, "p")
	if rest, err := io.ReadAll(r); len(rest) > 0 || err != nil {
		t.Errorf("then %q (%v), want the end", rest, err)
	}
}

// TestShutdown ends idle connections and tunnels at once, and waits for what
// is being answered: an ordinary answer, and one of an HTTP/1.0 visitor.
func TestShutdown(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	tunnels := newRawApp(t, tunnelApp)
	app := newRecorder(t, func(head, _ string) string {
		entered <- struct{}{}
		<-release
		return htmlAnswer("slow")
	})
	e := newEdge(t, withOrigin(app.url), withFiles(t, map[string]string{"p.html": "p", "s.html": `first|<!--#include virtual="/slow" -->`}),
		withRule(Rule{Paths: []string{"/ws"}, Origin: poolOf(tunnels)}))
	idle := e.dial()
	io.WriteString(idle, "GET /p HTTP/1.1\r\nHost: a\r\n\r\n")
	idleReader := bufio.NewReader(idle)
	readAnswer(t, idleReader, "GET").is(t, 200, "p")
	_, tunnel := openTunnel(t, e)
	running := e.dial()
	io.WriteString(running, "GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
	<-entered
	old := e.dial()
	io.WriteString(old, "GET /s HTTP/1.0\r\nHost: a\r\n\r\n")
	<-entered
	oldReader := bufio.NewReader(old)
	rawHead(t, oldReader)

	ended := make(chan error, 1)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	go func() { ended <- e.server.Shutdown(ctx) }()
	if _, err := idleReader.ReadByte(); err != io.EOF {
		t.Errorf("idle connection: %v, want its end", err)
	}
	realtest.Eventually(t, "the port is closed", func() bool {
		c, err := net.Dial("tcp", e.addr)
		if err == nil {
			c.Close()
		}
		return err != nil
	})
	select {
	case err := <-ended:
		t.Fatalf("Shutdown returned (%v) before the requests had ended", err)
	default:
	}
	close(release)
	a := readAnswer(t, bufio.NewReader(running), "GET")
	a.is(t, 200, "slow")
	if !a.Close {
		t.Error("the last answer does not say that the connection ends")
	}
	if rest, err := io.ReadAll(oldReader); string(rest) != "first|slow" || err != nil {
		t.Errorf("HTTP/1.0: %q (%v)", rest, err)
	}
	if err := <-ended; err != nil {
		t.Errorf("Shutdown: %v", err)
	}
	if _, err := tunnel.ReadByte(); err == nil {
		t.Error("the tunnel lives on")
	}
}

// TestShutdownIsBounded: what takes too long is cut off.
func TestShutdownIsBounded(t *testing.T) {
	entered := make(chan struct{}, 2)
	app := newRawApp(t, func(c net.Conn) {
		entered <- struct{}{}
		io.Copy(io.Discard, c)
	})
	e := newEdge(t, withOrigin(app), withSite(func(s *Site) { s.Origin.Timeout = 2 * time.Second }))
	e.dial() // silent
	c := e.dial()
	io.WriteString(c, request11("GET", "/slow"))
	<-entered
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := e.server.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Shutdown: %v, want that it ran out of time", err)
	}
	if rest, _ := io.ReadAll(c); len(rest) > 0 {
		t.Errorf("got %q on a connection that was cut", rest)
	}
	realtest.Eventually(t, "all connections are closed", func() bool { return e.open() == 0 })
}
