package warm

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
)

// fakeEdge is a server that plays the edge: it writes down what it was asked,
// and answers by a handler.
type fakeEdge struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string // host and target, as they came
	open  int      // connections
}

// newEdge starts an edge; answer nil says that it stored the page.
func newEdge(t *testing.T, answer http.HandlerFunc) *fakeEdge {
	t.Helper()
	if answer == nil {
		answer = says("ssiedge; fwd=uri-miss; stored")
	}
	e := &fakeEdge{}
	e.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.mu.Lock()
		e.asked = append(e.asked, r.Host+" "+r.RequestURI)
		e.mu.Unlock()
		answer(w, r)
	}))
	e.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		e.mu.Lock()
		defer e.mu.Unlock()
		switch s {
		case http.StateNew:
			e.open++
		case http.StateClosed:
			e.open--
		}
	}
	e.Start()
	t.Cleanup(e.Close)
	return e
}

// requests gives what was asked up to now.
func (e *fakeEdge) requests() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]string{}, e.asked...)
}

// connections gives how many are open.
func (e *fakeEdge) connections() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.open
}

// says answers with a Cache-Status and a small body.
func says(status string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Status", status)
		w.Write([]byte("page"))
	}
}

// newWarmer gives a Warmer that asks in order, unless o says more.
func newWarmer(t *testing.T, o Options) *Warmer {
	t.Helper()
	if o.Concurrency == 0 {
		o.Concurrency = 1
	}
	w, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// bubbleEdge serves answer over connections in memory, for tests with a clock of
// their own, and has w use it.
func bubbleEdge(t *testing.T, w *Warmer, answer http.HandlerFunc) *memoryListener {
	t.Helper()
	l := &memoryListener{conns: make(chan net.Conn), done: make(chan struct{})}
	server := &http.Server{Handler: answer}
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })
	w.transport = func() *http.Transport {
		tr := newTransport()
		tr.DialContext = l.dial
		return tr
	}
	return l
}

// memoryListener is a listener for pipes.
type memoryListener struct {
	dialled atomic.Int64
	conns   chan net.Conn
	done    chan struct{}
	once    sync.Once
}

func (l *memoryListener) dial(context.Context, string, string) (net.Conn, error) {
	l.dialled.Add(1)
	here, there := net.Pipe()
	select {
	case l.conns <- there:
		return here, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *memoryListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *memoryListener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

func (l *memoryListener) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }
