package conformance

import (
	"testing"
	"time"
)

// Section 5: targeted fields (RFC 9213). By default the edge reads
// SSIEdge-Cache-Control, then CDN-Cache-Control.

func cdn(value string) string { return "CDN-Cache-Control: " + value }

func TestTCC_1(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	w.keeps("SSIEdge-Cache-Control: max-age=60", cdn("no-store"))
	w.asksAgain("SSIEdge-Cache-Control: no-store", cdn("max-age=60"))
	w.keeps("SSIEdge-Cache-Control: &", cdn("max-age=60")) // no valid one: the next decides
	w.keeps("SSIEdge-Cache-Control: ", cdn("max-age=60"))
	t.Run("setting", func(t *testing.T) {
		w := given(t, nil, `cache.targets = ["My-Cache-Control"]`)
		w.keeps("My-Cache-Control: max-age=60", cdn("no-store"))
		w.asksAgain(cdn("max-age=60"))
	})
}

func TestTCC_2(t *testing.T) {
	t.Parallel()
	w := given(t, nil, "cache.heuristic = true")
	w.keeps(cdn("max-age=60"), cc("no-store"))
	w.keeps(cdn("max-age=60"), cc("private, no-cache"), "Pragma: no-cache", "Expires: 0")
	w.asksAgain(cdn("no-store"), cc("max-age=60"))
	w.asksAgain(cdn("max-age=0"), cc("max-age=60"), "Expires: "+date(time.Hour))
	w.asksAgain(cdn("must-revalidate"), "Expires: "+date(time.Hour))
}

func TestTCC_3(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	for _, broken := range []string{"max-age=60, &", "Max-Age=60", "max-age =60", "max-age= 60", "max-age=60,", "max-age=60 no-store", `a="b, max-age=60`, "max-age=60;", "max-age=1.2.3"} {
		w.asksAgain(cdn(broken), cc("max-age=0"))
		w.keeps(cdn(broken), cc("max-age=60"))
	}
	w.keeps(cdn("max-age=0, max-age=60"))
	w.asksAgain(cdn("max-age=60, max-age=0"))
	w.keeps(cdn("max-age=60;foo=bar;baz"))
	w.keeps(cdn("foo=(a b);c"), cdn("max-age=60"))
	w.asksAgain(cdn("max-age=60"), cdn("no-store"))
}

func TestTCC_4(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	for _, wrong := range []string{`max-age="60"`, "max-age=1.5", "max-age", "max-age=?1", "max-age=(60)", "max-age=a"} {
		w.asksAgain(cdn(wrong), cc("no-store"))
		w.keeps(cdn(wrong), cc("max-age=60"))
	}
}

func TestTCC_5(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	w.asksAgain(cdn("max-age=60, no-store"))
	w.asksAgain(cdn("max-age=60, no-store=?1"))
	w.keeps(cdn("max-age=60, no-store=?0"))
	w.keeps(cdn("private=?0, max-age=60, no-cache=?0"))
}

func TestTCC_6(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	w.keeps(cdn("max-age=60"))
	w.keeps(cdn("s-maxage=60, max-age=0"))
	w.asksAgain(cdn("max-age=60, private"))
	w.asksAgain(cdn("max-age=60, no-cache"))
	w.on("/while", numbered(cdn("max-age=10, stale-while-revalidate=600"), "Age: 60"))
	w.fetched("/while")
	w.get("/while").is(200, "1").says("hit")
	all := w.afterDeath([]string{cdn("max-age=10, stale-if-error=600"), cc("must-revalidate")}, []string{cdn("max-age=10, must-revalidate"), cc("max-age=600")})
	all[0].is(200, "old")
	dead(t, all[1:])
}

func TestTCC_7(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	w.keeps(cdn(""), cc("max-age=60"))
	w.asksAgain(cdn(""), cc("no-store"))
	w.asksAgain(cdn("foo"), cc("max-age=60"))
	w.asksAgain(cdn("foo=1"), "Expires: "+date(time.Hour))
}

func TestTCC_8(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	w.keeps("Other-Cache-Control: no-store", cc("max-age=60")).has("Other-Cache-Control", "no-store")
	w.asksAgain("Other-Cache-Control: max-age=60").has("Other-Cache-Control", "max-age=60")
	w.asksAgain("Surrogate-Cache-Control: max-age=60", cc("no-store"))
}

// DESIGN.md: CDN-Cache-Control goes on to the visitor, SSIEdge-Cache-Control is
// taken off.
func TestTCC_9(t *testing.T) {
	t.Parallel()
	made, expires := date(-30*time.Second), date(-10*time.Second)
	w := given(t, nil)
	g := w.keeps(cdn("max-age=600"), "SSIEdge-Cache-Control: max-age=600", cc("max-age=1"), "Date: "+made, "Expires: "+expires, "Age: 30")
	g.has("CDN-Cache-Control", "max-age=600").has("SSIEdge-Cache-Control", "").has("Cache-Control", "max-age=1")
	g.has("Date", made).has("Expires", expires)
	g.aged(30)
}

func TestTCC_10(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	w.keeps(cdn("max-age=600"), "Age: 60")
	w.asksAgain(cdn("max-age=60"), "Age: 60")
}

// A 304 brings new fields, and the choice is made again.
func TestTCC_11(t *testing.T) {
	t.Parallel()
	w := given(t, validating(ok("body", `ETag: "a"`, cdn("max-age=10"), "Age: 60"), `If-None-Match: "a"`, `ETag: "a"`, cdn("max-age=600"), cc("no-store"), "Age: 0"))
	w.fetched("/p")
	w.fetched("/p").is(200, "body")
	w.reused("/p").is(200, "body").has("CDN-Cache-Control", "max-age=600")
}
