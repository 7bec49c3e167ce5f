package edge

import (
	"strings"
	"testing"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// What may not be part of a page is not, and the visitor who asked has what is
// not for the others.
func TestStoredHead(t *testing.T) {
	e, app := newScripted(t, []step{{body: "page", fields: []string{
		`Cache-Control: max-age=60, no-cache="x-user, set-cookie", private=X-Cart`, "X-User: ana", "X-Cart: 3", "X-Other: 1",
		"Proxy-Authenticate: Basic", "Proxy-Authentication-Info: x", "Proxy-Authorization: x", "Set-Cookie: a=1", `Clear-Site-Data: "cache"`,
	}}}, withSite(func(s *Site) { s.Cache.SetCookie.Keep = []string{"*"} }))
	first := e.get("/p")
	first.has(t, "X-User", "ana")
	first.has(t, "X-Cart", "3")
	first.has(t, "Set-Cookie", "a=1")
	hit := e.get("/p")
	hit.hit(t, "memory")
	for _, name := range []string{"X-User", "X-Cart", "Set-Cookie", "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization"} {
		hit.has(t, name, "")
	}
	hit.has(t, "X-Other", "1")
	hit.has(t, "Clear-Site-Data", `"cache"`)
	app.was(t, 1)
}

// A coding that nobody here knows stays on the page, whose directives then are
// bytes like others; as a fragment it is none.
func TestUnknownCoding(t *testing.T) {
	e, app := newScripted(t, []step{{body: `<!--#echo var="a" -->`, fields: []string{
		"Cache-Control: max-age=60", "Content-Type: text/html", "Content-Encoding: odd",
	}}}, withFiles(t, map[string]string{"page.html": `<!--#include virtual="/p" -->`}))
	for range 2 {
		a := e.get("/p")
		a.is(t, 200, `<!--#echo var="a" -->`)
		a.has(t, "Content-Encoding", "odd")
	}
	app.was(t, 1)
	e.get("/page").is(t, 200, "[error]")
}

// A body that is not in the coding that it says is passed on and not kept, and
// that is what the report says of it.
func TestBrokenCoding(t *testing.T) {
	e, _ := newScripted(t, []step{{body: "no gzip", fields: []string{"Cache-Control: max-age=60", "Content-Type: text/html", "Content-Encoding: gzip"}}})
	for i := range 2 {
		a := e.get("/p")
		a.is(t, 200, "no gzip")
		if s := a.Header.Get("Cache-Status"); strings.Contains(s, "stored") || strings.Contains(s, "hit") {
			t.Errorf("Cache-Status is %q", s)
		}
		realtest.Eventually(t, "the coding is reported", func() bool { return e.reports.totals()["coding"] == uint64(i+1) })
	}
	if n := e.reports.totals()["too-large"]; n != 0 {
		t.Errorf("%d pages were reported as too large, want none", n)
	}
}

// If-Modified-Since is held against the Date of a page without Last-Modified
// (RFC 9111, section 4.3.2).
func TestConditionAgainstDate(t *testing.T) {
	e, _ := newScripted(t, []step{{body: "page", fields: []string{"Cache-Control: max-age=99999999999", "Date: " + lastYear}}})
	e.get("/p")
	for since, want := range map[string]int{
		lastYear: 304, "Sun, 30 Nov 2025 12:00:01 GMT": 304, "Sun, 30 Nov 2025 11:59:59 GMT": 200, "yesterday": 200,
	} {
		if a := e.get("/p", "If-Modified-Since: "+since); a.StatusCode != want {
			t.Errorf("%s: %d, want %d", since, a.StatusCode, want)
		}
	}
	e.get("/p", "If-Modified-Since: "+lastYear, `If-None-Match: "a"`).is(t, 200, "page")
}
