package conformance

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ssiedge/ssiedge/pagecache"
)

// Section 2: what may be stored.

func TestSTO_1(t *testing.T) {
	t.Parallel()
	w := given(t, nil, "cache.heuristic = true")
	old := "Last-Modified: " + date(-1000*time.Hour)
	w.keeps("Cache-Control: s-maxage=60")
	w.keeps("Cache-Control: max-age=60")
	w.keeps("Expires: " + date(time.Hour))
	w.keeps(old)
	w.keepsIt(say(403, "x", "Cache-Control: public", old), "public")
	w.asksAgain("Cache-Control: no-store, max-age=60")
	w.asksAgain("Cache-Control: private, max-age=60")
	w.asksAgain("X-No: lifetime")
	w.asksAgainAfter(say(403, "x", old), "a status without a lifetime")
}

// A part, and an answer to the visitor's own condition, are nobody else's.
func TestSTO_2(t *testing.T) {
	t.Parallel()
	w := given(t, func(q *asked) string {
		switch {
		case q.n == 1:
			return message(200, "whole", "Cache-Control: no-store")
		case q.Header.Get("If-None-Match") != "":
			return message(304, "", `ETag: "a"`, "Cache-Control: max-age=60")
		case q.Header.Get("Range") != "":
			return message(206, "wh", `ETag: "a"`, "Cache-Control: max-age=60", "Content-Range: bytes 0-1/5")
		}
		return message(200, "whole", `ETag: "a"`, "Cache-Control: max-age=60")
	})
	w.get("/p") // not kept: from here on those with a condition or a range go as they are
	w.fetched("/p", `If-None-Match: "a"`).is(304, "")
	w.fetched("/p", "Range: bytes=0-1").is(206, "wh")
	w.fetched("/p").is(200, "whole")
	w.reused("/p").is(200, "whole")
}

func TestSTO_3(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	for _, status := range []int{200, 203, 204, 299, 300, 301, 302, 303, 307, 308, 400, 404, 410, 414, 451, 499, 500, 501, 502, 503, 504, 599} {
		body := "body"
		if status == 204 {
			body = ""
		}
		g := w.keepsIt(say(status, body, "Cache-Control: max-age=60", "Location: /x"), status)
		g.is(status, body)
	}
}

func TestSTO_4(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	w.keeps("Cache-Control: max-age=60, no-store, must-understand")
	w.asksAgainAfter(say(599, "x", "Cache-Control: max-age=60, no-store, must-understand"), 599)
	w.asksAgainAfter(say(599, "x", "Cache-Control: max-age=60, must-understand"), 599)
	w.asksAgain("Cache-Control: max-age=60, no-store")
}

func TestSTO_5(t *testing.T) {
	t.Parallel()
	w := given(t, nil, "cache.heuristic = true")
	w.asksAgain().is(200, "2")
	w.asksAgain(`ETag: "a"`).is(200, "2")
	w.asksAgain("Cache-Control: public").is(200, "2")
}

// What is stale when it comes is kept for validation.
func TestSTO_6(t *testing.T) {
	t.Parallel()
	w := given(t, validating(ok("body", `ETag: "a"`, "Cache-Control: max-age=10", "Age: 60"), `If-None-Match: "a"`))
	w.fetched("/p")
	w.fetched("/p").is(200, "body")
	if tag := w.last().Header.Get("If-None-Match"); tag != `"a"` {
		t.Errorf("If-None-Match is %q", tag)
	}
	w.asksAgainAfter(inTurn(ok("1", `ETag: "a"`, "Cache-Control: no-cache"), raw("HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n\r\n")), "no-cache").is(200, "1")
}

func TestSTO_7(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	cut := "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n"
	for _, text := range []string{
		cut + "Content-Length: 10\r\n\r\n12345",
		cut + "Transfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n",
		cut + "Transfer-Encoding: chunked\r\n\r\n9\r\n12345",
		cut + "Content-Length: 200000\r\n\r\n" + strings.Repeat("x", 100_000),
	} {
		target := w.target(inTurn(raw(text), ok("whole", "Cache-Control: max-age=60")))
		if g := w.get(target); g.status == 200 && g.err == nil {
			t.Errorf("%.120q: the visitor got %d bytes as a whole answer", text, len(g.body))
		}
		w.fetched(target).is(200, "whole")
	}
}

func TestSTO_10(t *testing.T) {
	t.Parallel()
	w := given(t, raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Late\r\nX-Early: 1\r\nCache-Control: max-age=60\r\n\r\n"+
		chunked("body", "X-Late: 1", "X-Early: 2", "Cache-Control: no-store")))
	w.fetched("/p").is(200, "body").has("X-Late", "").has("X-Early", "1")
	w.reused("/p").is(200, "body").has("X-Late", "").has("X-Early", "1").has("Cache-Control", "max-age=60")
	w.asksAgainAfter(raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"+chunked("body", "Cache-Control: max-age=60")), "a lifetime in trailers")
}

// The edge always has a clock. One that is set back makes no page younger than
// it was when it came.
func TestSTO_12(t *testing.T) {
	t.Parallel()
	now := time.Now()
	reply := &pagecache.Reply{Status: http.StatusOK, RequestTime: now, ResponseTime: now, Fields: []pagecache.Field{
		{Name: []byte("Cache-Control"), Value: []byte("max-age=60")}, {Name: []byte("Age"), Value: []byte("100")},
	}}
	d := pagecache.Decide(reply, pagecache.Asked{}, new(pagecache.Policy))
	for _, back := range []time.Duration{0, time.Second, time.Hour, 10000 * time.Hour} {
		if d.Fresh(now.Add(-back)) || d.Age(now.Add(-back)) < 100 {
			t.Errorf("the clock %v back: fresh %v, age %d", back, d.Fresh(now.Add(-back)), d.Age(now.Add(-back)))
		}
	}
}

// A newer answer that says no-store is not stored.
func TestSTO_9(t *testing.T) {
	t.Parallel()
	w := given(t, inTurn(ok("1", "Cache-Control: max-age=60"), ok("2", "Cache-Control: no-store"), ok("3", "Cache-Control: max-age=60")),
		`cache.request_directives = "honour"`)
	w.fetched("/p").is(200, "1")
	w.fetched("/p", "Cache-Control: no-cache").is(200, "2")
	if g := w.get("/p"); g.body == "2" {
		t.Error("what says no-store was used again")
	}
}
