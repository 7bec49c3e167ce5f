package origin

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// upgrade hands out the connection after a 101. From here on the context has
// no hold on it.
func (t *trip) upgrade() *Error {
	switch {
	case !t.x.Upgrade:
		return t.fail(Malformed, errStray101)
	case t.early:
		return t.fail(Malformed, errEarly101)
	case t.up != nil:
		if <-t.up.done; !t.up.complete() {
			return t.fail(Malformed, errEarly101)
		}
	}
	if t.stop != nil && !t.stop() {
		return t.fail(Canceled, context.Canceled)
	}
	if err := t.conn.SetDeadline(time.Time{}); err != nil {
		return t.fail(Reset, cutError(err))
	}
	rest, _ := t.br.Peek(t.br.Buffered())
	t.x.Conn = &tunnel{Conn: t.conn.Conn, rest: bytes.Clone(rest), discard: t.conn.discard}
	t.server.client.ReleaseReader(t.br)
	t.conn, t.br = nil, nil
	t.err = io.EOF
	t.x.Answer, t.x.Server = t, t.server.name
	return nil
}

// tunnel is a connection after its upgrade.
type tunnel struct {
	net.Conn
	rest    []byte // read together with the head; for Read alone
	once    sync.Once
	discard func() // closes it, and the HostClient counts one less
}

func (t *tunnel) Read(p []byte) (int, error) {
	if len(t.rest) > 0 {
		n := copy(p, t.rest)
		t.rest = t.rest[n:]
		return n, nil
	}
	return t.Conn.Read(p)
}

// CloseWrite ends what is sent, and leaves reading open.
func (t *tunnel) CloseWrite() error {
	if c, ok := t.Conn.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return errors.ErrUnsupported
}

// Close closes the connection, once.
func (t *tunnel) Close() error {
	t.once.Do(t.discard)
	return nil
}
