package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// browserTime bounds a whole test in a browser.
const browserTime = 3 * time.Minute

// browser starts Chromium and gives its context; it ends with the test.
func browser(t *testing.T) context.Context {
	t.Helper()
	program := realtest.Require(t, "chromium")
	dir, err := os.MkdirTemp("", "chromium")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), browserTime)
	ctx, cancelAllocator := chromedp.NewExecAllocator(ctx,
		chromedp.ExecPath(program),
		chromedp.UserDataDir(dir),
		chromedp.WSURLReadTimeout(browserTime), // twenty seconds are short on a busy machine
		chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck,
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true),
		chromedp.Flag("disable-dev-shm-usage", true), // containers have little of it
	)
	allocator := chromedp.FromContext(ctx).Allocator
	ctx, cancelBrowser := chromedp.NewContext(ctx)
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx) // closes the browser and waits for it
		cancelBrowser()
		cancelAllocator()
		allocator.Wait()
		cancel()
		os.RemoveAll(dir)
	})
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("chromium does not start: %v", err)
	}
	return ctx
}

// visitor is a tab of somebody who shares no cookies with others.
type visitor struct {
	t   *testing.T
	ctx context.Context
	url string // of the edge
}

func newVisitor(t *testing.T, browser context.Context, edge *realtest.EdgeServer) *visitor {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	return &visitor{t: t, ctx: ctx, url: edge.URL}
}

// open opens a page and gives its Cache-Status.
func (v *visitor) open(path string) string {
	v.t.Helper()
	return v.follow("opening "+path, chromedp.Navigate(v.url+path))
}

// submit presses the button of a form and waits for the page that it leads to.
func (v *visitor) submit(selector string) string {
	v.t.Helper()
	return v.follow("pressing "+selector, chromedp.Click(chromedp.CSS(selector)))
}

func (v *visitor) follow(what string, action chromedp.Action[chromedp.Void]) string {
	v.t.Helper()
	in, err := chromedp.RunResponse(v.ctx, action)
	if err != nil {
		v.t.Fatalf("%s: %v", what, err)
	}
	return field(in, "Cache-Status")
}

// field gives a field of an answer that the browser got.
func field(in *network.Response, name string) string {
	for key, value := range in.Headers {
		if strings.EqualFold(key, name) {
			return fmt.Sprint(value)
		}
	}
	return ""
}

// fill types into an input.
func (v *visitor) fill(selector, text string) {
	v.t.Helper()
	if err := chromedp.Do(v.ctx, chromedp.SendKeys(chromedp.CSS(selector), text)); err != nil {
		v.t.Fatalf("typing into %s: %v", selector, err)
	}
}

// sees gives what stands on the page, as text.
func (v *visitor) sees() string {
	v.t.Helper()
	text, err := chromedp.Run(v.ctx, chromedp.Text(chromedp.CSS("body")))
	if err != nil {
		v.t.Fatal(err)
	}
	return text
}

// wantSees fails the test unless the page holds one text and not the other.
func (v *visitor) wantSees(want, not string) {
	v.t.Helper()
	if text := v.sees(); !strings.Contains(text, want) || strings.Contains(text, not) {
		v.t.Errorf("the page shows %s, want %q in it and not %q", short(text), want, not)
	}
}

// TestBrowser: somebody signs in on pages that come from the cache.
func TestBrowser(t *testing.T) {
	w := newWorld(t, false)
	edge := realtest.Edge(t, realtest.EdgeOptions{Config: fmt.Sprintf(`
[[site]]
root = %q
[site.origin]
servers = [%q]
[site.ssi]
timeout = %s
[[site.rule]]
path = ["/mc/*"]
cache = "1h"
`, w.root, w.origin(), waits)})
	const pulled = "/mc/region/info/Gulf-Coast-Florida"
	w.publish(t, hawaii)
	w.publish(t, "/")
	settle(t)
	call(t, http.MethodGet, edge.URL+pulled) // with the Host that a browser sends
	asked := w.renders(t, "GET "+pulled)
	pages := map[string]string{hawaii: "detail=file", "/": "detail=file", pulled: "detail=memory"}

	chromium := browser(t)
	ann, other := newVisitor(t, chromium, edge), newVisitor(t, chromium, edge)
	eachPage := func(v *visitor, want, not string) {
		t.Helper()
		for path, detail := range pages {
			if status := v.open(path); !strings.HasPrefix(status, "ssiedge; hit") || !strings.Contains(status, detail) {
				t.Errorf("%s comes with Cache-Status %q, want a hit, %s", path, status, detail)
			}
			v.wantSees(want, not)
		}
	}
	const form = "header form "
	eachPage(ann, "log in", "Welcome back")
	ann.fill(form+"input[name=user]", "ann")
	ann.submit(form + "button")
	ann.wantSees("Welcome back ann", "log in")
	eachPage(ann, "Welcome back ann", "log in")
	eachPage(other, "log in", "ann")
	ann.open(hawaii)
	ann.submit(form + "button")
	ann.wantSees("log in", "ann")
	eachPage(ann, "log in", "ann")
	eachPage(other, "log in", "ann")
	if n := w.renders(t, "GET "+pulled); n != asked {
		t.Errorf("the app rendered %s %d times, want it kept after the first", pulled, n)
	}
}

