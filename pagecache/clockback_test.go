package pagecache

import (
	"testing"
	"time"
)

// The clock is set back after a page came: it does not stay fresh for as long
// as that, but counts as just expired until the clock is where it was. A few
// seconds are the difference of two nodes' clocks.
func TestClockSetBack(t *testing.T) {
	f := Freshness{Measured: came.UnixMilli(), InitialAge: 5, Lifetime: 600, StaleError: 60}
	for _, c := range []struct {
		at             time.Duration // of the clock, against the time when the page came
		fresh, onError bool
		ttl, age       int64
	}{
		{0, true, true, 595, 5},
		{-time.Second, true, true, 595, 5},
		{-10 * time.Second, true, true, 595, 5},
		{-11 * time.Second, false, true, -1, 600},
		{-24 * time.Hour, false, true, -1, 600},
		{-20 * 365 * 24 * time.Hour, false, true, -1, 600},
		{10 * time.Second, true, true, 585, 15},
		{600 * time.Second, false, true, -6, 605},
		{700 * time.Second, false, false, -106, 705},
	} {
		now := came.Add(c.at)
		if f.Fresh(now) != c.fresh || f.ServeOnError(now) != c.onError || f.TTL(now) != c.ttl || f.Age(now) != c.age {
			t.Errorf("clock at %v: fresh %v, on error %v, ttl %d, age %d; want %+v", c.at, f.Fresh(now), f.ServeOnError(now), f.TTL(now), f.Age(now), c)
		}
	}
}

// A page in the tiers does the same: it is found as a stale one.
func TestClockSetBackInTheTiers(t *testing.T) {
	c := NewPulled(NewMemory(1 << 20))
	p := pulledPage("page")
	p.Freshness = Freshness{Measured: came.UnixMilli(), Lifetime: 600}
	key := func(now time.Time) *PulledKey {
		return &PulledKey{Key: []byte("/a"), Check: func(*Page) Verdict { return Valid }, Now: now}
	}
	c.Put(key(came), NewPage{Page: p})
	for at, want := range map[time.Duration]bool{0: true, time.Minute: true, -time.Hour: false, time.Hour: false} {
		k := key(came.Add(at))
		if p, _ := c.Get(k); p == nil || k.fresh(p) != want {
			t.Errorf("clock at %v: %v, want fresh %v", at, p, want)
		}
	}
}
