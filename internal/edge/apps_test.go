package edge

import (
	"bufio"
	"bytes"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/valyala/fasthttp"
)

// newApp starts a real HTTP server and gives its URL. Requests that still run
// at the end of the test are cut off.
func newApp(t testing.TB, app http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewUnstartedServer(app)
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	s.Start()
	t.Cleanup(func() {
		s.CloseClientConnections()
		within(t, "the app's requests end", s.Close)
	})
	return s.URL
}

// within fails the test where wait does not return: a handler of the test's own
// still waits for something, mostly after another failure.
func within(t testing.TB, what string, wait func()) {
	done := make(chan struct{})
	go func() {
		wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(patience):
		t.Errorf("waited in vain: %s", what)
	}
}

// pages is an app that answers each path with one HTML body, and 404 else.
func pages(bodies map[string]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, ok := bodies[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, body)
	}
}

// recorder is an app that answers bytes with bytes: it keeps the heads as they
// came over the wire.
type recorder struct {
	url     string
	handler func(head, body string) string // gives the whole answer

	mu    sync.Mutex
	heads []string
}

// newRecorder starts an app whose every answer handler gives; nil: an empty
// text/plain.
func newRecorder(t testing.TB, handler func(head, body string) string) *recorder {
	t.Helper()
	if handler == nil {
		handler = func(string, string) string {
			return "HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok"
		}
	}
	o := &recorder{handler: handler}
	o.url = newRawApp(t, o.serve)
	return o
}

// newRawApp starts an app that does with each connection what serve does, and
// gives its URL. At the end of the test the connections are closed, which has
// to end serve.
func newRawApp(t testing.TB, serve func(net.Conn)) string {
	t.Helper()
	return "http://" + listenRaw(t, "tcp", "127.0.0.1:0", serve)
}

// newRawSocket is newRawApp on a unix socket, where what has been written is
// there at once.
func newRawSocket(t testing.TB, serve func(net.Conn)) string {
	t.Helper()
	return "unix:" + listenRaw(t, "unix", filepath.Join(t.TempDir(), "app"), serve)
}

func listenRaw(t testing.TB, network, address string, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	var open connections
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			open.add(c)
			wg.Go(func() {
				defer open.remove(c)
				defer c.Close()
				serve(c)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		open.closeAll()
		within(t, "the app's connections end", wg.Wait)
	})
	return l.Addr().String()
}

// serve answers the requests of one connection.
func (o *recorder) serve(c net.Conn) {
	r := bufio.NewReader(c)
	for {
		var head bytes.Buffer
		for !bytes.HasSuffix(head.Bytes(), []byte("\r\n\r\n")) {
			line, err := r.ReadBytes('\n')
			if err != nil {
				return
			}
			head.Write(line)
		}
		q, err := http.ReadRequest(bufio.NewReader(io.MultiReader(bytes.NewReader(head.Bytes()), r)))
		if err != nil {
			return
		}
		body, err := io.ReadAll(q.Body)
		if err != nil {
			return
		}
		o.mu.Lock()
		o.heads = append(o.heads, head.String())
		o.mu.Unlock()
		if _, err := io.WriteString(c, o.handler(head.String(), string(body))); err != nil {
			return
		}
	}
}

// all are the heads so far.
func (o *recorder) all() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]string(nil), o.heads...)
}

// last is the head of the last request.
func (o *recorder) last(t testing.TB) string {
	t.Helper()
	all := o.all()
	if len(all) == 0 {
		t.Fatal("the origin got no request")
	}
	return all[len(all)-1]
}

// coded is s in a content coding; one that nobody knows leaves it as it is.
func coded(t testing.TB, coding, s string) string {
	t.Helper()
	switch coding {
	case "gzip", "x-gzip":
		return gzipped(s)
	case "deflate":
		return string(fasthttp.AppendDeflateBytes(nil, []byte(s)))
	case "br":
		return string(fasthttp.AppendBrotliBytes(nil, []byte(s)))
	case "zstd":
		return string(fasthttp.AppendZstdBytes(nil, []byte(s)))
	}
	return s
}
