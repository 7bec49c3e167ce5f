package pagecache

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/bradfitz/gomemcache/memcache"
)

// errIdle is the error of a connection that was closed while nobody used it.
var errIdle = errors.New("pagecache: memcached closed an idle connection")

// memcacheLink is a connection to one server, made when it is first needed,
// and gomemcache's client on it. One exchange uses it at a time, so all of it,
// dialling included, has one deadline. gomemcache's own timeout begins anew
// with each part of an answer: a server that drips would hold it for ever.
type memcacheLink struct {
	client *memcache.Client

	end      time.Time // of the exchange
	reused   bool      // it uses a connection of an earlier one
	answered bool      // something of its answer was read
}

func newMemcacheLink(a serverAddr, timeout time.Duration) *memcacheLink {
	l := new(memcacheLink)
	l.client = memcache.NewFromSelector(&ring{servers: []serverAddr{a}})
	l.client.Timeout = timeout // no exchange has more; its end is nearer
	l.client.MaxIdleConns = 1
	l.client.DialContext = l.dial
	return l
}

// exchange makes a request that is to end at a time, and once more where it
// went out on a connection that was dead already.
func (l *memcacheLink) exchange(end time.Time, request func(*memcacheLink) error) error {
	l.end, l.reused, l.answered = end, true, false
	err := request(l)
	if errors.Is(err, errIdle) {
		err = request(l) // the dead one is gone, so this one dials
	}
	return err
}

func (l *memcacheLink) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	l.reused = false
	d := net.Dialer{Deadline: l.end}
	conn, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &memcacheConn{conn, l}, nil
}

// judge tells an error of a connection that was closed before this exchange
// from one of the exchange.
func (l *memcacheLink) judge(err error) error {
	if err == nil || !l.reused || l.answered || isTimeout(err) {
		return err
	}
	return fmt.Errorf("%w: %w", errIdle, err)
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// memcacheConn is the connection of a link.
type memcacheConn struct {
	net.Conn
	link *memcacheLink
}

// SetDeadline is called at the beginning of an exchange, and in it: its end
// does not move.
func (c *memcacheConn) SetDeadline(time.Time) error { return c.Conn.SetDeadline(c.link.end) }

func (c *memcacheConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	return n, c.link.judge(err)
}

func (c *memcacheConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.link.answered = c.link.answered || n > 0
	return n, c.link.judge(err)
}
