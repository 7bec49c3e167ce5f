package pagecache

import (
	"testing"
	"time"
)

// aged decides a reply that took a while to come, and gives its age later.
func aged(text string, delay, later time.Duration) (f Freshness, now time.Time) {
	r := replyOf(text)
	r.RequestTime = came.Add(-delay)
	f = Decide(r, Asked{}, &Policy{}).Freshness
	return f, came.Add(later)
}

func TestFreshnessAge(t *testing.T) {
	const ms, s = time.Millisecond, time.Second
	for _, c := range []struct {
		id           string
		reply        string
		delay, later time.Duration
		want         int64
	}{
		{"AGE_1", "", 0, 0, 0},
		{"AGE_1", "", 0, 999 * ms, 0},
		{"AGE_1", "", 0, 1000 * ms, 1},
		{"AGE_1", "Date: {now+600}", 0, 0, 0},
		{"AGE_1", "", 0, -time.Hour, 0},
		{"clock set back", "Age: 5", 0, -time.Hour, 5},
		{"AGE_2", "Age: 30", 0, 10 * s, 40},
		{"AGE_2", "Age: 30", 4 * s, 10 * s, 44},
		{"AGE_2", "", 600 * ms, 400 * ms, 1},
		{"AGE_3", "Date: {now-100}", 0, 0, 100},
		{"AGE_3", "Date: {now-100}\nAge: 30", 0, 5 * s, 105},
		{"AGE_3", "Date: {now-10}\nAge: 30", 0, 5 * s, 35},
		{"AGE_3", "Date: {now-3}", 4 * s, 0, 4}, // made after the question: it took 4 s, no more
		{"AGE_3", "Date: nonsense\nAge: 30", 0, 0, 30},
		{"AGE_4", "Age: 7200, 0", 0, 0, 7200},
		{"AGE_4", "Age: 0, 7200", 0, 0, 0},
		{"AGE_4", "Age: 7200\nAge: 0", 0, 0, 7200},
		{"AGE_5", "Age: abc", 0, 0, 0},
		{"AGE_5", "Age: -1", 0, 0, 0},
		{"AGE_5", "Age: 7200.0", 0, 0, 0},
		{"AGE_5", "Age: 7200;a=b", 0, 0, 0},
		{"AGE_5", "Age:", 0, 0, 0},
		{"AGE_6", "Age: 99999999999999999999", 0, 0, maxSeconds},
	} {
		if f, now := aged(c.reply, c.delay, c.later); f.Age(now) != c.want {
			t.Errorf("%s: %q after %v and %v: age %d, want %d", c.id, c.reply, c.delay, c.later, f.Age(now), c.want)
		}
	}
}

// The answer's Date is in whole seconds. One of the second in which it was
// asked for says nothing, so a page of one second lives for one.
func TestFreshnessOfASecond(t *testing.T) {
	r := replyOf("Cache-Control: max-age=1\nDate: {now}")
	r.RequestTime, r.ResponseTime = came.Add(950*time.Millisecond), came.Add(990*time.Millisecond)
	f := Decide(r, Asked{}, &Policy{}).Freshness
	for after, want := range map[time.Duration]bool{0: true, 999 * time.Millisecond: true, time.Second: false} {
		if f.Fresh(r.RequestTime.Add(after)) != want {
			t.Errorf("after %v: fresh %v", after, !want)
		}
	}
}

func TestFreshnessWindows(t *testing.T) {
	f, _ := aged("Cache-Control: max-age=60, stale-while-revalidate=10, stale-if-error=20\nAge: 5", 0, 0)
	for _, c := range []struct {
		later               time.Duration
		ttl                 int64
		fresh, while, error bool
	}{
		{0, 55, true, true, true},
		{54999 * time.Millisecond, 0, true, true, true},
		{55 * time.Second, -1, false, true, true},
		{64999 * time.Millisecond, -10, false, true, true},
		{65 * time.Second, -11, false, false, true},
		{74999 * time.Millisecond, -20, false, false, true},
		{75 * time.Second, -21, false, false, false},
	} {
		now := came.Add(c.later)
		if f.TTL(now) != c.ttl || f.Fresh(now) != c.fresh || f.ServeWhileRevalidating(now) != c.while || f.ServeOnError(now) != c.error {
			t.Errorf("after %v: ttl %d, %v %v %v", c.later, f.TTL(now), f.Fresh(now), f.ServeWhileRevalidating(now), f.ServeOnError(now))
		}
	}
	if until := f.Until(); !until.Equal(came.Add(75 * time.Second)) {
		t.Errorf("until %v", until)
	}
}

