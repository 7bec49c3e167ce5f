package edge

import (
	"bufio"
	"io"
	"net/http"
	"testing"

	"github.com/ssiedge/ssiedge/internal/realtest"
	"github.com/ssiedge/ssiedge/pagecache"
)

func TestReload(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	old := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			entered <- struct{}{}
			<-release
		}
		io.WriteString(w, "old app")
	}
	e := newEdge(t, withApp(t, old), withFiles(t, map[string]string{"p.html": `old <!--#include virtual="/frag" -->`}))
	e.get("/x").is(t, 200, "old app")
	memory := e.state.Load().store.memory

	c := e.dial()
	io.WriteString(c, request11("GET", "/slow"))
	<-entered

	next := e.options
	next.Sites = append([]Site(nil), e.options.Sites...)
	withApp(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "new app") })(&next)
	withFiles(t, map[string]string{"p.html": `new <!--#include virtual="/frag" -->`})(&next)
	if err := e.Reload(next); err != nil {
		t.Fatal(err)
	}
	e.get("/x").is(t, 200, "new app")
	e.get("/p").is(t, 200, "new new app")
	if e.state.Load().store.memory != memory {
		t.Error("the memory was made anew")
	}
	close(release)
	readAnswer(t, bufio.NewReader(c), "GET").is(t, 200, "old app")

	// What is wrong changes nothing, and is counted.
	bad := next
	bad.Sites = []Site{testSite()}
	bad.Sites[0].Files = &pagecache.FilesOptions{Root: "/no/such/folder"}
	if err := e.Reload(bad); err == nil {
		t.Error("a reload with a root that is missing went through")
	}
	e.get("/x").is(t, 200, "new app")
	if done, failed := e.metrics.reloads.Load(), e.metrics.reloadsFailed.Load(); done != 1 || failed != 1 {
		t.Errorf("%d reloads and %d failed ones counted, want one each", done, failed)
	}
}

// TestReloadOfDialect: a page stays in memory, and is compiled anew where the
// settings of its directives have changed.
func TestReloadOfDialect(t *testing.T) {
	e := newEdge(t, withFiles(t, map[string]string{"p.html": `<!--#include virtual="/none" -->`}))
	keptInMemory(t, e, "/p")
	e.get("/p").is(t, 200, "[error]")
	next := e.options
	next.Sites = append([]Site(nil), e.options.Sites...)
	next.Sites[0].SSI.ErrorMessage = "(oops)"
	if err := e.Reload(next); err != nil {
		t.Fatal(err)
	}
	e.get("/p").is(t, 200, "(oops)")
	if err := e.Reload(e.options); err != nil {
		t.Fatal(err)
	}
	e.get("/p").is(t, 200, "[error]")
}

// keptInMemory asks for a page until it is old enough to be kept.
func keptInMemory(t testing.TB, e *testEdge, target string) {
	t.Helper()
	before := e.state.Load().store.memory.Stats().Pages
	realtest.Eventually(t, target+" is in memory", func() bool {
		e.get(target)
		return e.state.Load().store.memory.Stats().Pages > before
	})
}
