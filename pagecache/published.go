package pagecache

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"
)

// DefaultPublishedFor is the time for which a copy is good where the options
// leave it open.
const DefaultPublishedFor = time.Second

// PublishedOptions describes the pages of one site in memcached.
type PublishedOptions struct {
	Keys    []string      // templates of {path} {raw_path} {query} {host} {scheme}, asked in order; at least one
	For     time.Duration // for how long a copy is used without asking; 0: DefaultPublishedFor
	MaxKeep int64         // bytes; larger values are handed out, but not kept; 0: DefaultMaxKeep
}

// Published finds the pages of one site in memcached: raw bodies that the app
// wrote under keys made from the path, as nginx's memcached_pass reads them.
// Its methods may be called from any goroutine.
//
// A value with flags is one that a client library marked as its own
// (marshalled, compressed); neither that nor an empty one is a page.
type Published struct {
	keys    []keyTemplate
	good    int64 // milliseconds for which a copy is good
	maxKeep int64
	client  *Memcache
	memory  *Memory
	log     *slog.Logger
	clock   *clock

	prefix   string // starts the keys in memory
	absent   *absences
	flights  Flights
	minutely hush

	hits, misses, errors, leftAlone, refused atomic.Uint64
}

// PublishedStats is what a Published counted.
type PublishedStats struct {
	Hits      uint64 // pages found, out of memory or memcached
	Misses    uint64 // requests without a page
	Errors    uint64 // questions that memcached did not answer
	LeftAlone uint64 // questions that were not put, because the server had failed
	Refused   uint64 // values that are no page: flags, or no bytes
}

// NewPublished returns the published pages of one site. Pages are kept in m,
// which may be shared; log nil: nothing is logged. The error is that of
// ValidateKey.
func NewPublished(o PublishedOptions, c *Memcache, m *Memory, log *slog.Logger) (*Published, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	if o.For <= 0 {
		o.For = DefaultPublishedFor
	}
	if o.MaxKeep <= 0 {
		o.MaxKeep = DefaultMaxKeep
	}
	p := &Published{
		good: o.For.Milliseconds(), maxKeep: o.MaxKeep,
		client: c, memory: m, log: log, clock: systemClock(m.start),
		absent: newAbsences(), minutely: hush{every: 60 * second},
	}
	options := []string{"keys"}
	for _, s := range o.Keys {
		k, err := parseKey(s)
		if err != nil {
			return nil, fmt.Errorf("pagecache: %w", err)
		}
		p.keys = append(p.keys, k)
		options = append(options, s)
	}
	if len(p.keys) == 0 {
		return nil, fmt.Errorf("pagecache: no key, want at least one like %q", "{path}")
	}
	for _, a := range c.ring.servers {
		options = append(options, a.name())
	}
	p.prefix = keyPrefix("m", options...)
	return p, nil
}

// UsesQuery says whether some key names {query}. Keys that do not are asked
// only where no query is left; Peek and Get see to that.
func (p *Published) UsesQuery() bool {
	for i := range p.keys {
		if p.keys[i].query {
			return true
		}
	}
	return false
}

// Peek answers from memory alone: a copy that is good. known says that the
// answer is memcached's; without a page it means that there is none, which is
// remembered for a second. It does not allocate, unless the key is longer than
// memcached's may be.
func (p *Published) Peek(k PublishedKey) (page *Page, known bool) {
	var space [keySpace]byte
	now := p.now()
	for i := range p.keys {
		key, ok := p.appendKey(space[:0], i, &k)
		if !ok {
			continue
		}
		c := p.look(key, k.Path, now)
		if c.state == copyUnknown {
			return nil, false
		}
		if c.state == copyGood {
			p.hits.Add(1)
			return c.page, true
		}
	}
	return nil, true
}

// Get finds the page, and asks memcached if it must. One request a key asks;
// others get the old copy meanwhile, if it was good a moment ago, else they
// wait for the answer.
func (p *Published) Get(k PublishedKey) (*Page, bool) {
	var space [keySpace]byte
	now := p.now()
	for i := range p.keys {
		key, ok := p.appendKey(space[:0], i, &k)
		if !ok {
			continue
		}
		c := p.look(key, k.Path, now)
		if c.state == copyUnknown {
			c.page = p.ask(key, k.Path, c, now)
		}
		if c.state != copyAbsent && c.page != nil {
			p.hits.Add(1)
			return c.page, true
		}
	}
	p.misses.Add(1)
	return nil, false
}

// Stats returns what was counted so far.
func (p *Published) Stats() PublishedStats {
	return PublishedStats{
		Hits: p.hits.Load(), Misses: p.misses.Load(),
		Errors: p.errors.Load(), LeftAlone: p.leftAlone.Load(), Refused: p.refused.Load(),
	}
}