// tokenPage is a page with a form whose token comes in by a fragment.
const tokenPage = `<!DOCTYPE html><title>form</title>
<form method="post" action="/fragments/echo">
<input type="hidden" name="authenticity_token" value="<!--#include virtual="/fragments/csrf" -->">
<input name="word"><button>send</button></form>`

// newTokenWorld is a world with tokenPage as /form.
func newTokenWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, false)
	writeTree(t, w.root, map[string]string{"form.html": tokenPage})
	settle(t)
	return w
}

// tokenEdge starts an edge before Rails with a rule of its own.
func tokenEdge(t *testing.T, w *world, rule string) *realtest.EdgeServer {
	t.Helper()
	return realtest.Edge(t, realtest.EdgeOptions{Config: fmt.Sprintf("[[site]]\nroot = %q\n[site.origin]\nservers = [%q]\n[site.ssi]\ntimeout = %s\n%s", w.root, w.origin(), waits, rule)})
}

const forwardToken = "[[site.rule]]\npath = [\"/fragments/csrf\"]\ninternal = true\nforward_set_cookie = true\n"

// Rails believes the token of a form in a cached page, as the cookie that
// belongs to it has reached the browser with the fragment.
func TestCaseO7(t *testing.T) {
	edge := tokenEdge(t, newTokenWorld(t), forwardToken)
	chromium := browser(t)
	for _, word := range []string{"first", "second"} {
		v := newVisitor(t, chromium, edge)
		for range 2 { // the second time with a session
			if status := v.open("/form"); !strings.Contains(status, "hit; detail=file") {
				t.Errorf("the form comes with Cache-Status %q, want a hit", status)
			}
			v.fill("input[name=word]", word)
			v.submit("button")
			v.wantSees("word="+word, "error")
		}
	}
}

// Without the setting the fragment's cookie is dropped, and the token with it
// worth nothing. With it, the answer is for nobody else.
func TestCaseO7Cookie(t *testing.T) {
	w := newTokenWorld(t)
	token := regexp.MustCompile(`name="authenticity_token" value="([^"]+)"`)
	for _, test := range []struct {
		name, rule string
		status     int
	}{
		{"forwarded", forwardToken, http.StatusOK},
		{"dropped", "", http.StatusUnprocessableEntity},
	} {
		t.Run(test.name, func(t *testing.T) {
			edge := tokenEdge(t, w, test.rule)
			page := send(t, edge.Addr, get("/form"))
			m := token.FindStringSubmatch(page.body)
			if page.status != http.StatusOK || m == nil {
				t.Fatalf("the form is %d %s, want it with a token", page.status, short(page.body))
			}
			r := form("/fragments/echo", url.Values{"word": {"x"}, "authenticity_token": {m[1]}}.Encode())
			if cookies := page.header.Values("Set-Cookie"); test.status == http.StatusOK {
				if len(cookies) != 1 {
					t.Fatalf("the form sets cookies %q, want the fragment's", cookies)
				}
				wantField(t, page, "Cache-Control", "private, no-store")
				r.fields = append(r.fields, page.cookies())
			} else if len(cookies) != 0 {
				t.Errorf("the form sets cookies %q, want none", cookies)
			}
			if a := send(t, edge.Addr, r); a.status != test.status {
				t.Errorf("Rails answers the form with %d %s, want %d", a.status, short(a.body), test.status)
			}
			other := send(t, edge.Addr, get("/form"))
			if n := token.FindStringSubmatch(other.body); n == nil || n[1] == m[1] {
				t.Errorf("the next visitor gets %s, want a token of his own", short(other.body))
			}
		})
	}
}
