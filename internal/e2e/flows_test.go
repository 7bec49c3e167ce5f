package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// TestFlows goes through what visitors of a Rails site do, over TCP and over a
// unix socket.
func TestFlows(t *testing.T) {
	for _, transport := range []string{"tcp", "unix"} {
		t.Run(transport, func(t *testing.T) {
			w := newWorld(t, transport == "unix")
			edge := realtest.Edge(t, realtest.EdgeOptions{Config: w.parityConfig("")})
			for _, flow := range []struct {
				name string
				run  func(*testing.T, *world, *realtest.EdgeServer)
			}{
				{"sign in and out", flowSignIn},
				{"everybody sees only their own name", flowPrivacy},
				{"page cached by Rails", flowCached},
				{"expire one page", flowExpire},
				{"sweep", flowSweep},
				{"origin gone", flowOriginGone}, // the last: it stops the app
			} {
				t.Run(flow.name, func(t *testing.T) { flow.run(t, w, edge) })
			}
		})
	}
}

func flowSignIn(t *testing.T, w *world, edge *realtest.EdgeServer) {
	w.publish(t, hawaii)
	settle(t)
	holds := func(a answer, part string) {
		t.Helper()
		wantHit(t, a, "file")
		if a.status != http.StatusOK || !strings.Contains(a.body, part) {
			t.Errorf("got %d %s, want %q in it", a.status, short(a.body), part)
		}
		// The fragment sends the session again: dropped with the rest of its head.
		wantField(t, a, "Set-Cookie", "")
		if control := a.header.Get("Cache-Control"); !strings.Contains(control, "private") && !strings.Contains(control, "no-store") {
			t.Errorf("Cache-Control of a page with a personal part is %q", control)
		}
	}
	holds(send(t, edge.Addr, get(hawaii)), "log in")
	in := send(t, edge.Addr, form("/login", "user=carla&back="+hawaii))
	if in.status != http.StatusSeeOther || in.header.Get("Location") != "http://"+host+hawaii {
		t.Fatalf("signing in gives %d to %q, want 303 to the page", in.status, in.header.Get("Location"))
	}
	holds(send(t, edge.Addr, get(hawaii, in.cookies())), "Welcome back <b>carla</b>")
	holds(send(t, edge.Addr, get(hawaii)), "log in")
	out := send(t, edge.Addr, request{method: http.MethodPost, target: "/logout", fields: []string{in.cookies()}})
	if out.status != http.StatusSeeOther {
		t.Fatalf("signing out gives %d, want 303", out.status)
	}
	holds(send(t, edge.Addr, get(hawaii, out.cookies())), "log in")
}

