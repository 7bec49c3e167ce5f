package pagecache

import (
	"hash/maphash"
	"sync/atomic"
	"time"
)

// keyTimeSlots bounds how many keys have a time.
const keyTimeSlots = 1 << 15

// keyTimes gives keys a time each, in bounded memory and without locks. A key
// has one slot, and the next key of that slot takes it. Keys are told apart by
// 64 bits of a hash with a seed of its own, which nobody outside can aim at.
type keyTimes struct {
	seed  maphash.Seed
	start time.Time // what times count from, by the monotonic clock
	slots [keyTimeSlots]atomic.Pointer[keyTime]
}

type keyTime struct {
	hash uint64
	at   time.Duration
}

func newKeyTimes() *keyTimes { return &keyTimes{seed: maphash.MakeSeed(), start: time.Now()} }

// now is the time, as those of the keys count.
func (x *keyTimes) now() time.Duration { return time.Since(x.start) }

func (x *keyTimes) set(key []byte, at time.Duration) {
	hash := maphash.Bytes(x.seed, key)
	x.slots[hash%keyTimeSlots].Store(&keyTime{hash, at})
}

func (x *keyTimes) get(key []byte) (at time.Duration, ok bool) {
	hash := maphash.Bytes(x.seed, key)
	t := x.slots[hash%keyTimeSlots].Load()
	if t == nil || t.hash != hash {
		return 0, false
	}
	return t.at, true
}

func (x *keyTimes) remove(key []byte) {
	hash := maphash.Bytes(x.seed, key)
	slot := &x.slots[hash%keyTimeSlots]
	if t := slot.Load(); t != nil && t.hash == hash {
		slot.CompareAndSwap(t, nil)
	}
}
