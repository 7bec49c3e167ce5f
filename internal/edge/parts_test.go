package edge

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/ssiedge/ssiedge/pagecache"
)

// TestCacheControl is the table of what the head of an assembled answer says.
// Fields of page and fragment are separated by "|".
func TestCacheControl(t *testing.T) {
	const (
		cc     = "Cache-Control: "
		old    = "Date: Wed, 01 Jan 2020 00:00:00 GMT"
		cookie = "Cookie: a=1"
	)
	ahead := time.Now().Add(time.Hour).UTC() // by the origin's clock, however long the test takes
	date, soon := "Date: "+ahead.Format(http.TimeFormat), "Expires: "+ahead.Add(time.Minute).Format(http.TimeFormat)
	tests := []struct {
		page, fragment, visitor, want string
	}{
		{"", "", "", ""},
		{cc + "max-age=60", "", "", "max-age=60"},
		{"", cc + "max-age=60", "", "max-age=60"},
		{cc + "max-age=60", cc + "max-age=10", "", "max-age=10"},
		{cc + "max-age=10", cc + "max-age=60", "", "max-age=10"},
		{cc + "max-age=60", cc + "s-maxage=5", "", "max-age=5"},
		{cc + "max-age=60|" + cc + "private", "", "", "private, max-age=60"},
		{cc + "max-age=60", cc + "private", "", "private, max-age=60"},
		{cc + "private", cc + "max-age=60", "", "private, max-age=60"},
		{cc + "max-age=60", cc + "no-store", "", "no-store"},
		{cc + "max-age=60", cc + "no-cache", "", "no-cache, max-age=60"},
		{cc + "max-age=60, must-revalidate", cc + "no-transform, max-age=90", "", "must-revalidate, no-transform, max-age=60"},
		{cc + "max-age=60, proxy-revalidate", "", "", "proxy-revalidate, max-age=60"},
		{cc + "max-age=60|Age: 20", "", "", "max-age=40"},
		{cc + "max-age=60|Age: 90", "", "", "max-age=0"},
		{cc + "max-age=60", cc + "max-age=60|Age: 55", "", "max-age=5"},
		{soon + "|" + date, "", "", "max-age=60"},
		{soon + "|" + date + "|" + cc + "max-age=5", "", "", "max-age=5"},
		{"Expires: 0|" + date, "", "", "max-age=0"},
		{"", soon + "|" + date, "", "max-age=60"},
		{"Expires: Wed, 01 Jan 2020 00:01:00 GMT|" + old, "", "", "max-age=0"}, // it is older than that
		{cc + "max-age=60|" + old, "", "", "max-age=0"},
		{cc + "max-age=60", cc + "max-age=60|" + old, "", "max-age=0"},
		{cc + "max-age=60|Pragma: no-cache", "", "", "max-age=60"},
		{cc + "max-age=60", "", cookie, "private, max-age=60"},
		{cc + "max-age=60", cc + "public, max-age=60", cookie, "max-age=60"},
		{cc + "max-age=60", cc + "s-maxage=60", cookie, "max-age=60"},
		{cc + "max-age=60", cc + "max-age=60", "Authorization: Basic x", "private, max-age=60"},
		{cc + "max-age=60", "status", "", "no-store"},
		{cc + "private", "status", cookie, "private, no-store"},
	}
	var page, fragment atomic.Pointer[[]string]
	app := newRecorder(t, func(head, _ string) string {
		if pathOf(head) == "/p" {
			return htmlAnswer(`[<!--#include virtual="/f" -->]`, *page.Load()...)
		}
		fields := *fragment.Load()
		if len(fields) == 1 && fields[0] == "status" {
			return "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n"
		}
		return htmlAnswer("f", fields...)
	})
	e := newEdge(t, withSite(patient), withOrigin(app.url))
	for _, test := range tests {
		set := func(p *atomic.Pointer[[]string], lines string) {
			var fields []string
			if lines != "" {
				fields = strings.Split(lines, "|")
			}
			p.Store(&fields)
		}
		set(&page, test.page)
		set(&fragment, test.fragment)
		var fields []string
		if test.visitor != "" {
			fields = append(fields, test.visitor)
		}
		a := e.get("/p", fields...)
		if got := strings.Join(a.lines("Cache-Control"), "\n"); got != test.want || a.StatusCode != 200 {
			t.Errorf("page %q, fragment %q, visitor %q: %d %q, want %q", test.page, test.fragment, test.visitor, a.StatusCode, got, test.want)
		}
		for _, name := range []string{"Expires", "Pragma", "Age"} {
			a.has(t, name, "")
		}
		if date, err := http.ParseTime(a.Header.Get("Date")); err != nil || time.Since(date).Abs() > time.Minute {
			t.Errorf("page %q: Date %q, want that of this moment: the lifetime counts from it", test.page, a.lines("Date"))
		}
	}
}

// TestPersonalVariables: what a page reads of its visitor makes it private,
// what the URL says does not.
func TestPersonalVariables(t *testing.T) {
	tests := []struct {
		page, target, want string
	}{
		{`<!--#echo var="cookie_a" -->`, "/p", "private"},
		{`<!--#echo var="http_user_agent" -->`, "/p", "private"},
		{`<!--#echo var="remote_addr" -->`, "/p", "private"},
		{`<!--#echo var="request_id" -->`, "/p", "private"},
		{`<!--#if expr="$cookie_a" -->x<!--#endif -->`, "/p", "private"},
		{`<!--#echo var="args" -->`, "/p?a=1", ""},
		{`<!--#echo var="arg_a" -->`, "/p?a=1", ""},
		{`<!--#echo var="arg_a" -->`, "/p?a=1&utm_x=2", "private"},
		{`<!--#echo var="uri" --><!--#echo var="host" --><!--#echo var="date_local" -->`, "/p", ""},
		{`<!--#if expr="$uri = /p" -->x<!--#endif -->`, "/p", ""},
	}
	for _, test := range tests {
		app := newRecorder(t, func(string, string) string { return htmlAnswer(test.page) })
		a := newEdge(t, withOrigin(app.url)).get(test.target)
		if got := strings.Join(a.lines("Cache-Control"), "\n"); got != test.want {
			t.Errorf("%s at %s: %q, want %q", test.page, test.target, got, test.want)
		}
	}
}

func TestHeadOfAssembledAnswer(t *testing.T) {
	app := newRecorder(t, func(head, _ string) string {
		if pathOf(head) == "/p" {
			return htmlAnswer(`[<!--#include virtual="/f" -->]`, "Vary: Accept-Language", "Vary: Cookie", "ETag: \"e\"", "Content-MD5: x", "Digest: x",
				"Last-Modified: Thu, 01 Jan 2026 00:00:00 GMT", "Accept-Ranges: bytes", "CDN-Cache-Control: max-age=9", "Content-Language: pt",
				"Set-Cookie: page=1", "X-Other: 1")
		}
		return htmlAnswer("f", "Vary: cookie, X-Fragment", "Set-Cookie: fragment=1", "Set-Cookie: fragment2=1", "Content-Language: en", "X-Of-Fragment: 1")
	})
	e := newEdge(t, withSite(patient), withOrigin(app.url))
	a := e.get("/p")
	a.is(t, 200, "[f]")
	sameLines(t, fieldsOf(a.head, "Date", "Etag", "Connection"),
		"Content-Type: text/html", "Content-Length: 3", "Vary: Accept-Language, Cookie, X-Fragment", "Content-Language: pt",
		"Set-Cookie: page=1", "X-Other: 1", "Cache-Status: ssiedge; fwd=uri-miss", "Via: 1.1 ssiedge")
	if n := e.metrics.droppedCookies.Load(); n != 2 {
		t.Errorf("%d dropped cookies counted, want 2", n)
	}
}

func TestRuleExpiresOnAssembledAnswer(t *testing.T) {
	app := newRecorder(t, func(head, _ string) string {
		return htmlAnswer(`<!--#echo var="uri" -->`, "Cache-Control: max-age="+strings.TrimPrefix(pathOf(head), "/"))
	})
	e := newEdge(t, withOrigin(app.url), withFiles(t, map[string]string{"p.html": `<!--#echo var="uri" -->`}),
		withRule(Rule{Paths: []string{"*"}, Expires: ptr(time.Minute)}))
	e.get("/3600").has(t, "Cache-Control", "max-age=60")
	a := e.get("/5")
	a.has(t, "Cache-Control", "max-age=5")
	a.has(t, "Expires", "")
	// A published page states none, and the rule gives none either.
	e.get("/p").has(t, "Cache-Control", "")
}

