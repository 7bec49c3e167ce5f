package edge

import (
	"bufio"
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// TestEventStream: each event has come before the next is sent.
func TestEventStream(t *testing.T) {
	next := make(chan string)
	app := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(200)
		w.(http.Flusher).Flush()
		for event := range next {
			fmt.Fprintf(w, "data: %s\n\n", event)
			w.(http.Flusher).Flush()
		}
	}
	e := newEdge(t, withApp(t, app), withRule(Rule{Paths: []string{"*"}, Timeout: ptr(5 * time.Second)}))
	c := e.dial()
	io.WriteString(c, request11("GET", "/events"))
	r := bufio.NewReader(c)
	rawHead(t, r)
	for _, event := range []string{"one", "two", "three"} {
		next <- event
		if chunk := readChunk(t, r); chunk != "data: "+event+"\n\n" {
			t.Errorf("chunk %q, want the event %q", chunk, event)
		}
	}
	close(next)
	if rest, _ := io.ReadAll(r); string(rest) != "0\r\n\r\n" {
		t.Errorf("at the end %q", rest)
	}
}

// byteSource is size bytes that are never all in memory.
type byteSource struct {
	size int64
	at   int64
}

func (s *byteSource) Read(p []byte) (int, error) {
	if s.at == s.size {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), s.size-s.at))
	for i := range p[:n] {
		p[i] = byte((s.at + int64(i)) * 2654435761 >> 13)
	}
	s.at += int64(n)
	return n, nil
}

