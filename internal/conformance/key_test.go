package conformance

import "testing"

// Section 1 of the list: key and method.

func TestKEY_1(t *testing.T) {
	t.Parallel()
	w := given(t, func(q *asked) string { return message(200, q.Host+q.URL.String(), "Cache-Control: max-age=60") },
		`trusted_proxies = ["127.0.0.1/32"]`)
	for range 2 {
		w.get("/p").is(200, "www.example.com/p")
		w.get("/p?x=1").is(200, "www.example.com/p?x=1")
		w.get("/p?x=2").is(200, "www.example.com/p?x=2")
		w.get("/P").is(200, "www.example.com/P")
		w.get("/p", "Host: other.example").is(200, "other.example/p")
		w.get("/p", "X-Forwarded-Proto: https").is(200, "www.example.com/p")
	}
	if n := len(w.requests()); n != 6 {
		t.Errorf("the app was asked %d times, want 6", n)
	}
}

func TestKEY_4(t *testing.T) {
	t.Parallel()
	w := given(t, numbered("Cache-Control: max-age=60"), "cache.heuristic = true")
	w.on("/old?x=1", numbered("Last-Modified: "+date(-1e15)))
	for _, target := range []string{"/p?x=1", "/p?", "/old?x=1"} {
		w.fetched(target)
		w.reused(target)
	}
}

func TestKEY_5(t *testing.T) {
	t.Parallel()
	w := given(t, func(q *asked) string { return message(200, q.Method+q.body, "Cache-Control: max-age=60") })
	w.fetched("/p")
	w.do("HEAD", "/p").says("hit")
	w.post("POST", "/p", "x").is(200, "POSTx")
	for _, method := range []string{"PUT", "DELETE", "PATCH", "OPTIONS", "PURR"} {
		w.get("/p")
		w.do(method, "/p").is(200, method)
		if w.last().Method != method {
			t.Errorf("the app got %s, want %s", w.last().Method, method)
		}
	}
}

// DESIGN.md: the answer to a POST is never kept, whatever it says.
func TestKEY_7(t *testing.T) {
	t.Parallel()
	w := given(t, numbered("Cache-Control: max-age=60", "Content-Location: http://www.example.com/p"))
	w.post("POST", "/p", "x").is(200, "1").says("fwd=method")
	w.post("POST", "/p", "x").is(200, "2")
	w.fetched("/p").is(200, "3")
	w.post("POST", "/p", "x").is(200, "4")
}

func TestKEY_8(t *testing.T) {
	t.Parallel()
	w := given(t, numbered("Cache-Control: max-age=60"))
	for _, method := range []string{"OPTIONS", "PUT", "DELETE", "PATCH", "PURR"} {
		target := "/" + method
		w.do(method, target).is(200, "1")
		w.do(method, target).is(200, "2")
		w.fetched(target).is(200, "3")
	}
	for _, method := range []string{"TRACE", "CONNECT"} {
		if g := w.do(method, "/p"); g.status != 405 {
			t.Errorf("%s is answered %d, want 405", method, g.status)
		}
	}
	w.fetched("/p").is(200, "1")
}

// DESIGN.md: cookies are not in the key unless a rule lists them; see COO-1 for
// whose answers are kept.
func TestKEY_9(t *testing.T) {
	t.Parallel()
	w := given(t, numbered("Cache-Control: max-age=60"))
	w.fetched("/p", "User-Agent: a", "Pragma: foo", "X-Trace: 1")
	for _, field := range []string{"User-Agent: b", "Pragma: no-cache", "Pragma: bar", "X-Trace: 2", "Cookie: a=b", "Accept: text/plain"} {
		w.reused("/p", field).is(200, "1")
	}
}
