package pagecache

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/bradfitz/gomemcache/memcache"
)

const (
	// DefaultMemcacheItem is the largest envelope that memcached is given: its
	// own limit of 1 MiB, less what it takes for an item.
	DefaultMemcacheItem = 1<<20 - 1<<10

	// DefaultMemcachePause is the time for which a server is left alone after
	// a failure.
	DefaultMemcachePause = time.Second

	// longestJournal is the bytes of the longest name of a journal: with it
	// and a hash a key is one for memcached.
	longestJournal = 128
)

// ErrLeftAlone is the error of a Delete whose server failed a moment ago.
var ErrLeftAlone = errors.New("pagecache: memcached failed a moment ago and is left alone")

// MemcacheTierOptions describes a MemcacheTier. The zero value works.
type MemcacheTierOptions struct {
	MaxItem int           // bytes of an envelope; larger pages are not kept there; 0: DefaultMemcacheItem
	Pause   time.Duration // for which a server is left alone after a failure; 0: DefaultMemcachePause
}

// MemcacheTier keeps pulled pages in memcached, as envelopes. Its methods may
// be called from any goroutine, and none takes longer than the client's
// Timeout.
//
// A server that fails is left alone for a while: what it holds is a miss
// meanwhile, at no cost, and then one request tries how it is.
type MemcacheTier struct {
	client   *Memcache
	journal  string
	prefix   string // starts every key
	maxItem  int
	pause    time.Duration
	now      func() time.Time
	start    time.Time
	breakers []breaker // one a server

	hits, misses, foreign, errors, leftAlone, skipped atomic.Uint64
}

var _ Tier = (*MemcacheTier)(nil)

// MemcacheTierStats is what a MemcacheTier counted.
type MemcacheTierStats struct {
	Hits      uint64 // of Get
	Misses    uint64 // of Get: no value, or none that could be used; trouble too
	Foreign   uint64 // values that were no page, or another's: each was a miss too
	Errors    uint64 // requests that failed
	LeftAlone uint64 // requests that were not made because a server had failed
	Skipped   uint64 // pages too large for the server
}

// NewMemcacheTier returns a tier over the servers of a client, for the pages of
// a journal; its name begins all keys. A name over 128 bytes is a panic.
func NewMemcacheTier(c *Memcache, journal string, o MemcacheTierOptions) *MemcacheTier {
	if len(journal) > longestJournal {
		panic("BUG: pagecache: name of a journal over 128 bytes")
	}
	if o.MaxItem <= 0 {
		o.MaxItem = DefaultMemcacheItem
	}
	if o.Pause <= 0 {
		o.Pause = DefaultMemcachePause
	}
	t := &MemcacheTier{
		client: c, journal: journal, maxItem: o.MaxItem, pause: o.Pause,
		now: time.Now, start: time.Now(), breakers: make([]breaker, len(c.ring.servers)),
	}
	t.prefix = string(appendEscaped(nil, journal, true)) + ":"
	return t
}

// Get finds a page. Trouble is a miss.
func (t *MemcacheTier) Get(key []byte) (*Page, bool) {
	p := t.get(key)
	if p == nil {
		t.misses.Add(1)
		return nil, false
	}
	t.hits.Add(1)
	return p, true
}

func (t *MemcacheTier) get(key []byte) *Page {
	name := t.name(key)
	b, ok := t.admit(name)
	if !ok {
		return nil
	}
	value, flags, err := t.client.Get(name)
	if t.settle(b, err) != nil || err == ErrMiss {
		return nil
	}
	p, err := Decode(value, key, t.journal)
	if err != nil || flags != 0 {
		t.foreign.Add(1)
		return nil
	}
	return p
}

// Put keeps a pulled page, for as long as it could serve anybody. A page that
// is too large, or serves nobody any more, only removes what was there: that
// is older.
func (t *MemcacheTier) Put(key []byte, p *Page) {
	left := p.Until().Sub(t.now())
	large := EnvelopeSize(key, t.journal, p) > t.maxItem
	if large {
		t.skipped.Add(1)
	}
	if large || left <= 0 || !p.keepable() {
		t.Delete(key)
		return
	}
	name := t.name(key)
	b, ok := t.admit(name)
	if !ok {
		return
	}
	envelope := Encode(make([]byte, 0, EnvelopeSize(key, t.journal, p)), key, t.journal, p)
	t.settle(b, t.client.Set(name, envelope, 0, left))
}

// Delete removes a page. An error means that it may still be there.
func (t *MemcacheTier) Delete(key []byte) error {
	name := t.name(key)
	b, ok := t.admit(name)
	if !ok {
		return ErrLeftAlone
	}
	return t.settle(b, t.client.Delete(name))
}

// Stats returns what was counted so far.
func (t *MemcacheTier) Stats() MemcacheTierStats {
	return MemcacheTierStats{
		Hits: t.hits.Load(), Misses: t.misses.Load(), Foreign: t.foreign.Load(),
		Errors: t.errors.Load(), LeftAlone: t.leftAlone.Load(), Skipped: t.skipped.Load(),
	}
}

// admit finds the breaker of a key's server, and asks it.
func (t *MemcacheTier) admit(name string) (*breaker, bool) {
	b := &t.breakers[t.client.ring.pick(name)]
	if !b.allow(t.now().Sub(t.start), t.pause) {
		t.leftAlone.Add(1)
		return b, false
	}
	return b, true
}

// settle tells the breaker how a request went, and returns its error if it
// means trouble. A server that refuses a value is well.
func (t *MemcacheTier) settle(b *breaker, err error) error {
	switch {
	case err == nil || err == ErrMiss:
		b.worked()
		return nil
	case isConnectionTrouble(err):
		b.failed(t.now().Sub(t.start), t.pause)
	default:
		b.worked()
	}
	t.errors.Add(1)
	return err
}

// isConnectionTrouble tells a server that is not to be reached, or gives no
// answer, from one that answered something else than was hoped for.
func isConnectionTrouble(err error) bool {
	var network net.Error
	var connect *memcache.ConnectTimeoutError
	return errors.As(err, &network) || errors.As(err, &connect) || errors.Is(err, errIdle) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// name is the key in memcached: the journal's name and the key, escaped where
// memcached could not have it; a hash of it where that is too long.
func (t *MemcacheTier) name(key []byte) string {
	var space [maxMemcacheKey + 1]byte
	name := appendEscaped(append(space[:0], t.prefix...), view(key), true)
	if !validKey(name) {
		sum := sha256.Sum256(key)
		name = hex.AppendEncode(append(space[:0], t.prefix...), sum[:])
	}
	return string(name)
}
