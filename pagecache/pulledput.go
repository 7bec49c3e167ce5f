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
	// mu is held while a list of variants changes, in all tiers, and while
	// pages are deleted: a Delete between the look at a list and the writing of
	// the next one would have that lead to what was deleted. So it is held over
	// what the tiers behind memory take, which is bounded.
	mu sync.Mutex

	deletes atomic.Uint64 // of these keys from the tiers behind memory, so far
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
	_ = c.remove(k.Key, key) // what some tier may still have is not used
	c.memory.Delete(key)
	return false
}

// Delete removes the page of a primary key, all its variants, from all tiers.
// Flights.InvalidateKey is called before it, so that a fill under way does not
// bring the page back. An error means that some tier may still have it; this
// Pulled will not use it. key is not kept.
func (c *Pulled) Delete(key []byte) error {
	stripe := c.stripe(key)
	stripe.mu.Lock()
	defer stripe.mu.Unlock()
	primary := appendPrimary(nil, key)
	err := c.remove(key, primary)
	c.dropVariants(key, primary)
	c.memory.Delete(primary)
	return err
}

// remove removes a key from the tiers behind memory. Only then it may go from
// memory: a search that found it in such a tier before puts it there, and either
// does so before it goes from there, too, or sees that there was a removal.
func (c *Pulled) remove(primary, key []byte) error {
	err := c.deleteBehind(key)
	if err != nil {
		c.removed.set(primary, c.removed.now())
	}
	c.stripe(primary).deletes.Add(1)
	return err
}

// putVariant notes the variant of a page, and gives its key.
func (c *Pulled) putVariant(k *PulledKey, n *NewPage) []byte {
	if n.MaxVariants <= 0 {
		n.MaxVariants = DefaultMaxVariants
	}
	primary := appendPrimary(nil, k.Key)
	own := string(appendVariant(nil, n.Vary, k.Field))
	old, next, gone := c.list(k, n, primary, own)
	if old != nil {
		c.removeVariants(old, gone, k.Key)
	}
	return next.heldKey(own, k.Key)
}

// list puts a variant into the list of a page's variants. It gives the list
// before, nil: there was none, and the variants that have to go.
func (c *Pulled) list(k *PulledKey, n *NewPage, primary []byte, own string) (old, next *variants, gone []string) {
	stripe := c.stripe(k.Key)
	stripe.mu.Lock()
	defer stripe.mu.Unlock()
	if old = c.variants(k); old == nil {
		old = c.variantsBehind(k, primary)
	}
	next, gone = old.with(own, n.Vary, n.MaxVariants)
	f := Freshness{Measured: k.Now.UnixMilli(), Lifetime: seconds(MaxMemcacheExpiry)}
	c.store(primary, newVariantsPage(next, f, n.Page.Seq))
	return old, next, gone
}

// variantsBehind gives the list that the tiers behind memory have.
func (c *Pulled) variantsBehind(k *PulledKey, primary []byte) *variants {
	if len(c.further) == 0 {
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
