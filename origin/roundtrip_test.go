package origin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/valyala/fasthttp"
)

// How answers are framed, and whether their connection serves again.
func TestAnswerBody(t *testing.T) {
	for _, c := range []struct {
		name, method, raw string
		want              string
		size              int64
		kept              bool
	}{
		{"length", "GET", hello, "hello", 5, true},
		{"no bytes", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "", 0, true},
		{"chunked", "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\n\r\n", "hello", -1, true},
		{"chunked, trailers", "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: CHUNKED\r\nTrailer: Set-Cookie\r\n\r\n5\r\nhello\r\n0\r\nSet-Cookie: a\r\nX: y\r\n\r\n", "hello", -1, true},
		{"chunked, no bytes", "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "", -1, true},
		{"Connection: close", "GET", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello", "hello", 5, false},
		{"HTTP/1.0", "GET", "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", "hello", 5, false},
		{"HTTP/1.0, keep-alive", "GET", "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 5\r\n\r\nhello", "hello", 5, true},
		{"HEAD", "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "", 0, true},
		{"HEAD, chunked", "HEAD", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "", 0, true},
		{"HEAD, no length", "HEAD", "HTTP/1.1 200 OK\r\n\r\n", "", 0, true},
		{"204", "GET", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", "", 0, true},
		{"304", "GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", "", 0, true},
		{"surplus bytes", "GET", hello + "!", "hello", 5, false},
		{"surplus bytes after chunks", "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n!", "hello", -1, false},
		{"body of an answer to HEAD", "HEAD", hello, "", 0, false},
		{"body of a 204", "GET", "HTTP/1.1 204 No Content\r\n\r\nhello", "", 0, false},
		{"status 999", "GET", "HTTP/1.1 999 Odd\r\nContent-Length: 5\r\n\r\nhello", "hello", 5, true},
	} {
		for _, network := range []string{"tcp", "unix"} {
			t.Run(c.name+"/"+network, func(t *testing.T) {
				p := poolOf(t, serveOn(t, network, say(c.raw)))
				x := exchange(c.method, "/")
				wantAnswer(t, p, x, c.want)
				if x.Size != c.size {
					t.Errorf("size %d, want %d", x.Size, c.size)
				}
				if s := p.Stats().Servers[0]; x.Server != s.Server || (s.Idle == 1) != c.kept || s.Open != s.Idle {
					t.Errorf("kept: %d idle, %d open; want kept %v", s.Idle, s.Open, c.kept)
				}
				wantAnswer(t, p, exchange(c.method, "/"), c.want)
			})
		}
	}
}

// An answer without a length ends with the connection.
func TestUntilClose(t *testing.T) {
	p := poolOf(t, serve(t, func(c *peer) {
		c.request()
		c.say("HTTP/1.1 200 OK\r\n\r\nhello")
	}))
	x := exchange("GET", "/")
	wantAnswer(t, p, x, "hello")
	if s := p.Stats().Servers[0]; x.Size != -1 || s.Open != 0 {
		t.Errorf("size %d, %d connections open", x.Size, s.Open)
	}
}

// The late second answer: bytes nobody asked for, on an idle connection, are
// not given to the next visitor.
func TestLateSecondAnswer(t *testing.T) {
	said := make(chan bool)
	more := make(chan bool)
	p := poolOf(t, serve(t, func(c *peer) {
		if c.request(); c.n == 0 {
			c.say(hello)
			<-more
			c.say("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret")
			said <- true
			c.untilGone()
			return
		}
		c.say("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nmine")
	}))
	get(t, p, "hello")
	if s := p.Stats().Servers[0]; s.Idle != 1 {
		t.Fatalf("%d idle connections, want the one that the late answer comes on", s.Idle)
	}
	more <- true
	<-said
	waitHeard(t, p.servers[0])
	get(t, p, "mine")
}

func TestMalformedAnswers(t *testing.T) {
	for name, raw := range map[string]string{
		"status 99":           "HTTP/1.1 099 x\r\nContent-Length: 0\r\n\r\n",
		"space in length":     "HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nhi",
		"chunked in HTTP/1.0": "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
		"stray 101":           "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n",
		"another protocol":    "+OK redis\r\n", // and no more: it must not be waited for
		"33 interim answers":  strings.Repeat("HTTP/1.1 103 x\r\n\r\n", 33) + hello,
	} {
		p := poolOf(t, serve(t, func(c *peer) {
			c.request()
			c.say(raw)
			c.untilGone()
		}))
		_, err := answer(p, exchange("GET", "/"))
		e := wantError(t, err, Malformed)
		if s := p.Stats().Servers[0]; !e.Sent || e.Timeout() || s.Open != 0 || s.Errors.Malformed != 1 {
			t.Errorf("%s: %+v, %+v", name, e, s)
		}
	}
}

func TestHeadTooLarge(t *testing.T) {
	p := newPool(t, Options{MaxHead: 1000, Servers: []string{serve(t, func(c *peer) {
		c.request()
		c.say("HTTP/1.1 200 OK\r\nX-A: " + strings.Repeat("x", 1000))
		c.untilGone()
	})}})
	_, err := answer(p, exchange("GET", "/"))
	wantError(t, err, TooLarge)
	if s := p.Stats().Servers[0]; s.Errors.Malformed != 1 {
		t.Errorf("%+v", s)
	}
}

func TestInterim(t *testing.T) {
	p := poolOf(t, serve(t, say(strings.Repeat("HTTP/1.1 102 Processing\r\n\r\n", 31)+
		"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nConnection: x\r\n\r\n"+hello)))
	var got []string
	x := exchange("GET", "/")
	x.Interim = func(h *fasthttp.ResponseHeader) {
		got = append(got, fmt.Sprint(h.StatusCode(), string(h.Peek("Link")), string(h.Peek("Connection"))))
	}
	wantAnswer(t, p, x, "hello")
	if len(got) != 32 || got[0] != "102" || got[31] != "103</a.css>; rel=preload" {
		t.Errorf("interim answers %q", got)
	}
	if x.Response.StatusCode() != 200 || x.Response.Header.Peek("Link") != nil {
		t.Errorf("the final head has something of an interim one:\n%s", &x.Response.Header)
	}
	get(t, p, "hello") // dropped
}

// A panic in Interim is the caller's, but takes no connection with it.
func TestInterimPanic(t *testing.T) {
	p := poolOf(t, serve(t, say("HTTP/1.1 103 x\r\n\r\n"+hello)))
	x := exchange("GET", "/")
	x.Interim = func(*fasthttp.ResponseHeader) { panic("mine") }
	func() {
		defer func() {
			if v := recover(); v != "mine" {
				t.Errorf("recovered %v", v)
			}
		}()
		answer(p, x)
	}()
	if s := p.Stats().Servers[0]; s.Open != 0 {
		t.Errorf("%d connections open", s.Open)
	}
}

// A stream may last far longer than the timeout for its head, and than Idle,
// as long as bytes come.
func TestStreamOutlivesTimeout(t *testing.T) {
	t.Parallel()
	const events = 20
	p := newPool(t, Options{Timeout: time.Second, Idle: time.Second, Servers: []string{serve(t, func(c *peer) {
		c.request()
		c.say("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
		for range events {
			time.Sleep(75 * time.Millisecond) // the stream's own pace
			c.say("8\r\ndata: x\n\r\n")
		}
		c.say("0\r\n\r\n")
	})}})
	x := exchange("GET", "/")
	wantAnswer(t, p, x, strings.Repeat("data: x\n", events))
}

func TestNoHeadInTime(t *testing.T) {
	t.Parallel()
	for _, begin := range []string{"", "HTTP/1.1 200 OK\r\nX-A:"} {
		p := newPool(t, Options{Timeout: soon, Servers: []string{serve(t, func(c *peer) {
			c.request()
			c.say(begin)
			c.untilGone()
		})}})
		_, err := answer(p, exchange("GET", "/"))
		if e := wantError(t, err, Timeout); !e.Timeout() || !e.Sent || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%+v", e)
		}
		if s := p.Stats().Servers[0]; s.Errors.Timeout != 1 || s.Open != 0 || s.Requests != 1 {
			t.Errorf("%+v", s)
		}
	}
}

// The Exchange's Timeout goes before the pool's.
func TestOwnTimeout(t *testing.T) {
	t.Parallel()
	p := poolOf(t, serve(t, func(c *peer) { c.untilGone() }))
	x := exchange("GET", "/")
	x.Timeout = soon
	_, err := answer(p, x)
	wantError(t, err, Timeout)
}

func TestBodyStalls(t *testing.T) {
	t.Parallel()
	for _, begin := range []string{
		"Content-Length: 9\r\n\r\nhel",
		"Transfer-Encoding: chunked\r\n\r\n9\r\nhel",
		"\r\nhel",
	} {
		p := newPool(t, Options{Idle: soon, Servers: []string{serve(t, func(c *peer) {
			c.request()
			c.say("HTTP/1.1 200 OK\r\n" + begin)
			c.untilGone()
		})}})
		x := exchange("GET", "/")
		got, err := answer(p, x)
		if e := wantError(t, err, Timeout); got != "hel" || !e.Timeout() {
			t.Errorf("got %q, %+v", got, e)
		}
		if s := p.Stats().Servers[0]; s.Errors.Timeout != 1 || s.Open != 0 {
			t.Errorf("%+v", s)
		}
	}
}

func TestBodyCutShort(t *testing.T) {
	for name, begin := range map[string]string{
		"length":         "Content-Length: 9\r\n\r\nhel",
		"in a chunk":     "Transfer-Encoding: chunked\r\n\r\n9\r\nhel",
		"after a chunk":  "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n",
		"no end of last": "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n0\r\n",
		"in trailers":    "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n0\r\nX: y\r\n",
	} {
		p := poolOf(t, serve(t, func(c *peer) {
			c.request()
			c.say("HTTP/1.1 200 OK\r\n" + begin)
		}))
		x := exchange("GET", "/")
		got, err := answer(p, x)
		if wantError(t, err, Reset); got != "hel" || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: got %q, error %v", name, got, err)
		}
		if _, again := x.Answer.Read(make([]byte, 1)); again != errClosed {
			t.Errorf("%s: after Close: %v", name, again)
		}
		if s := p.Stats().Servers[0]; s.Errors.Reset != 1 || s.Open != 0 || s.Retries != 0 {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

func TestBodyMalformed(t *testing.T) {
	for _, begin := range []string{"x\r\n", "3\r\nhello", "3\nhel", "-1\r\n", "11111111111111111\r\n", "0\r\n" + strings.Repeat("X: y\r\n", 1000)} {
		p := newPool(t, Options{MaxHead: 1000, Servers: []string{serve(t, func(c *peer) {
			c.request()
			c.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + begin)
			c.untilGone()
		})}})
		_, err := answer(p, exchange("GET", "/"))
		wantError(t, err, Malformed)
		if s := p.Stats().Servers[0]; s.Errors.Malformed != 1 || s.Open != 0 {
			t.Errorf("%q: %+v", begin, s)
		}
	}
}

func TestBodyReset(t *testing.T) {
	p := poolOf(t, serve(t, func(c *peer) {
		c.request()
		c.say("HTTP/1.1 200 OK\r\n\r\nhel") // until close: a reset is no end
		c.reset()
	}))
	_, err := answer(p, exchange("GET", "/"))
	if wantError(t, err, Reset); !errors.Is(err, syscall.ECONNRESET) || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error %v", err)
	}
}

// An answer that is not read to its end takes its connection with it.
func TestClosedEarly(t *testing.T) {
	p := poolOf(t, serve(t, say(hello)))
	x := exchange("GET", "/")
	if err := p.Do(context.Background(), x); err != nil {
		t.Fatal(err)
	}
	if n, err := x.Answer.Read(make([]byte, 4)); n != 4 || err != nil {
		t.Fatal(n, err)
	}
	x.Answer.Close()
	x.Answer.Close()
	if s := p.Stats().Servers[0]; s.Open != 0 {
		t.Errorf("%d connections open", s.Open)
	}
	if n, err := x.Answer.Read(make([]byte, 4)); n != 0 || err != errClosed {
		t.Errorf("read %d bytes after Close, error %v", n, err)
	}
}

// A connection goes back once the last byte was read, before EOF and Close.
func TestGivenBackWithLastByte(t *testing.T) {
	p := poolOf(t, serve(t, say(hello)))
	x := exchange("GET", "/")
	if err := p.Do(context.Background(), x); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(x.Answer, make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	if s := p.Stats().Servers[0]; s.Idle != 1 {
		t.Errorf("%d connections idle", s.Idle)
	}
	get(t, p, "hello") // on the same one
	if n, err := x.Answer.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("read %d bytes, error %v", n, err)
	}
	x.Answer.Close()
	if s := p.Stats().Servers[0]; s.Idle != 1 || s.Open != 1 {
		t.Errorf("%+v", s)
	}
}

// An answer is not kept: its Date goes out as it came, and so do the fields
// when a server with the edge's settings writes it.
func TestDateSurvives(t *testing.T) {
	const date = "Mon, 01 Jan 2001 00:00:00 GMT"
	p := poolOf(t, serve(t, say("HTTP/1.1 200 OK\r\nDate: "+date+"\r\nX-A: 1\r\nX-A: 2\r\nContent-Length: 5\r\n\r\nhello")))
	edge := &fasthttp.Server{NoDefaultDate: true, NoDefaultServerHeader: true, NoDefaultContentType: true, Handler: func(ctx *fasthttp.RequestCtx) {
		x := exchange("GET", "/")
		x.Response = &ctx.Response
		if err := p.Do(context.Background(), x); err != nil {
			ctx.Error(err.Error(), 502)
			return
		}
		ctx.Response.SetBodyStream(x.Answer, int(x.Size))
	}}
	l, name := listen(t, "tcp")
	var wg sync.WaitGroup
	wg.Go(func() { edge.Serve(l) })
	defer wg.Wait()
	defer edge.Shutdown()
	c, err := net.Dial("tcp", name)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	io.WriteString(c, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
	got, err := io.ReadAll(c)
	want := "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nDate: " + date + "\r\nX-A: 1\r\nX-A: 2\r\nConnection: close\r\n\r\nhello"
	if err != nil || string(got) != want {
		t.Errorf("got\n%s\nerror %v, want\n%s", got, err, want)
	}
}

func TestCanceled(t *testing.T) {
	for name, say := range map[string]string{
		"waiting for the head": "",
		"reading the body":     "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhel",
	} {
		for _, byDeadline := range []bool{false, true} {
			waits := make(chan bool, 1)
			p := poolOf(t, serve(t, func(c *peer) {
				c.request()
				c.say(say)
				waits <- true
				c.untilGone()
			}))
			ctx, cancel := context.WithCancel(context.Background())
			want := context.Canceled
			if byDeadline {
				ctx, cancel = context.WithTimeout(context.Background(), 50*time.Millisecond)
				want = context.DeadlineExceeded
			} else {
				go func() { <-waits; cancel() }()
			}
			x := exchange("GET", "/")
			err := p.Do(ctx, x)
			if err == nil {
				_, err = io.ReadAll(x.Answer)
				x.Answer.Close()
			}
			cancel()
			if e := wantError(t, err, Canceled); !errors.Is(err, want) || e.Timeout() != byDeadline {
				t.Errorf("%s: %+v", name, e)
			}
			if s := p.Stats().Servers[0]; s.Open != 0 || s.Errors != (ErrorCounts{}) {
				t.Errorf("%s: %+v", name, s)
			}
		}
	}
}

// A context that ends after the answer does no harm to the next visitor.
func TestCanceledAfterwards(t *testing.T) {
	p := poolOf(t, serve(t, say(hello)))
	ctx, cancel := context.WithCancel(context.Background())
	x := exchange("GET", "/")
	if err := p.Do(ctx, x); err != nil {
		t.Fatal(err)
	}
	io.ReadAll(x.Answer)
	y := exchange("GET", "/")
	if err := p.Do(context.Background(), y); err != nil {
		t.Fatal(err)
	}
	cancel()
	x.Answer.Close()
	if b, err := io.ReadAll(y.Answer); err != nil || string(b) != "hello" {
		t.Errorf("got %q, error %v", b, err)
	}
	y.Answer.Close()
	if s := p.Stats().Servers[0]; s.Requests != 2 || s.Idle != 1 {
		t.Errorf("%+v", s)
	}
}

// Connections under way when the pool is closed are not kept.
func TestClosedPool(t *testing.T) {
	p := poolOf(t, serve(t, say(hello)))
	get(t, p, "hello")
	x := exchange("GET", "/")
	if err := p.Do(context.Background(), x); err != nil {
		t.Fatal(err)
	}
	p.Close()
	if b, err := io.ReadAll(x.Answer); err != nil || string(b) != "hello" {
		t.Errorf("got %q, error %v", b, err)
	}
	x.Answer.Close()
	get(t, p, "hello")
	if s := p.Stats().Servers[0]; s.Open != 0 {
		t.Errorf("%d connections open", s.Open)
	}
}
