package edge

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ssiedge/ssiedge/pagecache"
)

// sessions is an app as they are: it greets by the cookie "session", and gives
// one to who has none, which would sign everybody else out.
func sessions(w http.ResponseWriter, r *http.Request) {
	who := "stranger"
	if c, err := r.Cookie("session"); err == nil {
		who = c.Value
	} else {
		http.SetCookie(w, &http.Cookie{Name: "session", Value: "new"})
	}
	fmt.Fprintf(w, "hello %s", who)
}

// greets is sessions for an app that sets no cookie.
func greets(fields ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		says("hello "+r.Header.Get("Cookie"), fields...)(w, r)
	}
}

// By a rule's lifetime the page is everybody's: the app sees no cookie.
func TestCookiesNone(t *testing.T) {
	e, app := newPulling(t, greets("Cache-Control: private"), withRule(forAnHour("*")))
	e.get("/p", "Cookie: session=ana", "Authorization: Basic YTpi").is(t, 200, "hello ")
	for _, fields := range [][]string{{"Cookie: session=bob"}, nil, {"Authorization: Basic YTpi"}} {
		a := e.get("/p", fields...)
		a.is(t, 200, "hello ")
		a.hit(t, "memory")
	}
	app.was(t, 1)
	if h := app.requests()[0].Header; h.Get("Cookie")+h.Get("Authorization") != "" {
		t.Errorf("the fill has %v", h)
	}
}

// Where the answer to a fill without cookies cannot be kept, who had cookies gets
// an answer of his own: nobody is signed out.
func TestWithheldRepliesAreAskedAgain(t *testing.T) {
	for reason, reply := range map[string]http.HandlerFunc{
		"set-cookie": sessions,
		"no-store": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "no-store")
			sessions(w, r)
		},
		"status": func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Cookie")+r.Header.Get("Authorization") == "" {
				w.WriteHeader(403)
				return
			}
			w.Header().Set("Cache-Control", "no-store")
			sessions(w, r)
		},
	} {
		for _, listed := range []bool{false, true} {
			rule := forAnHour("*")
			if listed {
				rule.Cookies = &Cookies{Mode: CookiesListed, Names: []string{"lang"}}
			}
			e, app := newPulling(t, reply, withRule(rule))
			for i, who := range []string{"ana", "bob", "ana"} {
				a := e.get("/p", "Cookie: session="+who)
				a.is(t, 200, "hello "+who)
				a.has(t, "Set-Cookie", "")
				want := reason
				if i > 0 {
					want = "not-keepable"
				}
				a.has(t, "Cache-Status", "ssiedge; fwd=uri-miss; detail="+want)
			}
			app.was(t, 4) // the first twice
			a := e.get("/p")
			if reason != "status" {
				a.has(t, "Set-Cookie", "session=new") // his own
			}
			if strings.Contains(a.body, "ana") || strings.Contains(a.body, "bob") {
				t.Errorf("a stranger got %q", a.body)
			}
			if reason == "status" {
				e.get("/p", "Authorization: Basic YTpi").is(t, 200, "hello stranger")
			}
		}
	}
}

// A 5xx to a fill without the visitor's cookies is not his answer either.
func TestWithheldFailureIsAskedAgain(t *testing.T) {
	e, app := newPulling(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Cookie") == "" {
			http.SetCookie(w, &http.Cookie{Name: "session", Value: "new"})
			w.WriteHeader(500)
			return
		}
		sessions(w, r)
	}, withRule(forAnHour("*")))
	a := e.get("/p", "Cookie: session=ana")
	a.is(t, 200, "hello ana")
	a.has(t, "Set-Cookie", "")
	app.was(t, 2)
	e.get("/p").is(t, 500, "")
}

