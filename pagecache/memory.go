package pagecache

import (
	"hash/maphash"
	"math"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

const (
	shardCount = 16

	// pageOverhead is what a page takes in memory over its own bytes and those
	// of its key: the Page, the entry, the list element, its share of the map
	// and what the allocator rounds up. TestMemoryBytesAreHonest measures it.
	pageOverhead = 368

	// publishedOverhead is what a published page takes beyond that.
	publishedOverhead = 80

	// LargestShare is the part of a tier that a single body may take, in memory
	// and on a disk: one quarter, so that one page cannot empty it.
	LargestShare = 4

	// none is the age of the eldest entry of a shard without entries.
	none = math.MaxUint64
)

// Memory is the tier in this process: least recently used pages go when its
// bytes are used up, unless they were asked for more often than the page that
// comes. So what a crawler reads once does not take the place of what visitors
// read all day (TinyLFU). Its methods may be called from any goroutine, and on
// a tier of size 0 too, which keeps nothing.
//
// Each shard has a lock of its own. The bound holds over all shards, and the
// page that goes is the eldest of all: ages count Puts, so the shards can be
// compared without a common list, whose lock every hit would have to take.
type Memory struct {
	size      int64
	start     time.Time // what the stamps of its pages count from
	seed      maphash.Seed
	used      atomic.Int64  // bytes
	age       atomic.Uint64 // of the latest Put; Puts are even, the Gets between two of them are the odd number between
	evictions atomic.Uint64
	refusals  atomic.Uint64
	shards    [shardCount]shard
}

type shard struct {
	tier   *Memory
	eldest atomic.Uint64 // no entry is older than this; none: no entries

	mu           sync.Mutex
	pages        *simplelru.LRU[string, *entry]
	wanted       sketch // how often keys were asked for, those of no page too
	hits, misses uint64

	_ [64]byte // keeps the locks of neighbours off one cache line
}

// entry is a page's place in a shard. The shard's lock guards its numbers.
type entry struct {
	page   *Page
	shard  *shard
	age    uint64 // of its last use: less is longer ago
	charge int64  // bytes counted for it in Memory.used; 0: it is gone
}

// MemoryStats is what a Memory counted.
type MemoryStats struct {
	Pages     int64  // in it now
	Bytes     int64  // counted for them, derived values and overhead included
	Size      int64  // the bound
	Hits      uint64 // of Get
	Misses    uint64 // of Get
	Evictions uint64 // pages that went to make room
	Refusals  uint64 // pages that came while there was no room, and were wanted less than those there
}

// NewMemory returns an empty tier that holds up to size bytes. 0 or less: it
// keeps nothing.
func NewMemory(size int64) *Memory {
	m := &Memory{size: max(size, 0), start: time.Now(), seed: maphash.MakeSeed()}
	for i := range m.shards {
		s := &m.shards[i]
		s.tier = m
		s.eldest.Store(none)
		if m.size > 0 {
			s.wanted = newSketch(m.size)
		}
		// The bound is ours, in bytes; an error is only given for a size below 1.
		s.pages, _ = simplelru.NewLRU[string, *entry](math.MaxInt, nil)
	}
	return m
}

// Get finds a page and counts as its use. It does not allocate.
func (m *Memory) Get(key []byte) (*Page, bool) {
	if m.size == 0 {
		m.shards[0].missed()
		return nil, false
	}
	hash := maphash.Bytes(m.seed, key)
	s := &m.shards[hash%shardCount]
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wanted.add(hash)
	e, ok := s.pages.Get(view(key))
	if !ok {
		s.misses++
		return nil, false
	}
	s.hits++
	e.age = m.age.Load() + 1
	return e.page, true
}

func (s *shard) missed() {
	s.mu.Lock()
	s.misses++
	s.mu.Unlock()
}

// peek finds a page, and neither counts nor is its use.
func (m *Memory) peek(key []byte) (*Page, bool) {
	s := m.shardOf(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.pages.Peek(view(key))
	if !ok {
		return nil, false
	}
	return e.page, true
}

// each calls f for the pages that are there, without a lock and in no order.
func (m *Memory) each(f func(key string, p *Page)) {
	for i := range m.shards {
		s := &m.shards[i]
		s.mu.Lock()
		keys, entries := s.pages.Keys(), s.pages.Values()
		s.mu.Unlock()
		for j, key := range keys {
			f(key, entries[j].page)
		}
	}
}

// drop forgets a page, if it is the one that a key leads to.
func (m *Memory) drop(key []byte, p *Page) {
	s := m.shardOf(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.pages.Peek(view(key)); ok && e.page == p {
		s.removeLocked(view(key))
	}
}

// Put keeps a page under a copy of key, in place of what was there. A page
// that may not be kept, or whose body is more than a quarter of the tier, only
// removes what was there. Where there is no room, one that is asked for less
// than the eldest goes again at once. A page belongs under one key: under a second one its
// derived value is not counted.
func (m *Memory) Put(key []byte, p *Page) {
	if m.size == 0 {
		return
	}
	if !p.keepable() || int64(len(p.Body)) > m.largest() {
		m.Delete(key)
		return
	}
	hash := maphash.Bytes(m.seed, key)
	s := &m.shards[hash%shardCount]
	e := &entry{page: p, shard: s}
	k := string(key)
	s.mu.Lock()
	s.removeLocked(k)
	s.addLocked(k, e)
	wanted := s.wanted.estimate(hash)
	s.mu.Unlock()
	if !m.shrink(int(wanted)) {
		m.drop(key, p)
		m.refusals.Add(1)
	}
}

// Delete forgets a page. The error is always nil: what is in memory is gone.
func (m *Memory) Delete(key []byte) error {
	s := m.shardOf(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removeLocked(view(key))
	return nil
}

// Stats returns what was counted so far.
func (m *Memory) Stats() MemoryStats {
	st := MemoryStats{Size: m.size, Evictions: m.evictions.Load(), Refusals: m.refusals.Load()}
	for i := range m.shards {
		s := &m.shards[i]
		s.mu.Lock()
		st.Pages += int64(s.pages.Len())
		st.Hits += s.hits
		st.Misses += s.misses
		s.mu.Unlock()
	}
	st.Bytes = m.used.Load()
	return st
}

// largest returns the bytes of the largest body that is kept; 0 in a tier
// that keeps nothing.
func (m *Memory) largest() int64 { return m.size / LargestShare }

func (m *Memory) shardOf(key []byte) *shard {
	return &m.shards[maphash.Bytes(m.seed, key)%shardCount]
}

// shrink makes pages go, eldest first, until the bound holds. false: the next
// to go is asked for more than wanted times, and stays. It is called without a
// lock and takes one at a time.
func (m *Memory) shrink(wanted int) bool {
	for m.used.Load() > m.size {
		s := m.eldestShard()
		if s == nil {
			return true
		}
		if !s.evict(wanted) {
			return false
		}
	}
	return true
}

// eldestShard returns the shard that says it has the eldest entry; nil if
// there is no entry at all.
func (m *Memory) eldestShard() *shard {
	var found *shard
	eldest := uint64(none)
	for i := range m.shards {
		if age := m.shards[i].eldest.Load(); age < eldest {
			found, eldest = &m.shards[i], age
		}
	}
	return found
}

// evict removes the eldest entry of the shard, if it is as old as the shard
// said. A Get makes entries younger without a word; then only the shard's word
// is corrected, and the caller looks again. false: the entry was asked for more
// than wanted times. It has shown that it is worth its place, and becomes the
// youngest, so that another is looked at next time: else one page that everybody
// wanted yesterday would keep all others out.
func (s *shard) evict(wanted int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	stays := false
	if k, e, ok := s.pages.GetOldest(); ok && e.age <= s.eldest.Load() {
		stays = int(s.wanted.estimate(maphash.String(s.tier.seed, k))) > wanted
		if stays {
			s.pages.Get(k)
			e.age = s.tier.age.Load() + 1
		} else {
			s.removeLocked(k)
			s.tier.evictions.Add(1)
		}
	}
	s.eldest.Store(none)
	if _, e, ok := s.pages.GetOldest(); ok {
		s.eldest.Store(e.age)
	}
	return !stays
}

func (s *shard) addLocked(key string, e *entry) {
	e.age = s.tier.age.Add(2)
	s.pages.Add(key, e)
	if s.eldest.Load() == none {
		s.eldest.Store(e.age)
	}
	// First the page's home, then its derived size: Derive sets and reads them
	// the other way round, so one of the two sees what the other did.
	e.page.home.Store(e)
	e.charge = footprint(key, e.page) + e.claim()
	s.tier.used.Add(e.charge)
}

func (s *shard) removeLocked(key string) {
	e, ok := s.pages.Peek(key)
	if !ok {
		return
	}
	s.pages.Remove(key)
	s.tier.used.Add(-e.charge)
	e.charge = 0
	e.page.home.CompareAndSwap(e, nil)
	if d := e.page.derived.Load(); d != nil {
		d.counted.CompareAndSwap(e, nil)
	}
}

// recount counts the page's derived value, which was built since.
func (e *entry) recount() {
	s := e.shard
	s.mu.Lock()
	if e.charge > 0 {
		more := e.claim()
		e.charge += more
		s.tier.used.Add(more)
	}
	s.mu.Unlock()
	s.tier.shrink(math.MaxInt) // the page is there, and its value is in use
}

// claim returns the bytes of the page's derived value, to be counted, unless
// they are counted already.
func (e *entry) claim() int64 {
	d := e.page.derived.Load()
	if d == nil || !d.built.Load() || !d.counted.CompareAndSwap(nil, e) {
		return 0
	}
	return d.size
}

// footprint returns the bytes that a page takes under a key, without what is
// derived from it. Type is left out: it is one of a few constants.
func footprint(key string, p *Page) int64 {
	n := pageOverhead + int64(len(key)+cap(p.Head)+cap(p.Body))
	if p.published != nil {
		n += publishedOverhead + int64(len(p.ETag)+len(p.Name)) // a pulled page's are views of its head
	}
	return n
}

// view looks at bytes as a string, for a look-up that does not allocate. It
// must not outlive the call that it is made for.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
