package conformance

import (
	"fmt"
	"testing"
)

// Section 19: unsafe methods make pages invalid.

// unsafely keeps a page, asks with a method that is answered with a status and
// fields, and says whether the page is there afterwards.
func (w *world) unsafely(method string, status int, fields ...string) (kept bool) {
	w.t.Helper()
	w.count++
	page := fmt.Sprintf("/page/%d", w.count)
	w.on(page, func(q *asked) string {
		if q.Method == "GET" || q.Method == "HEAD" {
			return message(200, "page", cc("max-age=60"))
		}
		return message(status, "", fields...)
	})
	w.fetched(page)
	w.reused(page)
	w.do(method, page)
	before := len(w.requests())
	w.get(page)
	return len(w.requests()) == before
}

func TestINV_1(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "M-SEARCH", "PURR"} {
		for _, status := range []int{200, 201, 204, 299, 303, 307, 399} {
			if w.unsafely(method, status, "Location: https://elsewhere.example/") {
				t.Errorf("after %s %d the page is still there", method, status)
			}
		}
	}
	w.on("/vary", func(q *asked) string { return message(200, q.Method, cc("max-age=60"), "Vary: Foo") })
	w.fetched("/vary", "Foo: 1")
	w.fetched("/vary", "Foo: 2")
	w.post("POST", "/vary", "x", "Foo: 3")
	w.do("HEAD", "/vary", "Foo: 1").says("fwd=uri-miss")
	w.fetched("/vary", "Foo: 1")
	w.fetched("/vary", "Foo: 2")
}

func TestINV_2(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	for _, method := range []string{"POST", "PUT", "DELETE", "M-SEARCH"} {
		for _, status := range []int{400, 404, 422, 499, 500, 503, 599} {
			if !w.unsafely(method, status) {
				t.Errorf("after %s %d the page is gone", method, status)
			}
		}
	}
}

func TestINV_3(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	for _, method := range []string{"OPTIONS", "TRACE", "HEAD", "GET"} {
		if !w.unsafely(method, 200) {
			t.Errorf("after %s the page is gone", method)
		}
	}
	w.on("/p", inTurn(ok("1", cc("max-age=60")), ok("2", cc("no-store"))))
	w.fetched("/p")
	w.get("/p", `If-Match: "x"`) // a GET that goes to the app
	w.reused("/p").is(200, "1")
}

// leads keeps a page, and asks elsewhere with a POST whose answer has a field
// that leads to it.
func (w *world) leads(name, value string) (kept bool) {
	w.t.Helper()
	w.count++
	page, form := fmt.Sprintf("/page/%d", w.count), fmt.Sprintf("/page/form%d", w.count)
	w.on(page, numbered(cc("max-age=60")))
	w.fetched(page)
	w.on(form, say(201, "", name+": "+fmt.Sprintf(value, w.count)))
	w.post("POST", form, "x")
	before := len(w.requests())
	w.get(page)
	return len(w.requests()) == before
}

func TestINV_5(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	for _, name := range []string{"Location", "Content-Location"} {
		for _, value := range []string{"http://other.example/page/%d", "https://www.example.com/page/%d", "http://www.example.com:8080/page/%d", "//other.example/page/%d", "/elsewhere/%d", "/page/%d?x=1"} {
			if !w.leads(name, value) {
				t.Errorf("%s: %s: the page is gone", name, value)
			}
		}
	}
}

func TestINV_6(t *testing.T) {
	t.Parallel()
	w := given(t, func(q *asked) string {
		if q.Method == "POST" {
			return message(200, "")
		}
		return message(200, "page", cc("max-age=60, stale-if-error=600, stale-while-revalidate=600"), `ETag: "a"`)
	})
	w.fetched("/p")
	w.fetched("/q")
	w.post("POST", "/p", "x")
	w.die()
	dead(t, []*got{w.get("/p")})
	w.get("/q").is(200, "page")
}

func TestINV_4(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	for _, name := range []string{"Location", "Content-Location"} {
		for _, value := range []string{"/page/%d", "%d", "./%d", "../page/%d", "http://www.example.com/page/%d", "http://WWW.example.com:80/page/%d", "//www.example.com/page/%d", "/page/%d#part"} {
			if w.leads(name, value) {
				t.Errorf("%s: %s: the page is still there", name, value)
			}
		}
	}
}
