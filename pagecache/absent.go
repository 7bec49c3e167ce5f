package pagecache

import (
	"hash/maphash"
	"sync/atomic"
)

// absenceSlots bounds how many keys are remembered to have no page.
const absenceSlots = 8192

// absences remembers for a second which keys have no page. A key has one slot,
// and the next key of that slot takes it: the memory is bounded, and neither a
// look nor a note takes a lock. Keys are told apart by 64 bits of a hash with
// a seed of its own, which nobody outside can aim at.
type absences struct {
	seed  maphash.Seed
	slots [absenceSlots]atomic.Pointer[absence]
}

type absence struct {
	hash uint64
	at   stamp
}

func newAbsences() *absences { return &absences{seed: maphash.MakeSeed()} }

// has says whether the key was noted less than a second before now.
func (a *absences) has(key []byte, now stamp) bool {
	hash := maphash.Bytes(a.seed, key)
	n := a.slots[hash%absenceSlots].Load()
	return n != nil && n.hash == hash && n.at.within(second, now)
}

// add notes a key that had no page at a time: that before the look, not after.
func (a *absences) add(key []byte, at stamp) {
	hash := maphash.Bytes(a.seed, key)
	a.slots[hash%absenceSlots].Store(&absence{hash, at})
}
