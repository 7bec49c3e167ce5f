package origin

import (
	"context"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"github.com/valyala/fasthttp"
)

// An answer of arbitrary bytes neither panics nor hangs, and its connection is
// accounted for. What was read of it by one request is not given to the next.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{
		hello, hello + hello, "HTTP/1.1 103 x\r\n\r\n" + hello, "HTTP/1.0 200 x\n\nabc", switching + "abc",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nX: y\r\n\r\n",
		"HTTP/1.1 304 x\r\nContent-Length: 3\r\n\r\n", "HTTP/1.1 413 x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", "",
	} {
		f.Add([]byte(s), "GET", "")
		f.Add([]byte(s), "POST", "body")
	}
	var raw atomic.Pointer[[]byte]
	p := newPool(f, Options{MaxHead: 2000, Timeout: patience, Idle: patience, Servers: []string{serve(f, func(c *peer) {
		if c.request() != "" {
			c.Write(*raw.Load())
		}
	})}})
	f.Fuzz(func(t *testing.T, b []byte, method, body string) {
		raw.Store(&b)
		x := exchange(method, "/")
		defer fasthttp.ReleaseRequest(x.Request)
		defer fasthttp.ReleaseResponse(x.Response)
		if body != "" {
			x = withBody(x, body, -1)
		}
		x.Upgrade = len(b)%2 == 0
		began := time.Now()
		if err := p.Do(context.Background(), x); err == nil {
			n, err := io.Copy(io.Discard, x.Answer)
			if n > int64(len(b)) || x.Size >= 0 && err == nil && n != x.Size {
				t.Fatalf("%d bytes of a body of %d, in an answer of %d", n, x.Size, len(b))
			}
			x.Answer.Close()
		}
		if x.Conn != nil {
			io.Copy(io.Discard, x.Conn)
			x.Conn.Close()
		}
		if time.Since(began) > patience/2 {
			t.Fatal("it was waited for")
		}
		if s := p.Stats().Servers[0]; s.Open != s.Idle {
			t.Fatalf("%d connections are lost", s.Open-s.Idle)
		}
	})
}
