package conformance

import "testing"

// Section 21: Authorization and cookies.

const auth = "Authorization: Basic YTpi"

// kept says whether the answer with those fields to a request with this field
// is used for another request with it.
func (w *world) kept(field string, fields ...string) bool {
	w.t.Helper()
	target := w.target(numbered(fields...))
	w.fetched(target, field)
	return w.get(target, field).body == "1"
}

func TestAUT_1(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	for _, value := range []string{"max-age=60, public", "max-age=60, must-revalidate", "s-maxage=60"} {
		if !w.kept(auth, cc(value)) {
			t.Errorf("%s is not kept", value)
		}
	}
	for _, value := range []string{"max-age=60", "max-age=60, foo", "max-age=60, s-maxage=0"} {
		if w.kept(auth, cc(value)) {
			t.Errorf("%s is kept", value)
		}
	}
}

func TestAUT_2(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	var targets []string
	for _, value := range []string{"max-age=10, must-revalidate", "s-maxage=10", "s-maxage=10, stale-if-error=600"} {
		target := w.target(ok("old", cc(value), "Age: 60", `ETag: "a"`))
		w.fetched(target, auth)
		w.asks(auth)
		targets = append(targets, target)
	}
	w.die()
	for _, target := range targets {
		dead(t, []*got{w.get(target, auth)})
	}
}

func TestAUT_3(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	for _, fields := range [][]string{{cc("max-age=60")}, {cc("max-age=60, proxy-revalidate")}, {expires(3600e9)}, {cc("max-age=60, public"), cdn("max-age=60")}} {
		if w.kept(auth, fields...) {
			t.Errorf("%q is kept", fields)
		}
	}
	if !w.kept(auth, cc("max-age=60"), cdn("max-age=60, public")) {
		t.Error("a targeted field with public does not count")
	}
}

// DESIGN.md: the answer to a request whose cookies went to the app is kept only if
// it says that it is for everybody. A page that is kept is for those with cookies,
// too.
func TestCOO_1(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	const cookie = "Cookie: session=ana"
	if w.kept(cookie, cc("max-age=60")) {
		t.Error("an answer to cookies is kept")
	}
	for _, fields := range [][]string{{cc("max-age=60, public")}, {cc("s-maxage=60")}, {cdn("max-age=60")}} {
		if !w.kept(cookie, fields...) {
			t.Errorf("%q is not kept", fields)
		}
	}
	w.on("/p", numbered(cc("max-age=60")))
	w.fetched("/p")
	w.reused("/p", cookie).is(200, "1")
	w.reused("/p", "Cookie: session=bob").is(200, "1")
}

func TestCOO_2(t *testing.T) {
	t.Parallel()
	fields := []string{cc("max-age=60"), "Set-Cookie: lang=de", "Set-Cookie: a=b"}
	w := given(t, nil)
	w.asksAgain(fields...).has("Set-Cookie", "lang=de", "a=b")
	strip := given(t, numbered(fields...), `cache.set_cookie = "strip"`)
	strip.fetched("/p").has("Set-Cookie", "lang=de", "a=b")
	strip.reused("/p").has("Set-Cookie", "")
	store := given(t, nil, `cache.set_cookie = {keep = ["lang", "a"]}`)
	store.keeps(fields...).has("Set-Cookie", "lang=de", "a=b")
	other := given(t, nil, `cache.set_cookie = {keep = ["lang"]}`)
	other.asksAgain(fields...)
}

func TestCOO_4(t *testing.T) {
	t.Parallel()
	w := given(t, nil, `cache.set_cookie = {keep = ["*"]}`)
	for _, value := range []string{`no-cache="set-cookie"`, `private="Set-Cookie"`, `no-cache="X, SET-COOKIE"`} {
		target := w.target(numbered(cc("max-age=60, "+value), "Set-Cookie: a=b"))
		w.fetched(target).has("Set-Cookie", "a=b")
		before := len(w.requests())
		if g := w.get(target); len(w.requests()) == before && g.header.Get("Set-Cookie") != "" {
			t.Errorf("%s: the cookie came from the store", value)
		}
	}
}