// By default the app sees the cookies, and only what it says is for all, or what
// it made for nobody in particular, is kept.
func TestCookiesAll(t *testing.T) {
	e, app := newPulling(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", map[string]string{
			"/public": "public, max-age=60", "/shared": "s-maxage=60", "/plain": "max-age=60", "/must": "max-age=60, must-revalidate",
		}[r.URL.Path])
		if r.URL.Path == "/target" {
			w.Header().Set("SSIEdge-Cache-Control", "max-age=60")
		}
		fmt.Fprintf(w, "%s%s", r.Header.Get("Cookie"), r.Header.Get("Authorization"))
	})
	cookie, login := "Cookie: session=ana", "Authorization: Basic YTpi"
	for _, test := range []struct {
		target, field string
		kept          bool
	}{
		{"/public", cookie, true}, {"/shared", cookie, true}, {"/target", cookie, true},
		{"/plain", cookie, false}, {"/must", cookie, false},
		{"/public", login, true}, {"/shared", login, true}, {"/must", login, true},
		{"/plain", login, false}, {"/target", login, false},
	} {
		target := test.target + "?" + test.field[:6]
		before := len(app.requests())
		_, own, _ := strings.Cut(test.field, ": ")
		e.get(target, test.field).is(t, 200, own)
		other := e.get(target)
		if test.kept {
			other.is(t, 200, own) // the app has said so
			other.hit(t, "memory")
		} else {
			other.is(t, 200, "")
			e.get(target, test.field).is(t, 200, "") // what was made for nobody is everybody's
		}
		if n := len(app.requests()) - before; test.kept && n != 1 || !test.kept && n != 2 {
			t.Errorf("%s: the app was asked %d times", target, n)
		}
	}
}

// Listed cookies are forwarded and keyed, others are neither.
func TestCookiesListed(t *testing.T) {
	rule := forAnHour("*")
	rule.Cookies = &Cookies{Mode: CookiesListed, Names: []string{"lang", "theme"}}
	e, app := newPulling(t, greets(), withRule(rule))
	for i, test := range []struct {
		want   string
		asked  int
		fields []string
	}{
		{"lang=de", 1, []string{"Cookie: session=ana; lang=de"}},
		{"lang=de", 1, []string{"Cookie: lang=de; session=bob"}},
		{"lang=de", 1, []string{"Cookie: a=1", "Cookie: lang=de"}},
		{"lang=de", 1, []string{"Cookie: lang=de; lang=fr"}}, // the first of a name counts, and goes out
		{"lang=fr", 2, []string{"Cookie: lang=fr"}},
		{"", 3, []string{"Cookie: session=ana"}},
		{"", 3, nil},
		{"lang=", 4, []string{"Cookie: lang="}},
		{"theme=de", 5, []string{"Cookie: theme=de"}},
		{"lang=de; theme=x", 6, []string{"Cookie: theme=x; lang=de"}},
		{"lang=de; theme=x", 6, []string{"Cookie: lang=de; theme=x", "Connection: cookie"}},
		{"", 6, []string{"Cookie: Lang=de"}},
		{"", 6, []string{"Cookie: xlang=de; lang"}},
	} {
		e.get("/p", test.fields...).is(t, 200, "hello "+test.want)
		if n := len(app.requests()); n != test.asked {
			t.Errorf("case %d: asked %d times, want %d", i, n, test.asked)
		}
	}
}

func TestSetCookieStrip(t *testing.T) {
	rule := forAnHour("*")
	rule.SetCookie = &pagecache.CookiePolicy{Strip: true}
	e, app := newPulling(t, sessions, withRule(rule))
	first := e.get("/a")
	first.is(t, 200, "hello stranger")
	first.has(t, "Set-Cookie", "session=new") // made for who had none
	for _, fields := range [][]string{nil, {"Cookie: session=ana"}} {
		a := e.get("/a", fields...)
		a.hit(t, "memory")
		a.has(t, "Set-Cookie", "")
	}
	withheld := e.get("/b", "Cookie: session=ana")
	withheld.is(t, 200, "hello stranger")
	withheld.has(t, "Set-Cookie", "") // it would sign her out
	withheld.has(t, "Cache-Status", "ssiedge; fwd=uri-miss; stored")
	e.get("/b").has(t, "Set-Cookie", "")
	app.was(t, 2)
}

