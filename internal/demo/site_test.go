package demo

import (
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ssiedge/ssiedge/ssi"
)

// reference is what a page leads to: a link, a picture, a form, an include.
var reference = regexp.MustCompile(`(href|src|action|include virtual)="([^"]*)"`)

// pages gives every document of the site and of the app, with its directives
// still in it.
func pages(t *testing.T) map[string]string {
	t.Helper()
	docs := map[string]string{}
	for _, name := range publishedFiles(t) {
		if path.Ext(name) == ".html" {
			b, err := embedded.ReadFile("site/" + name)
			if err != nil {
				t.Fatal(err)
			}
			docs[name] = string(b)
		}
	}
	c, base := serve(t, testApp(t))
	_, docs["GET /today"] = ask(t, c, base+"/today", nil)
	_, docs["GET /missing"] = ask(t, c, base+"/missing", nil)
	_, docs["POST /towns"] = ask(t, c, base+"/towns", url.Values{"q": {"a"}})
	_, docs["POST /login"] = ask(t, c, base+"/login", url.Values{})
	ask(t, c, base+"/login", url.Values{"user": {"Ana"}})
	ask(t, c, base+"/towns/old-quay", url.Values{})
	for _, f := range []string{"login", "trip", "tide", "ferries", "ledger", "anatomy?page=how"} {
		_, docs["/fragments/"+f] = ask(t, c, base+"/fragments/"+f, nil)
	}
	return docs
}

func TestEveryReferenceLeadsSomewhere(t *testing.T) {
	c, base := serve(t, testApp(t))
	files := publishedFiles(t)
	known := func(kind, ref string) bool {
		p, _, _ := strings.Cut(strings.TrimPrefix(ref, "/"), "?")
		if slices.Contains(files, p) || slices.Contains(files, p+".html") || p == "" {
			if kind != "action" {
				return true
			}
		}
		form := url.Values(nil)
		if kind == "action" {
			form = url.Values{}
		}
		res, _ := ask(t, c, base+ref, form)
		return res.StatusCode != 404 && res.StatusCode != 405
	}
	// The ferries page shows what becomes of an include that leads nowhere.
	nowhere := "/fragments/thermometer"
	for name, doc := range pages(t) {
		for _, m := range reference.FindAllStringSubmatch(doc, -1) {
			kind, ref := m[1], m[2]
			if strings.HasPrefix(ref, "#") {
				if !strings.Contains(doc+"id=\"main\"", `id="`+ref[1:]+`"`) {
					t.Errorf("%s: no %s in the page", name, ref)
				}
				continue
			}
			if ref == "/fragments/buoy" || ref == nowhere {
				continue
			}
			if !known(kind, ref) {
				t.Errorf("%s: %s %q leads nowhere", name, kind, ref)
			}
		}
	}
	if known("include virtual", nowhere) {
		t.Errorf("%s exists, but the page says that it does not", nowhere)
	}
}

func TestEveryPageCompiles(t *testing.T) {
	for name, doc := range pages(t) {
		for _, p := range ssi.Compile(name, []byte(doc), ssi.Options{}).Problems() {
			t.Error(p)
		}
	}
}

func TestNothingIsLoadedFromElsewhere(t *testing.T) {
	elsewhere := regexp.MustCompile(`(?i)(src|href|url\()\s*=?\s*["'(]?(https?:)?//`)
	docs := pages(t)
	for _, name := range publishedFiles(t) {
		b, err := embedded.ReadFile("site/" + name)
		if err != nil {
			t.Fatal(err)
		}
		docs[name] = string(b)
	}
	for name, doc := range docs {
		if m := elsewhere.FindString(doc); m != "" {
			t.Errorf("%s: %s", name, m)
		}
		if strings.Contains(doc, "<script") {
			t.Errorf("%s holds a script; the site does without", name)
		}
	}
}

func TestEveryPageIsWhole(t *testing.T) {
	for name, doc := range pages(t) {
		if !strings.HasPrefix(strings.TrimSpace(doc), "<!doctype html>") {
			continue // a piece
		}
		for _, want := range []string{
			`<html lang="en">`, `<meta name="viewport"`, "<title>", `href="/style.css"`, `<main id="main"`, "<h1>",
			`include virtual="/parts/header.html"`, `include virtual="/parts/footer.html"`, "</html>",
		} {
			if strings.Count(doc, want) != 1 {
				t.Errorf("%s: %d times %s, want it once", name, strings.Count(doc, want), want)
			}
		}
	}
}
