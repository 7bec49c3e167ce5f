package pagecache

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/bradfitz/gomemcache/memcache"
)

const (
	// DefaultMemcacheTimeout bounds a whole request where the options leave it
	// open.
	DefaultMemcacheTimeout = 50 * time.Millisecond

	// idleConns is how many connections to a server are kept; a node rarely
	// asks for more keys at once, and a lost one costs a dial.
	idleConns = 128

	maxMemcacheKey = 250 // bytes; the protocol's limit

	// MaxMemcacheExpiry is the longest time that memcached takes as one: more
	// is a date to it, and one of 1970.
	MaxMemcacheExpiry = 30 * 24 * time.Hour
)

// Errors of Memcache's methods. All others mean trouble.
var (
	ErrMiss     = errors.New("pagecache: memcached has no such key")
	ErrKey      = errors.New("pagecache: no key for memcached: want 1 to 250 bytes, none of them a space or a control character")
	ErrWrongKey = errors.New("pagecache: memcached answered for another key")
)

// errIdle is the error of a connection that was closed while nobody used it.
var errIdle = errors.New("pagecache: memcached closed an idle connection")

// MemcacheOptions describes the memcached servers of a site.
type MemcacheOptions struct {
	Servers []string      // host:port or unix:/path, at least one; several are a ring like that of nginx's "hash ... consistent"
	Timeout time.Duration // of a whole request, dialling included; 0: DefaultMemcacheTimeout
}

// Memcache reads and writes values in memcached. Its methods may be called from any
// goroutine.
type Memcache struct {
	ring    *ring
	timeout time.Duration
	client  *memcache.Client
}

// NewMemcache returns a client; it does not connect. The error names a server
// that is no address.
func NewMemcache(o MemcacheOptions) (*Memcache, error) {
	r, err := newRing(o.Servers)
	if err != nil {
		return nil, err
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultMemcacheTimeout
	}
	c := &Memcache{ring: r, timeout: o.Timeout}
	c.client = c.newClient(r, func() time.Time { return time.Now().Add(c.timeout) })
	return c, nil
}

// Get reads the value of a key. The value belongs to the caller. It takes no
// longer than Timeout in all, whatever the server does. A server that was
// restarted closes every idle connection: then the request goes out once more,
// on a new one.
func (c *Memcache) Get(key string) (value []byte, flags uint32, err error) {
	var item *memcache.Item
	err = c.do(key, func(client *memcache.Client) (err error) {
		item, err = client.Get(key)
		return err
	})
	switch {
	case err != nil:
		return nil, 0, err
	case item.Key != key:
		c.client.Close() // the answers on that connection are out of step
		return nil, 0, ErrWrongKey
	}
	return item.Value, item.Flags, nil
}

// Set stores a value under a key until expiry is over, rounded up to seconds
// and cut to MaxMemcacheExpiry; value is not kept. Time and errors are as with
// Get.
func (c *Memcache) Set(key string, value []byte, flags uint32, expiry time.Duration) error {
	item := &memcache.Item{
		Key: key, Value: value, Flags: flags,
		// 0 would be for ever, and more than 30 days a date.
		Expiration: int32(max(seconds(min(expiry, MaxMemcacheExpiry)), 1)),
	}
	return c.do(key, func(client *memcache.Client) error { return client.Set(item) })
}

// Delete removes a key. A key that is not there is no error. Time and errors
// are as with Get.
func (c *Memcache) Delete(key string) error {
	err := c.do(key, func(client *memcache.Client) error { return client.Delete(key) })
	if err == ErrMiss {
		return nil
	}
	return err
}

// do makes one request for a key, and once more where it went out on a
// connection that was dead already.
func (c *Memcache) do(key string, request func(*memcache.Client) error) error {
	if key == "" {
		return ErrKey // gomemcache would send it
	}
	end := time.Now().Add(c.timeout)
	err := request(c.client)
	if errors.Is(err, errIdle) && time.Now().Before(end) {
		c.client.Close() // the other idle ones went with it
		again := c.newClient(c.ring, func() time.Time { return end })
		defer again.Close()
		err = request(again)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, memcache.ErrCacheMiss):
		return ErrMiss
	case errors.Is(err, memcache.ErrMalformedKey):
		return ErrKey
	}
	return fmt.Errorf("pagecache: memcached %q: %w", c.ring.servers[c.ring.pick(key)].name(), err)
}

// Ping asks each server for a sign of life. The error names those that give
// none; it is for a warning at start: they may come later.
func (c *Memcache) Ping() error {
	var all []error
	for _, a := range c.ring.servers {
		end := time.Now().Add(c.timeout)
		client := c.newClient(&ring{servers: []serverAddr{a}}, func() time.Time { return end })
		if err := client.Ping(); err != nil {
			all = append(all, fmt.Errorf("pagecache: memcached %q: %w", a.name(), err))
		}
		client.Close()
	}
	return errors.Join(all...)
}

// Close closes the idle connections.
func (c *Memcache) Close() { c.client.Close() }

// newClient returns a client whose every request ends when deadline says,
// asked at its beginning. gomemcache's own timeout begins anew with each part
// of an answer, so a server that drips would hold a request for ever.
func (c *Memcache) newClient(r *ring, deadline func() time.Time) *memcache.Client {
	client := memcache.NewFromSelector(r)
	client.Timeout = c.timeout
	client.MaxIdleConns = idleConns
	client.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		end := deadline()
		d := net.Dialer{Deadline: end}
		conn, err := d.DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &exchangeConn{Conn: conn, deadline: deadline, end: end}, nil
	}
	return client
}

// exchangeConn is a connection on which a Write after a Read begins an
// exchange: request and answer have one deadline together. gomemcache writes a
// large request in parts, and never reads before all of it was written.
type exchangeConn struct {
	net.Conn
	deadline  func() time.Time
	end       time.Time // of the first exchange: the dial's, which belongs to it
	exchanges int       // begun so far
	reading   bool      // this exchange's request is out
	answered  bool      // something of its answer was read
}

// SetDeadline does nothing: the deadline of an exchange does not move.
func (c *exchangeConn) SetDeadline(time.Time) error { return nil }

func (c *exchangeConn) Write(b []byte) (int, error) {
	if c.exchanges == 0 || c.reading {
		if err := c.begin(); err != nil {
			return 0, c.judge(err)
		}
	}
	n, err := c.Conn.Write(b)
	return n, c.judge(err)
}

func (c *exchangeConn) begin() error {
	end := c.end
	if c.exchanges > 0 {
		end = c.deadline()
	}
	c.exchanges++
	c.reading, c.answered = false, false
	return c.Conn.SetDeadline(end)
}

func (c *exchangeConn) Read(b []byte) (int, error) {
	c.reading = true
	n, err := c.Conn.Read(b)
	c.answered = c.answered || n > 0
	return n, c.judge(err)
}

// judge tells an error of a connection that was closed before this exchange
// from one of the exchange.
func (c *exchangeConn) judge(err error) error {
	var timeout net.Error
	if err == nil || c.exchanges < 2 || c.answered || errors.As(err, &timeout) && timeout.Timeout() {
		return err
	}
	return fmt.Errorf("%w: %w", errIdle, err)
}
