package conformance

import (
	"strings"
	"testing"
	"time"
)

// Section 15: what a 304 changes.

// merged validates a stale page with those stored fields by a 304 with these,
// and gives the answer and the next hit.
func (w *world) merged(stored, with []string) (first, hit *got) {
	w.t.Helper()
	target := w.target(validating(ok("body", staleFrom(append([]string{`ETag: "a"`}, stored...)...)...), inm(`"a"`), append(with, "Age: 0", cc("max-age=3600"))...))
	w.fetched(target)
	return w.fetched(target).is(200, "body"), w.reused(target).is(200, "body")
}

// A 304 whose strong tag is not that of the page updates nothing.
func TestMRG_1(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	w.merged(nil, []string{`ETag: "a"`})
	w.merged(nil, []string{`ETag: W/"a"`})
	w.merged(nil, nil)
	other := w.target(func(q *asked) string {
		if q.n == 2 {
			return message(304, "", append(fresh, `ETag: "other"`, "X-New: 1")...)
		}
		return message(200, "body"+string(rune('0'+q.n)), staleFrom(`ETag: "a"`)...)
	})
	w.fetched(other)
	w.get(other)
	if g := w.get(other); g.header.Get("X-New") != "" || g.body == "body1" && strings.Contains(g.cacheStatus(), "hit") {
		t.Errorf("a 304 with another tag has made the page fresh: %q\n%s", g.body, g.head)
	}
}

func TestMRG_2(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	first, hit := w.merged(
		[]string{"X-Old: 1", "X-Both: 1", "X-Both: 2", "Content-Language: de", "Server: 1"},
		[]string{"X-Both: 3", "X-New: 4", "X-New: 5", "Server: 2", `ETag: "a"`})
	for _, g := range []*got{first, hit} {
		g.has("X-Old", "1").has("X-Both", "3").has("X-New", "4", "5").has("Server", "2").has("Content-Language", "de").has("ETag", `"a"`)
	}
}

func TestMRG_3(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	first, hit := w.merged(nil, []string{"Content-Length: 99", "Connection: X-Hop, close", "X-Hop: 1", "Keep-Alive: 5", "Proxy-Authenticate: Basic"})
	for _, g := range []*got{first, hit} {
		g.has("Content-Length", "4").has("X-Hop", "").has("Keep-Alive", "").has("Proxy-Authenticate", "")
	}
}

func TestMRG_5(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	target := w.target(validating(ok("body", `ETag: "a"`, cc("max-age=10"), "Age: 60"), inm(`"a"`), cc("max-age=600"), "Age: 0", "X-New: 1"))
	w.fetched(target)
	w.fetched(target).has("Cache-Control", "max-age=600").has("X-New", "1")
	w.reused(target).has("Cache-Control", "max-age=600").has("X-New", "1")
	again := w.target(validating(ok("body", `ETag: "a"`, cc("max-age=10"), "Age: 60"), inm(`"a"`), cc("max-age=5"), "Age: 20"))
	w.fetched(again)
	w.fetched(again).is(200, "body")
	w.fetched(again).is(200, "body")
}

func TestMRG_6(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	for _, value := range []string{"no-store", "private", "no-cache", "no-store, max-age=3600"} {
		target := w.target(validating(ok("body", staleFrom(`ETag: "a"`)...), inm(`"a"`), cc(value), "Age: 0"))
		w.fetched(target)
		w.fetched(target).is(200, "body")
		w.fetched(target).is(200, "body")
	}
}

func TestMRG_7(t *testing.T) {
	t.Parallel()
	w := given(t, validating(ok("body", staleFrom(`ETag: "a"`, "Vary: Foo")...), inm(`"a"`), append(fresh, `ETag: "a"`, "Vary: Bar")...))
	w.fetched("/p", "Foo: 1", "Bar: 1")
	w.fetched("/p", "Foo: 1", "Bar: 1").is(200, "body").has("Vary", "Bar")
	w.reused("/p", "Foo: 2", "Bar: 1").is(200, "body").has("Vary", "Bar")
	w.fetched("/p", "Foo: 1", "Bar: 2")
}

func TestMRG_9(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	target := w.target(validating(ok("body", `ETag: "a"`, cc("max-age=100"), "Age: 500"), inm(`"a"`), "Age: 0"))
	w.fetched(target)
	w.fetched(target)
	w.reused(target).aged(0)
	made := date(-30 * time.Second)
	dated := w.target(validating(ok("body", `ETag: "a"`, cc("max-age=100"), "Age: 500"), inm(`"a"`), "Date: "+made))
	w.fetched(dated)
	w.fetched(dated)
	g := w.reused(dated).has("Date", made)
	g.aged(30)
}
