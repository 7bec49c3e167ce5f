package edge

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestAsksForSSI(t *testing.T) {
	for line, want := range map[string]bool{
		`content="SSI/1.0"`:                          true,
		`no-store, content="SSI/1.0"`:                true,
		`max-age=60, content="ESI/1.0 SSI/1.0"`:      true,
		`Content="ssi/1.0";ssiedge, max-age=5`:       true,
		`content="SSI/1.0"; ssiedge`:                 true,
		`content="SSI/1.0";other`:                    false,
		`max-age=60, content = "SSI/1.0"`:            true,
		`content="ESI/1.0"`:                          false,
		`content="SSI/1.01"`:                         false,
		`content=SSI/1.0`:                            false,
		`content="SSI/1.0`:                           false,
		`content`:                                    false,
		`x="content=\"SSI/1.0\"", no-store`:          false,
		`no-store`:                                   false,
		``:                                           false,
		`content="ESI/1.0";other, content="SSI/1.0"`: true,
	} {
		if got := asksForSSI([]byte(line)); got != want {
			t.Errorf("%s: %t, want %t", line, got, want)
		}
	}
}

// TestSurrogateControl: an answer that asks for it is run, whatever its type, also
// from memory; the field ends here.
func TestSurrogateControl(t *testing.T) {
	const body = `<a><!--#echo var="uri" --></a>`
	e, app := newPulling(t, func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "application/xml")
		h.Set("Cache-Control", "max-age=60")
		switch r.URL.Path {
		case "/asks":
			h.Set("Surrogate-Control", `content="SSI/1.0"`)
		case "/asks-unkept":
			h.Set("Surrogate-Control", `no-store, content="SSI/1.0"`)
		case "/asks-in-a-second-line":
			h.Add("Surrogate-Control", "max-age=60")
			h.Add("Surrogate-Control", `content="SSI/1.0"`)
		case "/plain":
			h.Set("Surrogate-Control", "max-age=60")
		case "/html":
			h.Set("Content-Type", "text/html")
			h.Set("Surrogate-Control", "max-age=60")
		}
		io.WriteString(w, body)
	}, withRule(Rule{Paths: []string{"*/off"}, SSI: ptr(false)}),
		withFiles(t, map[string]string{"p.html": `<!--#include virtual="/asks" --> <!--#include virtual="/asks-unkept" --> <!--#include virtual="/plain" -->`}))
	for range 2 {
		for target, want := range map[string]string{
			"/asks": "<a>/asks</a>", "/asks-unkept": "<a>/asks-unkept</a>", "/asks-in-a-second-line": "<a>/asks-in-a-second-line</a>", "/html": "<a>/html</a>", "/plain": body, "/none": body, "/asks/off": body,
			"/p": "<a>/asks</a> <a>/asks-unkept</a> " + body,
		} {
			a := e.get(target)
			a.is(t, 200, want)
			a.has(t, "Surrogate-Control", "")
		}
	}
	if n := app.fragments("/asks") + app.fragments("/plain"); n != 2 {
		t.Errorf("what is kept was asked for %d times, want once each", n)
	}
}

// symfony is an app as Symfony's SSI mode is: it prints include tags, with signed
// URLs of fragments, for who says that he runs them, and else the fragments
// themselves.
type symfony struct{ key []byte }

func (s *symfony) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=UTF-8")
	w.Header().Set("Cache-Control", "no-cache, private")
	if r.URL.Path == "/_fragment" {
		s.fragment(w, r)
		return
	}
	query := url.Values{"_path": {"name=Zo\u00eb & co&_format=html&_locale=en&_controller=App\\Controller\\Menu::show"}}
	if !strings.Contains(r.Header.Get("Surrogate-Capability"), "SSI/1.0") {
		io.WriteString(w, "inline")
		return
	}
	w.Header().Set("Surrogate-Control", `content="SSI/1.0"`)
	uri := "/_fragment?" + query.Encode()
	fmt.Fprintf(w, `[<!--#include virtual="%s" -->]`, uri+"&_hash="+url.QueryEscape(s.sign(r, uri)))
}

// sign is a keyed hash of the URL as it is asked for, host and all.
func (s *symfony) sign(r *http.Request, uri string) string {
	m := hmac.New(sha256.New, s.key)
	io.WriteString(m, r.Header.Get("X-Forwarded-Proto")+"://"+r.Host+uri)
	return base64.StdEncoding.EncodeToString(m.Sum(nil))
}

func (s *symfony) fragment(w http.ResponseWriter, r *http.Request) {
	unsigned, hash, _ := strings.Cut(r.RequestURI, "&_hash=")
	if hash, _ = url.QueryUnescape(hash); hash != s.sign(r, unsigned) {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	path, _ := url.ParseQuery(r.URL.Query().Get("_path"))
	fmt.Fprintf(w, "%s for %s", path.Get("_controller"), r.Header.Get("Cookie"))
}

// TestSymfony: the fragment's signature holds, for its URL goes out byte for byte
// and its host is the page's.
func TestSymfony(t *testing.T) {
	e, _ := newPulling(t, (&symfony{key: []byte("secret")}).ServeHTTP, withSite(patient),
		withSite(func(s *Site) { s.Query = QueryFilter{Mode: QueryKeep, Names: []string{"page"}} }))
	for range 2 {
		a := e.get("/", "Cookie: s=ana", "Surrogate-Capability: other=\"none\"")
		a.is(t, 200, `[App\Controller\Menu::show for s=ana]`)
		a.has(t, "Surrogate-Control", "")
		a.has(t, "Cache-Control", "private, no-cache")
	}
	e.get("/", "Host: other.example:8080").is(t, 200, `[App\Controller\Menu::show for ]`)
	off, _ := newPulling(t, (&symfony{key: []byte("secret")}).ServeHTTP, withSite(func(s *Site) { s.SSI.Enabled = false }))
	off.get("/").is(t, 200, "inline")
}
