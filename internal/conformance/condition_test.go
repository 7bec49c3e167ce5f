package conformance

import (
	"testing"
	"time"
)

// Section 13: conditions of visitors.

const longAgo = "Mon, 01 Jan 2024 00:00:00 GMT"

// tagged is a page that is kept, with a tag and a Last-Modified.
func tagged(tag string, fields ...string) script {
	return ok("body", append([]string{"ETag: " + tag, "Last-Modified: " + longAgo, cc("max-age=3600")}, fields...)...)
}

func inm(value string) string { return "If-None-Match: " + value }

func ims(value string) string { return "If-Modified-Since: " + value }

func TestCON_1(t *testing.T) {
	t.Parallel()
	w := given(t, tagged(`"a"`))
	w.fetched("/p")
	w.reused("/p", inm(`"a"`), ims("Mon, 01 Jan 2001 00:00:00 GMT")).is(304, "")
	w.reused("/p", inm(`"b"`), ims(date(0))).is(200, "body")
	w.reused("/p", inm(`"b"`), ims(longAgo)).is(200, "body")
	w.reused("/p", inm(`"a"`), ims("nonsense")).is(304, "")
}

func TestCON_2(t *testing.T) {
	t.Parallel()
	w := given(t, tagged(`"a"`))
	w.on("/weak", tagged(`W/"a"`))
	for _, target := range []string{"/p", "/weak"} {
		w.fetched(target)
		for _, value := range []string{`"a"`, `W/"a"`, `"x", "a"`, `"x",W/"a"  ,"y"`, "*"} {
			w.reused(target, inm(value)).is(304, "")
		}
		w.reused(target, inm(`"x"`), inm(`"a"`)).is(304, "")
		for _, value := range []string{`"b"`, `"A"`, `"x", "y"`, `"a "`} {
			w.reused(target, inm(value)).is(200, "body")
		}
	}
}

func TestCON_3(t *testing.T) {
	t.Parallel()
	w := given(t, tagged(`"a"`))
	w.fetched("/p")
	w.reused("/p", inm(`"a"`)).is(304, "").says("hit")
	before := len(w.requests())
	w.do("HEAD", "/p", inm(`"a"`)).is(304, "")
	w.do("HEAD", "/p", inm(`"b"`)).is(200, "")
	if len(w.requests()) != before {
		t.Error("the app was asked for a HEAD")
	}
}

func TestCON_4(t *testing.T) {
	t.Parallel()
	made := date(-50 * time.Second)
	w := given(t, tagged(`"a"`, "Date: "+made, "Content-Location: /cl", "Expires: "+made, "Vary: Foo", "X-More: 1"))
	w.fetched("/p")
	g := w.reused("/p", inm(`"a"`)).is(304, "")
	g.has("ETag", `"a"`).has("Cache-Control", "max-age=3600").has("Content-Location", "/cl").has("Date", made).has("Expires", made).has("Vary", "Foo")
	g.aged(50)
	if cl := g.header.Get("Content-Length"); cl != "" && cl != "4" {
		t.Errorf("Content-Length is %q", cl)
	}
}

func TestCON_5(t *testing.T) {
	t.Parallel()
	w := given(t, tagged(`"a"`))
	w.fetched("/p")
	w.reused("/p", inm(`"b"`)).is(200, "body").says("hit")
	w.reused("/p", ims("Sun, 31 Dec 2023 23:59:59 GMT")).is(200, "body").says("hit")
}

func TestCON_6(t *testing.T) {
	t.Parallel()
	w := given(t, tagged(`"a"`))
	w.fetched("/p")
	w.reused("/p", ims(longAgo)).is(304, "")
	w.reused("/p", ims("Mon, 01 Jan 2024 00:00:01 GMT")).is(304, "")
	w.reused("/p", ims("Monday, 01-Jan-24 00:00:00 GMT")).is(304, "")
	w.reused("/p", ims("Sun, 31 Dec 2023 23:59:59 GMT")).is(200, "body")
	w.reused("/p", ims("nonsense")).is(200, "body")
	w.reused("/p", ims(longAgo), ims(longAgo)).is(200, "body")
	w.post("POST", "/p", "x", ims(longAgo)).is(200, "body")
}

