package origin

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// slowBody is a visitor whose bytes come by say, and who can be interrupted.
type slowBody struct {
	*io.PipeReader
	w    *io.PipeWriter
	cuts atomic.Int64
}

func newSlowBody() *slowBody {
	r, w := io.Pipe()
	return &slowBody{PipeReader: r, w: w}
}

func (b *slowBody) say(s string)      { io.WriteString(b.w, s) }
func (b *slowBody) interrupted() bool { return b.cuts.Load() == 1 }
func (b *slowBody) Interrupt() {
	b.cuts.Add(1)
	b.PipeReader.CloseWithError(errors.New("interrupted"))
}

// echo reads a request whole and gives its body back; the connection is kept.
func echo(c *peer) {
	for {
		r, err := http.ReadRequest(c.br)
		if err != nil {
			return
		}
		b, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		c.say("HTTP/1.1 200 OK\r\nContent-Length: " + itoa(len(b)) + "\r\n\r\n" + string(b))
	}
}

func itoa(n int) string { return string(appendInt(nil, n)) }

func appendInt(b []byte, n int) []byte {
	if n >= 10 {
		b = appendInt(b, n/10)
	}
	return append(b, byte('0'+n%10))
}

// The bytes of a body on the wire, however its reader gives them; the
// connection is kept.
func TestUpload(t *testing.T) {
	big := strings.Repeat("0123456789abcdef", 10000)
	for _, body := range []string{"", "x", "hello", big} {
		for _, size := range []int64{int64(len(body)), -1} {
			for name, r := range map[string]io.Reader{
				"at once":      strings.NewReader(body),
				"EOF with n":   &eofWithLast{body},
				"small pieces": io.LimitReader(pieces(body), int64(len(body))),
				"longer":       strings.NewReader(body + "surplus"),
			} {
				if name == "longer" && size < 0 {
					continue
				}
				p := poolOf(t, serve(t, echo))
				x := exchange("POST", "/")
				x.Body, x.BodySize = r, size
				got, err := answer(p, x)
				if err != nil || got != body {
					t.Errorf("%s of %d (size %d): got %d bytes, error %v", name, len(body), size, len(got), err)
				}
				if s := p.Stats().Servers[0]; s.Idle != 1 {
					t.Errorf("%s of %d (size %d): %+v", name, len(body), size, s)
				}
			}
		}
	}
}

type eofWithLast struct{ s string }

func (e *eofWithLast) Read(p []byte) (int, error) {
	n := copy(p, e.s)
	if e.s = e.s[n:]; e.s == "" {
		return n, io.EOF
	}
	return n, nil
}

// pieces gives s in pieces of growing size, with empty reads in between.
func pieces(s string) io.Reader {
	n := 0
	return readerFunc(func(p []byte) (int, error) {
		if n++; n%2 == 0 {
			return 0, nil
		}
		k := copy(p, s[:min(len(s), n)])
		if s = s[k:]; k == 0 {
			return 0, io.EOF
		}
		return k, nil
	})
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// The framing itself.
func TestChunkFrame(t *testing.T) {
	for _, c := range []struct {
		n             int
		chunked, last bool
		want          string
	}{
		{3, false, false, "abc"}, {3, false, true, "abc"}, {0, false, true, ""},
		{3, true, false, "3\r\nabc\r\n"}, {3, true, true, "3\r\nabc\r\n0\r\n\r\n"},
		{0, true, true, "0\r\n\r\n"}, {0, true, false, ""},
		{chunkData, true, true, "8000\r\n" + strings.Repeat("x", chunkData) + "\r\n0\r\n\r\n"},
	} {
		b := new(chunk)
		if copy(b.data(), strings.Repeat("x", chunkData)); c.n == 3 {
			copy(b.data(), "abc")
		}
		if got := b.frame(c.n, c.chunked, c.last); string(got) != c.want {
			t.Errorf("frame(%d, %v, %v) = %.40q", c.n, c.chunked, c.last, got)
		}
	}
}

// A visitor who is slow, but not still, is waited for, longer than the timeout
// for the head and than Idle.
func TestSlowUpload(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{Timeout: time.Second, Idle: time.Second, Servers: []string{serve(t, echo)}})
	body := newSlowBody()
	var wg sync.WaitGroup
	wg.Go(func() {
		for range 20 {
			time.Sleep(75 * time.Millisecond) // the visitor's own pace
			body.say("x")
		}
		body.w.Close()
	})
	x := exchange("POST", "/")
	x.Body, x.BodySize = body, -1
	wantAnswer(t, p, x, strings.Repeat("x", 20))
	wg.Wait()
	if s := p.Stats().Servers[0]; s.Idle != 1 || body.interrupted() {
		t.Errorf("%+v", s)
	}
}

