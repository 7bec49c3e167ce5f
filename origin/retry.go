package origin

import (
	"bufio"
	"context"
	"io"
	"time"
)

// A trip is one exchange on its way: first the attempts to get a head, then
// the answer's body, whose reader it is. It holds one connection at a time.
type trip struct {
	pool     *Pool
	ctx      context.Context
	x        *Exchange // nil after Do
	mem      *scratch  // nil after Do
	timeout  time.Duration
	deadline time.Time // of the head; with a body: of the connection

	server *Server
	conn   *conn
	br     *bufio.Reader // over conn
	up     *upload       // nil: no body was begun
	stop   func() bool   // ends the watch on ctx; nil: none

	reused bool // conn had served others
	stale  bool // a reused conn ended before a byte of an answer
	early  bool // the answer began while the body was still being sent
	keep   bool // conn may serve others when all was read
	sent   bool // a byte has left, in any attempt

	chunks io.Reader // nil: not chunked
	left   int64     // bytes of the answer's body to come; -1: until its own end
	err    error     // what the next Read says
}

// run makes attempts until one succeeds or none is left.
func (t *trip) run() *Error {
	p := t.pool
	t.mem = p.scratches.Get().(*scratch)
	defer t.release()
	var err error
	if t.mem.request, err = appendRequestHead(t.mem.request[:0], t.x); err != nil {
		return t.error(Invalid, err)
	}
	if t.timeout = t.x.Timeout; t.timeout <= 0 {
		t.timeout = p.options.Timeout
	}
	t.deadline = time.Now().Add(t.timeout)
	fresh := false
	for untried := p.servers; ; {
		t.server = p.options.Balancer.Pick(untried)
		failed := t.attempt(len(untried), fresh)
		if failed != nil && !fresh && t.mayResend() {
			t.server.counters.retries.Add(1)
			fresh = true
			failed = t.attempt(len(untried), fresh)
		}
		if failed == nil || failed.Kind != Dial || len(untried) == 1 {
			return failed
		}
		t.server.counters.retries.Add(1)
		untried = without(untried, t.server)
	}
}

// release gives back what Do needed. After a panic, of a Balancer or of
// Interim, it also lets go of the connection.
func (t *trip) release() {
	if t.x.Answer == nil {
		t.finish(false)
	}
	t.mem.trim()
	t.pool.scratches.Put(t.mem)
	t.mem, t.x = nil, nil
}

// mayResend reports whether the failed request may go out once more. The
// server closed a connection that had been idle, perhaps just when the request
// came; if nothing of it was sent, or doing it twice is as good as once, it
// may. A body that was begun is gone.
func (t *trip) mayResend() bool {
	return t.stale && t.up == nil && (!t.sent || isIdempotent(t.x.Request.Header.Method()))
}

// without gives servers but one, in their order. If a Balancer picked a
// stranger it is the last one that goes, so that trying comes to an end.
func without(servers []*Server, s *Server) []*Server {
	rest := make([]*Server, 0, len(servers)-1)
	for _, other := range servers {
		if other != s && len(rest) < cap(rest) {
			rest = append(rest, other)
		}
	}
	return rest
}

// error makes the error of this exchange.
func (t *trip) error(k Kind, err error) *Error {
	e := &Error{Pool: t.pool.Name(), Kind: k, Sent: t.sent, Err: err}
	if t.server != nil {
		e.Server = t.server.name
	}
	return e
}
