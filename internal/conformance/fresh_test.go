package conformance

import (
	"testing"
	"time"
)

// Section 6: freshness.

func expires(in time.Duration) string { return "Expires: " + date(in) }

func TestFRE_1(t *testing.T) {
	t.Parallel()
	w := given(t, nil, "cache.heuristic = true")
	old := "Last-Modified: " + date(-1000*time.Hour)
	w.keeps(cc("s-maxage=60, max-age=0"), expires(-time.Hour))
	w.asksAgain(cc("s-maxage=0, max-age=60"), expires(time.Hour), old)
	w.keeps(cc("max-age=60"), expires(-time.Hour))
	w.asksAgain(cc("max-age=0"), expires(time.Hour), old)
	w.keeps(expires(time.Hour))
	w.asksAgain(expires(-time.Hour), old)
	w.keeps(expires(time.Hour), "-Date")
	w.keeps(expires(time.Hour), "Date: yesterday")
	w.keeps(old)
}

func TestFRE_2(t *testing.T) {
	t.Parallel()
	now := date(0)
	w := given(t, nil)
	w.asksAgain("Expires: "+now, "Date: "+now)
	w.asksAgain(cc("max-age=0"))
	w.asksAgain(cc("max-age=60"), "Age: 60")
	w.keeps(cc("max-age=600"), "Age: 540")
}

func TestFRE_3(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	for _, e := range []string{expires(-time.Hour), expires(time.Hour), "Expires: 0", "Expires: soon"} {
		w.keeps(cc("max-age=60"), e)
		w.keeps(cc("s-maxage=60"), e)
		w.asksAgain(cc("max-age=0"), e)
	}
}

// The app's clock may be fast or slow: only the distance counts, and the age.
func TestFRE_4(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	w.keeps("Date: "+date(time.Hour), expires(2*time.Hour))
	w.asksAgain("Date: "+date(2*time.Hour), expires(time.Hour))
	w.keeps("Date: "+date(-time.Hour), expires(2*time.Hour))
	w.asksAgain("Date: "+date(-2*time.Hour), expires(-time.Hour)) // an hour's lifetime, two hours old
}

func TestFRE_5(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	w.asksAgain("Date: "+date(0), expires(-time.Second))
	w.asksAgain("Date: "+date(0), "Expires: Thu, 01 Jan 1970 00:00:00 GMT")
	w.asksAgain("Date: "+date(0), "Expires: Mon, 01 Jan 0001 00:00:00 GMT")
	w.asksAgain("Date: Fri, 31 Dec 9999 23:59:59 GMT", "Expires: Thu, 01 Jan 1970 00:00:00 GMT")
}

func TestFRE_6(t *testing.T) {
	t.Parallel()
	w := given(t, nil, "cache.heuristic = true")
	for _, value := range []string{"0", "-1", "", "never", "2030", "Thu, 18 Aug"} {
		w.asksAgain("Expires: "+value, "Last-Modified: "+date(-1000*time.Hour))
	}
}

// The first of several counts.
func TestFRE_7(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	w.asksAgain(expires(-time.Hour), expires(time.Hour))
	w.asksAgain("Expires: 0", expires(time.Hour))
}

// No time zone of this machine is looked at: what is written in another zone is
// no date, and GMT is what all are made in.
func TestFRE_8(t *testing.T) {
	t.Parallel()
	local := time.Now().Add(time.Hour).In(time.FixedZone("CET", 3600)).Format("Mon, 02 Jan 2006 15:04:05 ")
	w := given(t, nil)
	for _, zone := range []string{"CET", "+0100", "Local", ""} {
		w.asksAgain("Expires: " + local + zone)
	}
	made, err := time.Parse("Mon, 02 Jan 2006 15:04:05 GMT", w.asksAgain("-Date").header.Get("Date"))
	if off := time.Since(made).Abs(); err != nil || off > time.Minute {
		t.Errorf("Date is %v off (%v)", off, err)
	}
}