// The head's timeout begins when the body has been sent.
func TestNoHeadAfterUpload(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{Timeout: soon, Servers: []string{serve(t, func(c *peer) { c.untilGone() })}})
	_, err := answer(p, withBody(exchange("POST", "/"), "body", 4))
	if e := wantError(t, err, Timeout); !e.Timeout() || !strings.Contains(e.Error(), "no answer within 1s") {
		t.Errorf("%v", e)
	}
}

// Nothing moves: the visitor is to blame if the body is waited for, the server
// if it takes no more.
func TestUploadStalls(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{Idle: soon, Servers: []string{serve(t, func(c *peer) { c.untilGone() })}})
	x, body := exchange("POST", "/"), newSlowBody()
	x.Body, x.BodySize = body, 9
	go body.say("some")
	_, err := answer(p, x)
	if e := wantError(t, err, Body); !e.Timeout() || !errors.Is(err, os.ErrDeadlineExceeded) || !body.interrupted() {
		t.Errorf("%v", e)
	}
	if s := p.Stats().Servers[0]; s.Errors != (ErrorCounts{}) || s.Open != 0 {
		t.Errorf("%+v", s)
	}

	release := make(chan bool)
	defer close(release)
	p = newPool(t, Options{Idle: soon, Servers: []string{serve(t, func(c *peer) { <-release })}})
	x = exchange("POST", "/")
	x.Body, x.BodySize = &fill{size: 1 << 30}, 1<<30
	_, err = answer(p, x)
	if e := wantError(t, err, Timeout); !e.Timeout() || !e.Sent || !strings.Contains(e.Error(), "taken") {
		t.Errorf("%v", e)
	}
	if s := p.Stats().Servers[0]; s.Errors.Timeout != 1 || s.Open != 0 {
		t.Errorf("%+v", s)
	}
}

// A refusal that comes while the body is being sent is read and given; the
// connection is not used again, and nobody waits for the rest of the body.
func TestEarlyRefusal(t *testing.T) {
	const refusal = "HTTP/1.1 413 Too Large\r\nContent-Length: 5\r\n\r\nhello"
	for name, script := range map[string]func(c *peer){
		"stays": func(c *peer) { c.request(); c.say(refusal); c.untilGone() },
		"closes": func(c *peer) {
			c.request()
			c.say(refusal)
			c.Conn.(interface{ CloseWrite() error }).CloseWrite()
			c.untilGone()
		},
	} {
		for _, size := range []int64{1 << 30, -1} {
			p := poolOf(t, serve(t, script))
			body := newSlowBody()
			x := exchange("POST", "/")
			x.Body, x.BodySize = body, size
			var wg sync.WaitGroup
			wg.Go(func() { body.say("some"); body.say("more") })
			got, err := answer(p, x)
			if err != nil || got != "hello" || x.Response.StatusCode() != 413 {
				t.Errorf("%s: got %q, error %v", name, got, err)
			}
			if s := p.Stats().Servers[0]; s.Open != 0 || s.Errors != (ErrorCounts{}) {
				t.Errorf("%s: %+v", name, s)
			}
			body.Close()
			wg.Wait()
		}
	}
}

// The server refuses a large body and closes at once, with much of it unread.
func TestEarlyRefusalOfLargeBody(t *testing.T) {
	p := poolOf(t, serve(t, func(c *peer) {
		c.request()
		c.say("HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello")
		io.CopyN(io.Discard, c.br, 1<<20)
	}))
	x := exchange("POST", "/")
	x.Body, x.BodySize = &fill{size: 1 << 30}, 1<<30
	if err := p.Do(context.Background(), x); err != nil || x.Response.StatusCode() != 413 {
		t.Fatalf("status %d, error %v", x.Response.StatusCode(), err)
	}
	// The rest may be lost to a reset by the server; no more than that.
	b, err := io.ReadAll(x.Answer)
	if err != nil {
		wantError(t, err, Reset)
	} else if string(b) != "hello" {
		t.Errorf("got %q", b)
	}
	x.Answer.Close()
}

