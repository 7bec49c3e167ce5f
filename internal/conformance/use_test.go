package conformance

import "testing"

// Section 10: which stored answer is used.

func TestUSE_1(t *testing.T) {
	t.Parallel()
	w := given(t, numbered(cc("max-age=60"), "Vary: Foo"))
	w.fetched("/p", "Foo: 1").is(200, "1")
	w.reused("/p", "Foo: 1").is(200, "1")
	w.fetched("/p?q", "Foo: 1")                          // another URL
	w.fetched("/p", "Foo: 2").is(200, "2")               // Vary
	w.post("POST", "/other", "x", "Foo: 1").is(200, "1") // the method
	w.fetched("/other", "Foo: 1").is(200, "2")
	w.asksAgain(cc("no-cache, max-age=60"))
	w.asksAgain(cc("max-age=10"), "Age: 60")
}

// Two match: the newer one is used.
func TestUSE_2(t *testing.T) {
	t.Parallel()
	w := given(t, inTurn(
		ok("older", cc("max-age=3600"), "Vary: A", "Date: "+date(-100e9)),
		ok("newer", cc("max-age=3600"), "Vary: B"),
		ok("third", cc("max-age=3600"), "Vary: B")))
	w.fetched("/p", "A: 1", "B: 1").is(200, "older")
	w.fetched("/p", "A: 2", "B: 1").is(200, "newer")
	w.reused("/p", "A: 1", "B: 1").is(200, "newer")
}

// One that does not vary, and then one that does.
func TestUSE_3(t *testing.T) {
	t.Parallel()
	w := given(t, inTurn(
		ok("without", `ETag: "a"`, cc("max-age=10"), "Age: 60"),
		ok("with", `ETag: "b"`, cc("max-age=60"), "Vary: Foo"),
		ok("third", `ETag: "c"`, cc("max-age=60"), "Vary: Foo")))
	w.fetched("/p", "Foo: 1").is(200, "without")
	w.fetched("/p", "Foo: 1").is(200, "with")
	w.reused("/p", "Foo: 1").is(200, "with")
	w.fetched("/p", "Foo: 2").is(200, "third")
}

func TestUSE_4(t *testing.T) {
	t.Parallel()
	made := date(-100e9)
	w := given(t, nil)
	w.keeps(cc("max-age=3600"), "Date: "+made, "Expires: "+date(3600e9)).has("Date", made)
	w.keeps("Date: "+made, "Expires: Fri, 31 Dec 9999 23:59:59 GMT").has("Date", made).has("Expires", "Fri, 31 Dec 9999 23:59:59 GMT")
	w.keeps(cc("max-age=3600"), "Expires: 0").has("Expires", "0")
}

func TestUSE_5(t *testing.T) {
	t.Parallel()
	w := given(t, ok("x", "-Date", cc("max-age=60")))
	first := w.fetched("/p").header.Values("Date")
	if len(first) != 1 {
		t.Fatalf("Date is %q", first)
	}
	w.reused("/p").has("Date", first...)
	w.on("/none", ok("x", "-Date"))
	if d := w.fetched("/none").header.Values("Date"); len(d) != 1 {
		t.Errorf("Date is %q on what is not kept", d)
	}
}

func TestUSE_6(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	g := w.keeps(cc("max-age=3600"), "Test-Header: a", "X-Many: 1", "x-many: 2, 3", "X-MANY: 1", "Warning: 110 - x", "ETag: \"a\"",
		"Content-Location: /x", "Content-Language: de", "Server: app/1", "X-Empty: ", "Link: </a>; rel=x", "Link: </b>", "Allow: GET")
	g.has("Test-Header", "a").has("X-Many", "1", "2, 3", "1").has("Content-Location", "/x").has("Content-Language", "de")
	g.has("Server", "app/1").has("Link", "</a>; rel=x", "</b>").has("Allow", "GET").has("ETag", `"a"`)
	if v, ok := g.header["X-Empty"]; !ok || v[0] != "" {
		t.Errorf("X-Empty is %q", v)
	}
}
