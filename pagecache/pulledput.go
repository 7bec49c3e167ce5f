package pagecache

import (
	"errors"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"
)

// pulledStripes is how many locks the keys are spread over.
const pulledStripes = 64

// pulledStripe is what some keys share.
type pulledStripe struct {
	mu      sync.Mutex    // held while their lists of variants in memory change
	deletes atomic.Uint64 // of these keys, so far
}

// NewPage is a page to be kept.
type NewPage struct {
	Page        *Page
	Vary        []string    // Decision.Vary
	MaxVariants int         // 0: DefaultMaxVariants
	Valid       func() bool // nothing has hit the key since the fill began: Flight.Valid; nil: nothing can have
}

// Put keeps a page in all tiers, in place of what was there for such a
// request. False: the page was hit by Flights.Invalidate while it was put, and
// is gone again.
func (c *Pulled) Put(k *PulledKey, n NewPage) bool {
	if n.Valid != nil && !n.Valid() {
		return false // before it takes the place of a page of a later fill
	}
	key := appendPrimary(nil, k.Key)
	if len(n.Vary) > 0 {
		key = c.putVariant(k, &n)
	} else {
		c.dropVariants(k.Key, key)
	}
	c.store(key, n.Page)
	// Looked at only now: whoever invalidates removes what is there after
	// that, so one of the two sees the other.
	if n.Valid == nil || n.Valid() {
		return true
	}
	c.memory.drop(key, n.Page)
	if c.deleteBehind(key) != nil {
		c.removed.set(k.Key, c.removed.now())
	}
	return false
}

// Delete removes the page of a primary key, all its variants, from all tiers.
// Flights.InvalidateKey is called before it, so that a fill under way does not
// bring the page back. An error means that some tier may still have it; this
// Pulled will not use it. key is not kept.
func (c *Pulled) Delete(key []byte) error {
	stripe := c.stripe(key)
	stripe.deletes.Add(1)
	stripe.mu.Lock()
	primary := appendPrimary(nil, key)
	c.dropVariants(key, primary)
	c.memory.Delete(primary)
	stripe.mu.Unlock()
	err := c.deleteBehind(primary)
	if err != nil {
		c.removed.set(key, c.removed.now())
	}
	return err
}

// putVariant notes the variant of a page, and gives its key.
func (c *Pulled) putVariant(k *PulledKey, n *NewPage) []byte {
	if n.MaxVariants <= 0 {
		n.MaxVariants = DefaultMaxVariants
	}
	primary := appendPrimary(nil, k.Key)
	behind := c.variantsBehind(k, primary)
	own := string(appendVariant(nil, n.Vary, k.Field))

	stripe := c.stripe(k.Key)
	stripe.mu.Lock()
	old := c.variants(k)
	if old == nil {
		old = behind
	}
	next, gone := old.with(own, n.Vary, n.MaxVariants)
	f := Freshness{Measured: k.Now.UnixMilli(), Lifetime: seconds(MaxMemcacheExpiry)}
	page := newVariantsPage(next, f, n.Page.Seq)
	c.memory.Put(primary, page)
	stripe.mu.Unlock()

	for _, t := range c.further {
		t.Tier.Put(primary, page)
	}
	if old != nil {
		c.removeVariants(old, gone, k.Key)
	}
	return next.heldKey(own, k.Key)
}

// variantsBehind gives the list that the tiers behind memory have, if
// memory has none.
func (c *Pulled) variantsBehind(k *PulledKey, primary []byte) *variants {
	if len(c.further) == 0 || c.variants(k) != nil {
		return nil
	}
	if p, _ := c.search(k, primary); p != nil {
		return p.variants()
	}
	return nil
}

// removeVariants removes variants from all tiers.
func (c *Pulled) removeVariants(v *variants, gone []string, primary []byte) {
	for _, own := range gone {
		key := v.heldKey(own, primary)
		c.memory.Delete(key)
		_ = c.deleteBehind(key) // nothing leads to it any more: it lies there until it expires
	}
}

// dropVariants removes the variants of a page that memory knows, from memory.
// In other tiers nothing leads to them any more.
func (c *Pulled) dropVariants(key, primary []byte) {
	p, ok := c.memory.peek(primary)
	if !ok || p.variants() == nil {
		return
	}
	for _, own := range p.variants().held {
		c.memory.Delete(p.variants().heldKey(own, key))
	}
}

func (c *Pulled) store(key []byte, p *Page) {
	c.memory.Put(key, p)
	for _, t := range c.further {
		t.Tier.Put(key, p)
	}
}

func (c *Pulled) deleteBehind(key []byte) error {
	var all []error
	for _, t := range c.further {
		if err := t.Tier.Delete(key); err != nil {
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}

// wasRemoved says whether a page is one that a Delete could not reach where it
// lay.
func (c *Pulled) wasRemoved(primary []byte, p *Page) bool {
	at, ok := c.removed.get(primary)
	return ok && !time.UnixMilli(p.Measured).After(c.removed.start.Add(at))
}

func (c *Pulled) stripe(primary []byte) *pulledStripe {
	return &c.stripes[maphash.Bytes(c.removed.seed, primary)%pulledStripes]
}
