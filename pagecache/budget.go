package pagecache

import "sync/atomic"

// Budget bounds the bytes that bodies on their way into a cache take together.
// What a cache holds it counts itself, but while bodies come in, and as long as
// somebody slow reads one of them, they are in memory beside it: many large ones
// at once would use up what there is. The zero Budget has room for nothing. Its
// methods may be called from any goroutine.
type Budget struct {
	most, used atomic.Int64
}

// Resize changes the bound. What was taken stays.
func (b *Budget) Resize(most int64) { b.most.Store(most) }

// Used gives the bytes that are taken.
func (b *Budget) Used() int64 { return b.used.Load() }

// take takes n bytes. false: there is no room, and nothing was taken.
func (b *Budget) take(n int64) bool {
	for {
		used := b.used.Load()
		if n > 0 && used+n > b.most.Load() {
			return false
		}
		if b.used.CompareAndSwap(used, used+n) {
			return true
		}
	}
}

// Hold begins a Holding, of no bytes yet.
func (b *Budget) Hold() *Holding { return &Holding{budget: b} }

// Holding is what one body takes of a Budget. It is for one goroutine at a time.
// nil is that of a body that is not counted.
type Holding struct {
	budget *Budget
	bytes  int64
	ended  bool
}

// Grow makes it at least so many bytes in all. false: there is no room, and it
// stays as it was.
func (h *Holding) Grow(to int64) bool {
	if h == nil || to <= h.bytes {
		return true
	}
	if !h.budget.take(to - h.bytes) {
		return false
	}
	h.bytes = to
	return true
}

// End gives all of it back. It may be called twice.
func (h *Holding) End() {
	if h != nil && !h.ended {
		h.ended = true
		h.budget.used.Add(-h.bytes)
	}
}

// resume takes all of it again after End, be there room or not: the bytes are
// in use.
func (h *Holding) resume() {
	if h != nil && h.ended {
		h.ended = false
		h.budget.used.Add(h.bytes)
	}
}
