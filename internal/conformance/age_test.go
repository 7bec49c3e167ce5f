package conformance

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

// Section 8: Age.

// age is the answer's Age; -1: there is none, or not exactly one.
func (g *got) age() int {
	lines := g.header.Values("Age")
	if len(lines) != 1 {
		return -1
	}
	n, err := strconv.Atoi(lines[0])
	if err != nil {
		return -1
	}
	return n
}

// aged fails the test unless the Age is from there on, and no more than has
// passed since the test began.
func (g *got) aged(from int) {
	g.t.Helper()
	passed := int(time.Since(g.world.began)/time.Second) + 10 // some were stated before that
	if age := g.age(); age < from || age > from+passed {
		g.t.Errorf("Age is %q, want %d or a little more", g.header.Values("Age"), from)
	}
}

func TestAGE_1(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	w.keeps(cc("max-age=3600")).aged(0)
	w.keeps(cc("max-age=3600"), "Age: 100").aged(100)
	w.keeps(cc("max-age=3600"), "Age: 100", "Age: 200").aged(100)
	w.keeps(cc("max-age=3600"), "Age: -5").aged(0)
	w.keeps(cc("max-age=3600"), "Date: "+date(time.Hour)).aged(0)
}

func TestAGE_2(t *testing.T) {
	t.Parallel()
	const slow = 1100 * time.Millisecond // on the way: it counts
	w := given(t, func(q *asked) string {
		time.Sleep(slow)
		return message(200, "x", cc("max-age=3600"), "Age: 100", "Date: "+date(-slow))
	})
	w.fetched("/p")
	w.reused("/p").aged(101)
}

func TestAGE_3(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	w.keeps(cc("max-age=3600"), "Date: "+date(-100*time.Second)).aged(100)
	w.keeps(cc("max-age=3600"), "Date: "+date(-100*time.Second), "Age: 10").aged(100)
	w.keeps(cc("max-age=3600"), "Date: "+date(-100*time.Second), "Age: 200").aged(200)
	w.asksAgain(cc("max-age=60"), "Date: "+date(-100*time.Second))
}

func TestAGE_4(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	for _, lines := range []string{"Age: 7200, 0", "Age: 7200,0", "Age: 7200\r\nAge: 0", "Age: 7200, x", "Age:  7200 "} {
		w.asksAgain(append([]string{cc("max-age=3600")}, strings.Split(lines, "\r\n")...)...)
	}
	for _, lines := range []string{"Age: 0, 7200", "Age: 0\r\nAge: 7200"} {
		w.keeps(append([]string{cc("max-age=3600")}, strings.Split(lines, "\r\n")...)...).aged(0)
	}
}

func TestAGE_5(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	for _, value := range []string{"abc", "-7200", "7200.0", "7200;a=b", "+7200", "7200 7200", `"7200"`, "", ", 7200"} {
		w.keeps(cc("max-age=3600"), "Age: "+value).aged(0)
	}
}

func TestAGE_6(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	for _, value := range []string{"2147483648", "2147483649", "4294967296", "99999999999", "18446744073709551616"} {
		w.asksAgain(cc("max-age=2147483647"), "Age: "+value)
		w.asksAgain(cc("max-age=99999999999"), "Age: "+value)
	}
}

// A page that was validated is as old as the answer that said so.
func TestAGE_7(t *testing.T) {
	t.Parallel()
	w := given(t, validating(ok("body", `ETag: "a"`, cc("max-age=1000"), "Age: 5000"), `If-None-Match: "a"`, `ETag: "a"`, "Age: 100"))
	w.fetched("/p")
	w.fetched("/p").is(200, "body")
	w.reused("/p").aged(100)
	w.on("/q", validating(ok("body", `ETag: "a"`, cc("max-age=1000"), "Age: 5000"), `If-None-Match: "a"`, `ETag: "a"`))
	w.fetched("/q")
	w.fetched("/q")
	w.reused("/q").aged(0)
}

func TestAGE_9(t *testing.T) {
	t.Parallel()
	w := given(t, ok("body", `ETag: "a"`, cc("max-age=3600"), "Age: 100"))
	w.fetched("/p")
	w.reused("/p", `If-None-Match: "a"`).is(304, "").aged(100)
	w.reused("/p", "Range: bytes=0-1").is(206, "bo").aged(100)
	w.afterDeath([]string{cc("max-age=10, stale-if-error=600")})[0].is(200, "old").aged(60)
}
