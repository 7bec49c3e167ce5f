package pagecache

import (
	"math"
	"time"
)

// maxSeconds is what larger numbers of seconds count as (RFC 9111, section
// 1.2.2): more than anything lives.
const maxSeconds = 1 << 31

// Freshness is how old a page was when it came, and how long it may be used
// from then on. It is compact, as it lives in every Page, and immutable.
//
// The age at any time is InitialAge and what has passed since Measured (RFC
// 9111, section 4.2.3). A clock that is set back makes no page younger than
// InitialAge; whoever must not depend on the time of day passes times of a
// clock that is never set.
type Freshness struct {
	Measured   int64  // Unix milliseconds: when the age was InitialAge
	InitialAge uint32 // seconds
	Lifetime   uint32 // seconds of age up to which the page is fresh
	StaleError uint32 // seconds over Lifetime for which it may be served where the origin fails

	// while is StaleWhile; from flagged on it is Flags, which allow no such
	// window.
	while uint32
}

const flagged = 1 << 31

// FreshnessFlags are what an answer says of its use beyond its lifetime.
type FreshnessFlags uint8

const (
	// NoCache: it said no-cache. Where a rule did not overrule that, its
	// lifetime is 0.
	NoCache FreshnessFlags = 1 << iota
	// MustRevalidate: it said must-revalidate or proxy-revalidate, or is kept
	// for Authorization's sake (RFC 9111, section 3.5): never used stale.
	MustRevalidate
	// SharedAge: its lifetime is that of s-maxage, which means the same as
	// proxy-revalidate (RFC 9111, section 5.2.2.10), and it said nothing of
	// being used stale. A soft purge may still open its window.
	SharedAge
)

// Flags is what the answer said that outranks windows.
func (f *Freshness) Flags() FreshnessFlags {
	if f.while < flagged {
		return 0
	}
	return FreshnessFlags(f.while)
}

// StaleWhile is the seconds over Lifetime for which the page may be served
// while one fill runs.
func (f *Freshness) StaleWhile() uint32 {
	if f.while >= flagged {
		return 0
	}
	return f.while
}

// allow sets StaleWhile.
func (f *Freshness) allow(window uint32) { f.while = min(window, flagged-1) }

// forbid sets Flags.
func (f *Freshness) forbid(flags FreshnessFlags) { f.while, f.StaleError = flagged|uint32(flags), 0 }

// Age is the page's age in whole seconds: the value of the field Age.
func (f *Freshness) Age(now time.Time) int64 { return f.age(now) / 1000 }

// TTL is what remains of the lifetime, in whole seconds; negative means stale.
func (f *Freshness) TTL(now time.Time) int64 {
	left := int64(f.Lifetime)*1000 - f.age(now)
	if left <= 0 {
		return left/1000 - 1 // the first second over is -1: 0 is still fresh
	}
	return left / 1000
}

// Fresh says whether the lifetime is longer than the age. A page of the same
// age is stale (RFC 9111, section 4.2).
func (f *Freshness) Fresh(now time.Time) bool { return f.within(f.Lifetime, 0, now) }

// ServeWhileRevalidating says whether the page may be served while a fill for
// it runs: it is fresh, or in its window for that.
func (f *Freshness) ServeWhileRevalidating(now time.Time) bool {
	return f.within(f.Lifetime, f.StaleWhile(), now)
}

// ServeOnError says whether the page may be served where the origin gave no
// answer or a failure: it is fresh, or in its window for that.
func (f *Freshness) ServeOnError(now time.Time) bool {
	return f.within(f.Lifetime, f.StaleError, now)
}

// NeverFresh says whether the page was stale from the beginning: whatever the
// time, no use of it may do without validation, but for a window.
func (f *Freshness) NeverFresh() bool { return f.Lifetime <= f.InitialAge }

// ServeStale says whether the page may be served up to a number of seconds
// over its lifetime where the visitor allows that: it is fresh, or it does not
// forbid to be used stale (RFC 9111, section 5.2.1.2).
func (f *Freshness) ServeStale(window uint32, now time.Time) bool {
	return f.Fresh(now) || f.Flags() == 0 && f.within(f.Lifetime, window, now)
}

// Until is the time from which the page serves nobody any more: its lifetime
// and its windows are over.
func (f *Freshness) Until() time.Time {
	left := int64(f.Lifetime) + int64(max(f.StaleWhile(), f.StaleError)) - int64(f.InitialAge)
	return time.UnixMilli(f.Measured + left*1000)
}

// Expired returns what holds of the page after a soft purge at a time: its
// lifetime ended then, and for a window from then on it may be served while
// one fill runs, unless it said no-cache or must-revalidate. A page that was
// stale by then gains nothing.
func (f *Freshness) Expired(at time.Time, window time.Duration) Freshness {
	g := *f
	if !f.Fresh(at) {
		return g
	}
	// Rounded down, and the window with it: expired by now for certain.
	g.Lifetime = uint32(f.age(at) / 1000)
	if f.Flags()&(NoCache|MustRevalidate) == 0 {
		g.allow(seconds(window))
	}
	return g
}

// clockSkew is how far, in milliseconds, a page may come from the future: the
// clocks of a fleet differ.
const clockSkew = 10_000

// age is in milliseconds. Where the clock was set back since the page was
// measured nobody knows its age: it counts as just expired, or it would stay
// fresh for as long as the clock was set back.
func (f *Freshness) age(now time.Time) int64 {
	since := now.UnixMilli() - f.Measured
	if since < -clockSkew {
		return int64(max(f.Lifetime, f.InitialAge)) * 1000
	}
	return int64(f.InitialAge)*1000 + max(since, 0)
}

func (f *Freshness) within(lifetime, window uint32, now time.Time) bool {
	return f.age(now) < (int64(lifetime)+int64(window))*1000
}

// measure sets the age of an answer (RFC 9111, section 4.2.3): the Age that
// it states, counted from when it was asked for, or, if that is more, the time
// since its Date. A Date that is not older than the question states no age:
// the answer was made meanwhile, and seconds are all that a Date tells.
func (f *Freshness) measure(r *Reply) {
	f.Measured, f.InitialAge = r.RequestTime.UnixMilli(), r.age()
	date, ok := r.date("date")
	if !ok || date >= r.RequestTime.Unix() {
		return
	}
	byDate := r.ResponseTime.UnixMilli() - date*1000
	if byDate > f.age(r.ResponseTime) {
		f.InitialAge = uint32(min(byDate/1000, maxSeconds))
		f.Measured = r.ResponseTime.UnixMilli() - byDate%1000
	}
}

// seconds rounds a time up to whole seconds: one that is not 0 stays so.
func seconds(d time.Duration) uint32 {
	if d <= 0 {
		return 0
	}
	return uint32(min(int64((d-1)/time.Second)+1, maxSeconds))
}

// from adds an age to a lifetime that counts from when the answer came.
func (f *Freshness) from(lifetime int64, at time.Time) uint32 {
	return uint32(min(lifetime+f.Age(at), math.MaxUint32))
}
