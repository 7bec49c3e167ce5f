package pagecache

import "time"

// NotKeepable remembers for a time which keys had an answer that may not be
// kept, so that nobody waits for the next one. It is bounded: a key may be
// forgotten early, never late. Its methods take no lock and may be called from
// any goroutine.
type NotKeepable struct{ times *keyTimes }

// NewNotKeepable returns an empty one.
func NewNotKeepable() *NotKeepable { return &NotKeepable{newKeyTimes()} }

// Add remembers a key for a time from now on, in place of an earlier one. key
// is not kept.
func (n *NotKeepable) Add(key []byte, d time.Duration) {
	if d > 0 {
		n.times.set(key, n.times.now()+d)
	}
}

// Has says whether a key is remembered. It does not allocate.
func (n *NotKeepable) Has(key []byte) bool {
	until, ok := n.times.get(key)
	return ok && n.times.now() < until
}

// Remove forgets a key: an answer for it was kept.
func (n *NotKeepable) Remove(key []byte) { n.times.remove(key) }
