package conformance

import (
	"strings"
	"testing"
	"time"
)

// Section 28: assembled answers.

const html = "Content-Type: text/html"

// page is a document with one include.
func page(fields ...string) script {
	return ok(`<p><!--#include virtual="/part" --></p>`, append([]string{html}, fields...)...)
}

// assembled is a page and its part, both of which come from the app.
func assembled(t *testing.T, pageFields, partFields []string, settings ...string) *world {
	w := given(t, nil, settings...)
	w.on("/p", page(pageFields...))
	w.on("/part", ok("part", partFields...))
	return w
}

func TestSSI_1(t *testing.T) {
	t.Parallel()
	w := assembled(t, []string{cc("max-age=60"), `ETag: "page"`, "Last-Modified: " + longAgo, "Content-MD5: x", "Digest: x", "Accept-Ranges: bytes"}, []string{cc("max-age=60"), `ETag: "part"`})
	for range 3 {
		g := w.get("/p").is(200, "<p>part</p>")
		g.has("Last-Modified", "").has("Content-MD5", "").has("Digest", "").has("Accept-Ranges", "")
		if tag := g.header.Get("ETag"); tag != "" && !strings.HasPrefix(tag, `W/"`) || strings.Contains(tag, "page") {
			t.Errorf("ETag is %q", tag)
		}
		if cl := g.header.Get("Content-Length"); cl != "" && cl != "11" {
			t.Errorf("Content-Length is %q", cl)
		}
	}
}

// DESIGN.md: a site that has SSI on has made assembly the app's own function.
func TestSSI_2(t *testing.T) {
	t.Parallel()
	w := assembled(t, []string{cc("max-age=60, no-transform")}, []string{cc("max-age=60")})
	w.get("/p").is(200, "<p>part</p>")
	t.Run("off", func(t *testing.T) {
		w := given(t, page(cc("max-age=60, no-transform")), "ssi.enabled = false")
		w.get("/p").is(200, `<p><!--#include virtual="/part" --></p>`)
	})
}

func TestSSI_3(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name       string
		page, part string
		has, lacks []string
	}{
		{"the shortest", "max-age=3600", "max-age=60", []string{"max-age"}, []string{"max-age=3600", "max-age=7"}},
		{"private", "max-age=3600", "private, max-age=60", []string{"private"}, []string{"public"}},
		{"no-store", "max-age=3600", "no-store", []string{"no-store"}, nil},
		{"no-cache", "max-age=3600", "no-cache", []string{"no-cache"}, nil},
		{"page", "private, max-age=60", "max-age=3600", []string{"private"}, []string{"max-age=3600"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			// The head waits for the part: what is decided is what it says.
			w := assembled(t, []string{cc(test.page), "Expires: " + date(time.Hour)}, []string{cc(test.part)}, `ssi.flush_after = "5s"`)
			g := w.get("/p").is(200, "<p>part</p>").has("Expires", "")
			value := strings.Join(g.header.Values("Cache-Control"), ", ") + ","
			for _, part := range test.has {
				if !strings.Contains(value, part) {
					t.Errorf("Cache-Control is %q, want %s", value, part)
				}
			}
			for _, part := range test.lacks {
				if strings.Contains(value, part) {
					t.Errorf("Cache-Control is %q, and has %s", value, part)
				}
			}
		})
	}
}

func TestSSI_4(t *testing.T) {
	t.Parallel()
	w := assembled(t, []string{cc("max-age=60"), `ETag: "page"`, "Last-Modified: " + longAgo}, []string{cc("max-age=60"), `ETag: "part"`}, `ssi.flush_after = "5s"`)
	tag := w.get("/p").is(200, "<p>part</p>").header.Get("ETag")
	for _, field := range []string{inm(`"page"`), inm(`"part"`), ims(date(0)), rng("0-1")} {
		w.get("/p", field).is(200, "<p>part</p>")
	}
	if tag == "" {
		t.Fatal("no ETag although all is at hand")
	}
	w.get("/p", inm(tag)).is(304, "")
}

func TestSSI_5(t *testing.T) {
	t.Parallel()
	w := given(t, nil, `ssi.flush_after = "5s"`)
	w.on("/p", page(cc("max-age=60"), "Vary: Foo"))
	w.on("/part", func(q *asked) string { return message(200, q.Header.Get("Bar"), cc("max-age=60"), "Vary: Bar") })
	for _, bar := range []string{"1", "2", "1", "2"} {
		g := w.get("/p", "Foo: x", "Bar: "+bar).is(200, "<p>"+bar+"</p>")
		vary := strings.Join(g.header.Values("Vary"), ", ")
		if !strings.Contains(vary, "Foo") || !strings.Contains(vary, "Bar") {
			t.Errorf("Vary is %q, want both", vary)
		}
	}
	if n := len(w.requests()); n != 3 {
		t.Errorf("the app was asked %d times, want 3: the page, and two variants of its part", n)
	}
}