// After a refusal nothing more is sent, even before the answer is closed.
func TestRefusalEndsUpload(t *testing.T) {
	got := make(chan string, 1)
	p := poolOf(t, serve(t, func(c *peer) {
		c.request()
		c.say("HTTP/1.1 401 x\r\nContent-Length: 5\r\n\r\nhello")
		b, _ := io.ReadAll(c.br)
		got <- string(b)
	}))
	x, body := exchange("POST", "/"), newSlowBody()
	x.Body, x.BodySize = body, 9
	if err := p.Do(context.Background(), x); err != nil {
		t.Fatal(err)
	}
	body.say("more")
	if b, err := io.ReadAll(x.Answer); err != nil || string(b) != "hello" {
		t.Errorf("read %q, error %v", b, err)
	}
	x.Answer.Close()
	if b := <-got; b != "" {
		t.Errorf("the server got %q after its refusal", b)
	}
}

// The end of a body that is still being sent when the answer has begun is not
// the beginning of the head's timeout.
func TestUploadEndsDuringAnswer(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{Timeout: soon, Servers: []string{serve(t, func(c *peer) {
		c.request()
		c.say("HTTP/1.1 200 OK\r\n\r\n")
		io.ReadFull(c.br, make([]byte, 4))
		time.Sleep(soon * 3 / 2) // longer than the timeout
		c.say("hello")
	})}})
	x, body := exchange("POST", "/"), newSlowBody()
	x.Body, x.BodySize = body, 4
	if err := p.Do(context.Background(), x); err != nil {
		t.Fatal(err)
	}
	go func() {
		time.Sleep(100 * time.Millisecond) // until the answer's reader waits
		body.say("body")
	}()
	if b, err := io.ReadAll(x.Answer); err != nil || string(b) != "hello" {
		t.Errorf("read %q, error %v", b, err)
	}
	x.Answer.Close()
}

// Some servers answer while they read: both bodies move at once.
func TestAnswerDuringUpload(t *testing.T) {
	p := poolOf(t, serve(t, func(c *peer) {
		r, err := http.ReadRequest(c.br)
		if err != nil {
			return
		}
		c.say("HTTP/1.1 200 OK\r\n\r\n")
		io.Copy(c.Conn, r.Body)
	}))
	x, body := exchange("POST", "/"), newSlowBody()
	x.Body, x.BodySize = body, -1
	if err := p.Do(context.Background(), x); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 4)
	for _, s := range []string{"ping", "pong"} {
		body.say(s)
		if _, err := io.ReadFull(x.Answer, b); err != nil || string(b) != s {
			t.Fatalf("read %q, error %v", b, err)
		}
	}
	body.w.Close()
	if rest, err := io.ReadAll(x.Answer); len(rest) != 0 || err != nil {
		t.Errorf("read %q, error %v", rest, err)
	}
	x.Answer.Close()
	if s := p.Stats().Servers[0]; s.Open != 0 {
		t.Errorf("a connection with an early answer was kept: %+v", s)
	}
}

// An answer that came early is not trusted to have been for the whole request.
func TestEarlyAnswerNotReused(t *testing.T) {
	p := poolOf(t, serve(t, func(c *peer) { c.request(); c.say(hello); c.untilGone() }))
	x, body := exchange("POST", "/"), newSlowBody()
	x.Body, x.BodySize = body, 9
	if err := p.Do(context.Background(), x); err != nil {
		t.Fatal(err)
	}
	body.say("all of it") // sent after the answer began
	if b, err := io.ReadAll(x.Answer); err != nil || string(b) != "hello" {
		t.Errorf("read %q, error %v", b, err)
	}
	x.Answer.Close()
	if s := p.Stats().Servers[0]; s.Open != 0 {
		t.Errorf("%+v", s)
	}
}

var errVisitor = errors.New("the visitor left")

