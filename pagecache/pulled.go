package pagecache

import (
	"slices"
	"time"
)

// MemoryTier is the word for memory in Cache-Status.
const MemoryTier = "memory"

// PulledKey is what a request asks for. Its slices are not kept, and its
// functions are called only during the call that it is given to, on the same
// goroutine.
type PulledKey struct {
	Key   []byte                   // the primary key: all that tells pages apart but Vary
	Field func(name string) []byte // as in VariantKey: what a fill for this request sends
	Check func(p *Page) Verdict    // what the purges leave of a page of this key
	Now   time.Time
}

// NamedTier is a tier and its word in Cache-Status.
type NamedTier struct {
	Name string // "disk", "memcache"
	Tier Tier
}

// Pulled keeps pages that the edge asked the origin for, in tiers, the nearest
// first: memory, and what stands behind it. Pages that vary are kept beside
// each other, up to a bound. Its methods may be called from any goroutine.
//
// A page that the purges take away is a miss, wherever it lies. A fresh page
// of any tier goes before a stale one.
type Pulled struct {
	memory  *Memory
	further []NamedTier
	stripes [pulledStripes]pulledStripe
	removed *keyTimes // keys whose Delete some tier did not confirm, and when that was
}

// NewPulled returns the pulled pages in a memory, which may be shared with
// published ones, and in the tiers behind it, the nearest first.
func NewPulled(m *Memory, further ...NamedTier) *Pulled {
	return &Pulled{memory: m, further: further, removed: newKeyTimes()}
}

// Get finds the page for a request, and the word of the tier that had it; nil:
// there is none that the purges leave. It is a fresh one if any tier has that.
// A hit in memory allocates nothing; a page found behind it is put there.
func (c *Pulled) Get(k *PulledKey) (p *Page, tier string) {
	p, tier = c.Peek(k)
	if len(c.further) == 0 || p != nil && k.fresh(p) {
		return p, tier
	}
	if q, where := c.behind(k); q != nil && (p == nil || k.fresh(q)) {
		return q, where
	}
	return p, tier
}

// Peek is Get in memory alone.
func (c *Pulled) Peek(k *PulledKey) (p *Page, tier string) {
	var space [keySpace]byte
	p = c.inMemory(k, appendPrimary(space[:0], k.Key))
	if p != nil && p.variants() != nil {
		p = c.inMemory(k, p.variants().appendKey(space[:0], k))
	}
	if p == nil || p.variants() != nil {
		return nil, ""
	}
	return p, MemoryTier
}

// Look tells what each tier has for a request, the nearest first; nil: nothing
// that the purges leave. It changes nothing.
func (c *Pulled) Look(k *PulledKey, f func(tier string, p *Page)) {
	memory := func(key []byte) (*Page, bool) { return c.memory.peek(key) }
	f(MemoryTier, k.look(memory))
	for _, t := range c.further {
		f(t.Name, k.look(func(key []byte) (*Page, bool) {
			p, ok := t.Tier.Get(key)
			return p, ok && !c.wasRemoved(k.Key, p)
		}))
	}
}

// Vary tells by which fields the kept pages of a key vary; none: there is no
// page, or it does not. It changes nothing.
func (c *Pulled) Vary(k *PulledKey) []string {
	if v := c.variants(k); v != nil {
		return slices.Clone(v.names)
	}
	for _, t := range c.further {
		p, ok := t.Tier.Get(appendPrimary(nil, k.Key))
		if ok && p.variants() != nil && !c.wasRemoved(k.Key, p) && k.Check(p) != Gone {
			return slices.Clone(p.variants().names)
		}
	}
	return nil
}

// Each calls f for the pages in memory, with their primary keys, in no order.
// A page that varies comes once a variant.
func (c *Pulled) Each(f func(key []byte, p *Page)) {
	c.memory.each(func(key string, p *Page) {
		if primary, ok := primaryOf(key); ok && p.variants() == nil {
			f(primary, p)
		}
	})
}

// inMemory finds a page that the purges leave. One that they do not leave goes:
// nobody will want it again.
func (c *Pulled) inMemory(k *PulledKey, key []byte) *Page {
	p, ok := c.memory.Get(key)
	if !ok {
		return nil
	}
	if k.Check(p) == Gone {
		c.memory.drop(key, p)
		return nil
	}
	return p
}

// behind finds the page for a request in the tiers behind memory.
func (c *Pulled) behind(k *PulledKey) (p *Page, tier string) {
	if v := c.variants(k); v != nil {
		return c.search(k, v.appendKey(nil, k))
	}
	p, tier = c.search(k, appendPrimary(nil, k.Key))
	if p != nil && p.variants() != nil {
		p, tier = c.search(k, p.variants().appendKey(nil, k))
	}
	return p, tier
}

// variants gives the list that memory has for a request; nil: none.
func (c *Pulled) variants(k *PulledKey) *variants {
	var space [keySpace]byte
	p, ok := c.memory.peek(appendPrimary(space[:0], k.Key))
	if !ok || k.Check(p) == Gone {
		return nil
	}
	return p.variants()
}

// search asks the tiers behind memory for a key. The first fresh page wins and
// is put in memory, as is a stale one if there is nothing.
func (c *Pulled) search(k *PulledKey, key []byte) (p *Page, tier string) {
	stripe := c.stripe(k.Key)
	deletes := stripe.deletes.Load()
	for _, t := range c.further {
		q, ok := t.Tier.Get(key)
		if !ok || c.wasRemoved(k.Key, q) || k.Check(q) == Gone {
			continue
		}
		if p == nil || k.fresh(q) {
			p, tier = q, t.Name
		}
		if k.fresh(p) {
			break
		}
	}
	if p == nil {
		return nil, ""
	}
	if there, ok := c.memory.peek(key); ok && k.Check(there) != Gone && (k.fresh(there) || !k.fresh(p)) {
		return there, MemoryTier // a fill was quicker, or memory's is as good
	}
	c.memory.Put(key, p)
	if stripe.deletes.Load() != deletes {
		c.memory.drop(key, p) // removed since the tier was asked
		return nil, ""
	}
	return p, tier
}

// fresh says whether a page may be used without asking the origin. A list
// of variants is no answer, and does not age.
func (k *PulledKey) fresh(p *Page) bool {
	return k.Check(p) == Valid && (p.variants() != nil || p.Fresh(k.Now))
}

// look finds what a single tier has for the request.
func (k *PulledKey) look(get func(key []byte) (*Page, bool)) *Page {
	p, ok := get(appendPrimary(nil, k.Key))
	if ok && p.variants() != nil && k.Check(p) != Gone {
		p, ok = get(p.variants().appendKey(nil, k))
	}
	if !ok || p.variants() != nil || k.Check(p) == Gone {
		return nil
	}
	return p
}

// Variants gives the pages in memory that are kept beside each other under a
// key, the oldest first, and the canonical names of the fields that tell them
// apart; nil: there is no page that varies. Those that the purges do not leave
// are not among them.
func (c *Pulled) Variants(k *PulledKey) (pages []*Page, vary []string) {
	v := c.variants(k)
	if v == nil {
		return nil, nil
	}
	for _, own := range v.held {
		if p, ok := c.memory.peek(v.heldKey(own, k.Key)); ok && k.Check(p) != Gone {
			pages = append(pages, p)
		}
	}
	return pages, slices.Clone(v.names)
}
