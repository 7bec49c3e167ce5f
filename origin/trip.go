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

// watch closes the connection when the context ends. The connection of the
// system is captured, not t.conn: a call that comes late then does no harm.
func (t *trip) watch() {
	if t.ctx.Done() == nil {
		return
	}
	raw := t.conn.Conn
	t.stop = context.AfterFunc(t.ctx, func() { raw.Close() })
}

// finish gives the connection back, to be kept or closed. Doing so again does
// nothing.
func (t *trip) finish(keep bool) {
	c := t.conn
	if c == nil {
		return
	}
	t.conn = nil
	// A byte after the answer would be taken for the next one.
	keep = keep && t.keep && t.br.Buffered() == 0
	if t.up != nil {
		keep = t.up.end(keep)
	}
	if t.stop != nil && !t.stop() {
		keep = false // the context closes it, now or soon
	}
	t.server.client.ReleaseReader(t.br)
	t.br = nil
	t.server.put(c, keep)
}

// fail ends the attempt. What ended it first is to blame: the context, the
// visitor's body, and only then the server.
func (t *trip) fail(k Kind, err error) *Error {
	var body error
	if t.up != nil {
		body = t.up.failure()
	}
	t.finish(false)
	switch {
	case over(t.ctx) != nil:
		k, err = Canceled, over(t.ctx)
	case body != nil:
		k, err = Body, body
	}
	if t.server != nil {
		t.server.counters.failed(k)
	}
	return t.error(k, err)
}

// over gives the error of a context that has ended. Its deadline is looked at
// too: the net package may notice that a little before the context does.
func over(ctx context.Context) error {
	if d, ok := ctx.Deadline(); ok && !time.Now().Before(d) {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

// error makes the error of this exchange.
func (t *trip) error(k Kind, err error) *Error {
	e := &Error{Pool: t.pool.Name(), Kind: k, Sent: t.sent, Err: err}
	if t.server != nil {
		e.Server = t.server.name
	}
	return e
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