// flowPrivacy has several visitors ask at once: nobody may see the name of
// another.
func flowPrivacy(t *testing.T, w *world, edge *realtest.EdgeServer) {
	w.publish(t, hawaii)
	visitors := map[string]request{"log in": get(hawaii)}
	for _, user := range []string{"ann", "bob", "carla", "dave"} {
		visitors["Welcome back <b>"+user+"</b>"] = get(hawaii, w.signIn(t, user))
	}
	var wg sync.WaitGroup
	for want, r := range visitors {
		wg.Go(func() {
			for range 25 {
				a, err := exchange(edge.Addr, r)
				if err != nil || a.status != http.StatusOK || !strings.Contains(a.body, want) || strings.Count(a.body, "Welcome back")+strings.Count(a.body, "log in") != 1 {
					t.Errorf("want %q, got %d %s (%v)", want, a.status, short(a.body), err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// flowCached: the first visitor has Rails write the page, and from a second
// later on nobody needs Rails for it.
func flowCached(t *testing.T, w *world, edge *realtest.EdgeServer) {
	const page, render = "/region/info/Kauai", "GET /region/info/Kauai"
	w.remove(t, page)
	if a := send(t, edge.Addr, get(page)); a.status != http.StatusOK || !strings.Contains(a.body, "<h1>Kauai</h1>") || !strings.Contains(a.body, "log in") {
		t.Fatalf("got %d %s", a.status, short(a.body))
	}
	if n := w.renders(t, render); n != 1 {
		t.Fatalf("the app rendered the page %d times, want once", n)
	}
	settle(t)
	for range 5 {
		wantHit(t, send(t, edge.Addr, get(page)), "file")
	}
	if n := w.renders(t, render); n != 1 {
		t.Errorf("the app rendered the page %d times, want once", n)
	}
}

func flowExpire(t *testing.T, w *world, edge *realtest.EdgeServer) {
	w.publish(t, hawaii)
	settle(t)
	wantHit(t, send(t, edge.Addr, get(hawaii)), "file")
	if a := send(t, edge.Addr, request{method: http.MethodDelete, target: hawaii}); a.status != http.StatusNoContent {
		t.Fatalf("DELETE gives %d %s, want 204", a.status, short(a.body))
	}
	if _, err := os.Stat(filepath.Join(w.root, w.file(hawaii))); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("the file is still there: %v", err)
	}
	wantRendered(t, w, edge, hawaii)
}

func flowSweep(t *testing.T, w *world, edge *realtest.EdgeServer) {
	const page = "/region/info/Gulf-Coast-Florida"
	w.publish(t, page)
	settle(t)
	wantHit(t, send(t, edge.Addr, get(page)), "file")
	if a := send(t, edge.Addr, form("/admin/sweep", "all=1")); a.status != http.StatusNoContent {
		t.Fatalf("the sweep gives %d %s, want 204", a.status, short(a.body))
	}
	wantRendered(t, w, edge, page)
	settle(t)
	wantHit(t, send(t, edge.Addr, get(page)), "file")
}

// wantRendered fails the test unless the very next answer is a page that the
// app has rendered anew.
func wantRendered(t *testing.T, w *world, edge *realtest.EdgeServer, page string) {
	t.Helper()
	before := w.renders(t, "GET "+page)
	a := send(t, edge.Addr, get(page))
	if after := w.renders(t, "GET "+page); a.status != http.StatusOK || after != before+1 {
		t.Errorf("got %d, rendered %d times more, want 200, once", a.status, after-before)
	}
}

// flowOriginGone: with the app stopped, cached pages are still served, with the
// news, which the app allowed to be kept, and the error text for the fragment
// that is the visitor's own; all else is a 502 of the edge's own.
func flowOriginGone(t *testing.T, w *world, edge *realtest.EdgeServer) {
	w.publish(t, hawaii)
	settle(t)
	wantHit(t, send(t, edge.Addr, get(hawaii)), "file")
	w.rails.Stop()
	a := send(t, edge.Addr, get(hawaii))
	if a.status != http.StatusOK || !strings.Contains(a.body, "<h1>Hawaii</h1>") || strings.Count(a.body, "[an error occurred while processing the directive]") != 1 || !strings.Contains(a.body, "News at") {
		t.Errorf("a cached page gives %d %s, want it with the news and one error text", a.status, short(a.body))
	}
	// no-store, as a part failed; private, no-cache if the head left before that was known.
	if control := a.header.Get("Cache-Control"); !strings.Contains(control, "no-store") && control != "private, no-cache" {
		t.Errorf("Cache-Control of a page whose fragments failed is %q", control)
	}
	for _, r := range []request{get("/nothing"), form(hawaii, "q=sur"), get("/mc/nothing"), {method: http.MethodHead, target: "/nothing"}} {
		a := send(t, edge.Addr, r)
		if a.status != http.StatusBadGateway || (r.method != http.MethodHead && !strings.Contains(a.body, "502")) {
			t.Errorf("%s gives %d %s, want a 502 that says so", r, a.status, short(a.body))
		}
		if strings.Contains(a.body, w.rails.Addr) {
			t.Errorf("the error page tells where the app is: %s", short(a.body))
		}
	}
	const own = "<h1>back soon</h1>\n"
	writeTree(t, w.root, map[string]string{"502.html": own})
	settle(t)
	if a := send(t, edge.Addr, get("/nothing")); a.status != http.StatusBadGateway || a.body != own {
		t.Errorf("with a 502.html in the root: %d %s", a.status, short(a.body))
	}
	if err := os.Remove(filepath.Join(w.root, "502.html")); err != nil {
		t.Fatal(fmt.Errorf("cleaning up: %w", err))
	}
}