func TestEntityTagOfAssembledAnswer(t *testing.T) {
	var text atomic.Value
	text.Store("one")
	app := newRecorder(t, func(head, _ string) string { return htmlAnswer(text.Load().(string)) })
	files := withFiles(t, map[string]string{"p.html": `[<!--#include virtual="/f" -->]`})
	e := newEdge(t, withSite(patient), withOrigin(app.url), files)
	other := newEdge(t, withSite(patient), withOrigin(app.url), files)
	first := e.get("/p").Header.Get("Etag")
	if tag := other.get("/p").Header.Get("Etag"); tag != first || first == "" {
		t.Errorf("entity-tags %q and %q for the same bytes on two nodes", first, tag)
	}
	for _, field := range []string{"If-None-Match: " + first, "If-None-Match: " + strings.TrimPrefix(first, "W/"), "If-None-Match: *"} {
		a := e.get("/p", field)
		a.is(t, 304, "")
		a.has(t, "Etag", first)
		a.has(t, "Content-Length", "")
		a.has(t, "Cache-Status", "ssiedge; hit; detail=file")
	}
	e.get("/p", "If-Modified-Since: Thu, 01 Jan 2099 00:00:00 GMT").is(t, 200, "[one]")
	e.get("/p", "Range: bytes=0-0").is(t, 200, "[one]")
	e.get("/p", "If-Match: \"x\"").is(t, 200, "[one]")
	text.Store("two")
	a := e.get("/p", "If-None-Match: "+first)
	a.is(t, 200, "[two]")
	if tag := a.Header.Get("Etag"); tag == first {
		t.Errorf("entity-tag %q for other bytes", tag)
	}
	without := newEdge(t, withSite(patient), withOrigin(app.url), files, withSite(func(s *Site) { s.SSI.ETag = false }))
	a = without.get("/p", "If-None-Match: *")
	a.is(t, 200, "[two]")
	a.has(t, "Etag", "")
}

// TestNoTagOnWhatNobodyKeeps: an answer that is no-store has no use for an
// entity-tag, and is sent whole each time.
func TestNoTagOnWhatNobodyKeeps(t *testing.T) {
	for name, fragment := range map[string]string{
		"a part says so": htmlAnswer("f", "Cache-Control: no-store"),
		"one failed":     "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n",
	} {
		app := newRecorder(t, func(string, string) string { return fragment })
		e := newEdge(t, withSite(patient), withOrigin(app.url), withFiles(t, map[string]string{"p.html": `[<!--#include virtual="/f" -->]`}))
		a := e.get("/p", "If-None-Match: *")
		a.has(t, "Etag", "")
		a.has(t, "Cache-Control", "no-store")
		if a.StatusCode != 200 {
			t.Errorf("%s: %d, want 200", name, a.StatusCode)
		}
	}
}

// TestVaryOfAPendingPage is the union of the parts that are known when the head
// leaves.
func TestVaryOfAPendingPage(t *testing.T) {
	release := make(chan struct{})
	e, _ := newPulling(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Cache-Control", "max-age=60")
		switch r.URL.Path {
		case "/p":
			w.Header().Set("Vary", "X-Page")
			io.WriteString(w, `<!--#include virtual="/known" --><!--#include virtual="/slow" -->`)
		case "/known":
			w.Header().Set("Vary", "X-Known, x-page")
		default:
			<-release
			w.Header().Set("Vary", "X-Slow")
		}
		w.Header().Set("Expires", "Thu, 01 Jan 2099 00:00:00 GMT")
		io.WriteString(w, r.URL.Path)
	})
	e.get("/known")
	p := e.begin("/p")
	head := rawHead(t, p.r)
	close(release)
	sameLines(t, fieldLines(head, "Vary"), "X-Page, X-Known")
	sameLines(t, fieldLines(head, "Cache-Control"), "private, no-cache")
	for _, name := range []string{"Etag", "Expires", "Content-Length"} {
		if v := fieldLines(head, name); v != nil {
			t.Errorf("%s is %q, want none", name, v)
		}
	}
	io.Copy(io.Discard, p.r)
}

