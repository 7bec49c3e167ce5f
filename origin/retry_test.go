package origin

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// testBalancer is what every Balancer has to do.
func testBalancer(t *testing.T, b Balancer) {
	p := poolOf(t, "a:1", "b:1", "c:1")
	var wg sync.WaitGroup
	var picked [3]atomic.Int64
	for range 4 {
		wg.Go(func() {
			for range 300 {
				s := b.Pick(p.servers)
				picked[slices.Index(p.servers, s)].Add(1)
				if one := b.Pick(p.servers[2:]); one != p.servers[2] {
					t.Errorf("picked %s, which was not to be had", one.Name())
				}
			}
		})
	}
	wg.Wait()
	for i := range picked {
		if n := picked[i].Load(); n != 400 {
			t.Errorf("%s was picked %d times of 1200", p.servers[i].Name(), n)
		}
	}
}

func TestRoundRobin(t *testing.T) { testBalancer(t, new(RoundRobin)) }

func TestServersInTurn(t *testing.T) {
	a, b := say("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na"), say("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nb")
	p := poolOf(t, serve(t, a), serveOn(t, "unix", b))
	for _, want := range []string{"a", "b", "a", "b"} {
		get(t, p, want)
	}
}

// A server that refuses is passed over, for any method: nothing was sent.
func TestNextServer(t *testing.T) {
	p := poolOf(t, refused(t), serve(t, say(hello)), "unix:"+filepath.Join(t.TempDir(), "none"))
	for range 3 {
		x := withBody(exchange("POST", "/"), "some", 4)
		wantAnswer(t, p, x, "hello")
		if x.Server != p.servers[1].Name() {
			t.Errorf("answered by %s", x.Server)
		}
	}
	s := p.Stats().Servers
	if s[1].Requests != 3 || s[0].Errors.Dial == 0 || s[2].Errors.Dial == 0 || s[0].Retries != s[0].Errors.Dial || s[0].Open+s[2].Open != 0 {
		t.Errorf("%+v", s)
	}
}

func TestAllRefused(t *testing.T) {
	body := &countingReader{}
	p := poolOf(t, refused(t), refused(t), refused(t))
	x := exchange("POST", "/")
	x.Body, x.BodySize = body, 4
	_, err := answer(p, x)
	e := wantError(t, err, Dial)
	if e.Sent || e.Timeout() || !errors.Is(err, syscall.ECONNREFUSED) || body.reads.Load() != 0 {
		t.Errorf("%+v, body read %d times", e, body.reads.Load())
	}
	if want := `origin: pool "app": dial ` + e.Server + `: connect: connection refused`; e.Error() != want {
		t.Errorf("error %q, want %q", e, want)
	}
	for _, s := range p.Stats().Servers {
		if s.Requests != 1 || s.Errors.Dial != 1 {
			t.Errorf("%+v: each is to be tried once", s)
		}
	}
}

type countingReader struct{ reads atomic.Int64 }

func (r *countingReader) Read(p []byte) (int, error) {
	r.reads.Add(1)
	return copy(p, "body"), nil
}

// fullBacklog gives a unix socket whose backlog is full.
func fullBacklog(t *testing.T) (name string, l *net.UnixListener) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	if err := errors.Join(unix.Bind(fd, &unix.SockaddrUnix{Name: path}), unix.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	any, err := net.FileListener(f)
	if err != nil {
		t.Fatal(err)
	}
	l = any.(*net.UnixListener)
	t.Cleanup(func() { l.Close() })
	for {
		c, err := net.Dial("unix", path)
		if errors.Is(err, syscall.EAGAIN) {
			return "unix:" + path, l
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
	}
}

// A full backlog is waited for, as TCP would.
func TestBacklogFull(t *testing.T) {
	var wg sync.WaitGroup
	t.Cleanup(wg.Wait) // after the listener and those in its backlog have been closed
	name, l := fullBacklog(t)
	p := newPool(t, Options{Servers: []string{name}})
	wg.Go(func() {
		// Once the dialer has begun, the server accepts.
		eventually(func() bool { return p.Stats().Servers[0].Requests == 1 })
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer c.Close()
				b := make([]byte, 1000)
				if n, _ := c.Read(b); n > 0 {
					io.WriteString(c, hello)
				}
			})
		}
	})
	get(t, p, "hello")
}

