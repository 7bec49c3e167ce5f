package pagecache

import (
	"crypto/sha256"
	"encoding/hex"
	"sync/atomic"
	"time"
)

const (
	// itemOverhead is more than what memcached counts for an item beyond its
	// value: the key, which is 250 bytes at most, and 60 or so of its own.
	itemOverhead = 512

	// longestJournal is the bytes of the longest name of a journal: with it
	// and a hash a key is one for memcached.
	longestJournal = 128
)

// MemcacheTierOptions describes a MemcacheTier. The zero value works.
type MemcacheTierOptions struct {
	MaxItem int // bytes of an envelope; 0: what the server says that it takes
}

// MemcacheTier keeps pulled pages in memcached, as envelopes. Its methods may
// be called from any goroutine, and none takes longer than the client's
// Timeout.
//
// What a server holds that failed a moment ago is a miss, at no cost.
type MemcacheTier struct {
	client  *Memcache
	journal string
	prefix  string // starts every key
	maxItem int
	now     func() time.Time

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
	Skipped   uint64 // pages too large for the server, compressed too
}

// NewMemcacheTier returns a tier over the servers of a client, for the pages of
// a journal; its name begins all keys. A name over 128 bytes is a panic.
func NewMemcacheTier(c *Memcache, journal string, o MemcacheTierOptions) *MemcacheTier {
	if len(journal) > longestJournal {
		panic("BUG: pagecache: name of a journal over 128 bytes")
	}
	t := &MemcacheTier{client: c, journal: journal, maxItem: o.MaxItem, now: time.Now}
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
	value, flags, err := t.client.Get(name)
	if t.settle(err) != nil || err == ErrMiss {
		return nil
	}
	p, err := Decode(value, key, t.journal)
	if err != nil || flags != 0 {
		t.foreign.Add(1)
		return nil
	}
	return p
}

// Put keeps a pulled page, for as long as it could serve anybody. One that is
// larger than the server takes is compressed. A page that is too large all the
// same, or serves nobody any more, only removes what was there: that is older.
func (t *MemcacheTier) Put(key []byte, p *Page) {
	name := t.name(key)
	if t.client.leaves(name) {
		t.leftAlone.Add(1)
		return
	}
	left := p.Until().Sub(t.now())
	if left <= 0 || !p.keepable() {
		t.Delete(key)
		return
	}
	envelope := EncodeWithin(key, t.journal, p, t.limit(name))
	if envelope == nil {
		t.skipped.Add(1)
		t.Delete(key)
		return
	}
	_ = t.settle(t.client.Set(name, envelope, 0, left))
}

// limit returns the bytes of the largest envelope under a key.
func (t *MemcacheTier) limit(name string) int {
	if t.maxItem > 0 {
		return t.maxItem
	}
	return t.client.itemLimit(name) - itemOverhead
}

// Delete removes a page. An error means that it may still be there.
func (t *MemcacheTier) Delete(key []byte) error { return t.settle(t.client.Delete(t.name(key))) }

// Stats returns what was counted so far.
func (t *MemcacheTier) Stats() MemcacheTierStats {
	return MemcacheTierStats{
		Hits: t.hits.Load(), Misses: t.misses.Load(), Foreign: t.foreign.Load(),
		Errors: t.errors.Load(), LeftAlone: t.leftAlone.Load(), Skipped: t.skipped.Load(),
	}
}

// settle counts how a request went, and returns its error if it means trouble.
func (t *MemcacheTier) settle(err error) error {
	switch err {
	case nil, ErrMiss:
		return nil
	case ErrLeftAlone:
		t.leftAlone.Add(1)
	default:
		t.errors.Add(1)
	}
	return err
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
