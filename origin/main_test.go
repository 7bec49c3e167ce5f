package origin

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/valyala/fasthttp"
	"golang.org/x/sys/unix"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// patience bounds what a test waits for; nothing that works takes so long.
const patience = 20 * time.Second

// soon is a timeout that a test waits for, and a machine that stands still for a
// moment does not reach before its time: then the error would be another one.
// Tests that wait for it run in parallel.
const soon = time.Second

func TestMain(m *testing.M) { realtest.Main(m) }

// eventually polls until ok, or patience is over.
func eventually(ok func() bool) bool {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if ok() {
			return true
		}
	}
	return ok()
}

func waitFor(t testing.TB, what string, ok func() bool) {
	t.Helper()
	if !eventually(ok) {
		t.Fatalf("waited in vain: %s", what)
	}
}

// peer is the server's side of a connection, by hand.
type peer struct {
	net.Conn
	br *bufio.Reader
	n  int // how many connections came before
}

// request reads a head, up to and with its empty line; "" at the end.
func (c *peer) request() string {
	var b strings.Builder
	for {
		line, err := c.br.ReadString('\n')
		b.WriteString(line)
		if err != nil {
			return ""
		}
		if line == "\r\n" {
			return b.String()
		}
	}
}

// say writes bytes; the other side may be gone.
func (c *peer) say(s string) { io.WriteString(c.Conn, s) }

// untilGone reads until the other side closes.
func (c *peer) untilGone() { io.Copy(io.Discard, c.br) }

// reset closes the connection with an RST.
func (c *peer) reset() {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	c.Conn.Close()
}

const hello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

// listen opens a port of 127.0.0.1 or a socket, and gives its name for Options.
func listen(t testing.TB, network string) (net.Listener, string) {
	t.Helper()
	addr := "127.0.0.1:0"
	if network == "unix" {
		addr = filepath.Join(t.TempDir(), "s")
	}
	l, err := net.Listen(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	if network == "unix" {
		return l, "unix:" + addr
	}
	return l, l.Addr().String()
}

// serve runs script for each connection to a new server, and closes the
// connection when it returns.
func serve(t testing.TB, script func(c *peer)) string {
	t.Helper()
	return serveOn(t, "tcp", script)
}

func serveOn(t testing.TB, network string, script func(c *peer)) string {
	t.Helper()
	l, name := listen(t, network)
	var wg sync.WaitGroup
	var mu sync.Mutex
	open := map[net.Conn]bool{}
	stopped := false
	wg.Go(func() {
		for n := 0; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open[c] = true
			if stopped {
				c.Close()
			}
			mu.Unlock()
			wg.Go(func() {
				script(&peer{Conn: c, br: bufio.NewReader(c), n: n})
				c.Close()
				mu.Lock()
				delete(open, c)
				mu.Unlock()
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		stopped = true
		for c := range open {
			c.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	return name
}

// say answers every request of a connection with the same bytes.
func say(answer string) func(*peer) {
	return func(c *peer) {
		for c.request() != "" {
			c.say(answer)
		}
	}
}

// refused gives the name of a server that is not there. Its port is taken, so
// that nobody else comes to listen on it, nor connects from it.
func refused(t testing.TB) string {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	bound, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint("127.0.0.1:", bound.(*unix.SockaddrInet4).Port)
}

func newPool(t testing.TB, o Options) *Pool {
	t.Helper()
	if o.Name == "" {
		o.Name = "app"
	}
	if o.Timeout == 0 {
		o.Timeout = patience
	}
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Close()
		waitFor(t, "no connection left", func() bool {
			for _, s := range p.Stats().Servers {
				if s.Open != 0 {
					return false
				}
			}
			return true
		})
	})
	return p
}

// waitHeard waits until the connection that is kept has something to read, bytes
// or its end: the kernel may take a moment to bring what the server has sent.
func waitHeard(t testing.TB, s *Server) {
	t.Helper()
	waitFor(t, "the idle connection has something to read", func() bool {
		cc, err := s.client.AcquireConn(0, true)
		if err != nil {
			t.Fatal(err)
		}
		defer s.client.ReleaseConn(cc)
		return !cc.Conn().(*conn).alive()
	})
}

func poolOf(t testing.TB, servers ...string) *Pool {
	t.Helper()
	return newPool(t, Options{Servers: servers})
}

// exchange makes an exchange for a request.
func exchange(method, target string) *Exchange {
	x := &Exchange{Request: fasthttp.AcquireRequest(), Response: fasthttp.AcquireResponse()}
	x.Request.Header.SetMethod(method)
	x.Request.Header.SetRequestURI(target)
	x.Request.Header.SetHost("www.example.com")
	return x
}

// withBody gives x a body of unknown size, or of the size of s.
func withBody(x *Exchange, s string, size int64) *Exchange {
	x.Body, x.BodySize = strings.NewReader(s), size
	return x
}

// answer does x and reads its answer whole.
func answer(p *Pool, x *Exchange) (string, error) {
	if err := p.Do(context.Background(), x); err != nil {
		return "", err
	}
	defer x.Answer.Close()
	b, err := io.ReadAll(x.Answer)
	return string(b), err
}

func wantAnswer(t testing.TB, p *Pool, x *Exchange, want string) {
	t.Helper()
	got, err := answer(p, x)
	if err != nil || got != want {
		t.Fatalf("answer %q, error %v; want %q", got, err, want)
	}
}

func get(t testing.TB, p *Pool, want string) {
	t.Helper()
	wantAnswer(t, p, exchange("GET", "/"), want)
}

// wantError checks the kind of an error, and that it names pool and server.
func wantError(t testing.TB, err error, k Kind) *Error {
	t.Helper()
	e, ok := err.(*Error)
	if !ok {
		t.Fatalf("error %v, want one of kind %s", err, k)
	}
	if e.Kind != k {
		t.Fatalf("error of kind %s (%v), want %s", e.Kind, err, k)
	}
	if e.Pool != "app" || k != Invalid && e.Server == "" || !strings.HasPrefix(e.Error(), `origin: pool "app": `) {
		t.Fatalf("error %q (pool %q, server %q) does not say whose it is", e, e.Pool, e.Server)
	}
	return e
}
