package conformance

import (
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// Section 18: stale answers. The default is DESIGN.md's stale_if_error, ten
// minutes, where the answer says nothing.

func TestSTL_1(t *testing.T) {
	t.Parallel()
	w := given(t, nil, "[[site.rule]]\npath = [\"/slow\"]\ntimeout = \"1s\"")
	stale := ok("old", staleFrom(`ETag: "a"`)...)
	var hangs atomic.Bool
	w.on("/closed", inTurn(stale, raw("")))
	w.on("/slow", func(q *asked) string {
		if hangs.Load() {
			<-w.gone
		}
		return stale(q)
	})
	w.on("/dead", stale)
	for _, target := range []string{"/closed", "/dead"} {
		w.fetched(target).is(200, "old")
	}
	w.eventually("an answer within the time", func() bool { return w.get("/slow").status == 200 })
	hangs.Store(true)
	w.get("/closed").is(200, "old").says("fwd=stale")
	w.get("/slow").is(200, "old").says("fwd=stale")
	w.die()
	w.get("/dead").is(200, "old").says("fwd=stale")
}

func TestSTL_2(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	all := w.afterDeath([]string{cc("max-age=10")},
		[]string{cc("max-age=10, must-revalidate")}, []string{cc("max-age=10, proxy-revalidate")}, []string{cc("s-maxage=10")},
		[]string{cc("max-age=10, no-cache")}, []string{cdn("max-age=10, must-revalidate")}, []string{cdn("s-maxage=10")})
	all[0].is(200, "old")
	dead(t, all[1:])
}

// While the app answers nothing stale is served.
func TestSTL_3(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	w.asksAgain(staleFrom()...).is(200, "2")
	w.asksAgain(staleFrom(`ETag: "a"`)...).is(200, "2")
	w.asksAgain(staleFrom(`ETag: "a"`, "Last-Modified: "+longAgo)...).is(200, "2").says("fwd=stale")
}

func TestSTL_4(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	w := given(t, func(q *asked) string {
		if q.n == 1 {
			return message(200, "old", cc("max-age=10, stale-while-revalidate=600"), "Age: 60", `ETag: "a"`)
		}
		<-release
		return message(200, "new", cc("max-age=60"))
	})
	w.fetched("/p").is(200, "old")
	for range 5 {
		w.get("/p").is(200, "old").says("hit")
	}
	w.eventually("one validation", func() bool { return len(w.requests()) == 2 })
	w.asks(inm(`"a"`))
	close(release)
	w.eventually("the new page", func() bool { return w.get("/p").body == "new" })
	if n := len(w.requests()); n != 2 {
		t.Errorf("the app was asked %d times, want 2", n)
	}
	w.on("/over", numbered(cc("max-age=10, stale-while-revalidate=20"), "Age: 60", `ETag: "a"`))
	w.fetched("/over")
	w.fetched("/over").is(200, "2")
}

func TestSTL_5(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	for _, status := range []int{500, 502, 503, 504} {
		in := w.target(inTurn(ok("old", cc("max-age=10, stale-if-error=600"), "Age: 60", `ETag: "a"`), say(status, "failed")))
		w.fetched(in)
		w.fetched(in).is(200, "old").says("fwd-status=" + strconv.Itoa(status))
		over := w.target(inTurn(ok("old", cc("max-age=10, stale-if-error=20"), "Age: 60", `ETag: "a"`), say(status, "failed")))
		w.fetched(over)
		w.fetched(over).is(status, "failed")
	}
	all := w.afterDeath([]string{cc("max-age=10, stale-if-error=600")}, []string{cc("max-age=10, stale-if-error=20")})
	all[0].is(200, "old")
	dead(t, all[1:])
}

func TestSTL_6(t *testing.T) {
	t.Parallel()
	w := given(t, inTurn(ok("old", staleFrom(`ETag: "a"`)...), say(503, "failed")))
	w.fetched("/p")
	w.fetched("/p").is(200, "old")
	t.Run("0s", func(t *testing.T) {
		w := given(t, inTurn(ok("old", staleFrom(`ETag: "a"`)...), say(503, "failed")), `cache.stale_if_error = "0s"`)
		w.fetched("/p")
		w.fetched("/p").is(503, "failed")
	})
}

// A stale page that is used without asking is a hit with a ttl below 0.
func TestSTL_9(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	w.on("/while", ok("old", cc("max-age=10, stale-while-revalidate=600"), "Age: 60"))
	w.fetched("/while")
	while := w.get("/while").is(200, "old").says("hit")
	failed := w.afterDeath([]string{cc("max-age=10, stale-if-error=600")})[0].is(200, "old")
	for _, g := range []*got{while, failed} {
		g.has("Warning", "").aged(60)
		if !strings.Contains(g.cacheStatus(), "; ttl=-") {
			t.Errorf("Cache-Status is %q, want a ttl below 0", g.cacheStatus())
		}
	}
}

// What the answer says of stale use goes before what s-maxage means, and never
// before must-revalidate, proxy-revalidate or no-cache.
func TestSTL_10(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	w.on("/while", numbered(cc("s-maxage=10, stale-while-revalidate=600"), "Age: 60"))
	w.fetched("/while")
	w.get("/while").is(200, "1").says("hit")
	all := w.afterDeath([]string{cc("s-maxage=10, stale-if-error=600")}, []string{cc("s-maxage=10")},
		[]string{cc("max-age=10, stale-if-error=600, must-revalidate")}, []string{cc("max-age=10, stale-if-error=600, proxy-revalidate")},
		[]string{cc("max-age=10, stale-if-error=600, no-cache")})
	all[0].is(200, "old")
	dead(t, all[1:])
}
