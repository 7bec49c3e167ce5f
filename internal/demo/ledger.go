package demo

import (
	"cmp"
	"net/http"
	"slices"
	"sync"
)

// ledger counts what the app was asked, by route. Safe for concurrent use.
type ledger struct {
	mu     sync.Mutex
	routes map[string]*line // by pattern of the mux, so there are few
}

// line is one route in the ledger.
type line struct {
	Route   string
	Answers int // ended
	Bytes   int // of their bodies
}

func newLedger() *ledger { return &ledger{routes: map[string]*line{}} }

// watch counts the answers of next. ServeMux leaves the pattern that matched
// in the request, so it is known once next is done.
func (l *ledger) watch(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := &counter{ResponseWriter: w}
		next.ServeHTTP(c, r)
		route := r.Pattern
		if route == "" || route == "/" {
			route = "anything else"
		}
		l.add(route, c.bytes)
	})
}

func (l *ledger) add(route string, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.routes[route]
	if e == nil {
		e = &line{Route: route}
		l.routes[route] = e
	}
	e.Answers++
	e.Bytes += n
}

// lines is a copy of the ledger, ordered by route.
func (l *ledger) lines() []line {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]line, 0, len(l.routes))
	for _, e := range l.routes {
		out = append(out, *e)
	}
	slices.SortFunc(out, func(a, b line) int { return cmp.Compare(a.Route, b.Route) })
	return out
}

// counter counts the bytes of an answer's body.
type counter struct {
	http.ResponseWriter
	bytes int
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.ResponseWriter.Write(b)
	c.bytes += n
	return n, err
}

// Unwrap lets http.ResponseController reach the writer below.
func (c *counter) Unwrap() http.ResponseWriter { return c.ResponseWriter }