func TestSetCookieKeep(t *testing.T) {
	rule := forAnHour("*")
	rule.SetCookie = &pagecache.CookiePolicy{Keep: []string{"lang"}}
	e, app := newPulling(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Set-Cookie", "lang=de")
		if r.URL.Path == "/both" {
			w.Header().Add("Set-Cookie", "session=new")
		}
	}, withRule(rule))
	e.get("/lang").has(t, "Set-Cookie", "lang=de")
	a := e.get("/lang", "Cookie: session=ana")
	a.hit(t, "memory")
	a.has(t, "Set-Cookie", "lang=de")
	app.was(t, 1)
	e.get("/both").has(t, "Cache-Status", "ssiedge; fwd=uri-miss; detail=set-cookie")
}

func TestBypassFillsNothing(t *testing.T) {
	rule := forAnHour("*")
	rule.Bypass = &Bypass{Cookies: []string{"session"}}
	e, app := newPulling(t, sessions, withRule(rule))
	for range 2 {
		a := e.get("/p", "Cookie: session=ana")
		a.is(t, 200, "hello ana")
		a.has(t, "Cache-Status", "ssiedge; fwd=bypass")
	}
	app.was(t, 2)
	e.get("/p").is(t, 200, "hello stranger")
}

// TestNoByteOfAnother: many visitors at once, on pages of every kind, while pages
// are invalidated and expire; each answer holds its own visitor's name or none.
func TestNoByteOfAnother(t *testing.T) {
	listed, none, stripped := Rule{Paths: []string{"/listed*"}, Cookies: &Cookies{Mode: CookiesListed, Names: []string{"session"}}}, forAnHour("/none*"), forAnHour("/strip*")
	stripped.SetCookie = &pagecache.CookiePolicy{Strip: true}
	forwarding := Rule{Paths: []string{"/token"}, ForwardSetCookie: ptr(true)}
	e, _ := newPulling(t, func(w http.ResponseWriter, r *http.Request) {
		who := "stranger"
		if c, err := r.Cookie("session"); err == nil {
			who = c.Value
		}
		path := r.URL.Path
		switch {
		case path == "/token", strings.HasPrefix(path, "/strip"):
			w.Header().Set("Set-Cookie", "of="+who)
		case strings.HasPrefix(path, "/listed"), strings.HasPrefix(path, "/all"), path == "/name":
			w.Header().Set("Cache-Control", "max-age=1")
		case strings.HasPrefix(path, "/none"):
			w.Header().Set("Cache-Control", "max-age=0")
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "[%s]", who)
		if strings.HasSuffix(path, "/ssi") {
			io.WriteString(w, `<!--#include virtual="/name" --><!--#include virtual="/token" --><!--#include virtual="/listed/f" -->`)
		}
	}, withRule(listed), withRule(none), withRule(stripped), withRule(forwarding),
		withSite(func(s *Site) { s.Cache.NotKeepable = 20 * time.Millisecond }))
	targets := []string{"/listed/a", "/none/a", "/none/ssi", "/strip/a", "/strip/ssi", "/all/a", "/all/ssi", "/own/a", "/own/ssi"}
	var wg sync.WaitGroup
	for v := range 16 {
		wg.Go(func() {
			me := fmt.Sprintf("v%02d", v)
			for i := range 60 {
				target := targets[(v+i)%len(targets)]
				if i%17 == 0 {
					e.post("POST", target, "x")
					continue
				}
				a := e.get(target, "Cookie: session="+me)
				for _, text := range append(a.lines("Set-Cookie"), a.body) {
					if other := strings.ReplaceAll(text, me, ""); strings.Contains(other, "[v") || strings.Contains(other, "=v") {
						t.Errorf("%s of %s holds %q", target, me, text)
					}
				}
				if strings.HasSuffix(target, "/ssi") && !strings.Contains(a.Header.Get("Cache-Control"), "private") {
					t.Errorf("%s of %s says %q, want private", target, me, a.Header.Get("Cache-Control"))
				}
			}
		})
	}
	wg.Wait()
}