func (p *Published) now() stamp { return newStamp(p.clock.millis(p.clock.now()), 0) }

// appendKey appends the i-th key of a request, with the prefix of our keys in
// memory. ok is false where there is nothing to ask: a query is left that the
// key does not name, or memcached cannot have the key.
func (p *Published) appendKey(dst []byte, i int, k *PublishedKey) (key []byte, ok bool) {
	t := &p.keys[i]
	if len(k.Query) > 0 && !t.query {
		return nil, false
	}
	dst = t.appendKey(append(dst, p.prefix...), k)
	return dst, validKey(dst[len(p.prefix):])
}

// copyState is what is known of a key without asking.
type copyState uint8

const (
	copyUnknown copyState = iota // has to be asked
	copyGood                     // there is a page
	copyAbsent                   // there is none
)

// copyOf is what memory holds of a key.
type copyOf struct {
	page  *Page
	state copyState
}

// look tells what is known of a key. The page of an unknown one is the old
// copy, if there is one.
func (p *Published) look(key, path []byte, now stamp) copyOf {
	page, ok := p.memory.Get(key)
	if ok && page.Name != view(path) {
		page = nil // keys of two paths that are the same: they share no page, whose type is made from its path
	}
	switch {
	case page != nil && stamp(page.seen.Load()).within(p.good, now):
		return copyOf{page, copyGood}
	case p.absent.has(key, now):
		return copyOf{nil, copyAbsent}
	}
	return copyOf{page, copyUnknown}
}

// ask gets the page of a key from memcached, or from whoever is asking for it
// already. nil: none.
func (p *Published) ask(key, path []byte, c copyOf, now stamp) *Page {
	f, leader := p.flights.Join(key)
	if !leader {
		if c.page != nil && stamp(c.page.seen.Load()).within(2*p.good, now) {
			return c.page
		}
		return f.Result().Page
	}
	defer f.Abandon()
	// Between the look and the take-off another flight may have landed.
	if c = p.look(key, path, p.now()); c.state == copyUnknown {
		c.page = p.fetch(key, path, c.page)
	}
	if c.state == copyAbsent {
		c.page = nil
	}
	// Looked at only after the page was put: Delete invalidates before it
	// removes, so one of the two sees the other.
	if c.page != nil && !f.Valid() {
		p.memory.drop(key, c.page)
	}
	f.Finish(FlightResult{Page: c.page})
	return c.page
}

// fetch asks memcached and remembers the answer. old is the copy in memory.
func (p *Published) fetch(key, path []byte, old *Page) *Page {
	asked := p.now() // an answer is as old as its question
	name := string(key[len(p.prefix):])
	value, flags, err := p.client.Get(name)
	if p.log.Enabled(context.Background(), slog.LevelDebug) {
		p.log.Debug("memcached asked", "key", name, "bytes", len(value), "flags", flags, "error", err)
	}
	switch {
	case errors.Is(err, ErrMiss):
	case err != nil:
		// The old copy stays in memory, in case it is the same when memcached
		// is back, but is not used: whether it still is published is not known.
		p.troubled(name, err, asked)
		p.absent.add(key, asked)
		return nil
	case flags != 0 || len(value) == 0:
		p.refuse(name, flags, len(value), asked)
	default:
		return p.keep(key, path, old, value, asked)
	}
	if old != nil {
		p.memory.Delete(key)
	}
	p.absent.add(key, asked)
	return nil
}

// keep makes a page of a value. The same value is the same page, so what was
// derived from it stays.
func (p *Published) keep(key, path []byte, old *Page, value []byte, asked stamp) *Page {
	if old != nil && bytes.Equal(old.Body, value) {
		old.seen.Store(uint64(asked))
		return old
	}
	page := newValuePage(strings.Clone(view(path)), value)
	page.Kept = page.Length <= p.maxKeep
	page.seen.Store(uint64(asked))
	p.memory.Put(key, page)
	return page
}

func (p *Published) troubled(name string, err error, asked stamp) {
	if err == ErrLeftAlone {
		p.leftAlone.Add(1)
		return
	}
	p.errors.Add(1)
	if p.minutely.let(err.Error(), asked.millis()) {
		p.log.Error("published page cannot be asked for", "key", name, "error", err)
	}
}

func (p *Published) refuse(name string, flags uint32, length int, asked stamp) {
	p.refused.Add(1)
	if p.minutely.let(name, asked.millis()) {
		p.log.Warn("memcached value is no page: want flags 0 and raw bytes", "key", name, "flags", flags, "bytes", length)
	}
}
