package conformance

import (
	"strings"
	"testing"

	"github.com/ssiedge/ssiedge/internal/edge"
)

// Section 11: Vary.

// varying says for pairs of requests whether the second may have the answer to
// the first. Fields of a request are divided by "|".
func varying(w *world, vary string, match bool, first, second string) {
	w.t.Helper()
	fields := []string{cc("max-age=3600")}
	for line := range strings.SplitSeq(vary, "|") {
		fields = append(fields, "Vary: "+line)
	}
	target := w.target(numbered(fields...))
	ask := func(line string) string { return w.get(target, split(line)...).body }
	ask(first)
	if got := ask(second) == "1"; got != match {
		w.t.Errorf("Vary: %q: %q, then %q: match: %v", vary, first, second, got)
	}
}

func split(line string) []string {
	if line == "" {
		return nil
	}
	return strings.Split(line, "|")
}

func TestVAR_1(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	varying(w, "Foo", true, "Foo: 1", "Foo: 1")
	varying(w, "Foo", false, "Foo: 1", "Foo: 2")
	varying(w, "foo", false, "Foo: 1", "Foo: 2")
	varying(w, "FOO", true, "foo: 1", "Foo: 1")
	varying(w, "Foo, Bar", true, "Foo: 1|Bar: a", "Bar: a|Foo: 1")
	varying(w, "Foo, Bar", false, "Foo: 1|Bar: a", "Foo: 1|Bar: b")
	varying(w, "Foo|Bar", false, "Foo: 1|Bar: a", "Foo: 2|Bar: a")
	varying(w, ",Foo,, ,Bar,", false, "Foo: 1|Bar: a", "Foo: 1|Bar: b")
	varying(w, "Foo, Bar, Baz", true, "Foo: 1|Bar: a|Baz: x", "Foo: 1|Bar: a|Baz: x|Other: y")
	varying(w, "Foo, Bar, Baz", false, "Foo: 1|Bar: a|Baz: x", "Foo: 1|Bar: a|Baz: y")
}

func TestVAR_2(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	for _, vary := range []string{"*", "*, *", "*, Foo", "Foo, *", "Foo|*", "*|Foo", ", *", "*,"} {
		varying(w, vary, false, "Foo: 1", "Foo: 1")
	}
}

func TestVAR_3(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	varying(w, "Foo", true, "", "")
	varying(w, "Foo", false, "", "Foo: 1")
	varying(w, "Foo", false, "Foo: 1", "")
	varying(w, "Foo", false, "", "Foo: ")
	varying(w, "Foo", false, "Foo: ", "")
	varying(w, "Foo", true, "Foo: ", "Foo: ")
	varying(w, "Foo, Bar, Baz", false, "Foo: 1|Bar: a|Baz: x", "Foo: 1|Baz: x")
	varying(w, "Foo, Bar, Baz", true, "Foo: 1|Baz: x", "Foo: 1|Baz: x")
}

func TestVAR_5(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	varying(w, "Foo", true, "Foo: 1|Foo: 2", "Foo: 1, 2")
	varying(w, "Foo", true, "Foo: 1, 2|Foo: 3", "Foo: 1|Foo: 2, 3")
	varying(w, "Foo", false, "Foo: 1|Foo: 2", "Foo: 2|Foo: 1")
}

func TestVAR_6(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	varying(w, "Foo", true, "Foo: 1, 2", "Foo: 1,2")
	varying(w, "Foo", true, "Foo: 1, 2", "Foo:   1  ,\t2  ")
	varying(w, "Foo", false, "Foo: 1, 2", "Foo: 12")
}

func TestVAR_7(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	const l = "Accept-Language: "
	varying(w, "Accept-Language", true, l+"en, de", l+"en, de")
	varying(w, "Accept-Language", true, l+"en, de", l+"EN,De")
	varying(w, "Accept-Language", true, l+"en, de", l+"de, en")
	varying(w, "Accept-Language", true, l+"en;q=0.5, de", l+"de, en;q=0.5")
	varying(w, "Accept-Language", false, l+"en;q=0.5, de", l+"en, de;q=0.5")
	varying(w, "Accept-Language", false, l+"en", l+"de")
}

