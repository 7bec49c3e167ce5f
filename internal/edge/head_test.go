package edge

import (
	"testing"
	"time"
)

// A HEAD for which no fresh page is there asks with HEAD; an answer of the same
// body renews the page.
func TestHeadRenews(t *testing.T) {
	for _, test := range []struct {
		name   string
		head   []string // fields of the answer to HEAD
		status int
		renews bool
	}{
		{"same tag", []string{`Etag: "a"`, "X-New: 2"}, 0, true},
		{"same date", []string{"Last-Modified: " + lastYear, "X-New: 2"}, 0, true},
		{"same length", []string{"Content-Length: 4", "X-New: 2"}, 0, true},
		{"all the same", []string{`Etag: "a"`, "Last-Modified: " + lastYear, "Content-Length: 4", "X-New: 2"}, 0, true},
		{"nothing to tell by", []string{"X-New: 2"}, 0, false},
		{"another tag", []string{`Etag: "b"`, "Content-Length: 4"}, 0, false},
		{"another date", []string{`Etag: "a"`, "Last-Modified: Sun, 30 Nov 2025 12:00:01 GMT"}, 0, false},
		{"another length", []string{`Etag: "a"`, "Content-Length: 5"}, 0, false},
		{"another status", []string{`Etag: "a"`}, 410, false},
		{"a failure", []string{`Etag: "a"`}, 500, false},
	} {
		e, app := newScripted(t, []step{
			stalePage("page", `Etag: "a"`, "Last-Modified: "+lastYear, "X-Old: 1"),
			{status: test.status, fields: append(test.head, "Cache-Control: max-age=70")},
			{body: "next"},
		}, withSite(func(s *Site) { s.Cache.StaleIfError = 0 }))
		e.get("/p")
		a := e.do("HEAD", "/p", `If-None-Match: "mine"`)
		if got := app.requests()[1]; got.Method != "HEAD" || got.Header.Get("If-None-Match") != "" {
			t.Errorf("%s: the app was asked %s with %v", test.name, got.Method, got.Header)
		}
		want := map[bool]string{true: "page", false: "next"}[test.renews]
		if test.renews {
			a.has(t, "X-Old", "1")
			a.has(t, "X-New", "2")
			a.has(t, "Content-Length", "4")
			a.has(t, "Cache-Status", "ssiedge; fwd=stale; stored")
		} else if a.has(t, "X-Old", ""); max(test.status, 200) != a.StatusCode {
			t.Errorf("%s: %d", test.name, a.StatusCode)
		}
		if got := e.get("/p"); got.body != want {
			t.Errorf("%s: the next GET got %q, want %q", test.name, got.body, want)
		} else if test.renews {
			got.hit(t, "memory")
			got.has(t, "X-New", "2")
		}
	}
}

// A visitor's condition is held against the answer to his HEAD.
func TestHeadWithCondition(t *testing.T) {
	e, _ := newScripted(t, []step{stalePage("page", `Etag: "a"`), {fields: []string{`Etag: "b"`}}, {fields: []string{`Etag: "a"`}}})
	e.get("/p")
	e.do("HEAD", "/p", `If-None-Match: "b"`).is(t, 304, "")
	e.do("HEAD", "/p", `If-None-Match: "a"`).is(t, 304, "")
}

// The answer to a visitor with cookies renews nothing for others, and one to a
// HEAD without his cookies is not his.
func TestHeadWithCookies(t *testing.T) {
	e, _ := newScripted(t, []step{stalePage("page", `Etag: "a"`), {fields: []string{`Etag: "a"`, "Cache-Control: max-age=70", "X-User: ana"}}, {body: "next"}},
		withSite(func(s *Site) { s.Cache.NotKeepable = time.Nanosecond }))
	e.get("/p")
	e.do("HEAD", "/p", "Cookie: session=ana").has(t, "X-User", "ana")
	e.get("/p").is(t, 200, "next")

	e, app := newScripted(t, []step{{body: "page", fields: []string{`Etag: "a"`}}, {fields: []string{`Etag: "b"`}}, {fields: []string{"X-User: ana"}}},
		withRule(forAnHour("*")))
	e.get("/p")
	e.purged(PurgeCall{URLs: []string{"/p"}, Soft: true})
	e.options.Sites[0].Cache.SoftWindow = 0
	if err := e.Reload(e.options); err != nil {
		t.Fatal(err)
	}
	a := e.do("HEAD", "/p", "Cookie: session=ana")
	a.has(t, "X-User", "ana")
	a.has(t, "Etag", "")
	app.has(t, 1, "Cookie", "")
	app.has(t, 2, "Cookie", "session=ana")
}

// A HEAD that shows that the app has another page by now ends the one that is
// there, even if it would be fresh for long.
func TestHeadEndsPage(t *testing.T) {
	e, app := newScripted(t, []step{
		{body: "page", fields: []string{"Cache-Control: max-age=3600", `Etag: "a"`}}, {fields: []string{`Etag: "b"`}}, {body: "next"},
	}, honouring())
	e.get("/p")
	e.do("HEAD", "/p", "Cache-Control: no-cache").has(t, "Etag", `"b"`)
	e.get("/p").is(t, 200, "next")
	app.was(t, 3)
}

// A page that is purged between the look-up and the question does not come back
// by the answer to HEAD: its number would be that of after the purge.
func TestHeadRenewsNothingPurged(t *testing.T) {
	e, _ := newScripted(t, []step{
		stalePage("page", `Etag: "a"`), {fields: []string{`Etag: "a"`, "Cache-Control: max-age=70"}}, {body: "next"},
	})
	e.get("/p")
	ctx := requestByHand(e, "/p", nil)
	ctx.Request.Header.SetMethod("HEAD")
	r := new(request)
	r.begin(e.Edge, ctx)
	if !r.admitted() || !r.hasSite() || !r.known() || !r.hasURL() || !r.allowed() {
		t.Fatal("the request is answered before its look-up")
	}
	if _, ok := r.lookup(); ok || r.stale.Page == nil {
		t.Fatalf("found %v, stale %v; want a stale page", ok, r.stale)
	}
	e.purged(PurgeCall{URLs: []string{"/p"}})
	r.fill()
	if s := ctx.Response.StatusCode(); s != 200 {
		t.Errorf("%d, want the app's answer", s)
	}
	e.get("/p").is(t, 200, "next")
}
