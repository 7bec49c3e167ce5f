package edge

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

func TestUpgradeIsNoPage(t *testing.T) {
	e, app := newPulling(t, says("page", "Cache-Control: max-age=60"))
	e.get("/ws")
	e.send("GET /ws HTTP/1.1\r\nHost: "+testHost+"\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n").is(t, 200, "page")
	app.was(t, 2)
	e.send("GET /ws HTTP/1.1\r\nHost: "+testHost+"\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n").hit(t, "memory")
}

// A restricted page is told no lifetime by a rule's expires.
func TestExpiresOfPulledPages(t *testing.T) {
	r := forAnHour("*")
	r.Expires = ptr(time.Hour)
	e, _ := newPulling(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/private" {
			w.Header().Set("Cache-Control", "private")
		}
	}, withRule(r))
	for range 2 {
		e.get("/private").has(t, "Cache-Control", "private")
		e.get("/open").has(t, "Cache-Control", "max-age=3600")
	}
}

// A reload keeps pages, but none for cookies of another name.
func TestReloadKeepsPages(t *testing.T) {
	listed := func(name string) Rule {
		r := forAnHour("/listed")
		r.Cookies = &Cookies{Mode: CookiesListed, Names: []string{name}}
		return r
	}
	e, app := newPulling(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		fmt.Fprint(w, r.Header.Get("Cookie"))
	}, withRule(listed("a")))
	e.get("/p")
	e.get("/listed", "Cookie: a=1; b=1").is(t, 200, "a=1")
	next := e.options
	next.Sites = append([]Site(nil), e.options.Sites...)
	next.Sites[0].Rules = nil
	withRule(listed("b"))(&next)
	if err := e.Reload(next); err != nil {
		t.Fatal(err)
	}
	e.get("/p").hit(t, "memory")
	e.get("/listed", "Cookie: a=1; b=1").is(t, 200, "b=1")
	app.was(t, 3)
}

// A hit from memory allocates nothing, whatever its key holds.
func TestPulledHitAllocatesNothing(t *testing.T) {
	listed := forAnHour("/listed")
	listed.Cookies, listed.KeyHeaders = &Cookies{Mode: CookiesListed, Names: []string{"lang"}}, []string{"X-Shop"}
	e, _ := newPulling(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		w.Header().Set("Etag", `"1"`)
		if r.URL.Path == "/vary" {
			w.Header().Set("Vary", "Accept-Language")
		}
		io.WriteString(w, noise(10_000))
	}, withRule(listed))
	for _, test := range []struct {
		target string
		fields []string
		status int
	}{
		{"/p", nil, 200}, {"/p/?utm_source=x", []string{"Cookie: a=1; b=2"}, 200},
		{"/p", []string{`If-None-Match: "1"`}, 304}, {"/p", []string{"Range: bytes=1-9"}, 206},
		{"/vary", []string{"Accept-Language: de"}, 200},
		{"/listed", []string{"Cookie: a=1; lang=de", "X-Shop: a"}, 200},
	} {
		e.get(test.target, test.fields...)
		ctx := requestByHand(e, test.target, test.fields)
		ask := func() {
			ctx.Response.Reset()
			e.Handle(ctx)
		}
		ask()
		if s := ctx.Response.Header.Peek("Cache-Status"); !strings.Contains(string(s), "; hit;") || ctx.Response.StatusCode() != test.status {
			t.Errorf("%s: %d %s", test.target, ctx.Response.StatusCode(), s)
			continue
		}
		if n := testing.AllocsPerRun(200, ask); n != 0 && !realtest.Race { // the race detector allocates
			t.Errorf("%s %q: %v allocations, want none", test.target, test.fields, n)
		}
	}
}

// Without a tier nothing is stored, and the answer does not say so.
func TestPulledWithoutTier(t *testing.T) {
	e, app := newPulling(t, says("page", "Cache-Control: max-age=60", "Etag: \"v1\""), func(o *Options) { o.Memory = 0 })
	for asked := 1; asked <= 2; asked++ {
		a := e.get("/p")
		a.is(t, 200, "page")
		a.has(t, "Cache-Status", "ssiedge; fwd=uri-miss; detail=no-tier")
		app.was(t, asked)
	}
}