// It is not waited for longer than the timeout, nor than the context.
func TestBacklogStaysFull(t *testing.T) {
	name, _ := fullBacklog(t)
	p := newPool(t, Options{Servers: []string{name}, Timeout: 50 * time.Millisecond})
	_, err := answer(p, exchange("GET", "/"))
	if e := wantError(t, err, Dial); !e.Timeout() || e.Sent {
		t.Errorf("%+v", e)
	}
	p = newPool(t, Options{Servers: []string{name}})
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	wantError(t, p.Do(ctx, exchange("GET", "/")), Canceled)
}

// closesReused answers the first request of each connection and reads the
// second; then it ends the connection by end. Requests are counted.
func closesReused(t *testing.T, requests *atomic.Int64, end func(c *peer)) string {
	return serve(t, func(c *peer) {
		if c.request() != "" {
			requests.Add(1)
			c.say(hello)
		}
		if c.request() != "" {
			requests.Add(1)
			end(c)
		}
	})
}

// A connection that had served others and ends before an answer: once more on
// a new one if the method allows it. A POST is never sent twice.
func TestReusedConnectionEnds(t *testing.T) {
	for how, end := range map[string]func(*peer){
		"closed": func(c *peer) { c.Close() },
		"reset":  (*peer).reset,
	} {
		for _, method := range []string{"GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE"} {
			var requests atomic.Int64
			p := poolOf(t, closesReused(t, &requests, end))
			get(t, p, "hello")
			if _, err := answer(p, exchange(method, "/")); err != nil && method != "HEAD" {
				t.Errorf("%s, %s: %v", method, how, err)
			}
			if s := p.Stats().Servers[0]; requests.Load() != 3 || s.Requests != 3 || s.Retries != 1 || s.Errors.Reset != 1 {
				t.Errorf("%s, %s: %d requests, %+v", method, how, requests.Load(), s)
			}
		}
		for _, x := range []*Exchange{
			exchange("POST", "/"), exchange("PATCH", "/"), exchange("get", "/"), exchange("QUERY", "/"),
			withBody(exchange("POST", "/"), "body", 4),
			withBody(exchange("PUT", "/"), "body", 4), // the body is gone
		} {
			var requests atomic.Int64
			p := poolOf(t, closesReused(t, &requests, end))
			get(t, p, "hello")
			_, err := answer(p, x)
			e := wantError(t, err, Reset)
			if s := p.Stats().Servers[0]; !e.Sent || e.Timeout() || requests.Load() != 2 || s.Requests != 2 || s.Retries != 0 || s.Open != 0 {
				t.Errorf("%s, %s: %d requests, %+v", x.Request.Header.Method(), how, requests.Load(), s)
			}
		}
	}
}

// On a new connection even a GET is sent only once, and so is one whose answer
// had begun.
func TestNotSentAgain(t *testing.T) {
	var requests atomic.Int64
	count := func(c *peer) bool {
		if c.request() == "" {
			return false
		}
		requests.Add(1)
		return true
	}
	for name, script := range map[string]func(c *peer){
		"new connection": func(c *peer) { count(c) },
		"half a head": func(c *peer) {
			if count(c) {
				c.say("HTTP/1.1 200 OK\r\n")
			}
		},
		"a 103 only": func(c *peer) {
			if count(c) {
				c.say("HTTP/1.1 103 x\r\n\r\n")
			}
		},
		"reused, half a head": func(c *peer) {
			c.request()
			c.say(hello)
			if count(c) {
				c.say("HTTP/1.1 200")
			}
		},
		"reused, a 103 only": func(c *peer) {
			c.request()
			c.say(hello)
			if count(c) {
				c.say("HTTP/1.1 103 x\r\n\r\n")
			}
		},
	} {
		requests.Store(0)
		p := poolOf(t, serve(t, script), serve(t, script))
		if strings.HasPrefix(name, "reused") {
			get(t, p, "hello")
			get(t, p, "hello")
		}
		_, err := answer(p, exchange("GET", "/"))
		if wantError(t, err, Reset); requests.Load() != 1 {
			t.Errorf("%s: sent %d times", name, requests.Load())
		}
	}
}