// Without Last-Modified the Date stands in. The list asks no more than that a
// later Date gives the whole answer; an earlier one may do so, too.
func TestCON_7(t *testing.T) {
	t.Parallel()
	w := given(t, ok("body", cc("max-age=3600")))
	w.fetched("/p")
	w.reused("/p", ims(date(-time.Hour))).is(200, "body")
	if g := w.reused("/p", ims(date(time.Hour))); g.status != 200 && g.status != 304 {
		t.Errorf("status %d", g.status)
	}
}

func TestCON_8(t *testing.T) {
	t.Parallel()
	w := given(t, tagged(`"a"`))
	w.fetched("/p")
	for _, field := range []string{`If-Match: "b"`, "If-Unmodified-Since: " + longAgo} {
		w.fetched("/p", field).is(200, "body")
		name, value := cut(field)
		if got := w.last().Header.Get(name); got != value {
			t.Errorf("the app got %s: %q", name, got)
		}
	}
	w.reused("/p")
}

func TestCON_9(t *testing.T) {
	t.Parallel()
	w := given(t, ok("body", `ETag: "a"`, cc("no-store")))
	w.on("/post", tagged(`"a"`))
	w.fetched("/post")
	w.post("POST", "/post", "x", inm(`"a"`)).is(200, "body")
	if got := w.last().Header.Get("If-None-Match"); got != `"a"` {
		t.Errorf("the app got If-None-Match: %q", got)
	}
	w.do("OPTIONS", "/p", inm(`"a"`), ims(date(0))).is(200, "body")
}

func TestCON_10(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	for _, status := range []int{404, 301, 410, 500} {
		target := w.target(say(status, "body", `ETag: "a"`, "Last-Modified: "+longAgo, cc("max-age=3600"), "Location: /x"))
		w.fetched(target)
		w.reused(target, inm(`"a"`)).is(status, "body")
		w.reused(target, ims(date(0))).is(status, "body")
		w.reused(target, inm("*")).is(status, "body")
	}
}

// The fill asks for all of it, and the condition is judged here. Where the key
// is known as not keepable it goes on to the app, and its 304 fills nothing.
func TestCON_11(t *testing.T) {
	t.Parallel()
	w := given(t, tagged(`"a"`))
	w.fetched("/p", inm(`"a"`)).is(304, "")
	if got := w.last().Header.Get("If-None-Match"); got != "" {
		t.Errorf("the fill has If-None-Match: %q", got)
	}
	w.reused("/p").is(200, "body")
	w.on("/not", validating(ok("body", `ETag: "a"`, cc("no-store")), inm(`"a"`), `ETag: "a"`))
	w.fetched("/not")
	w.fetched("/not", inm(`"a"`)).is(304, "")
	w.fetched("/not").is(200, "body")
}

func TestCON_12(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	for _, test := range []struct {
		stored, asked string
		match         bool
	}{
		{"a", "a", true}, {"a", `"a"`, false}, {`"a"`, "a", false}, {`w/"a"`, `"a"`, false}, {`"a"`, `w/"a"`, false},
		{`W"a"`, `W"a"`, true}, {`W"a"`, `"a"`, false}, {`W/"a"`, `w/"a"`, false}, {`"a"`, `""a""`, false}, {`W/"a"`, `W/a`, false},
	} {
		target := w.target(ok("body", "ETag: "+test.stored, cc("max-age=60")))
		w.fetched(target).has("ETag", test.stored)
		if g := w.reused(target, inm(test.asked)); (g.status == 304) != test.match {
			t.Errorf("stored %s, asked %s: %d", test.stored, test.asked, g.status)
		}
	}
}

func TestCON_13(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	for _, tag := range []string{`"a,b"`, `"a, W/b"`, "\"\xe9\xff\"", `"a\"`, `"'"`, `""`} {
		target := w.target(tagged(tag))
		w.fetched(target).has("ETag", tag)
		w.reused(target, inm(`"x", `+tag+`, "y"`)).is(304, "")
		w.reused(target, inm(`"a"`)).is(200, "body")
	}
}

func TestCON_14(t *testing.T) {
	t.Parallel()
	w := given(t, tagged(`"a"`))
	w.fetched("/p")
	w.reused("/p", inm(`"a"`), "Range: bytes=0-1").is(304, "")
	w.reused("/p", inm(`"b"`), "Range: bytes=0-1").is(206, "bo")
	w.reused("/p", ims(longAgo), "Range: bytes=0-1").is(304, "")
	w.reused("/p", inm(`"a"`), "Range: bytes=99-").is(304, "")
}
