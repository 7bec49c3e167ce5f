package edge

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// tagged is an app that has one page for all of some languages, and another for
// the rest, each with its entity-tag.
func tagged(vary string, rest ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		tag, body := `"a"`, "page a"
		if slices.Contains(rest, r.Header.Get("X-Lang")+r.Header.Get("Cookie")) {
			tag, body = `"b"`, "page b"
		}
		w.Header().Set("Vary", vary)
		w.Header().Set("Cache-Control", "public, max-age=60")
		w.Header().Set("Etag", tag)
		if r.Header.Get("If-None-Match") != "" && strings.Contains(r.Header.Get("If-None-Match"), tag) {
			w.WriteHeader(304)
			return
		}
		io.WriteString(w, body)
	}
}

// Where there is no page for such a request, the app is asked about those for
// others; a 304 makes the one it names a page for this request, too (VAR-13).
func TestValidationOfVariants(t *testing.T) {
	e, app := newPulling(t, tagged("X-Lang", "de"))
	e.get("/p", "X-Lang: en").has(t, "Cache-Status", "ssiedge; fwd=uri-miss; stored")
	e.get("/p", "X-Lang: de").has(t, "Cache-Status", "ssiedge; fwd=vary-miss; stored")
	a := e.get("/p", "X-Lang: fr")
	a.is(t, 200, "page a")
	a.has(t, "Cache-Status", "ssiedge; fwd=vary-miss; fwd-status=304; stored")
	app.has(t, 0, "If-None-Match", "")
	app.has(t, 1, "If-None-Match", `"a"`)
	app.has(t, 2, "If-None-Match", `"a", "b"`)
	app.has(t, 2, "If-Modified-Since", "")
	for lang, body := range map[string]string{"en": "page a", "de": "page b", "fr": "page a"} {
		a := e.get("/p", "X-Lang: "+lang)
		a.is(t, 200, body)
		a.hit(t, "memory")
	}
	app.was(t, 3)
}

// An app that has one entity-tag for the pages of all its visitors must not have
// one of them shown another's.
func TestValidationOffersNoPageOfAnotherVisitor(t *testing.T) {
	for _, vary := range []string{"Cookie", "X-Lang, cookie", "Authorization"} {
		e, app := newPulling(t, tagged(vary))
		e.get("/p", "Cookie: session=ana", "Authorization: Basic YTpi")
		e.get("/p", "Cookie: session=bob", "Authorization: Basic YTpj").has(t, "Cache-Status", "ssiedge; fwd=vary-miss; stored")
		app.has(t, 1, "If-None-Match", "")
	}
}

// The fill in the background validates, too, with nothing of the visitor; after a
// failure the next one waits, and the stale page is served meanwhile.
func TestValidationInTheBackground(t *testing.T) {
	window := "Cache-Control: max-age=60, stale-while-revalidate=1000"
	e, app := newScripted(t, []step{
		{body: "page", fields: []string{window, "Age: 100", `Etag: "a"`}}, {status: 503}, unchanged(`Etag: "a"`, "X-New: 1"),
	})
	e.get("/p")
	e.get("/p", "Cookie: a=1").is(t, 200, "page")
	store := e.state.Load().store
	realtest.Eventually(t, "the key rests", func() bool { return store.resting.Has(e.keptKey("/p")) })
	store.resting.Add(e.keptKey("/p"), time.Hour) // however slow this machine is
	for range 5 {
		e.get("/p").is(t, 200, "page")
	}
	app.was(t, 2)
	store.resting.Remove(e.keptKey("/p"))
	e.get("/p").is(t, 200, "page")
	realtest.Eventually(t, "the renewed page", func() bool { return e.get("/p").Header.Get("X-New") == "1" })
	for n := range 2 {
		app.has(t, n+1, "If-None-Match", `"a"`)
		app.has(t, n+1, "Cookie", "")
	}
}

// The fill in the background carries nothing of the visitor, so it is none for a
// page that is his: an app that compares dates alone would have it everybody's.
func TestValidationInTheBackgroundOfNobodysPage(t *testing.T) {
	for _, field := range []string{"Cookie", "Authorization"} {
		e, app := newPulling(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "public, max-age=60, stale-while-revalidate=1000")
			w.Header().Set("Vary", field)
			w.Header().Set("Last-Modified", lastYear)
			if r.Header.Get("If-Modified-Since") != "" {
				w.WriteHeader(304)
				return
			}
			w.Header().Set("Age", "100")
			io.WriteString(w, "page of "+r.Header.Get(field))
		})
		e.get("/p", field+": ana").is(t, 200, "page of ana")
		a := e.get("/p", field+": ana")
		a.is(t, 200, "page of ana")
		a.has(t, "Cache-Status", "ssiedge; fwd=stale; fwd-status=304; stored")
		app.has(t, 1, field, "ana")
		e.get("/p").is(t, 200, "page of ")
		e.get("/p", field+": bob").is(t, 200, "page of bob")
	}
}

