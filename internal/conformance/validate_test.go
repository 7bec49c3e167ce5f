package conformance

import (
	"strings"
	"testing"
)

// Section 14: validation.

func cut(line string) (name, value string) {
	name, value, _ = strings.Cut(line, ": ")
	return name, value
}

// staleFrom is fields of an answer that is stale when it comes.
func staleFrom(fields ...string) []string {
	return append([]string{cc("max-age=10"), "Age: 60"}, fields...)
}

// fresh is fields of a 304 that makes a page fresh.
var fresh = []string{cc("max-age=3600"), "Age: 0"}

// asks fails the test unless the latest request to the app has those fields,
// "Name: value"; without a value: not at all.
func (w *world) asks(fields ...string) {
	w.t.Helper()
	q := w.last()
	for _, f := range fields {
		name, value := cut(f)
		if got := strings.Join(q.Header.Values(strings.TrimSuffix(name, ":")), "|"); got != value {
			w.t.Errorf("the app was asked with %s: %q, want %q", name, got, value)
		}
	}
}

func TestVAL_1(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	for _, tag := range []string{`"a"`, `W/"a"`, "\"\xe9,'\"", "unquoted", `w/"a"`} {
		target := w.target(validating(ok("body", staleFrom("ETag: "+tag)...), inm(tag), append(fresh, "ETag: "+tag)...))
		w.fetched(target)
		w.fetched(target).is(200, "body")
		w.asks(inm(tag))
		w.reused(target).is(200, "body")
	}
}

func TestVAL_2(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	for _, modified := range []string{longAgo, "Monday, 01-Jan-24 00:00:00 GMT", "Mon Jan  1 00:00:00 2024"} {
		target := w.target(validating(ok("body", staleFrom("Last-Modified: "+modified)...), ims(modified), fresh...))
		w.fetched(target)
		w.fetched(target).is(200, "body")
		w.asks(ims(modified), "If-None-Match:")
		w.reused(target)
	}
	w.on("/both", validating(ok("body", staleFrom(`ETag: "a"`, "Last-Modified: "+longAgo)...), inm(`"a"`), fresh...))
	w.fetched("/both")
	w.fetched("/both").is(200, "body")
	w.asks(inm(`"a"`), ims(longAgo))
}

func TestVAL_3(t *testing.T) {
	t.Parallel()
	w := given(t, validating(ok("body", staleFrom(`ETag: "a"`, "Vary: Foo")...), inm(`"a"`), append(fresh, `ETag: "a"`, "Vary: Foo")...))
	w.fetched("/p", "Foo: 1", "Bar: 1")
	w.fetched("/p", "Foo: 1", "Bar: 2").is(200, "body")
	w.asks("Foo: 1", inm(`"a"`))
	w.reused("/p", "Foo: 1").is(200, "body")
	t.Run("in the background", func(t *testing.T) {
		w := given(t, validating(ok("body", cc("max-age=10, stale-while-revalidate=600"), "Age: 60", `ETag: "a"`, "Vary: Foo"), inm(`"a"`), append(fresh, `ETag: "a"`)...))
		w.fetched("/p", "Foo: 1")
		w.get("/p", "Foo: 1").is(200, "body").says("hit")
		w.eventually("the validation", func() bool { return len(w.requests()) == 2 })
		w.asks("Foo: 1", inm(`"a"`))
	})
}

func TestVAL_4(t *testing.T) {
	t.Parallel()
	w := given(t, validating(ok("body", staleFrom(`ETag: "a"`)...), inm(`"a"`), append(fresh, `ETag: "a"`)...))
	for _, fields := range [][]string{{inm(`"b"`)}, {ims(date(0))}, {"Range: bytes=0-1"}, {"Range: bytes=0-1", `If-Range: "a"`}, {inm(`"b"`), ims(longAgo), "Range: bytes=1-2"}} {
		w.count++
		target := "/p?" + strings.Repeat("x", w.count)
		w.fetched(target)
		w.fetched(target, fields...)
		q := w.last()
		if tags := q.Header.Get("If-None-Match"); !strings.Contains(tags, `"a"`) || q.Header.Get("Range")+q.Header.Get("If-Range") != "" || q.Header.Get("If-Modified-Since") == date(0) {
			t.Errorf("%q: validated with %v", fields, q.Header)
		}
	}
}

// A 304 that is about a page which the visitor does not have gives him that page.
func TestVAL_5(t *testing.T) {
	t.Parallel()
	w := given(t, func(q *asked) string {
		if strings.Contains(q.Header.Get("If-None-Match"), `"a"`) {
			return message(304, "", append(fresh, `ETag: "a"`)...)
		}
		return message(200, "body", staleFrom(`ETag: "a"`)...)
	})
	w.fetched("/p")
	w.fetched("/p", inm(`"b"`)).is(200, "body")
	w.reused("/p", inm(`"b"`)).is(200, "body")
}

func TestVAL_6(t *testing.T) {
	t.Parallel()
	modified := "Last-Modified: " + longAgo
	w := given(t, nil)
	for _, test := range []struct {
		fields []string
		status int
		body   string
	}{{nil, 200, "body"}, {[]string{inm(`"a"`)}, 304, ""}, {[]string{ims(longAgo)}, 304, ""}, {[]string{inm(`"b"`)}, 200, "body"}} {
		target := w.target(validating(ok("body", staleFrom(`ETag: "a"`, modified)...), inm(`"a"`), append(fresh, `ETag: "a"`)...))
		w.fetched(target)
		w.fetched(target, test.fields...).is(test.status, test.body)
		w.reused(target).is(200, "body")
	}
	gone := w.target(validating(say(404, "gone", staleFrom(`ETag: "a"`)...), inm(`"a"`), append(fresh, `ETag: "a"`)...))
	w.fetched(gone).is(404, "gone")
	w.fetched(gone).is(404, "gone")
}

func TestVAL_7(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	stale := ok("old", staleFrom(`ETag: "a"`)...)
	next := w.target(inTurn(stale, ok("new", `ETag: "b"`, cc("max-age=60"))))
	w.fetched(next)
	w.fetched(next).is(200, "new")
	w.reused(next).is(200, "new")
	gone := w.target(inTurn(stale, say(404, "gone", cc("max-age=60"))))
	w.fetched(gone)
	w.fetched(gone).is(404, "gone")
	w.reused(gone).is(404, "gone")
	for _, not := range []string{"no-store", "private"} {
		target := w.target(inTurn(stale, ok("own", cc(not)), ok("third", cc("max-age=60"))))
		w.fetched(target)
		w.fetched(target).is(200, "own")
		w.fetched(target).is(200, "third")
	}
}

// The edge keeps no parts, so none lends its tag.
func TestVAL_10(t *testing.T) {
	t.Parallel()
	w := given(t, func(q *asked) string {
		if q.Header.Get("Range") != "" {
			return message(206, "bo", `ETag: "part"`, cc("max-age=60"), "Content-Range: bytes 0-1/4")
		}
		return message(200, "body", cc("no-store"))
	})
	w.fetched("/p") // from here on ranges go to the app
	w.fetched("/p", "Range: bytes=0-1").is(206, "bo")
	w.fetched("/p").is(200, "body")
	w.asks("If-None-Match:", "If-Modified-Since:")
}
