package pagecache

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bradfitz/gomemcache/memcache"
)

const (
	// DefaultMemcacheTimeout bounds a whole request where the options leave it
	// open.
	DefaultMemcacheTimeout = 50 * time.Millisecond

	// DefaultMemcachePause is the time for which a server is left alone after
	// a failure.
	DefaultMemcachePause = time.Second

	maxMemcacheKey = 250 // bytes; the protocol's limit

	// MaxMemcacheExpiry is the longest time that memcached takes as one: more
	// is a date to it, and one of 1970.
	MaxMemcacheExpiry = 30 * 24 * time.Hour
)

// Errors of Memcache's methods. All others mean trouble.
var (
	ErrMiss      = errors.New("pagecache: memcached has no such key")
	ErrKey       = errors.New("pagecache: no key for memcached: want 1 to 250 bytes, none of them a space or a control character")
	ErrWrongKey  = errors.New("pagecache: memcached answered for another key")
	ErrLeftAlone = errors.New("pagecache: memcached failed a moment ago and is left alone")
)

// MemcacheOptions describes the memcached servers of a site.
type MemcacheOptions struct {
	Servers []string      // host:port or unix:/path, at least one; several are a ring like that of nginx's "hash ... consistent"
	Timeout time.Duration // of a whole request, dialling included; 0: DefaultMemcacheTimeout
	Pause   time.Duration // for which a server is left alone after a failure; 0: DefaultMemcachePause
}

// Memcache reads and writes values in memcached. Its methods may be called from
// any goroutine.
//
// A server that fails is left alone for a while: requests for what it holds
// fail with ErrLeftAlone meanwhile, at no cost, and then one request tries how
// it is. Nobody else waits for that one.
type Memcache struct {
	ring    *ring
	servers []*memcacheServer // as in the ring
	timeout time.Duration
	pause   time.Duration
	start   time.Time
	now     func() time.Time // for the pauses
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
	if o.Pause <= 0 {
		o.Pause = DefaultMemcachePause
	}
	c := &Memcache{ring: r, timeout: o.Timeout, pause: o.Pause, start: time.Now(), now: time.Now}
	for _, a := range r.servers {
		c.servers = append(c.servers, newMemcacheServer(a))
	}
	return c, nil
}

// Get reads the value of a key. The value belongs to the caller. It takes no
// longer than Timeout in all, whatever the server does. A server that was
// restarted closes every idle connection: then the request goes out once more,
// on a new one.
func (c *Memcache) Get(key string) (value []byte, flags uint32, err error) {
	var item *memcache.Item
	err = c.do(key, false, func(l *memcacheLink) (err error) {
		if item, err = l.client.Get(key); err == nil && item.Key != key {
			l.client.Close() // the answers on that connection are out of step
			err = ErrWrongKey
		}
		return err
	})
	if err != nil {
		return nil, 0, err
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
	return c.do(key, false, func(l *memcacheLink) error { return l.client.Set(item) })
}

// Delete removes a key. A key that is not there is no error. Time and errors
// are as with Get.
func (c *Memcache) Delete(key string) error { return c.remove(key, false) }

// remove removes a key; insist asks a server that is left alone too.
func (c *Memcache) remove(key string, insist bool) error {
	err := c.do(key, insist, func(l *memcacheLink) error { return l.client.Delete(key) })
	if err == ErrMiss {
		return nil
	}
	return err
}

// do makes one request for a key. insist: even if its server is left alone.
func (c *Memcache) do(key string, insist bool, request func(*memcacheLink) error) error {
	if len(key) == 0 || len(key) > maxMemcacheKey || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return ErrKey // before the breaker is asked: it means nothing for the server
	}
	end := time.Now().Add(c.timeout)
	s := c.server(key)
	if !insist && s.breaker.leaves(c.uptime()) {
		return ErrLeftAlone // before it waits for a connection on which a request hangs
	}
	link, err := s.take(c.timeout, end)
	if err != nil {
		return c.named(s, err)
	}
	defer func() { s.free <- link }()
	if !insist && !s.breaker.allow(c.uptime(), c.pause) {
		return ErrLeftAlone
	}
	err = link.exchange(end, request)
	s.settle(err, c.uptime(), c.pause)
	switch {
	case err == nil || err == ErrWrongKey:
		return err
	case errors.Is(err, memcache.ErrCacheMiss):
		return ErrMiss
	}
	return c.named(s, err)
}

func (c *Memcache) server(key string) *memcacheServer { return c.servers[c.ring.pick(key)] }

func (c *Memcache) uptime() time.Duration { return c.now().Sub(c.start) }

func (c *Memcache) named(s *memcacheServer, err error) error {
	return fmt.Errorf("pagecache: memcached %q: %w", s.addr.name(), err)
}

// leaves says whether the server of a key is left alone now.
func (c *Memcache) leaves(key string) bool { return c.server(key).breaker.leaves(c.uptime()) }

// Ping asks each server for a sign of life, those that are left alone too. The
// error names those that give none; it is for a warning at start: they may come
// later.
func (c *Memcache) Ping() error {
	var all []error
	for _, s := range c.servers {
		link := newMemcacheLink(s.addr, c.timeout)
		if err := link.exchange(time.Now().Add(c.timeout), func(l *memcacheLink) error { return l.client.Ping() }); err != nil {
			all = append(all, c.named(s, err))
		}
		link.client.Close()
	}
	return errors.Join(all...)
}

// Close closes the idle connections.
func (c *Memcache) Close() {
	for _, s := range c.servers {
		s.close()
	}
}