// Off: two visitors with different preferences have each his own.
func TestVAR_8(t *testing.T) {
	t.Parallel()
	w := given(t, numbered(cc("max-age=60"), "Vary: Accept-Language", "Content-Language: de"))
	w.fetched("/p", "Accept-Language: de, en;q=0.5")
	w.fetched("/p", "Accept-Language: de, fr;q=0.5")
}

// Left alone.
func TestVAR_10(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	varying(w, "Accept", true, "Accept: text/html, text/plain", "Accept: text/html,text/plain")
	varying(w, "Accept", false, "Accept: text/html, text/plain", "Accept: text/plain, text/html")
}

func TestVAR_11(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	varying(w, "User-Agent", true, "User-Agent: A b", "User-Agent: A b")
	varying(w, "User-Agent", false, "User-Agent: A b", "User-Agent: a b")
	varying(w, "Foo", false, "Foo: Bar", "Foo: bar")
	varying(w, "Foo", false, "Foo: a  b", "Foo: a b")
}

func TestVAR_12(t *testing.T) {
	t.Parallel()
	w := given(t, numbered(cc("max-age=60"), "Vary: Foo"), "max_variants = 3")
	for _, v := range []string{"a", "b", "c"} {
		w.fetched("/p", "Foo: "+v)
	}
	for i, v := range []string{"a", "b", "c"} {
		w.reused("/p", "Foo: "+v).is(200, string(rune('1'+i)))
	}
	w.fetched("/p", "Foo: d").is(200, "4")
	w.reused("/p", "Foo: d")
	w.reused("/p", "Foo: c")
	w.reused("/p", "Foo: b")
	w.fetched("/p", "Foo: a").is(200, "5")
}

// The tags of the variants that are kept go along, and a 304 picks one.
func TestVAR_13(t *testing.T) {
	t.Parallel()
	w := given(t, func(q *asked) string {
		if strings.Contains(q.Header.Get("If-None-Match"), `"a"`) {
			return message(304, "", `ETag: "a"`, cc("max-age=60"), "Vary: Foo")
		}
		return message(200, "body", `ETag: "a"`, cc("max-age=60"), "Vary: Foo")
	})
	w.fetched("/p", "Foo: 1")
	w.fetched("/p", "Foo: 2").is(200, "body")
	if tag := w.last().Header.Get("If-None-Match"); tag != `"a"` {
		t.Errorf("If-None-Match is %q", tag)
	}
	w.reused("/p", "Foo: 2").is(200, "body")
	w.reused("/p", "Foo: 1").is(200, "body")
}

// The newest Vary decides.
func TestVAR_14(t *testing.T) {
	t.Parallel()
	w := given(t, inTurn(
		ok("1", cc("max-age=60"), "Vary: Foo"),
		ok("2", cc("max-age=60"), "Vary: Foo, Bar"),
		ok("3", cc("max-age=60"), "Vary: Foo, Bar")))
	w.fetched("/p", "Foo: 1", "Bar: 1").is(200, "1")
	w.fetched("/p", "Foo: 2", "Bar: 1").is(200, "2")
	w.reused("/p", "Foo: 2", "Bar: 1").is(200, "2")
	w.fetched("/p", "Foo: 2", "Bar: 2").is(200, "3")
	if g := w.get("/p", "Foo: 1", "Bar: 2"); g.body == "1" {
		t.Error("the older rule is still in force")
	}
}

func TestVAR_15(t *testing.T) {
	t.Parallel()
	w := given(t, numbered(cc("max-age=60"), "Vary: Foo"))
	all := func() {
		t.Helper()
		for _, v := range []string{"a", "b", "c"} {
			w.fetched("/p", "Foo: "+v)
		}
		w.reused("/p", "Foo: a")
	}
	all()
	w.post("POST", "/p", "x", "Foo: b")
	all()
	if _, err := w.edge.Purge(edge.PurgeCall{URLs: []string{"/p"}}); err != nil {
		t.Fatal(err)
	}
	all()
}
