package origin

import (
	"context"
	"errors"
	"math"
	"net"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/valyala/fasthttp"
)

const (
	// keepIdle is how long a connection is kept for the next request. App
	// servers close theirs after some time too (Node 5 s, Puma 20 s or more);
	// the shorter ours, the rarer both happen at once.
	keepIdle = 10 * time.Second

	// readBuffer holds a common page with its head, so that both come with
	// one call of the system.
	readBuffer = 16 << 10
)

// Server is one server of a pool.
type Server struct {
	name     string
	address  Address
	client   *fasthttp.HostClient // the pool of connections
	closed   *atomic.Bool         // the Pool's
	counters counters
}

// Name gives the server's address as in Address.String.
func (s *Server) Name() string { return s.name }

// newServer makes the server at an address. Its HostClient dials conns that
// are not connected yet: acquire connects them, since only there context and
// deadline are known.
func newServer(a Address, closed *atomic.Bool) *Server {
	return &Server{
		name: a.String(), address: a, closed: closed,
		client: &fasthttp.HostClient{
			Addr:                a.Addr,
			DialTimeout:         func(string, time.Duration) (net.Conn, error) { return new(conn), nil },
			MaxConns:            math.MaxInt32,
			MaxIdleConnDuration: keepIdle,
			ConnPoolStrategy:    fasthttp.LIFO,
			ReadBufferSize:      readBuffer,
		},
	}
}

// acquire gives a connection whose deadline is set: an idle one that is alive
// (reused), or a new one, dialed until dialBy at the latest. fresh asks for a
// new one.
func (s *Server) acquire(ctx context.Context, deadline, dialBy time.Time, fresh bool) (c *conn, reused bool, err error) {
	for {
		cc, err := s.client.AcquireConn(0, true)
		if err != nil {
			return nil, false, err
		}
		c := cc.Conn().(*conn)
		if c.release == nil {
			c.release = func() { s.client.ReleaseConn(cc) }
			c.discard = func() { s.client.CloseConn(cc) }
		}
		if c.Conn != nil && !fresh {
			// The deadline comes first: a past one would fail the probe.
			if c.SetDeadline(deadline) == nil && c.alive() {
				c.idle = 0
				return c, true, nil
			}
			c.discard()
			continue
		}
		if err := s.connect(ctx, c, dialBy); err != nil {
			c.discard()
			return nil, false, err
		}
		return c, false, c.SetDeadline(deadline)
	}
}

// connect dials c, in place of the connection it may have.
func (s *Server) connect(ctx context.Context, c *conn, deadline time.Time) error {
	raw, err := s.dial(ctx, deadline)
	if err != nil {
		return err
	}
	if c.Conn != nil {
		c.Conn.Close()
	}
	c.open(raw)
	return nil
}

const (
	firstPause = time.Millisecond
	maxPause   = 50 * time.Millisecond
)

// dial connects to the server. A unix socket whose backlog is full refuses at
// once, where TCP would wait: it is tried again until the deadline.
func (s *Server) dial(ctx context.Context, deadline time.Time) (net.Conn, error) {
	d := net.Dialer{Deadline: deadline}
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		raw, err := d.DialContext(ctx, s.address.Network, s.address.Addr)
		if err == nil || s.address.Network != "unix" || !errors.Is(err, syscall.EAGAIN) || time.Until(deadline) < pause {
			return raw, err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		}
	}
}

// put gives a connection back: kept for the next request, or closed.
func (s *Server) put(c *conn, keep bool) {
	if !keep {
		c.discard()
		return
	}
	c.release()
	if s.closed.Load() { // asked only now: Close may run at any time
		s.client.CloseIdleConnections()
	}
}
