package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// onDisk is the configuration of a tier on disk, and nothing before it.
func onDisk(dir, more string) string {
	return fmt.Sprintf("%s[memory]\nsize = \"0\"\n[disk]\npath = %q\nsize = \"64MiB\"\n", more, dir)
}

// waitFiles waits until so many files hold a page that ends so.
func waitFiles(t *testing.T, dir, end string, n int) {
	t.Helper()
	realtest.Eventually(t, fmt.Sprintf("%d pages that end in %q are on the disk", n, end), func() bool {
		files, err := filepath.Glob(filepath.Join(dir, "pages", "*", "??", strings.Repeat("?", 32)))
		found := 0
		for _, path := range files {
			if b, err := os.ReadFile(path); err == nil && strings.HasSuffix(string(b), end) {
				found++
			}
		}
		return err == nil && found == n
	})
}

// An edge that is killed finds its pages on the disk again, but none that was
// purged before, of which some were being swept and one was being purged.
func TestKilledEdgeOnDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "disk")
	app := newStage()
	s := setup{app: app, top: onDisk(dir, "")}
	options := realtest.EdgeOptions{Config: s.config(t)}
	edge := realtest.Edge(t, options)
	path := func(i int) string { return fmt.Sprintf("/p/%d", i) }
	want := map[int]string{} // what a page says
	news := map[int]bool{}   // which pages were answered with their second version
	for i := range faultPages {
		app.on(path(i), fresh("old"), fresh("new"))
		wantStored(t, send(t, edge.Addr, get(path(i))), "old")
		want[i] = "old"
	}
	waitFiles(t, dir, "old", faultPages)
	const perRound = 5
	for first := 0; first+perRound <= faultPages; first += perRound {
		last := first + perRound - 1
		for i := first; i < last; i++ {
			purge(t, edge, path(i))
			want[i] = "new"
		}
		ended := make(chan struct{})
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
			news[i] = body == "new"
			if i < first || i > last {
				wantHit(t, a, "disk")
			} else {
				wantMember(t, a, "stored")
			}
		}
		news[last] = send(t, edge.Addr, get(path(last))).body == "new"
		written := 0
		for _, is := range news {
			if is {
				written++
			}
		}
		waitFiles(t, dir, "new", written) // or the next round finds them lost
	}
}

// A drain writes what waits: nothing is lost by a restart.
func TestRestartedEdgeOnDisk(t *testing.T) {
	dir := t.TempDir()
	app := newStage()
	s := setup{app: app, top: onDisk(dir, "")}
	options := realtest.EdgeOptions{Config: s.config(t)}
	edge := realtest.Edge(t, options)
	for i := range 50 {
		path := fmt.Sprintf("/p/%d", i)
		app.on(path, fresh("page"))
		wantStored(t, send(t, edge.Addr, get(path)), "page")
	}
	edge.Signal(syscall.SIGTERM)
	if code := edge.Exit(t); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	edge = realtest.Edge(t, options)
	for i := range 50 {
		a := send(t, edge.Addr, get(fmt.Sprintf("/p/%d", i)))
		wantBody(t, a, "page")
		wantHit(t, a, "disk")
	}
}

// No request fails since the disk is full, and what is on it is served.
func TestEdgeOnFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m,mode=755"); err != nil {
		realtest.Absent(t, fmt.Sprintf("nothing can be mounted here: %v", err))
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	s := setup{app: pagesOf(numbered()), top: onDisk(dir, fmt.Sprintf("state = %q\n", t.TempDir()))}
	edge := s.start(t)
	wantStored(t, send(t, edge.Addr, get("/p/1")), "page 1")
	waitFiles(t, dir, "page 1", 1)
	if err := os.WriteFile(filepath.Join(dir, "filler"), make([]byte, 2<<20), 0o600); err == nil {
		t.Fatal("the disk is not full")
	}
	for range 2 {
		for i := 2; i < faultPages; i++ {
			wantBody(t, send(t, edge.Addr, get(fmt.Sprint("/p/", i))), fmt.Sprint("page ", i))
		}
		a := send(t, edge.Addr, get("/p/1"))
		wantBody(t, a, "page 1")
		wantHit(t, a, "disk")
	}
	realtest.Eventually(t, "the log says it", func() bool { return edge.Stderr.Contains("the disk tier cannot write") })
	purge(t, edge, "/p/1")
	wantBody(t, send(t, edge.Addr, get("/p/1")), "page 1")
}
