package pagecache

import (
	"sync/atomic"
	"time"
)

// breaker leaves a server alone for a while after a failure, then lets one
// request through to see how it is. Its methods may be called from any
// goroutine.
type breaker struct {
	until atomic.Int64 // nanoseconds since start; 0: the server is well
}

// leaves says whether the server is left alone now, and is no probe.
func (b *breaker) leaves(now time.Duration) bool {
	until := b.until.Load()
	return until != 0 && int64(now) < until
}

// allow says whether a request may go out now. After the pause one may, and
// if it is not heard of, another one a pause later.
func (b *breaker) allow(now, pause time.Duration) bool {
	until := b.until.Load()
	if until == 0 {
		return true
	}
	return int64(now) >= until && b.until.CompareAndSwap(until, int64(now+pause))
}

// failed notes that the server is not well.
func (b *breaker) failed(now, pause time.Duration) { b.until.Store(int64(now + pause)) }

// worked notes that the server is well.
func (b *breaker) worked() {
	if b.until.Load() != 0 {
		b.until.Store(0)
	}
}
