package pagecache

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// patient is a timeout that no healthy exchange reaches, however busy the
// machine.
const patient = 20 * time.Second

func newTestMemcache(t testing.TB, timeout time.Duration, servers ...string) *Memcache {
	t.Helper()
	c, err := NewMemcache(MemcacheOptions{Servers: servers, Timeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestMemcacheGet(t *testing.T) {
	for _, s := range []*realtest.Server{realtest.Memcached(t), realtest.MemcachedUnix(t)} {
		c := newTestMemcache(t, patient, s.Addr)
		conn := dialMemcached(t, s.Addr)
		long := strings.Repeat("k", 250)
		storeOn(t, conn, "/a", 0, "<p>a</p>")
		storeOn(t, conn, "/marshalled", 1, "\x04\bI\"")
		storeOn(t, conn, "/empty", 0, "")
		storeOn(t, conn, long, 0, "long")
		storeOn(t, conn, "/São", 0, strings.Repeat("x", 500_000))
		for _, w := range []struct {
			key   string
			value string
			flags uint32
			err   error
		}{
			{"/a", "<p>a</p>", 0, nil}, {"/marshalled", "\x04\bI\"", 1, nil}, {"/empty", "", 0, nil}, {long, "long", 0, nil},
			{"/São", strings.Repeat("x", 500_000), 0, nil}, {"/none", "", 0, ErrMiss}, {"", "", 0, ErrKey},
			{long + "k", "", 0, ErrKey}, {"a b", "", 0, ErrKey}, {"a\r\nget b", "", 0, ErrKey}, {"a\x7f", "", 0, ErrKey},
		} {
			value, flags, err := c.Get(w.key)
			if string(value) != w.value || flags != w.flags || err != w.err {
				t.Errorf("%.20q: %.20q %d %v", w.key, value, flags, err)
			}
		}
		if err := c.Ping(); err != nil {
			t.Error(err)
		}
	}
}

func TestMemcachePingNamesTheServer(t *testing.T) {
	s := realtest.Memcached(t)
	gone, socket := realtest.FreeAddr(t), "unix:"+filepath.Join(t.TempDir(), "none")
	c := newTestMemcache(t, patient, s.Addr, gone, socket)
	err := c.Ping()
	if err == nil || !strings.Contains(err.Error(), gone) || !strings.Contains(err.Error(), socket) || strings.Contains(err.Error(), s.Addr) {
		t.Errorf("error %v", err)
	}
	one := newTestMemcache(t, patient, gone)
	if _, _, err := one.Get("/a"); err == nil || errors.Is(err, ErrMiss) || !strings.Contains(err.Error(), gone) {
		t.Errorf("error %v", err)
	}
}

// After a restart each idle connection is dead: no request fails for that.
func TestMemcacheRestart(t *testing.T) {
	s := realtest.Memcached(t)
	c := newTestMemcache(t, patient, s.Addr)
	storeOn(t, dialMemcached(t, s.Addr), "/a", 0, "one")
	var wg sync.WaitGroup
	for range 10 { // some idle connections
		wg.Go(func() {
			if v, _, err := c.Get("/a"); string(v) != "one" {
				t.Errorf("%q %v", v, err)
			}
		})
	}
	wg.Wait()
	s.Restart(t)
	storeOn(t, dialMemcached(t, s.Addr), "/a", 0, "two")
	for range 12 {
		if v, _, err := c.Get("/a"); string(v) != "two" {
			t.Errorf("after the restart: %q %v", v, err)
		}
	}
	s.Stop()
	for range 12 {
		if _, _, err := c.Get("/a"); err == nil || errors.Is(err, ErrMiss) {
			t.Errorf("after the end: error %v", err)
		}
	}
}

// A hung server costs one timeout a pause, whoever asks: the first request after
// it tries, the others are told at once.
func TestMemcacheHungServer(t *testing.T) {
	s := realtest.Memcached(t)
	c := newTestMemcache(t, 30*time.Millisecond, s.Addr)
	clock := stillClock(c)
	storeOn(t, dialMemcached(t, s.Addr), "/a", 0, "one")
	s.Hang(t)
	defer s.Resume()
	for range 3 {
		_, _, err := c.Get("/a")
		var timeout net.Error
		if !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Errorf("error %v, want a timeout", err)
		}
		for range 100 {
			if _, _, err := c.Get("/b"); err != ErrLeftAlone {
				t.Errorf("get: %v", err)
			}
			if err := c.Set("/b", nil, 0, time.Hour); err != ErrLeftAlone {
				t.Errorf("set: %v", err)
			}
			if err := c.Delete("/b"); err != ErrLeftAlone {
				t.Errorf("delete: %v", err)
			}
		}
		clock.Add(int64(c.pause))
	}
	if err := c.Ping(); err == nil {
		t.Error("a hung server gave a sign of life")
	}
	if err := c.remove("/b", true); err == nil || err == ErrLeftAlone {
		t.Errorf("a delete that insists: %v", err)
	}
	s.Resume()
	realtest.Eventually(t, "the server is back", func() bool {
		clock.Add(int64(c.pause))
		v, _, err := c.Get("/a")
		return err == nil && string(v) == "one"
	})
	c.server("/a").breaker.failed(c.uptime(), c.pause)
	realtest.Eventually(t, "a delete that insists reaches it", func() bool { return c.remove("/a", true) == nil })
	if _, _, err := newTestMemcache(t, patient, s.Addr).Get("/a"); err != ErrMiss {
		t.Errorf("after it: %v", err)
	}
}

// A key that cannot be is no news of the server: it neither spends the one try
// after a pause nor ends the pause.
func TestMemcacheBadKeysTellNothing(t *testing.T) {
	c := newTestMemcache(t, patient, realtest.FreeAddr(t))
	clock := stillClock(c)
	bad := func() {
		t.Helper()
		if _, _, err := c.Get("a b"); err != ErrKey {
			t.Error(err)
		}
	}
	if _, _, err := c.Get("/a"); err == nil || err == ErrLeftAlone {
		t.Fatalf("no server: %v", err)
	}
	bad()
	if _, _, err := c.Get("/a"); err != ErrLeftAlone {
		t.Errorf("the pause is over: %v", err)
	}
	clock.Add(int64(c.pause))
	bad()
	if _, _, err := c.Get("/a"); err == nil || err == ErrLeftAlone {
		t.Errorf("nothing tried: %v", err)
	}
}

// There are as many connections as are needed at once, up to a bound, and they
// stay: a crowd neither dials for each request nor takes all of the server's.
func TestMemcacheConnections(t *testing.T) {
	s := realtest.Memcached(t)
	c := newTestMemcache(t, patient, s.Addr)
	conn := dialMemcached(t, s.Addr)
	storeOn(t, conn, "/a", 0, "one")
	opened := func() uint64 { return statOf(t, s.Addr, "total_connections") }
	for range 100 {
		if _, _, err := c.Get("/a"); err != nil {
			t.Fatal(err)
		}
	}
	if n := c.servers[0].links.Load(); n != 1 {
		t.Errorf("one request at a time takes %d connections", n)
	}
	before := opened()
	var wg sync.WaitGroup
	for range 4 * maxLinks {
		wg.Go(func() {
			for range 20 {
				if v, _, err := c.Get("/a"); string(v) != "one" {
					t.Errorf("%q %v", v, err)
				}
			}
		})
	}
	wg.Wait()
	if n := opened() - before; n > maxLinks+1 { // and the one that asks
		t.Errorf("%d connections for %d requests, %d at once", n, 80*maxLinks, 4*maxLinks)
	}
}

// A request that finds all connections in use waits for one, no longer than
// its time, and not for a server that has failed meanwhile.
func TestMemcacheAllConnectionsInUse(t *testing.T) {
	s := realtest.Memcached(t)
	c := newTestMemcache(t, patient, s.Addr)
	server := c.servers[0]
	var links []*memcacheLink
	for range maxLinks {
		l, err := server.take(patient, time.Now().Add(patient))
		if err != nil {
			t.Fatal(err)
		}
		links = append(links, l)
	}
	if _, err := server.take(patient, time.Now()); err != errBusy {
		t.Errorf("error %v", err)
	}
	got := make(chan error)
	go func() {
		_, _, err := c.Get("/a")
		got <- err
	}()
	server.free <- links[0]
	if err := <-got; err != ErrMiss {
		t.Errorf("error %v", err)
	}
	<-server.free
	server.breaker.failed(c.uptime(), time.Hour)
	if _, _, err := c.Get("/a"); err != ErrLeftAlone { // without a wait: nobody gives a connection back
		t.Errorf("error %v", err)
	}
}

// statOf asks a server for one of its numbers.
func statOf(t testing.TB, addr, name string) (n uint64) {
	t.Helper()
	conn := dialMemcached(t, addr)
	fmt.Fprint(conn, "stats\r\nquit\r\n")
	text, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "STAT "+name+" ")
	if _, err := fmt.Sscan(after, &n); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	return n
}

// fakeServer answers each request on each connection by a function; it is for
// what no real memcached does.
func fakeServer(t *testing.T, answer func(conn net.Conn, key string, nth int)) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var conns []net.Conn
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns = append(conns, conn)
			mu.Unlock()
			wg.Go(func() {
				defer conn.Close()
				in := bufio.NewReader(conn)
				for nth := 1; ; nth++ {
					line, err := in.ReadString('\n')
					if err != nil {
						return
					}
					answer(conn, strings.TrimSpace(strings.TrimPrefix(line, "gets ")), nth)
				}
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for _, conn := range conns {
			conn.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	return l.Addr().String()
}

// A server that drips its answer keeps no request longer than the timeout,
// though each part of it comes in time: the request ends, and with an error,
// while the server would go on for as long as anybody listens.
func TestMemcacheDrippingServer(t *testing.T) {
	addr := fakeServer(t, func(conn net.Conn, key string, _ int) {
		for {
			if _, err := fmt.Fprintf(conn, "VALUE %s 0 1\r\nx\r\n", key); err != nil {
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	})
	c := newTestMemcache(t, 50*time.Millisecond, addr)
	_, _, err := c.Get("/a")
	var timeout net.Error
	if !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("error %v, want a timeout", err)
	}
}

// There is one retry, and only for a connection that was idle.
func TestMemcacheRetriesOnce(t *testing.T) {
	var mu sync.Mutex
	requests := 0
	addr := fakeServer(t, func(conn net.Conn, key string, nth int) {
		mu.Lock()
		requests++
		first := requests == 1
		mu.Unlock()
		if first {
			fmt.Fprintf(conn, "VALUE %s 0 1\r\nx\r\nEND\r\n", key)
			return
		}
		conn.Close() // on the idle connection, and on the new one too
	})
	c := newTestMemcache(t, patient, addr)
	clock := stillClock(c)
	if v, _, err := c.Get("/a"); string(v) != "x" {
		t.Fatalf("%q %v", v, err)
	}
	if _, _, err := c.Get("/a"); err == nil {
		t.Error("no error")
	}
	mu.Lock()
	if requests != 3 {
		t.Errorf("%d requests, want the good one, the one on the idle connection, and its retry", requests)
	}
	mu.Unlock()
	clock.Add(int64(c.pause))
	if _, _, err := c.Get("/a"); err == nil {
		t.Error("no error")
	}
	mu.Lock()
	defer mu.Unlock()
	if requests != 4 {
		t.Errorf("%d requests: one on a new connection was sent again", requests-3)
	}
}

// Half an answer is no dead idle connection.
func TestMemcacheDoesNotRetryHalfAnAnswer(t *testing.T) {
	var mu sync.Mutex
	requests := 0
	addr := fakeServer(t, func(conn net.Conn, key string, nth int) {
		mu.Lock()
		requests++
		mu.Unlock()
		if nth == 1 {
			fmt.Fprintf(conn, "END\r\n")
			return
		}
		fmt.Fprintf(conn, "VALUE %s 0 10\r\nhalf", key)
		conn.Close()
	})
	c := newTestMemcache(t, patient, addr)
	if _, _, err := c.Get("/a"); err != ErrMiss {
		t.Fatal(err)
	}
	if _, _, err := c.Get("/a"); err == nil || errors.Is(err, ErrMiss) {
		t.Errorf("error %v", err)
	}
	mu.Lock()
	defer mu.Unlock()
	if requests != 2 {
		t.Errorf("%d requests", requests)
	}
}

// An answer for another key is not used, nor is its connection any more.
func TestMemcacheAnswersOutOfStep(t *testing.T) {
	addr := fakeServer(t, func(conn net.Conn, key string, nth int) {
		if nth == 1 {
			key = "/before"
		}
		fmt.Fprintf(conn, "VALUE %s 0 1\r\nx\r\nEND\r\n", key)
	})
	c := newTestMemcache(t, patient, addr)
	for range 2 {
		if v, _, err := c.Get("/a"); err != ErrWrongKey {
			t.Errorf("%q %v", v, err)
		}
	}
}

func BenchmarkMemcacheGet(b *testing.B) {
	s := realtest.Memcached(b)
	c := newTestMemcache(b, patient, s.Addr)
	storeOn(b, dialMemcached(b, s.Addr), "/a", 0, strings.Repeat("x", 10<<10))
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, _, err := c.Get("/a"); err != nil {
				b.Fatal(err)
			}
		}
	})
}
