package conformance

import (
	"bytes"
	"compress/gzip"
	"testing"
	"time"
)

// Section 4: what the directives of answers do.

func TestDIR_1(t *testing.T) {
	t.Parallel()
	w := given(t, nil, "cache.heuristic = true")
	for _, value := range []string{"no-store", "no-store, max-age=60", "max-age=60, no-store", "public, s-maxage=60, no-store", "no-store=x, max-age=60"} {
		w.asksAgain(cc(value), `ETag: "a"`, "Last-Modified: "+date(-1000*time.Hour)).is(200, "2")
	}
	if tag := w.last().Header.Get("If-None-Match"); tag != "" {
		t.Errorf("what was not to be stored is validated: %q", tag)
	}
}

func TestDIR_2(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	w.asksAgain(cc("private, max-age=60"))
	w.asksAgain(cc("max-age=60, private"), "Expires: "+date(time.Hour))
}

// It is stored without the fields, or not at all.
func TestDIR_3(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	for _, value := range []string{`private="X-Own"`, `private="x-own, X-Other"`, "private=X-Own"} {
		w.withheld(value)
	}
}

// withheld fails the test if a field that a directive lists comes from the store
// unasked.
func (w *world) withheld(directive string) {
	w.t.Helper()
	target := w.target(numbered(cc("max-age=60, "+directive), "X-Own: ana", "X-All: 1"))
	w.fetched(target).has("X-Own", "ana").has("X-All", "1")
	before := len(w.requests())
	g := w.get(target).has("X-All", "1")
	if len(w.requests()) == before && g.header.Get("X-Own") != "" {
		w.t.Errorf("%s: the field came from the store", directive)
	}
}

func TestDIR_4(t *testing.T) {
	t.Parallel()
	w := given(t, nil, `cache.stale_while_revalidate = "1h"`)
	for _, value := range []string{"no-cache", "no-cache, max-age=60", "max-age=60, stale-while-revalidate=60, no-cache", "no-cache, s-maxage=60"} {
		w.asksAgain(cc(value), "Expires: "+date(time.Hour)).is(200, "2")
		target := w.target(validating(ok("body", cc(value), `ETag: "a"`), `If-None-Match: "a"`))
		w.fetched(target).is(200, "body")
		w.fetched(target).is(200, "body")
		w.fetched(target).is(200, "body")
	}
	dead(t, w.afterDeath([]string{cc("no-cache, max-age=600, stale-if-error=600")}, []string{cc("max-age=600, no-cache")}))
}

func TestDIR_5(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	for _, value := range []string{`no-cache="x-own"`, `no-cache="X-OWN"`, `no-cache="X-Other, X-Own"`, "no-cache=X-Own"} {
		w.withheld(value)
	}
}

func TestDIR_6(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	w.keeps(cc("must-revalidate, max-age=60"))
	w.asksAgain(cc("must-revalidate, max-age=10"), "Age: 60")
	dead(t, w.afterDeath([]string{cc("max-age=10, must-revalidate")}, []string{cc("max-age=10, must-revalidate, stale-if-error=600, stale-while-revalidate=600")}))
}

func TestDIR_7(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	w.keeps(cc("proxy-revalidate, max-age=60"))
	dead(t, w.afterDeath([]string{cc("max-age=10, proxy-revalidate")}, []string{cc("max-age=10, proxy-revalidate, stale-if-error=600")}))
}

func TestDIR_8(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	w.keeps(cc("s-maxage=60, max-age=0"), "Expires: 0")
	w.keeps(cc("max-age=0, s-maxage=60"))
	w.keeps(cc("max-age=0"), cc("s-maxage=60"))
	w.asksAgain(cc("s-maxage=0, max-age=60"))
	w.asksAgain(cc("max-age=60, s-maxage=10"), "Age: 30", "Expires: "+date(time.Hour))
	dead(t, w.afterDeath([]string{cc("s-maxage=10")}, []string{cc("s-maxage=10, max-age=3600")}))
}

func TestDIR_9(t *testing.T) {
	t.Parallel()
	w := given(t, nil, "cache.heuristic = true")
	old := "Last-Modified: " + date(-1000*time.Hour)
	w.keepsIt(say(599, "x", cc("public"), old), 599)
	w.asksAgainAfter(say(599, "x", old), 599)
	w.on("/p", numbered(cc("public, max-age=60")))
	w.fetched("/p", "Authorization: Basic YTpi")
	w.reused("/p").is(200, "1")
}

// A coding that was not asked for stays where the answer says no-transform.
func TestDIR_10(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte("text"))
	z.Close()
	fields := []string{cc("max-age=60, no-transform"), "Content-Encoding: gzip", "Content-Type: text/plain"}
	w := given(t, ok(b.String(), fields...))
	for range 2 {
		w.get("/p", "Accept-Encoding: gzip").is(200, b.String()).has("Content-Encoding", "gzip").has("Content-Type", "text/plain")
	}
	w.on("/plain", ok("text", cc("max-age=60, no-transform"), "Content-Type: text/plain"))
	for range 2 {
		w.get("/plain", "Accept-Encoding: gzip, br, zstd").is(200, "text").has("Content-Encoding", "")
	}
}

func TestDIR_12(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	w.on("/while", inTurn(ok("1", cc("max-age=10, stale-while-revalidate=600"), "Age: 60"), ok("2", cc("max-age=60"))))
	w.fetched("/while").is(200, "1")
	w.get("/while").is(200, "1").says("hit")
	all := w.afterDeath([]string{cc("max-age=10, stale-if-error=600")}, []string{cc("max-age=10, stale-if-error=20")})
	all[0].is(200, "old")
	dead(t, all[1:])
}
