package conformance

import (
	"testing"
	"time"
)

// Section 25: statuses.

func TestSTA_1(t *testing.T) {
	t.Parallel()
	w := given(t, nil, guessing)
	old := unchanged(1000 * time.Hour)
	for status := 200; status < 600; status++ {
		switch status {
		case 206, 304, 401: // never kept; answers to a condition; nothing special
			continue
		case 200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 451, 501:
			w.keepsIt(say(status, "", old, "Location: /x"), status)
		case 201, 202, 205, 302, 303, 307, 400, 403, 409, 418, 499, 500, 502, 503, 504, 599:
			w.asksAgainAfter(say(status, "", old, "Location: /x"), status)
			w.keepsIt(say(status, "", old, cc("public"), "Location: /x"), status, "public")
		}
	}
}

// What is about the request itself, its head, its size or its rate, is kept for
// nobody; of 428, 429, 431 and 511 RFC 6585 says so.
func TestSTA_2(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	for _, status := range []int{302, 303, 307, 400, 401, 403, 404, 418, 500, 502, 503, 504} {
		w.keepsIt(say(status, "x", cc("max-age=60"), "Location: /x"), status).is(status, "x")
		w.keepsIt(say(status, "x", expires(time.Hour), "Location: /x"), status).is(status, "x")
	}
	for _, status := range []int{408, 413, 417, 428, 429, 431, 511} {
		w.asksAgainAfter(say(status, "x", cc("max-age=60")), status)
	}
}

func TestSTA_3(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	w.keepsIt(say(204, "", cc("max-age=60"))).is(204, "").has("Content-Length", "")
	w.keepsIt(say(301, "moved", cc("max-age=60"), "Location: /x?a=b")).is(301, "moved").has("Location", "/x?a=b")
	w.keepsIt(say(307, "", cc("max-age=60"), "Location: https://other.example/")).is(307, "").has("Location", "https://other.example/")
}

// An unknown status counts as the x00 of its class: 299 and 399 are success,
// 499 and 599 are not.
func TestSTA_5(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	for status, kept := range map[int]bool{299: false, 399: false, 499: true, 599: true} {
		if w.unsafely("POST", status) != kept {
			t.Errorf("POST answered %d: the page is kept: %v", status, !kept)
		}
		w.on("/p", say(status, "x"))
		w.fetched("/p").is(status, "x")
	}
	w.on("/999", say(999, "x"))
	if g := w.get("/999"); g.status != 999 && g.status != 502 {
		t.Errorf("999 is %d", g.status)
	}
}
