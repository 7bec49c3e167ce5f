package origin

import (
	"context"
	"io"
	"sync"
	"testing"

	"github.com/valyala/fasthttp"
)

// bareServer answers without allocating, so that only our side is measured.
func bareServer(t testing.TB, network string) string {
	answer := []byte("HTTP/1.1 200 OK\r\nDate: Mon, 01 Jan 2001 00:00:00 GMT\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\nhello")
	return serveOn(t, network, func(c *peer) {
		b := make([]byte, 4096)
		for {
			if _, err := c.Conn.Read(b); err != nil {
				return
			}
			if _, err := c.Conn.Write(answer); err != nil {
				return
			}
		}
	})
}

// small is a small GET whose answer is read and closed.
func small(p *Pool, x *Exchange, buf []byte) error {
	if err := p.Do(context.Background(), x); err != nil {
		return err
	}
	defer x.Answer.Close()
	for {
		if _, err := x.Answer.Read(buf); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// A small GET allocates its answer, and nothing else.
func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	p := poolOf(t, bareServer(t, "tcp"))
	x, buf := exchange("GET", "/"), make([]byte, 100)
	n := testing.AllocsPerRun(1000, func() {
		if err := small(p, x, buf); err != nil {
			t.Fatal(err)
		}
	})
	if n > 1 {
		t.Errorf("%v allocations, want 1", n)
	}
}

func BenchmarkSmallGET(b *testing.B) {
	for _, network := range []string{"tcp", "unix"} {
		b.Run(network, func(b *testing.B) {
			p := poolOf(b, bareServer(b, network))
			x, buf := exchange("GET", "/"), make([]byte, 100)
			b.ReportAllocs()
			for b.Loop() {
				if err := small(p, x, buf); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkHostClient is fasthttp's own round trip, to compare with.
func BenchmarkHostClient(b *testing.B) {
	client := &fasthttp.HostClient{Addr: bareServer(b, "tcp")}
	defer client.CloseIdleConnections()
	x := exchange("GET", "/")
	b.ReportAllocs()
	for b.Loop() {
		if err := client.Do(x.Request, x.Response); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParallelGET(b *testing.B) {
	p := poolOf(b, bareServer(b, "tcp"))
	exchanges := sync.Pool{New: func() any { return exchange("GET", "/") }}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		x, buf := exchanges.Get().(*Exchange), make([]byte, 100)
		for pb.Next() {
			if err := small(p, x, buf); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// A download of 64 MiB.
func BenchmarkDownload(b *testing.B) {
	const size = 64 << 20
	l, name := listen(b, "tcp")
	page := make([]byte, size)
	server := &fasthttp.Server{Handler: func(ctx *fasthttp.RequestCtx) { ctx.SetBody(page) }}
	go server.Serve(l)
	defer server.Shutdown()
	p := poolOf(b, name)
	x, buf := exchange("GET", "/"), make([]byte, 32<<10)
	b.SetBytes(size)
	for b.Loop() {
		if err := small(p, x, buf); err != nil {
			b.Fatal(err)
		}
	}
}