// peak runs work and gives how far the heap in use rose meanwhile.
func peak(work func()) int64 {
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	done, highest := make(chan struct{}), make(chan uint64)
	go func() {
		var top uint64
		for {
			var now runtime.MemStats
			runtime.ReadMemStats(&now)
			top = max(top, now.HeapInuse)
			select {
			case <-done:
				highest <- top
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	work()
	close(done)
	return int64(<-highest) - int64(before.HeapInuse)
}

// TestLargeBodiesInLittleMemory passes 100 MB through in each direction, with
// and without a length.
func TestLargeBodiesInLittleMemory(t *testing.T) {
	size := int64(100 << 20)
	if testing.Short() {
		size = 20 << 20
	}
	const most = 16 << 20
	want := crc32.NewIEEE()
	io.Copy(want, &byteSource{size: size})
	app := func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "POST" {
			got := crc32.NewIEEE()
			n, err := io.Copy(got, r.Body)
			fmt.Fprintf(w, "%d %d %v", n, got.Sum32(), err)
			return
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		if r.URL.Path == "/length" {
			w.Header().Set("Content-Length", fmt.Sprint(size))
		}
		io.Copy(w, &byteSource{size: size})
	}
	e := newEdge(t, withApp(t, app), func(o *Options) { o.Limits.Body = 0 })
	c := realtest.Client(e.addr)
	c.Timeout = 5 * time.Minute
	defer c.CloseIdleConnections()
	for _, path := range []string{"/length", "/chunked"} {
		rise := peak(func() {
			response, err := c.Get("http://a" + path)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			got := crc32.NewIEEE()
			if n, err := io.Copy(got, response.Body); err != nil || n != size || got.Sum32() != want.Sum32() {
				t.Errorf("%s: %d bytes (%v), or others than were sent", path, n, err)
			}
		})
		if rise > most {
			t.Errorf("%s: the heap rose by %d bytes for a download of %d", path, rise, size)
		}
		rise = peak(func() {
			q, err := http.NewRequest("POST", "http://a"+path, &byteSource{size: size})
			if err != nil {
				t.Fatal(err)
			}
			if path == "/length" {
				q.ContentLength = size
			}
			response, err := c.Do(q)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			got, _ := io.ReadAll(response.Body)
			if text := fmt.Sprintf("%d %d <nil>", size, want.Sum32()); string(got) != text {
				t.Errorf("%s: the app got %q, want %q", path, got, text)
			}
		})
		if rise > most {
			t.Errorf("%s: the heap rose by %d bytes for an upload of %d", path, rise, size)
		}
	}
}

// TestInterimAnswers: 103 is passed on before the answer is there, 100 is not.
func TestInterimAnswers(t *testing.T) {
	release := make(chan struct{})
	app := newRawApp(t, func(c net.Conn) {
		if _, err := http.ReadRequest(bufio.NewReader(c)); err != nil {
			return
		}
		io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nLink: </b.css>\r\nConnection: x\r\n\r\n")
		<-release
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
	})
	e := newEdge(t, withOrigin(app))
	c := e.dial()
	io.WriteString(c, request11("GET", "/"))
	r := bufio.NewReader(c)
	if head := rawHead(t, r); head != "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nLink: </b.css>\r\n\r\n" {
		t.Errorf("first head %q", head)
	}
	release <- struct{}{}
	readAnswer(t, r, "GET").is(t, 200, "ok")

	c = e.dial()
	io.WriteString(c, "GET / HTTP/1.0\r\nHost: a\r\n\r\n")
	release <- struct{}{}
	readAnswer(t, bufio.NewReader(c), "GET").is(t, 200, "ok")
}

// tunnelApp upgrades, says hello and repeats what it hears, in upper case.
func tunnelApp(c net.Conn) {
	r := bufio.NewReader(c)
	q, err := http.ReadRequest(r)
	if err != nil || q.Header.Get("Connection") != "Upgrade" || q.Header.Get("Upgrade") != "websocket" || q.Header.Get("Sec-Websocket-Key") != "k" {
		io.WriteString(c, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
		return
	}
	io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\nhello\n")
	for {
		line, err := r.ReadString('\n')
		if err != nil || line == "bye\n" {
			return
		}
		io.WriteString(c, strings.ToUpper(line))
	}
}

const upgrade = "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: k\r\n\r\n"

// openTunnel gives both ends of a tunnel, the visitor's by a reader.
func openTunnel(t *testing.T, e *testEdge) (net.Conn, *bufio.Reader) {
	t.Helper()
	c := e.dial()
	io.WriteString(c, upgrade+"first\n") // what comes with the head is not lost
	r := bufio.NewReader(c)
	head := rawHead(t, r)
	if want := "HTTP/1.1 101 Switching Protocols\r\n"; !strings.HasPrefix(head, want) {
		t.Fatalf("head %q, want %q", head, want)
	}
	sameLines(t, fieldsOf(head, "Date"), "Upgrade: websocket", "Connection: Upgrade", "Sec-Websocket-Accept: x")
	for _, want := range []string{"hello\n", "FIRST\n"} {
		if line, err := r.ReadString('\n'); line != want {
			t.Fatalf("%q (%v), want %q", line, err, want)
		}
	}
	return c, r
}

func TestTunnel(t *testing.T) {
	const bound = 400 * time.Millisecond // of requests and answers, but of no tunnel
	e := newEdge(t, withOrigin(newRawApp(t, tunnelApp)), func(o *Options) {
		o.Limits.WriteTimeout, o.Limits.HeaderTimeout, o.Limits.IdleTimeout = bound, bound, bound
	})
	for _, end := range []string{"app", "visitor"} {
		c, r := openTunnel(t, e)
		for i, began := 0, time.Now(); time.Since(began) < bound+bound/2; i++ {
			fmt.Fprintf(c, "line %d\n", i)
			if line, err := r.ReadString('\n'); line != fmt.Sprintf("LINE %d\n", i) {
				t.Fatalf("%q (%v)", line, err)
			}
		}
		if n := e.open(); n != 1 {
			t.Errorf("%d open connections, want the tunnel's", n)
		}
		if end == "app" {
			io.WriteString(c, "bye\n")
			if _, err := r.ReadByte(); err != io.EOF {
				t.Errorf("after the end: %v", err)
			}
			realtest.Eventually(t, "the tunnel is closed although the visitor keeps his end", func() bool { return e.open() == 0 })
		}
		c.Close()
		realtest.Eventually(t, "the tunnel is closed", func() bool { return e.open() == 0 })
	}
}

func TestUpgradeRefused(t *testing.T) {
	app := newRecorder(t, nil)
	e := newEdge(t, withOrigin(app.url))
	e.send(strings.Replace(upgrade, "keep-alive", "x", 1)+"").is(t, 200, "ok")
	for _, other := range []string{
		strings.Replace(upgrade, "websocket", "h2c", 1),
		strings.Replace(upgrade, "HTTP/1.1", "HTTP/1.0", 1),
		strings.Replace(upgrade, "GET", "HEAD", 1),
	} {
		c := e.dial()
		io.WriteString(c, other)
		readAnswer(t, bufio.NewReader(c), other[:4]).Response.Body.Close()
		c.Close()
		if v := fieldLines(app.last(t), "Upgrade"); v != nil {
			t.Errorf("%.40q: the app was asked to upgrade to %q", other, v)
		}
	}
}

func TestBodyLimit(t *testing.T) {
	app := newRecorder(t, echoApp)
	e := newEdge(t, withOrigin(app.url), func(o *Options) { o.Limits.Body = 100 })
	exact := strings.Repeat("x", 100)
	e.post("POST", "/", exact).is(t, 200, "POST / HTTP/1.1\n"+exact)
	chunk := func(n int) string { return fmt.Sprintf("%x\r\n%s\r\n", n, strings.Repeat("x", n)) }
	e.send(request11("POST", "/", "Transfer-Encoding: chunked")+chunk(60)+chunk(40)+"0\r\n\r\n").is(t, 200, "POST / HTTP/1.1\n"+exact)
	before := len(app.all())
	for name, request := range map[string]string{
		"length":  request11("POST", "/", "Content-Length: 101") + exact + "x",
		"huge":    request11("POST", "/", "Content-Length: 99999999999") + strings.Repeat("x", 8<<10),
		"chunked": request11("POST", "/", "Transfer-Encoding: chunked") + chunk(60) + chunk(41) + "0\r\n\r\n",
		"endless": request11("POST", "/", "Transfer-Encoding: chunked") + chunk(60) + chunk(60),
		"expect":  request11("POST", "/", "Content-Length: 101", "Expect: 100-continue"),
	} {
		a := e.send(request)
		if a.StatusCode != 413 || !a.Close {
			t.Errorf("%s: %d (connection ends: %v), want 413 and the end", name, a.StatusCode, a.Close)
		}
		if n := len(a.lines("Date")); n != 1 {
			t.Errorf("%s: %d Date fields", name, n)
		}
	}
	if n := len(app.all()); n != before {
		t.Errorf("the app got %d whole requests over the limit", n-before)
	}
}

// TestUploadThatEndsEarly is told from a whole one on both sides.
func TestUploadThatEndsEarly(t *testing.T) {
	whole := make(chan bool, 4)
	app := newRawApp(t, func(c net.Conn) {
		q, err := http.ReadRequest(bufio.NewReader(c))
		if err != nil {
			return
		}
		_, err = io.ReadAll(q.Body)
		whole <- err == nil
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
	})
	e := newEdge(t, withOrigin(app))
	for name, request := range map[string]string{
		"length":  request11("POST", "/", "Content-Length: 100000") + strings.Repeat("x", 20000),
		"chunked": request11("POST", "/", "Transfer-Encoding: chunked") + "5\r\nabcde\r\n",
	} {
		c := e.dial()
		io.WriteString(c, request)
		c.(*net.TCPConn).CloseWrite()
		a := readAnswer(t, bufio.NewReader(c), "POST")
		c.Close()
		if a.StatusCode != 400 {
			t.Errorf("%s: %d, want 400", name, a.StatusCode)
		}
		if <-whole {
			t.Errorf("%s: the app took the body for a whole one", name)
		}
	}
}

// TestEarlyAnswer: the app answers before the upload is over.
func TestEarlyAnswer(t *testing.T) {
	app := newRawApp(t, func(c net.Conn) {
		if _, err := http.ReadRequest(bufio.NewReader(c)); err != nil {
			return
		}
		io.WriteString(c, "HTTP/1.1 401 No\r\nContent-Type: text/plain\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno")
	})
	e := newEdge(t, withOrigin(app), func(o *Options) { o.Limits.Body = 0 })
	c := e.dial()
	io.WriteString(c, request11("POST", "/", "Content-Length: 100000000")+strings.Repeat("x", 20000))
	readAnswer(t, bufio.NewReader(c), "POST").is(t, 401, "no")
}

// TestResetInTheBody breaks the visitor's answer off visibly.
func TestResetInTheBody(t *testing.T) {
	for name, answer := range map[string]string{
		"length":  "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\nhalf",
		"chunked": "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
	} {
		app := newRawApp(t, func(c net.Conn) {
			if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
				io.WriteString(c, answer)
			}
		})
		e := newEdge(t, withOrigin(app))
		c := e.dial()
		io.WriteString(c, request11("GET", "/x"))
		got, _ := io.ReadAll(c)
		if response, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(got)), nil); err == nil {
			if body, err := io.ReadAll(response.Body); err == nil {
				t.Errorf("%s: %d %q looks whole", name, response.StatusCode, body)
			}
		}
		realtest.Eventually(t, "the broken answer is counted", func() bool { return e.metrics.broken.Load() == 1 })
		if log := e.log.String(); !strings.Contains(log, "problem=body") {
			t.Errorf("%s: the log does not tell of it", name)
		}
	}
}

// TestResetInADocument: nothing of it has left, so there is a 502 to give.
func TestResetInADocument(t *testing.T) {
	app := newRawApp(t, func(c net.Conn) {
		if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nCache-Control: max-age=60\r\nSet-Cookie: a=1\r\nContent-Length: 100\r\n\r\nhalf")
		}
	})
	a := newEdge(t, withOrigin(app)).get("/x")
	if a.StatusCode != 502 || strings.Contains(a.body, "half") {
		t.Errorf("%d %q, want our 502", a.StatusCode, a.body)
	}
	a.has(t, "Cache-Control", "no-store")
	a.has(t, "Set-Cookie", "")
}

// TestSlowReaderIsCut: one who takes nothing for the time of a write, not one
// who is slow.
func TestSlowReaderIsCut(t *testing.T) {
	var sent atomic.Int64
	app := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/octet-stream")
		block := bytes.Repeat([]byte("x"), 64<<10)
		for {
			n, err := w.Write(block)
			sent.Add(int64(n))
			if err != nil {
				return
			}
		}
	}
	e := newEdge(t, withApp(t, app), func(o *Options) { o.Limits.WriteTimeout = 2 * time.Second })
	c := e.dial()
	io.WriteString(c, request11("GET", "/endless"))
	steady := make([]byte, 1<<20)
	for range 20 {
		if _, err := io.ReadFull(c, steady); err != nil {
			t.Fatalf("a steady reader was cut: %v", err)
		}
	}
	realtest.Eventually(t, "who reads no more is cut", func() bool { return e.open() == 0 })
}
