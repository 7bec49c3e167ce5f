package conformance

import (
	"strings"
	"testing"
	"time"
)

// Section 17: ranges. The edge cuts parts out of pages that it has whole, and
// keeps no parts.

func rng(spec string) string { return "Range: bytes=" + spec }

func TestRNG_1(t *testing.T) {
	t.Parallel()
	w := given(t, tagged(`"a"`))
	w.fetched("/p")
	w.do("HEAD", "/p", rng("0-1")).is(200, "").has("Content-Length", "4")
	w.post("POST", "/q", "x", rng("0-1")).is(200, "body")
	for _, unit := range []string{"Range: chars=0-1", "Range: 0-1", "Range: bytes 0-1"} {
		w.reused("/p", unit).is(200, "body")
	}
}

func TestRNG_2(t *testing.T) {
	t.Parallel()
	w := given(t, ok("0123456789", cc("max-age=60")))
	w.fetched("/p")
	for _, test := range []struct{ spec, body, of string }{
		{"0-3", "0123", "0-3"}, {"5-", "56789", "5-9"}, {"-3", "789", "7-9"}, {"9-9", "9", "9-9"},
		{"7-99", "789", "7-9"}, {"-99", "0123456789", "0-9"}, {"0-0", "0", "0-0"}, {"2-99999999999999999999", "23456789", "2-9"},
	} {
		g := w.reused("/p", rng(test.spec)).is(206, test.body)
		g.has("Content-Range", "bytes "+test.of+"/10").says("hit")
	}
}

func TestRNG_3(t *testing.T) {
	t.Parallel()
	made, expires := date(-50*time.Second), date(time.Hour)
	w := given(t, tagged(`"a"`, "Date: "+made, "Expires: "+expires, "Content-Location: /cl", "Vary: Foo", "Content-Type: text/plain", "X-Own: 1", "Content-Language: de"))
	w.fetched("/p")
	for _, fields := range [][]string{{rng("0-1")}, {rng("0-1"), `If-Range: "a"`}} {
		g := w.reused("/p", fields...).is(206, "bo").has("Content-Length", "2")
		g.has("Date", made).has("Expires", expires).has("Cache-Control", "max-age=3600").has("ETag", `"a"`).has("Content-Location", "/cl").has("Vary", "Foo")
		g.aged(50)
		if len(fields) == 1 {
			g.has("Content-Type", "text/plain").has("X-Own", "1").has("Content-Language", "de").has("Last-Modified", longAgo)
		}
	}
}

func TestRNG_4(t *testing.T) {
	t.Parallel()
	w := given(t, tagged(`"a"`))
	w.fetched("/p")
	for _, spec := range []string{"4-", "99-100", "-0", "4-9, 20-"} {
		w.reused("/p", rng(spec)).has("Content-Range", "bytes */4")
		if g := w.reused("/p", rng(spec)); g.status != 416 {
			t.Errorf("%s: %d, want 416", spec, g.status)
		}
	}
}

func TestRNG_7(t *testing.T) {
	t.Parallel()
	w := given(t, ok("0123456789", cc("max-age=60"), "Content-Type: text/plain"))
	w.fetched("/p")
	w.reused("/p", rng("1-2")).is(206, "12").has("Content-Type", "text/plain")
	w.reused("/p", rng("1-2,")).is(206, "12").has("Content-Type", "text/plain")
	w.reused("/p", rng("1-2, 99-")).is(206, "12").has("Content-Type", "text/plain")
	w.reused("/p", rng("1-4, 3-6")).is(206, "123456").has("Content-Type", "text/plain")
	if g := w.reused("/p", rng("1-2, 5-6")); g.status != 206 || !strings.HasPrefix(g.header.Get("Content-Type"), "multipart/byteranges; boundary=") {
		t.Errorf("two ranges: %d %s", g.status, g.header.Get("Content-Type"))
	}
}

func TestRNG_8(t *testing.T) {
	t.Parallel()
	w := given(t, tagged(`"a"`))
	w.on("/weak", tagged(`W/"a"`))
	w.fetched("/p")
	w.fetched("/weak")
	part, whole := 206, 200
	for _, test := range []struct {
		target, value string
		status        int
	}{
		{"/p", `"a"`, part}, {"/p", `"b"`, whole}, {"/p", `W/"a"`, whole}, {"/p", "a", whole}, {"/p", `"a", "b"`, whole}, {"/p", "*", whole},
		{"/weak", `W/"a"`, whole}, {"/weak", `"a"`, whole},
		{"/p", longAgo, part}, {"/p", "Mon, 01 Jan 2024 00:00:01 GMT", whole}, {"/p", "Sun, 31 Dec 2023 23:59:59 GMT", whole},
	} {
		if g := w.reused(test.target, rng("0-1"), "If-Range: "+test.value); g.status != test.status {
			t.Errorf("%s If-Range: %s: %d, want %d", test.target, test.value, g.status, test.status)
		}
	}
	w.reused("/p", `If-Range: "b"`).is(200, "body")
}