// A soft purge ends the lifetime, and opens a window unless the answer forbade
// that.
func TestFreshnessExpired(t *testing.T) {
	at := came.Add(10 * time.Second)
	for _, c := range []struct {
		reply                      string
		at                         time.Duration // seconds
		while                      bool
		whileAfter, errorsAfterAll bool
	}{
		{"Cache-Control: max-age=60", 10, true, false, false},
		{"Cache-Control: max-age=60, stale-if-error=9999", 10, true, false, true},
		{"Cache-Control: s-maxage=60", 10, true, false, false},
		{"Cache-Control: max-age=60, must-revalidate", 10, false, false, false},
		{"Cache-Control: max-age=60, proxy-revalidate", 10, false, false, false},
	} {
		f, _ := aged(c.reply, 0, 0)
		g := f.Expired(at, time.Hour)
		in, after := at.Add(time.Hour-time.Second), at.Add(time.Hour+time.Second)
		if g.Fresh(at) || g.TTL(at) >= 0 || g.ServeWhileRevalidating(in) != c.while ||
			g.ServeWhileRevalidating(after) != c.whileAfter || g.ServeOnError(after) != c.errorsAfterAll {
			t.Errorf("%q: %+v", c.reply, g)
		}
		if !f.Fresh(at) {
			t.Errorf("%q: the page itself changed", c.reply)
		}
	}
	ruled := Decide(replyOf("Cache-Control: no-cache"), Asked{}, &Policy{Lifetime: hour()}).Freshness
	if g := ruled.Expired(at, time.Hour); g.ServeWhileRevalidating(at) {
		t.Error("said no-cache, and is served after a soft purge")
	}
	old, _ := aged("Cache-Control: max-age=5", 0, 0)
	if g := old.Expired(at, time.Hour); g != old {
		t.Errorf("stale already: %+v became %+v", old, g)
	}
}

// Numbers at their ends neither wrap nor make anything fresh.
func TestFreshnessExtremes(t *testing.T) {
	f := Freshness{Measured: came.UnixMilli(), InitialAge: maxSeconds, Lifetime: maxSeconds, while: maxSeconds, StaleError: maxSeconds}
	if f.Fresh(came) || !f.ServeOnError(came) || f.TTL(came) != -1 {
		t.Errorf("%v %v %d", f.Fresh(came), f.ServeOnError(came), f.TTL(came))
	}
	if g := f.from(maxSeconds, came.Add(time.Hour)); g != 1<<32-1 {
		t.Errorf("%d", g)
	}
	for d, want := range map[time.Duration]uint32{-1: 0, 0: 0, 1: 1, time.Second: 1, time.Second + 1: 2, 1<<63 - 1: maxSeconds} {
		if got := seconds(d); got != want {
			t.Errorf("%v is %d seconds, want %d", d, got, want)
		}
	}
}

// What a visitor may ask for: a page that is stale, unless it forbids that.
func TestFreshnessServeStale(t *testing.T) {
	for _, c := range []struct {
		reply string
		later time.Duration
		want  bool // with 20 seconds allowed
	}{
		{"Cache-Control: max-age=60", 59 * time.Second, true},
		{"Cache-Control: max-age=60", 79 * time.Second, true},
		{"Cache-Control: max-age=60", 80 * time.Second, false},
		{"Cache-Control: max-age=60, must-revalidate", 59 * time.Second, true},
		{"Cache-Control: max-age=60, must-revalidate", 61 * time.Second, false},
		{"Cache-Control: max-age=60, proxy-revalidate", 61 * time.Second, false},
		{"Cache-Control: s-maxage=60", 61 * time.Second, false},
		{"Cache-Control: s-maxage=60, stale-if-error=5", 61 * time.Second, true},
		{"Cache-Control: no-cache\nETag: \"a\"", time.Second, false},
	} {
		f, now := aged(c.reply, 0, c.later)
		if f.ServeStale(20, now) != c.want {
			t.Errorf("%q after %v: %v", c.reply, c.later, !c.want)
		}
	}
}

func TestFreshnessNeverFresh(t *testing.T) {
	for reply, want := range map[string]bool{
		"Cache-Control: max-age=60":               false,
		"Cache-Control: max-age=60\nAge: 59":      false,
		"Cache-Control: max-age=60\nAge: 60":      true,
		"Expires: {now-60}\nETag: \"a\"":          true,
		"Cache-Control: max-age=60, no-cache":     true,
		"Cache-Control: max-age=0, no-cache=\"\"": true,
	} {
		f, now := aged(reply, 0, 0)
		if f.NeverFresh() != want || f.Fresh(now) == want {
			t.Errorf("%q: %+v", reply, f)
		}
	}
}
