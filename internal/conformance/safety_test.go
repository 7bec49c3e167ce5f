package conformance

import "testing"

// Section 29: safety.

func TestSEC_2(t *testing.T) {
	t.Parallel()
	w := given(t, func(q *asked) string { return message(200, q.Host, cc("max-age=60")) })
	g := w.send("GET http://www.example.com/p HTTP/1.1\r\nHost: evil.example\r\n\r\n")
	if g.status == 200 {
		g.is(200, "www.example.com")
	}
	w.get("/p", "Host: evil.example").is(200, "evil.example")
	w.get("/p").is(200, "www.example.com")
	for _, host := range []string{"Host: a b", "Host: a/b", "Host: u@a", "Host: a\r\nHost: b"} {
		if g := w.get("/p", host); g.status != 400 {
			t.Errorf("%q: %d, want 400", host, g.status)
		}
	}
}
