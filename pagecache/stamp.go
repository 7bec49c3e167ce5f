package pagecache

import "time"

// second is the time for which something that was not there is remembered, in
// milliseconds.
const second = 1000

// clock is where time comes from; tests put their own in.
type clock struct {
	now   func() time.Time
	sleep func(time.Duration)
	start time.Time
}

// systemClock counts from the start of a memory tier: whoever shares the tier
// reads the stamps on its pages alike.
func systemClock(start time.Time) *clock {
	return &clock{now: time.Now, sleep: time.Sleep, start: start}
}

// millis returns the milliseconds from the start of the clock to now, plus
// one. It follows the monotonic clock: setting the time of day does not move
// it.
func (c *clock) millis(now time.Time) int64 {
	return max(now.Sub(c.start).Milliseconds(), 0) + 1
}

// stamp says when something was last found to be so, and under which
// generation of the root: 40 bits of milliseconds (34 years), 20 bits of
// generation, 4 bits that are free. One word, so that it is read and written
// as one. 0 is never.
type stamp uint64

const (
	stampBits       = 4
	generationBits  = 20
	stampMask       = 1<<stampBits - 1
	generationMask  = 1<<generationBits - 1
	stampTimeOffset = stampBits + generationBits
)

func newStamp(millis int64, generation uint32) stamp {
	return stamp(millis)<<stampTimeOffset | stamp(generation&generationMask)<<stampBits
}

// within says whether s is less than ms milliseconds old, and of the same
// generation as now. Milliseconds are rounded down in both, so a stamp never
// passes for younger than it is.
func (s stamp) within(ms int64, now stamp) bool {
	same := (s^now)>>stampBits&generationMask == 0
	return s != 0 && same && now.millis()-s.millis() < ms
}

func (s stamp) millis() int64 { return int64(s >> stampTimeOffset) }

// bits returns the free bits.
func (s stamp) bits() uint64 { return uint64(s & stampMask) }