// A 304 whose Vary leaves out what made the page one visitor's does not make it
// everybody's.
func TestValidationLosesVary(t *testing.T) {
	for _, field := range []string{"Cookie", "Authorization"} {
		e, app := newScripted(t, []step{
			stalePage("page of ana", "Cache-Control: public", `Etag: "a"`, "Vary: X-Lang", "Vary: "+field),
			unchanged(`Etag: "a"`, "Vary: X-Lang", "Cache-Control: public, max-age=60", "Age: 0"),
			stalePage("page of bob", "Cache-Control: public"),
		})
		e.get("/p", field+": ana").is(t, 200, "page of ana")
		e.get("/p", field+": ana").is(t, 200, "page of ana")
		app.has(t, 1, "If-None-Match", `"a"`)
		e.get("/p", field+": bob").is(t, 200, "page of bob")
	}
}

// A template is compiled once, however often its page is renewed.
func TestValidationKeepsTemplate(t *testing.T) {
	e, _ := newScripted(t, []step{
		stalePage(`<!--#set var="a" value="b" --><!--#echo var="a" -->`, "Content-Type: text/html", `Etag: "a"`),
		unchanged(`Etag: "a"`, "Cache-Control: max-age=70"),
	})
	e.get("/p").is(t, 200, "b")
	site := e.state.Load().router.sites[0]
	before := site.compiled(e.keptPage("/p"))
	a := e.get("/p")
	a.is(t, 200, "b")
	a.has(t, "Cache-Control", "max-age=70")
	if site.compiled(e.keptPage("/p")) != before {
		t.Error("compiled again")
	}
}

// Fragments are validated like pages.
func TestValidationOfFragments(t *testing.T) {
	e, app := newScripted(t, []step{stalePage("fragment", `Etag: "a"`), unchanged(`Etag: "a"`)},
		withFiles(t, map[string]string{"page.html": `[<!--#include virtual="/f" -->]`}), withSite(func(s *Site) { s.SSI.FlushAfter = patience }))
	for range 3 {
		e.get("/page").is(t, 200, "[fragment]")
	}
	app.was(t, 2)
	app.has(t, 1, "If-None-Match", `"a"`)
}

// What tells the edge alone how long the page lives need not be in the 304.
func TestValidationKeepsTarget(t *testing.T) {
	for _, field := range []string{"SSIEdge-Cache-Control: max-age=7200", "Surrogate-Control: max-age=7200", "X-Accel-Expires: 7200"} {
		e, app := newScripted(t, []step{
			{body: "page", fields: []string{field, "Cache-Control: max-age=5", "Age: 9000", `Etag: "a"`}}, unchanged(`Etag: "a"`, "Cache-Control: max-age=5"),
		})
		name, _, _ := strings.Cut(field, ":")
		e.get("/p").has(t, name, "")
		if name == "X-Accel-Expires" { // it counts from when the answer came, so the page is not stale yet
			e.purged(PurgeCall{URLs: []string{"/p"}, Soft: true})
		}
		e.get("/p")
		realtest.Eventually(t, "a fresh page", func() bool {
			return strings.HasPrefix(e.get("/p").Header.Get("Cache-Status"), "ssiedge; hit; ttl=7")
		})
		e.get("/p").has(t, name, "")
		app.was(t, 2)
	}
}

// A purge leaves nothing to validate, and a soft one does.
func TestValidationAfterPurge(t *testing.T) {
	for _, soft := range []bool{false, true} {
		e, app := newScripted(t, []step{
			{body: "page", fields: []string{"Cache-Control: max-age=60", `Etag: "a"`}}, unchanged(`Etag: "a"`),
		}, withSite(func(s *Site) { s.Cache.SoftWindow = 0 }))
		e.get("/p")
		e.purged(PurgeCall{URLs: []string{"/p"}, Soft: soft})
		e.get("/p")
		app.has(t, 1, "If-None-Match", map[bool]string{true: `"a"`}[soft])
	}
}

// A page that must be validated is an error where that cannot be.
func TestValidationFails(t *testing.T) {
	for control, want := range map[string]int{"max-age=60, must-revalidate": 504, "max-age=60, stale-if-error=0": 502, "no-cache": 502} {
		e, _ := newScripted(t, []step{{body: "page", fields: []string{"Cache-Control: " + control, "Age: 100", `Etag: "a"`}}},
			withSite(func(s *Site) { s.Cache.StaleIfError = time.Hour }))
		e.get("/p").is(t, 200, "page")
		e.options.Sites[0].Origin.Servers = []string{"http://127.0.0.1:1"} // where nobody listens
		if err := e.Reload(e.options); err != nil {
			t.Fatal(err)
		}
		if a := e.get("/p"); a.StatusCode != want {
			t.Errorf("%s: %d, want %d", control, a.StatusCode, want)
		}
	}
}
