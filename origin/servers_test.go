package origin

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/valyala/fasthttp"
)

// The servers that people run: net/http and fasthttp, many requests at once,
// each visitor gets the own answer.
func TestRealServers(t *testing.T) {
	for name, start := range map[string]func(net.Listener) (stop func()){
		"net/http": func(l net.Listener) func() {
			s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				b, _ := io.ReadAll(r.Body)
				fmt.Fprintf(w, "%s %s %s %d", r.Method, r.RequestURI, r.Host, len(b))
			})}
			go s.Serve(l)
			return func() { s.Close() }
		},
		"fasthttp": func(l net.Listener) func() {
			s := &fasthttp.Server{Handler: func(ctx *fasthttp.RequestCtx) {
				fmt.Fprintf(ctx, "%s %s %s %d", ctx.Method(), ctx.RequestURI(), ctx.Host(), len(ctx.PostBody()))
			}}
			go s.Serve(l)
			return func() { s.Shutdown() }
		},
	} {
		t.Run(name, func(t *testing.T) {
			l, addr := listen(t, "tcp")
			l2, addr2 := listen(t, "unix")
			p := poolOf(t, addr, addr2)
			stop, stop2 := start(l), start(l2)
			defer stop()
			defer stop2()
			var wg sync.WaitGroup
			for i := range 8 {
				wg.Go(func() {
					for j := range 50 {
						target := fmt.Sprintf("/%d/%d", i, j)
						x, size := exchange("GET", target), 0
						switch j % 3 {
						case 1:
							x, size = exchange("POST", target), j
							withBody(x, strings.Repeat("x", j), int64(j))
						case 2:
							x, size = exchange("PUT", target), j*1000
							withBody(x, strings.Repeat("x", size), -1)
						}
						got, err := answer(p, x)
						want := fmt.Sprintf("%s %s www.example.com %d", x.Request.Header.Method(), target, size)
						if err != nil || got != want {
							t.Errorf("got %q, error %v, want %q", got, err, want)
						}
					}
				})
			}
			wg.Wait()
			if s := p.Stats().Servers; s[0].Requests != 200 || s[1].Requests != 200 || s[0].Open != s[0].Idle || s[1].Open != s[1].Idle {
				t.Errorf("%+v", s)
			}
		})
	}
}

// fill gives bytes that depend on where they stand.
type fill struct{ at, size int64 }

func (f *fill) Read(p []byte) (int, error) {
	if f.at == f.size {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), f.size-f.at))
	for i := range p[:n] {
		at := f.at + int64(i)
		p[i] = byte(at ^ at>>8 ^ at>>16)
	}
	f.at += int64(n)
	return n, nil
}

// A large body goes through both ways, with a length and without, and takes
// no memory to speak of.
func TestLargeBodies(t *testing.T) {
	size := int64(1 << 30)
	if testing.Short() || raceEnabled {
		size = 32 << 20
	}
	h := sha256.New()
	io.Copy(h, &fill{size: size})
	want := fmt.Sprintf("%x", h.Sum(nil))
	for _, known := range []bool{true, false} {
		var received atomic.Value
		p := poolOf(t, serve(t, func(c *peer) {
			r, err := http.ReadRequest(c.br)
			if err != nil {
				return
			}
			h := sha256.New()
			io.Copy(h, r.Body)
			received.Store(fmt.Sprintf("%x", h.Sum(nil)))
			if known {
				c.say("HTTP/1.1 200 OK\r\nContent-Length: " + strconv.FormatInt(size, 10) + "\r\n\r\n")
				io.Copy(c.Conn, &fill{size: size})
				return
			}
			c.say("HTTP/1.1 200 OK\r\n\r\n")
			io.Copy(c.Conn, &fill{size: size})
		}))
		x := exchange("POST", "/")
		x.Body, x.BodySize = &fill{size: size}, size
		if !known {
			x.BodySize = -1
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := p.Do(context.Background(), x); err != nil {
			t.Fatal(err)
		}
		h := sha256.New()
		n, err := io.Copy(h, x.Answer)
		x.Answer.Close()
		runtime.ReadMemStats(&after)
		if got := fmt.Sprintf("%x", h.Sum(nil)); err != nil || n != size || got != want || received.Load() != want {
			t.Errorf("known length %v: %d bytes, error %v, right: up %v, down %v", known, n, err, received.Load() == want, got == want)
		}
		if grown := int64(after.TotalAlloc - before.TotalAlloc); grown > 4<<20 {
			t.Errorf("known length %v: %d bytes allocated", known, grown)
		}
	}
}
