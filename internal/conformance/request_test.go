package conformance

import (
	"testing"
	"time"
)

// Section 12: what a visitor asks for. By default his Cache-Control is not
// honoured.

const honour = `cache.request_directives = "honour"`

func TestREQ_1(t *testing.T) {
	t.Parallel()
	ask := func(w *world) int {
		w.fetched("/p")
		for _, value := range []string{"no-cache", "max-age=0", "no-store", "min-fresh=600"} {
			w.get("/p", cc(value))
		}
		return len(w.requests()) - 1
	}
	page := numbered(cc("max-age=60"))
	if n := ask(given(t, page)); n != 0 {
		t.Errorf("by default %d are honoured", n)
	}
	if n := ask(given(t, page, honour)); n < 3 {
		t.Errorf("%d of 4 are honoured where they shall be", n)
	}
}

func TestREQ_2(t *testing.T) {
	t.Parallel()
	w := given(t, nil, honour)
	aged := func() string {
		target := w.target(numbered(cc("max-age=3600"), "Age: 100"))
		w.fetched(target)
		return target
	}
	w.reused(aged(), cc("max-age=600"))
	w.fetched(aged(), cc("max-age=50"))
	w.fetched(aged(), cc("max-age=0"))
	w.fetched(aged(), cc("MAX-AGE=0"))
	w.reused(aged(), cc("foo, max-age=600"))
}

func TestREQ_3(t *testing.T) {
	t.Parallel()
	w := given(t, numbered(cc("max-age=3600"), "Age: 3000"), honour)
	w.fetched("/p")
	w.reused("/p", cc("min-fresh=300"))
	w.fetched("/p", cc("min-fresh=900"))
}

func TestREQ_4(t *testing.T) {
	t.Parallel()
	w := given(t, nil, honour)
	stale := func(directives string) string {
		target := w.target(numbered(cc("max-age=100, "+directives), `ETag: "a"`, "Age: 200"))
		w.fetched(target)
		return target
	}
	w.reused(stale("public"), cc("max-stale=1000"))
	w.reused(stale("public"), cc("max-stale"))
	w.fetched(stale("public"), cc("max-stale=50"))
	w.fetched(stale("public"))
	for _, barred := range []string{"must-revalidate", "proxy-revalidate", "s-maxage=100", "no-cache"} {
		w.fetched(stale(barred), cc("max-stale=1000"))
	}
}

func TestREQ_5(t *testing.T) {
	t.Parallel()
	modified := date(-time.Hour)
	w := given(t, nil, honour)
	for _, condition := range []string{`If-None-Match: "a"`, "If-Modified-Since: " + modified} {
		fields := []string{cc("max-age=60"), `ETag: "a"`, "Last-Modified: " + modified}
		target := w.target(validating(ok("body", fields...), condition, `ETag: "a"`))
		w.fetched(target)
		w.reused(target)
		w.fetched(target, cc("no-cache")).is(200, "body")
		w.reused(target)
	}
}

func TestREQ_7(t *testing.T) {
	t.Parallel()
	w := given(t, numbered(cc("max-age=60")), honour)
	w.reused("/p", cc("only-if-cached")).is(504, w.get("/p", cc("only-if-cached")).body)
	w.fetched("/p").is(200, "1")
	w.reused("/p", cc("only-if-cached")).is(200, "1")
	w.on("/stale", numbered(cc("max-age=10"), `ETag: "a"`, "Age: 60"))
	w.fetched("/stale")
	if g := w.reused("/stale", cc("only-if-cached")); g.status != 504 {
		t.Errorf("a stale page: %d, want 504", g.status)
	}
}

func TestREQ_9(t *testing.T) {
	t.Parallel()
	w := given(t, numbered(cc("max-age=60")), honour)
	w.fetched("/p")
	w.reused("/p", "Pragma: foo")
	w.reused("/p", "Pragma: no-cache", cc("foo"))
	w.fetched("/p", "Pragma: no-cache")
	w.keeps(cc("max-age=60"), "Pragma: no-cache").has("Pragma", "no-cache")
	t.Run("default", func(t *testing.T) {
		w := given(t, numbered(cc("max-age=60")))
		w.fetched("/p")
		w.reused("/p", "Pragma: no-cache")
	})
}

func TestREQ_10(t *testing.T) {
	t.Parallel()
	w := given(t, numbered(cc("max-age=60")), honour)
	w.fetched("/p", cc("nothing-to-see-here, foo=\"no-cache\""))
	if got := w.last().Header.Get("Cache-Control"); got != "nothing-to-see-here, foo=\"no-cache\"" {
		t.Errorf("the app got %q", got)
	}
	w.reused("/p", cc("nothing-to-see-here, foo=\"no-cache\""))
}

func TestREQ_11(t *testing.T) {
	t.Parallel()
	w := given(t, ok("text", cc("max-age=60"), "Content-Type: text/plain"), honour)
	for range 2 {
		w.get("/p", cc("no-transform"), "Accept-Encoding: gzip, br, zstd").is(200, "text").has("Content-Encoding", "")
	}
}