// The visitor's body fails: no server gets what looks like the whole of it.
func TestVisitorFails(t *testing.T) {
	for name, c := range map[string]struct {
		body io.Reader
		size int64
		want error
	}{
		"error":           {io.MultiReader(strings.NewReader("some"), readerFunc(func([]byte) (int, error) { return 0, errVisitor })), 9, errVisitor},
		"error, chunked":  {io.MultiReader(strings.NewReader("some"), readerFunc(func([]byte) (int, error) { return 0, errVisitor })), -1, errVisitor},
		"error with data": {readerFunc(func(p []byte) (int, error) { return copy(p, "some"), errVisitor }), -1, errVisitor},
		"too short":       {strings.NewReader("some"), 9, io.ErrUnexpectedEOF},
		"gives nothing":   {readerFunc(func([]byte) (int, error) { return 0, nil }), 9, io.ErrNoProgress},
		"panic":           {readerFunc(func([]byte) (int, error) { panic("mine") }), 9, nil},
	} {
		got := make(chan string, 1)
		p := poolOf(t, serve(t, func(c *peer) {
			r, err := http.ReadRequest(c.br)
			if err != nil {
				got <- ""
				return
			}
			b, err := io.ReadAll(r.Body)
			if err == nil {
				b = append(b, " and an end"...)
			}
			got <- string(b)
		}))
		x := exchange("POST", "/")
		x.Body, x.BodySize = c.body, c.size
		_, err := answer(p, x)
		wantError(t, err, Body)
		if c.want != nil && !errors.Is(err, c.want) || c.want == nil && !strings.Contains(err.Error(), "panic in reading the body: mine") {
			t.Errorf("%s: error %v", name, err)
		}
		if b := <-got; strings.Contains(b, "end") {
			t.Errorf("%s: the server got %q", name, b)
		}
		if s := p.Stats().Servers[0]; s.Open != 0 || s.Errors != (ErrorCounts{}) {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// The visitor fails after the answer has begun: its Read says so.
func TestVisitorFailsDuringAnswer(t *testing.T) {
	p := poolOf(t, serve(t, func(c *peer) { c.request(); c.say("HTTP/1.1 200 OK\r\n\r\nhel"); c.untilGone() }))
	x, body := exchange("POST", "/"), newSlowBody()
	x.Body, x.BodySize = body, 9
	if err := p.Do(context.Background(), x); err != nil {
		t.Fatal(err)
	}
	body.w.CloseWithError(errVisitor)
	_, err := io.ReadAll(x.Answer)
	if wantError(t, err, Body); !errors.Is(err, errVisitor) {
		t.Errorf("error %v", err)
	}
	x.Answer.Close()
}

// A cancelled upload ends at once: the body, which waits, is interrupted.
func TestCanceledUpload(t *testing.T) {
	began := make(chan bool)
	p := poolOf(t, serve(t, func(c *peer) { c.request(); began <- true; c.untilGone() }))
	x, body := exchange("POST", "/"), newSlowBody()
	x.Body, x.BodySize = body, 9
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-began; cancel() }()
	wantError(t, p.Do(ctx, x), Canceled)
	if !body.interrupted() {
		t.Error("the body was not interrupted")
	}
}

// The body is not read once Do has failed or the answer is closed: the
// visitor's connection may be someone else's by then.
func TestBodyNotReadAfterwards(t *testing.T) {
	for _, raw := range []string{hello, "garbage\r\n"} {
		p := poolOf(t, serve(t, func(c *peer) { c.request(); c.say(raw); c.untilGone() }))
		var over atomic.Bool
		x := exchange("POST", "/")
		x.Body, x.BodySize = readerFunc(func(p []byte) (int, error) {
			if over.Load() {
				t.Error("read afterwards")
			}
			return copy(p, bytes.Repeat([]byte("x"), 10)), nil
		}), -1
		answer(p, x)
		over.Store(true)
	}
}

// A last write that nobody takes, though the answer is there, costs the
// connection and little time.
func TestLastWriteBlocks(t *testing.T) {
	near, far := net.Pipe() // a write waits for its reader
	defer far.Close()
	u := newUpload(near, withBody(exchange("POST", "/"), "body", 4), time.Hour, patience)
	chunks := sync.Pool{New: func() any { return new(chunk) }}
	go u.run(&chunks)
	waitFor(t, "the last write", u.last.Load)
	if u.end(true) {
		t.Error("the connection is to be kept")
	}
	if !u.last.Load() || u.complete() || u.failure() != nil {
		t.Errorf("complete %v, failure %v", u.complete(), u.failure())
	}
	// So it is where it had not quite begun.
	near, far = net.Pipe()
	defer far.Close()
	u = newUpload(near, withBody(exchange("POST", "/"), "body", 4), time.Hour, patience)
	if err := u.limitWrite(true); err != nil {
		t.Fatal(err)
	}
	if err := u.write([]byte("body")); !isTimeout(err) {
		t.Errorf("error %v", err)
	}
}
