package pagecache

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// One leads, all others get what comes of it, at the moment it comes.
func TestFlightsJoin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var x Flights
		page := testPage("body")
		var leaders, served atomic.Int32
		began := time.Now()
		for range 1000 {
			go func() {
				f, leader := x.Join([]byte("key"))
				if leader {
					leaders.Add(1)
					defer f.Abandon()
					time.Sleep(300 * time.Millisecond)
					if !f.Finish(FlightResult{Outcome: FlightKept, Page: page}) {
						t.Error("finish says that the flight was hit")
					}
					return
				}
				select {
				case <-f.Done():
				case <-time.After(time.Second):
					t.Error("waited in vain")
				}
				if r := f.Result(); r.Outcome != FlightKept || r.Page != page || time.Since(began) != 300*time.Millisecond {
					t.Errorf("%+v after %v", r, time.Since(began))
				}
				served.Add(1)
			}()
		}
		synctest.Wait()
		if n := x.Len(); n != 1 {
			t.Errorf("%d flights", n)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if leaders.Load() != 1 || served.Load() != 999 || x.Len() != 0 {
			t.Errorf("%d leaders, %d served, %d flights left", leaders.Load(), served.Load(), x.Len())
		}
		if _, leader := x.Join([]byte("key")); !leader {
			t.Error("a flight that ended was joined")
		}
	})
}

func TestFlightsKeysAreApart(t *testing.T) {
	var x Flights
	key := []byte("a")
	a, _ := x.Join(key)
	key[0] = 'b' // the key must have been copied
	b, leader := x.Join(key)
	if !leader || a == b {
		t.Error("two keys share a flight")
	}
	if f, ok := x.Peek([]byte("a")); !ok || f != a {
		t.Error("the flight of a is not found")
	}
	a.Finish(FlightResult{Outcome: FlightFailed, Status: 502})
	if _, ok := x.Peek([]byte("a")); ok {
		t.Error("a flight that ended is found")
	}
	if r := a.Result(); r.Outcome != FlightFailed || r.Status != 502 {
		t.Errorf("%+v", r)
	}
	b.Abandon()
}

// A leader that panics, or gives up, leaves nobody waiting.
func TestFlightAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var x Flights
		f, _ := x.Join([]byte("key"))
		go func() {
			defer func() { recover() }()
			defer f.Abandon()
			time.Sleep(time.Second)
			panic("in the middle of a fill")
		}()
		other, leader := x.Join([]byte("key"))
		if leader || other != f {
			t.Fatal("not joined")
		}
		if r := other.Result(); r.Outcome != FlightAbandoned || r.Page != nil {
			t.Errorf("%+v", r)
		}
		if x.Len() != 0 {
			t.Error("the flight is still there")
		}
	})
}

func TestFlightEndsOnce(t *testing.T) {
	var x Flights
	f, _ := x.Join([]byte("key"))
	f.Finish(FlightResult{Outcome: FlightNotKept, Reason: ReasonSetCookie})
	f.Abandon()
	if r := f.Result(); r.Outcome != FlightNotKept || r.Reason != ReasonSetCookie {
		t.Errorf("abandon after finish: %+v", r)
	}
	defer func() {
		if v := fmt.Sprint(recover()); !strings.HasPrefix(v, "BUG:") {
			t.Errorf("finished twice: %v", v)
		}
	}()
	f.Finish(FlightResult{})
}

// What a purge or an unsafe method hits is not joined any more, and its result
// is nobody's. A flight that began after that is another one.
func TestFlightsInvalidate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var x Flights
		hit, _ := x.Join([]byte("site/a"))
		spared, _ := x.Join([]byte("site/b"))
		var outcome FlightOutcome
		go func() {
			f, _ := x.Join([]byte("site/a"))
			outcome = f.Result().Outcome
		}()
		synctest.Wait()
		if n := x.Invalidate(func(key string) bool { return strings.HasSuffix(key, "/a") }); n != 1 {
			t.Errorf("%d flights hit", n)
		}
		if hit.Valid() || !spared.Valid() {
			t.Errorf("valid: %v %v", hit.Valid(), spared.Valid())
		}
		later, leader := x.Join([]byte("site/a"))
		if !leader || later == hit {
			t.Error("a request from after the purge joined a fill from before it")
		}
		if hit.Finish(FlightResult{Outcome: FlightKept, Page: testPage("old")}) {
			t.Error("the old page may be kept")
		}
		if r := hit.Result(); r.Outcome != FlightInvalidated || r.Page != nil {
			t.Errorf("%+v", r)
		}
		synctest.Wait()
		if outcome != FlightInvalidated {
			t.Errorf("who had joined before got outcome %d", outcome)
		}
		if f, ok := x.Peek([]byte("site/a")); !ok || f != later {
			t.Error("the end of the old flight took the new one's place")
		}
		x.InvalidateKey([]byte("site/a"))
		x.InvalidateKey([]byte("nothing there"))
		if later.Finish(FlightResult{Outcome: FlightKept}) || !spared.Finish(FlightResult{Outcome: FlightKept}) {
			t.Error("one key was hit, or the other was not")
		}
	})
}

// A waiter gets a page that varies only if it is his variant.
func TestFlightResultFits(t *testing.T) {
	key, vary := []byte("key"), []string{"Accept-Language"}
	r := FlightResult{Vary: vary, Variant: string(VariantKey(nil, key, vary, fieldsOf("Accept-Language: de, en")))}
	for fields, want := range map[string]bool{"Accept-Language: de,en": true, "Accept-Language: en": false, "": false} {
		if r.Fits(key, fieldsOf(fields)) != want {
			t.Errorf("%q fits: %v", fields, !want)
		}
	}
	if !(&FlightResult{}).Fits(key, fieldsOf("Accept-Language: en")) {
		t.Error("a page that does not vary fits nobody")
	}
}

func TestFlightsConcurrently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var x Flights
		for i := range 200 {
			go func() {
				for j := range 50 {
					key := fmt.Appendf(nil, "%d", (i+j)%7)
					f, leader := x.Join(key)
					switch {
					case leader && j%5 == 0:
						f.Abandon()
					case leader:
						time.Sleep(time.Microsecond)
						f.Finish(FlightResult{Outcome: FlightKept})
					case j%11 == 0:
						x.InvalidateKey(key)
					}
					f.Result()
				}
			}()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if x.Len() != 0 {
			t.Errorf("%d flights left", x.Len())
		}
	})
}

func TestMarks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := NewMarks()
		a, b := []byte("a"), []byte("b")
		if n.Has(a) {
			t.Error("an empty one has a key")
		}
		n.Add(a, time.Minute)
		n.Add(b, 0)
		time.Sleep(time.Minute - 1)
		if !n.Has(a) || n.Has(b) {
			t.Errorf("%v %v", n.Has(a), n.Has(b))
		}
		time.Sleep(time.Nanosecond)
		if n.Has(a) {
			t.Error("remembered for too long")
		}
		n.Add(a, time.Minute)
		n.Remove(b)
		if !n.Has(a) {
			t.Error("another key was forgotten")
		}
		n.Remove(a)
		if n.Has(a) {
			t.Error("not forgotten")
		}
		for i := range 4 * keyTimeSlots { // bounded, whatever is added
			n.Add(fmt.Appendf(nil, "%d", i), time.Minute)
		}
		n.Add(a, time.Minute)
		if !n.Has(a) {
			t.Error("the last one is not remembered")
		}
		if allocs := testing.AllocsPerRun(100, func() { n.Has(a) }); allocs != 0 {
			t.Errorf("%v allocations", allocs)
		}
	})
}
