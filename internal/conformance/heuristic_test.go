package conformance

import (
	"fmt"
	"testing"
	"time"
)

// Section 9: lifetimes that are guessed. They are off by default.

// unchanged is a Last-Modified so long ago.
func unchanged(d time.Duration) string { return "Last-Modified: " + date(-d) }

const guessing = "cache.heuristic = true"

func TestHEU_1(t *testing.T) {
	t.Parallel()
	old := unchanged(1000 * time.Hour)
	w := given(t, nil, guessing)
	w.keeps(old)
	w.asksAgain(old, cc("max-age=0"))
	w.asksAgain(old, "Expires: 0")
	w.asksAgain(old, cc("s-maxage=0"))
	w.keepsIt(say(403, "x", old, cc("public")), "public")
	w.asksAgainAfter(say(403, "x", old), 403)
	t.Run("default", func(t *testing.T) { given(t, nil).asksAgain(old) })
}

func TestHEU_2(t *testing.T) {
	t.Parallel()
	w := given(t, nil, guessing)
	for _, status := range []int{201, 202, 302, 303, 307, 400, 403, 500, 502, 503, 504, 599} {
		w.asksAgainAfter(say(status, "x", unchanged(1000*time.Hour), "Location: /x"), status)
	}
}

// 206 is never kept as a page.
func TestHEU_3(t *testing.T) {
	t.Parallel()
	w := given(t, nil, guessing)
	for _, status := range []int{200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 451, 501} {
		body := "body"
		if status == 204 {
			body = ""
		}
		w.keepsIt(say(status, body, unchanged(1000*time.Hour), "Location: /x"), status).is(status, body)
	}
	w.asksAgainAfter(say(206, "bo", unchanged(1000*time.Hour), "Content-Range: bytes 0-1/4"), 206)
}

// A tenth, and a day at most.
func TestHEU_4(t *testing.T) {
	t.Parallel()
	w := given(t, nil, guessing)
	for _, test := range []struct {
		unchanged time.Duration
		age       int
		fresh     bool
	}{
		{2000 * time.Second, 100, true}, {2000 * time.Second, 250, false},
		{200000 * time.Second, 18000, true}, {200000 * time.Second, 21000, false},
		{1000 * time.Hour * 24, 80000, true}, {1000 * time.Hour * 24, 87000, false},
	} {
		fields := []string{unchanged(test.unchanged), fmt.Sprintf("Age: %d", test.age)}
		if test.fresh {
			w.keeps(fields...)
		} else {
			w.asksAgain(fields...)
		}
	}
	w.asksAgain(cc("public"))
}