func TestKeepLastModified(t *testing.T) {
	e := newEdge(t, withFiles(t, map[string]string{"p.html": `<!--#echo var="uri" -->`}),
		withSite(func(s *Site) { s.SSI.KeepLastModified = true }))
	a := e.get("/p")
	a.is(t, 200, "/p.html")
	a.has(t, "Last-Modified", lastModified)
	e.get("/p", "If-Modified-Since: "+lastModified).is(t, 304, "")
	drop := newEdge(t, withFiles(t, map[string]string{"p.html": `<!--#echo var="uri" -->`}))
	drop.get("/p").has(t, "Last-Modified", "")
}

// TestHeadCallsNoFragment is O11 of the public bug reports, for what is
// published.
func TestHeadCallsNoFragment(t *testing.T) {
	app := newRecorder(t, func(string, string) string { return htmlAnswer("f") })
	e := newEdge(t, withSite(patient), withOrigin(app.url), withFiles(t, map[string]string{
		"p.html": `[<!--#include virtual="/f" -->]`, "q.html": `[<!--#include virtual="/p2" -->]`, "p2.html": "known",
	}))
	h := e.do("HEAD", "/p")
	h.is(t, 200, "")
	h.has(t, "Cache-Control", "private, no-cache")
	h.has(t, "Etag", "")
	h.has(t, "Content-Length", "")
	h.has(t, "Content-Type", "text/html; charset=utf-8")
	if all := app.all(); len(all) != 0 {
		t.Errorf("the app got %q for a HEAD", all)
	}
	e.get("/p").is(t, 200, "[f]")
	g, h := e.get("/q"), e.do("HEAD", "/q")
	g.is(t, 200, "[known]")
	h.is(t, 200, "")
	if withoutDate(g.head) != withoutDate(h.head) {
		t.Errorf("all at hand: head of HEAD\n%swant that of GET\n%s", h.head, g.head)
	}
}

// TestPartOfPulledPage: what a kept head says counts as if it were a header of
// fasthttp's.
func TestPartOfPulledPage(t *testing.T) {
	now := time.Now()
	at := func(d time.Duration) string { return now.Add(d).UTC().Format(http.TimeFormat) }
	for _, fields := range [][]string{
		{},
		{"Cache-Control: public, max-age=600", "cache-control:\ts-maxage=500 , no-transform", "Vary: Accept-Language"},
		{"CACHE-CONTROL: private=\"a, b\", max-age=x", "Vary: a ,B", "vary: b,c"},
		{"Date: " + at(-time.Hour), "Expires: " + at(2*time.Hour)},
		{"Date: " + at(-time.Hour), "Expires: 0", "Expires: " + at(2*time.Hour)},
		{"Expires: " + at(time.Hour)},
		{"Date: " + at(-time.Hour), "Cache-Control: max-age=7200, must-revalidate", "Expires: 0"},
		{"Surrogate-Control: max-age=5", "X-Cache-Control: no-store", "Cache-Control:"},
	} {
		page := &pagecache.Page{Head: []byte("HTTP/1.1 200 OK\r\n" + strings.Join(append(fields, "\r\n"), "\r\n"))}
		page.Measured = now.Add(-time.Minute).UnixMilli()
		var h fasthttp.ResponseHeader
		if err := h.Read(bufio.NewReader(bytes.NewReader(page.Head))); err != nil {
			t.Fatalf("%q: %v", page.Head, err)
		}
		h.Set("Age", strconv.FormatInt(page.Age(now), 10))
		var got, want parts
		got.addPage(page, now)
		want.add(&h, now)
		if got.limits != want.limits || got.stated != want.stated || got.lifetime != want.lifetime || !slices.EqualFunc(got.vary, want.vary, bytes.Equal) {
			t.Errorf("%q: %b, %v %d, %q; want %b, %v %d, %q", fields, got.limits, got.stated, got.lifetime, got.vary, want.limits, want.stated, want.lifetime, want.vary)
		}
	}
}