// A retry is one: a server that always closes is asked twice.
func TestSentAgainOnce(t *testing.T) {
	var requests atomic.Int64
	p := poolOf(t, serve(t, func(c *peer) {
		if c.n == 0 {
			c.request()
			c.say(hello)
		}
		if c.request() != "" {
			requests.Add(1)
		}
	}))
	get(t, p, "hello")
	_, err := answer(p, exchange("GET", "/"))
	if wantError(t, err, Reset); requests.Load() != 2 {
		t.Errorf("sent %d times", requests.Load())
	}
}

// It goes out on a new connection: other idle ones may be as old.
func TestSentAgainOnNewConnection(t *testing.T) {
	asked, answer := make(chan bool), make(chan bool)
	p := poolOf(t, serve(t, func(c *peer) {
		if c.n < 2 {
			c.request()
			asked <- true
			<-answer
			c.say(hello)
			c.request()
			return
		}
		say(hello)(c)
	}))
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() { get(t, p, "hello") })
	}
	<-asked
	<-asked
	close(answer)
	wg.Wait()
	if s := p.Stats().Servers[0]; s.Idle != 2 {
		t.Fatalf("%+v", s)
	}
	get(t, p, "hello")
	if s := p.Stats().Servers[0]; s.Requests != 4 || s.Retries != 1 {
		t.Errorf("%+v", s)
	}
}

// The server goes away in between: the request goes to the next one, since no
// new connection can be made.
func TestSentAgainElsewhere(t *testing.T) {
	l, name := listen(t, "unix") // a port could be somebody else's next
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		b := make([]byte, 1000)
		c.Read(b)
		io.WriteString(c, hello)
		c.Read(b)
		l.Close()
		c.Close()
	})
	p := poolOf(t, name, serve(t, say("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nb")))
	get(t, p, "hello")
	get(t, p, "b")
	get(t, p, "b") // first in turn, and dead
	if s := p.Stats().Servers; s[0].Retries != 2 || s[0].Errors.Reset != 1 || s[0].Errors.Dial != 1 {
		t.Errorf("%+v", s)
	}
}

// A connection that the server closed while it was idle is found out before a
// POST is sent: no retry is needed.
func TestStaleIdleConnection(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		var posts atomic.Int64
		closed := make(chan bool)
		p := poolOf(t, serveOn(t, network, func(c *peer) {
			if c.n == 0 {
				c.request()
				c.say(hello)
				<-closed
				c.Close()
				closed <- true
				return
			}
			for c.request() != "" {
				if b := make([]byte, 4); must(io.ReadFull(c.br, b)) == 4 {
					posts.Add(1)
					c.say(hello)
				}
			}
		}))
		get(t, p, "hello")
		if s := p.Stats().Servers[0]; s.Idle != 1 {
			t.Fatalf("%+v", s)
		}
		closed <- true
		<-closed
		waitHeard(t, p.servers[0])
		wantAnswer(t, p, withBody(exchange("POST", "/"), "body", 4), "hello")
		if s := p.Stats().Servers[0]; posts.Load() != 1 || s.Requests != 2 || s.Retries != 0 || s.Open != 1 {
			t.Errorf("%d POSTs, %+v", posts.Load(), s)
		}
	}
}

func must(n int, _ error) int { return n }

// A silent server leaves time for the others: of two, each has half.
func TestShareOfTimeout(t *testing.T) {
	t.Parallel()
	name, _ := fullBacklog(t)
	p := newPool(t, Options{Timeout: 4 * soon, Servers: []string{name, serve(t, say(hello))}})
	get(t, p, "hello")
	if s := p.Stats().Servers[0]; s.Errors.Dial != 1 {
		t.Errorf("%+v", s)
	}
}

// pickLast is a Balancer of a caller.
type pickLast struct{}

func (pickLast) Pick(up []*Server) *Server { return up[len(up)-1] }

func TestOwnBalancer(t *testing.T) {
	p := newPool(t, Options{Balancer: pickLast{}, Servers: []string{serve(t, say(hello)), refused(t)}})
	x := exchange("GET", "/")
	wantAnswer(t, p, x, "hello")
	if s := p.Stats().Servers; s[1].Errors.Dial != 1 || x.Server != s[0].Server {
		t.Errorf("%+v", s)
	}
}
