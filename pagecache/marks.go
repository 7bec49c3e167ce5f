package pagecache

import "time"

// Marks remembers keys for a time each: those whose last answer may not be
// kept, so that nobody waits for the next one, or whose fill failed. It is
// bounded: a key may be forgotten early, never late. Its methods take no lock
// and may be called from any goroutine.
type Marks struct{ times *keyTimes }

// NewMarks returns an empty one.
func NewMarks() *Marks { return &Marks{newKeyTimes()} }

// Add remembers a key for a time from now on, in place of an earlier one. key
// is not kept.
func (m *Marks) Add(key []byte, d time.Duration) {
	if d > 0 {
		m.times.set(key, m.times.now()+d)
	}
}

// Has says whether a key is remembered. It does not allocate.
func (m *Marks) Has(key []byte) bool {
	until, ok := m.times.get(key)
	return ok && m.times.now() < until
}

// Remove forgets a key.
func (m *Marks) Remove(key []byte) { m.times.remove(key) }
