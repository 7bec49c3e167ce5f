package conformance

import (
	"strings"
	"testing"
)

// Section 20: Cache Groups (RFC 9875). The edge does not build them: the fields
// go through, and nothing becomes invalid by a group. What the RFC asks of those
// who do holds here, too: nothing is removed that must not be.

const groups = "Cache-Groups: "

// grouped keeps two pages of a group, changes one of them by a method that is
// answered so, and says whether the other is still there.
func (w *world) grouped(method string, answer script, group string) bool {
	w.t.Helper()
	other := w.target(numbered(cc("max-age=60"), groups+group))
	w.fetched(other)
	form := w.target(func(q *asked) string {
		if q.Method == "GET" && q.n == 1 {
			return message(200, "page", cc("max-age=60"), groups+group)
		}
		return answer(q)
	})
	w.fetched(form)
	w.do(method, form, "If-Match: x")
	before := len(w.requests())
	w.get(other)
	return len(w.requests()) == before
}

// A field that is no List of Strings harms nothing.
func TestGRP_1(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	for _, value := range []string{`"a"`, `"a", "b";p=1`, "a", `"a`, "1, 2", `("a" "b")`, `"a",`} {
		w.keeps(cc("max-age=60"), groups+value).is(200, "1").has("Cache-Groups", value)
	}
}

// Another case, or another origin, is another group.
func TestGRP_2(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	if !w.grouped("POST", ok("", `Cache-Group-Invalidation: "A"`), `"a"`) {
		t.Error("a group in another case is taken for the same")
	}
	w.on("/p", numbered(cc("max-age=60"), groups+`"a"`))
	w.fetched("/p")
	w.on("/form", ok("", `Cache-Group-Invalidation: "a"`))
	w.post("POST", "/form", "x", "Host: other.example")
	w.reused("/p")
}

func TestGRP_3(t *testing.T) {
	t.Parallel()
	var members []string
	for i := range 32 {
		members = append(members, `"`+strings.Repeat(string(rune('a'+i%26)), 32)+`"`)
	}
	w := given(t, nil)
	w.keeps(cc("max-age=60"), groups+strings.Join(members, ", ")).has("Cache-Groups", strings.Join(members, ", "))
}

func TestGRP_6(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	for _, method := range []string{"GET", "HEAD", "OPTIONS"} {
		if !w.grouped(method, ok("", `Cache-Group-Invalidation: "a"`, cc("no-store")), `"a"`) {
			t.Errorf("%s has removed a page", method)
		}
	}
}

func TestGRP_7(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	for _, status := range []int{400, 403, 404, 500, 503} {
		if !w.grouped("POST", say(status, "", `Cache-Group-Invalidation: "a"`), `"a"`) {
			t.Errorf("a POST answered %d has removed a page", status)
		}
	}
}
