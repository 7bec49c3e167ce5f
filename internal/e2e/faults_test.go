package e2e

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

const (
	faultPages   = 20
	faultWorkers = 8
)

// numbered is an app whose page /p/N says "page N" and may be kept.
func numbered() *app {
	answers := map[string]string{}
	for i := range faultPages {
		answers[fmt.Sprintf("/p/%d", i)] = fmt.Sprintf("page %d", i)
	}
	return newApp(answers)
}

// load asks for all pages again and again, until it is stopped.
type load struct {
	stop  chan struct{}
	wg    sync.WaitGroup
	asked atomic.Int64
}

// startLoad fails the test for each answer that is not the page. That none takes
// long, goesOn sees.
func startLoad(t *testing.T, addr string) *load {
	l := &load{stop: make(chan struct{})}
	for worker := range faultWorkers {
		l.wg.Go(func() {
			w := wire{addr: addr}
			defer w.close()
			for n := worker; ; n++ {
				select {
				case <-l.stop:
					return
				default:
				}
				page := n % faultPages
				a, err := w.exchange(get(fmt.Sprintf("/p/%d", page)))
				if err != nil || a.status != http.StatusOK || a.body != fmt.Sprintf("page %d", page) {
					t.Errorf("page %d: %d %s (%v)", page, a.status, short(a.body), err)
					return
				}
				l.asked.Add(1)
			}
		})
	}
	return l
}

// goesOn waits until more requests have been answered than the workers can
// have had under way.
func (l *load) goesOn(t *testing.T, when string) {
	t.Helper()
	enough := l.asked.Load() + 2*faultPages + faultWorkers
	realtest.Eventually(t, "requests are answered "+when, func() bool { return t.Failed() || l.asked.Load() >= enough })
}

func (l *load) end() {
	close(l.stop)
	l.wg.Wait()
}

// fromMemcached waits until page 0 comes from memcached.
func fromMemcached(t *testing.T, edge *realtest.EdgeServer) {
	t.Helper()
	realtest.Eventually(t, "a page comes from memcached", func() bool {
		return t.Failed() || member(t, send(t, edge.Addr, get("/p/0")))["detail"] == "memcache"
	})
}

// memcached fails in all ways that it has, under load: no request fails that the
// app can answer, and pages are kept there again when it is back.
func TestMemcachedFaults(t *testing.T) {
	server := realtest.Memcached(t)
	s := setup{
		app: pagesOf(numbered()),
		top: fmt.Sprintf("[memory]\nsize = \"0\"\n[memcache]\nservers = [%q]\n", server.Addr),
	}
	edge := s.start(t)
	fromMemcached(t, edge)
	for _, fault := range []struct {
		name       string
		harm, cure func()
	}{
		{"hung", func() { server.Hang(t) }, server.Resume},
		{"killed", server.Stop, func() { server.Restart(t) }},
		{"restarted", func() {}, func() { server.Restart(t) }},
	} {
		l := startLoad(t, edge.Addr)
		l.goesOn(t, "before memcached is "+fault.name)
		fault.harm()
		l.goesOn(t, "while memcached is "+fault.name)
		fault.cure()
		l.goesOn(t, "after memcached was "+fault.name)
		fromMemcached(t, edge)
		l.end()
		if t.Failed() {
			t.Fatalf("that was while memcached was %s", fault.name)
		}
	}
}

// pagesOf has what an app answers kept for an hour.
func pagesOf(app http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=3600")
		app.ServeHTTP(w, r)
	})
}

// TestMemcachedMemory: with pages in memory, memcached that hangs is no matter
// at all: hits do not ask it.
func TestMemcachedMemory(t *testing.T) {
	server := realtest.Memcached(t)
	app := numbered()
	s := setup{app: pagesOf(app), top: fmt.Sprintf("[memcache]\nservers = [%q]\n", server.Addr)}
	edge := s.start(t)
	wantStored(t, send(t, edge.Addr, get("/p/1")), "page 1")
	server.Hang(t)
	defer server.Resume()
	for range 3 {
		wantKept(t, send(t, edge.Addr, get("/p/1")), "page 1")
	}
	wantStored(t, send(t, edge.Addr, get("/p/2")), "page 2")
	wantKept(t, send(t, edge.Addr, get("/p/2")), "page 2")
}

// An edge that is killed and started again has lost what it had in memory, and
// nothing of what it was told: pages of before are in memcached, but for those
// that were purged.
func TestKilledEdge(t *testing.T) {
	server := realtest.Memcached(t)
	app := newStage()
	s := setup{app: app, top: fmt.Sprintf("state = %q\n[memcache]\nservers = [%q]\ntimeout = \"20s\"\n", filepath.Join(t.TempDir(), "state"), server.Addr)}
	options := realtest.EdgeOptions{Config: s.config(t)}
	edge := realtest.Edge(t, options)
	path := func(i int) string { return fmt.Sprintf("/p/%d", i) }
	want := map[int]string{} // what a page says
	for i := range faultPages {
		app.on(path(i), fresh("old"), fresh("new"))
		wantStored(t, send(t, edge.Addr, get(path(i))), "old")
		want[i] = "old"
	}
	const perRound = 6
	for first := 0; first+perRound <= faultPages; first += perRound {
		for i := first; i < first+perRound-1; i++ {
			purge(t, edge, path(i))
			want[i] = "new"
		}
		wantStored(t, send(t, edge.Addr, get(path(first))), "new") // this one is asked for before the edge is killed
		ended := make(chan struct{})
		last := first + perRound - 1
		go func() {
			defer close(ended)
			tryPurge(edge, path(last))
		}()
		edge.Signal(syscall.SIGKILL)
		edge.Exit(t)
		<-ended
		delete(want, last) // that purge may have been recorded or not
		edge = realtest.Edge(t, options)
		for i, body := range want {
			a := send(t, edge.Addr, get(path(i)))
			wantBody(t, a, body)
			if i <= first || i > last { // the others were asked for by nobody since they were purged
				wantHit(t, a, "memcache")
			} else {
				wantMember(t, a, "stored")
			}
		}
	}
}

// tryPurge sends a purge that may get no answer.
func tryPurge(edge *realtest.EdgeServer, path string) {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
	a, err := client.Post(edge.Admin+"/purge", "application/json", strings.NewReader(`{"urls":["`+path+`"]}`))
	if err == nil {
		a.Body.Close()
	}
}