func TestRNG_9(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	for _, status := range []int{404, 301, 203, 500} {
		target := w.target(say(status, "0123456789", cc("max-age=60"), "Location: /x"))
		w.fetched(target)
		w.reused(target, rng("0-1")).is(status, "0123456789")
	}
}

// kept206 is an app that gives parts to who asks for them.
func kept206(q *asked) string {
	if r := q.Header.Get("Range"); r == "bytes=0-3" {
		return message(206, "0123", cc("max-age=60"), `ETag: "a"`, "Content-Range: bytes 0-3/10")
	} else if r != "" {
		return message(206, "456789", cc("max-age=60"), `ETag: "a"`, "Content-Range: bytes 4-9/10")
	}
	return message(200, "0123456789", cc("no-store"))
}

// parts gives a key that is known as not keepable, so that ranges go to the app
// and its parts come back.
func parts(t *testing.T) *world {
	w := given(t, kept206)
	w.fetched("/p")
	w.fetched("/p", rng("0-3")).is(206, "0123").has("Content-Range", "bytes 0-3/10")
	return w
}

// A part answers nobody else: neither for the whole nor for a range of it.
func TestRNG_11(t *testing.T) {
	t.Parallel()
	w := parts(t)
	w.fetched("/p").is(200, "0123456789")
	w.fetched("/p", rng("0-3")).is(206, "0123")
}

func TestRNG_12(t *testing.T) {
	t.Parallel()
	w := parts(t)
	w.fetched("/p", rng("4-9")).is(206, "456789")
	w.fetched("/p", rng("0-9"))
	w.fetched("/p").is(200, "0123456789")
}

func TestRNG_13(t *testing.T) {
	t.Parallel()
	w := parts(t)
	w.fetched("/p", rng("4-9")).has("Content-Range", "bytes 4-9/10").has("Content-Length", "6")
}

// DESIGN.md keeps no 206: a gap is not filled, the request goes on as it is.
func TestRNG_14(t *testing.T) {
	t.Parallel()
	w := parts(t)
	w.fetched("/p", rng("4-9")).is(206, "456789")
	w.asks(rng("4-9"), "If-Range:")
}

// The whole page is asked for, and cut; one over max_keep is passed on, and from
// then on ranges of it go to the app.
func TestRNG_15(t *testing.T) {
	t.Parallel()
	w := given(t, ok("0123456789", cc("max-age=60")), `limits.max_keep = "1KiB"`)
	w.fetched("/p", rng("2-4")).is(206, "234")
	w.asks("Range:")
	w.reused("/p", rng("5-")).is(206, "56789")
	w.reused("/p").is(200, "0123456789")
	w.on("/large", func(q *asked) string {
		if q.Header.Get("Range") == "bytes=2-4" {
			return message(206, "xxx", "Content-Range: bytes 2-4/2000")
		}
		return message(200, strings.Repeat("x", 2000), cc("max-age=60"))
	})
	w.fetched("/large", rng("2-4"))
	w.fetched("/large", rng("2-4")).is(206, "xxx").has("Content-Range", "bytes 2-4/2000")
}

func TestRNG_16(t *testing.T) {
	t.Parallel()
	w := given(t, inTurn(raw("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nETag: \"a\"\r\nContent-Length: 10\r\n\r\n01234"), ok("whole", cc("max-age=60"))))
	if g := w.get("/p"); g.status == 200 && g.err == nil {
		t.Errorf("half an answer was given as a whole one: %q", g.body)
	}
	w.fetched("/p", rng("0-2")).is(206, "who")
}

func TestRNG_17(t *testing.T) {
	t.Parallel()
	w := given(t, tagged(`"a"`))
	w.fetched("/p")
	w.reused("/p", rng("0-1"), inm(`"a"`)).is(304, "").has("Content-Range", "")
	w.reused("/p", rng("0-1"), ims(longAgo)).is(304, "").has("Content-Range", "")
}
