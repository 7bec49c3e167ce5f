package conformance

import "testing"

// Section 16: HEAD.

func TestHED_1(t *testing.T) {
	t.Parallel()
	w := given(t, numbered(cc("max-age=60")))
	w.do("HEAD", "/p").is(200, "")
	if m := w.last().Method; m != "HEAD" && m != "GET" {
		t.Errorf("the app got %s", m)
	}
	if g := w.get("/p"); g.status != 200 || g.body == "" {
		t.Errorf("a GET after a HEAD: %d %q", g.status, g.body)
	}
}

// headAfter asks for a stale page, then for its HEAD, which has those fields, and
// gives the answer to the next GET.
func (w *world) headAfter(status int, fields ...string) (g *got, n int) {
	w.t.Helper()
	target := w.target(func(q *asked) string {
		switch {
		case q.Method == "HEAD":
			return message(status, "", append(fresh, fields...)...)
		case q.n == 1:
			return message(200, "body", staleFrom(`ETag: "a"`, "Last-Modified: "+longAgo, "X-Old: 1")...)
		}
		return message(200, "new", cc("max-age=60"))
	})
	w.fetched(target)
	w.do("HEAD", target)
	before := len(w.requests())
	return w.get(target), len(w.requests()) - before
}

func TestHED_2(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	for _, same := range [][]string{{`ETag: "a"`, "Content-Length: 4"}, {"Last-Modified: " + longAgo, "Content-Length: 4"}, {`ETag: "a"`, "Last-Modified: " + longAgo, "Content-Length: 4"}} {
		g, n := w.headAfter(200, append(same, "X-New: 1")...)
		if g.is(200, "body").has("X-New", "1").has("X-Old", "1"); n != 0 {
			t.Errorf("%q: the app was asked again", same)
		}
	}
}

func TestHED_3(t *testing.T) {
	t.Parallel()
	w := given(t, nil, honour)
	for _, other := range [][]string{{`ETag: "b"`, "Content-Length: 4"}, {`ETag: "a"`, "Content-Length: 5"}, {"Last-Modified: " + date(0), "Content-Length: 4"}} {
		if g, n := w.headAfter(200, other...); n != 1 {
			t.Errorf("%q: the app was asked %d times; %s", other, n, g.cacheStatus())
		}
	}
	target := w.target(func(q *asked) string {
		if q.Method == "HEAD" {
			return message(200, "", `ETag: "b"`, cc("max-age=60"), "Content-Length: 7")
		}
		return message(200, "body", `ETag: "a"`, cc("max-age=60"))
	})
	w.fetched(target)
	w.do("HEAD", target, cc("no-cache")) // goes to the app
	w.fetched(target)
}

func TestHED_4(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	for _, status := range []int{404, 410, 500, 503} {
		if g, n := w.headAfter(status, `ETag: "a"`, "Content-Length: 4", "X-New: 1"); n != 1 || g.header.Get("X-New") != "" {
			t.Errorf("%d: the app was asked %d times: %s", status, n, g.head)
		}
	}
}
