package edge

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ssiedge/ssiedge/internal/realtest"
	"github.com/ssiedge/ssiedge/pagecache"
)

// withDisk gives an edge a disk, and no memory: what is read comes from there.
func withDisk(path string) func(*Options) {
	return func(o *Options) {
		o.Memory = 0
		o.Disk = &Disk{Path: path, Size: 64 << 20}
	}
}

// diskPages are the files of pages below the folder of a tier.
func diskPages(t testing.TB, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "pages", "*", "??", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// waitFiles waits until so many pages are in files.
func (e *testEdge) waitFiles(n int) {
	e.t.Helper()
	dir := e.options.Disk.Path
	realtest.Eventually(e.t, fmt.Sprintf("%d pages are on the disk", n), func() bool {
		return len(diskPages(e.t, dir)) == n && e.state.Load().store.disk.Stats().Pages == int64(n)
	})
}

func TestDiskTier(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made")
	e, app := newPulling(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=600")
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/page" {
			io.WriteString(w, `page <!--#include virtual="/f" -->`)
			return
		}
		io.WriteString(w, "fragment")
	}, withDisk(dir))
	e.get("/page").is(t, 200, "page fragment")
	e.waitFiles(2)
	asked := len(app.requests())
	a := e.get("/page")
	a.is(t, 200, "page fragment")
	if s := a.Header.Get("Cache-Status"); !strings.HasSuffix(s, "; detail=disk") {
		t.Errorf("Cache-Status is %q", s)
	}
	e.get("/f").hit(t, "disk")
	app.was(t, asked)
	if x := e.explained("/f"); x.Answer.By != "disk" || x.Tiers[len(x.Tiers)-1].Tier != "disk" || x.Tiers[len(x.Tiers)-1].State != "hit" {
		t.Errorf("%+v", x)
	}
	e.post("POST", "/f", "x")
	if files := diskPages(t, dir); len(files) != 1 {
		t.Errorf("after a POST there are %q", files)
	}
	e.get("/f").has(t, "Cache-Status", "ssiedge; fwd=uri-miss; stored")
	if _, err := os.Stat(filepath.Join(dir, "journal")); err != nil {
		t.Errorf("the journal: %v", err)
	}
}

// A smaller size is in force after a reload, at once; the rest stays.
func TestDiskReload(t *testing.T) {
	e, _ := newPulling(t, says(strings.Repeat("x", 50_000), "Cache-Control: max-age=600"), withDisk(t.TempDir()))
	for i := range 40 {
		e.get(fmt.Sprint("/", i))
	}
	e.waitFiles(40)
	e.options.Disk = &Disk{Path: e.options.Disk.Path, Size: 1 << 20}
	e.options.Memory = 1 << 20 // other tiers, over the same disk
	if err := e.Reload(e.options); err != nil {
		t.Fatal(err)
	}
	e.waitFiles((1 << 20) / (52 << 10))
	e.get("/39").hit(t, "disk")
	e.get("/39").hit(t, "memory")
}

// Pages and purges outlive the edge, in the same folder.
func TestDiskOutlivesRestart(t *testing.T) {
	dir := t.TempDir()
	app := new(counting)
	url := newApp(t, app.ServeHTTP)
	start := func(t *testing.T) *testEdge { return newEdge(t, withKeeping(), withOrigin(url), withDisk(dir)) }
	var purged, kept string
	t.Run("first", func(t *testing.T) {
		e := start(t)
		purged, kept = e.visit("/purged"), e.visit("/kept")
		e.waitFiles(2)
		e.purged(PurgeCall{URLs: []string{"/purged"}})
	})
	t.Run("second", func(t *testing.T) {
		e := start(t)
		a := e.get("/kept")
		a.is(t, 200, kept)
		a.hit(t, "disk")
		if got := e.visit("/purged"); got == purged {
			t.Errorf("/purged is still %q after a restart", got)
		}
	})
	if err := os.Remove(filepath.Join(dir, "journal")); err != nil {
		t.Fatal(err)
	}
	t.Run("another journal", func(t *testing.T) {
		e := start(t)
		if got := e.visit("/kept"); got == kept {
			t.Errorf("/kept is still %q, and nobody knows whether it was purged", got)
		}
		e.waitFiles(1) // those of the other journal go
	})
}

func TestDiskIsTaken(t *testing.T) {
	dir := t.TempDir()
	newEdge(t, withDisk(dir))
	_, err := New(testOptions(withDisk(dir), func(o *Options) { o.State = t.TempDir() }))
	if want := fmt.Sprintf("in use by process %d", os.Getpid()); err == nil || !strings.HasPrefix(err.Error(), "disk: ") || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}

// What a purge hit goes off the disk, and nothing else; soft purges leave all.
func TestPurgeSweepsDisk(t *testing.T) {
	e, _ := newPurged(t, withDisk(t.TempDir()))
	for _, url := range []string{"/a", "/a?q=1", "/a?q=2", "/b", "/b?q=1", "/c"} {
		e.visit(url)
	}
	e.waitFiles(6)
	for _, test := range []struct {
		call    PurgeCall
		matched map[string]int
		left    int
	}{
		{PurgeCall{URLs: []string{"/b"}, DryRun: true}, map[string]int{"memory": 0, "disk": 2}, 6},
		{PurgeCall{URLs: []string{"/b"}, Soft: true}, map[string]int{"memory": 0, "disk": 2}, 6},
		{PurgeCall{URLs: []string{"/b"}, Soft: true}, map[string]int{"memory": 0, "disk": 0}, 6}, // they are expired already
		{PurgeCall{URLs: []string{"/a?q=1"}}, map[string]int{"memory": 0, "disk": 1}, 5},
		{PurgeCall{URLs: []string{"http://" + testHost + "/a", "/a", "/b"}}, map[string]int{"memory": 0, "disk": 4}, 1},
		{PurgeCall{URLs: []string{"/a"}}, map[string]int{"memory": 0, "disk": 0}, 1},
		{PurgeCall{All: true, Count: true}, map[string]int{"memory": 0, "disk": 1}, 0},
	} {
		res := e.purged(test.call)
		if fmt.Sprint(res.Matched) != fmt.Sprint(test.matched) {
			t.Errorf("%+v: matched %v, want %v", test.call, res.Matched, test.matched)
		}
		e.waitFiles(test.left)
	}
	if st := e.state.Load().store.disk.Stats(); st.Swept != 6 || st.Errors+st.Foreign != 0 {
		t.Errorf("%+v", st)
	}
}

// A purge that did not ask for a count is not held up by a path of many files.
func TestPurgeOfManyFilesIsNotCounted(t *testing.T) {
	e, _ := newPurged(t, withDisk(t.TempDir()))
	for i := range countedFiles + 1 {
		e.visit(fmt.Sprint("/a?q=", i))
	}
	e.waitFiles(countedFiles + 1)
	if res := e.purged(PurgeCall{URLs: []string{"/a"}, DryRun: true}); res.Matched["disk"] != countedFiles+1 {
		t.Errorf("dry run: %v", res.Matched)
	}
	if res := e.purged(PurgeCall{URLs: []string{"/a"}}); fmt.Sprint(res.Matched) != "map[memory:0]" {
		t.Errorf("matched %v", res.Matched)
	}
	e.waitFiles(0)
}

// Of pages in memcached those are deleted whose keys can be told: of a URL
// alone, and what memory has too.
func TestPurgeSweepsMemcached(t *testing.T) {
	m := realtest.Memcached(t)
	e, _ := newPurged(t, func(o *Options) {
		o.Memcache = &pagecache.MemcacheOptions{Servers: []string{m.Addr}, Timeout: patience}
	}, withRule(Rule{Paths: []string{"/keyed*"}, KeyHeaders: []string{"X-Key"}}))
	for _, url := range []string{"/a", "/a?q=1", "/b", "/b?q=1", "/keyed", "/c"} {
		e.visit(url)
	}
	s := e.state.Load().store
	there := func(url string) bool {
		path, query, _ := strings.Cut(url, "?")
		_, ok := s.tier.Get([]byte("p*\x00http\x00" + testHost + "\x00" + path + "?" + query + "\x00"))
		return ok
	}
	gone := func(urls ...string) {
		t.Helper()
		for _, url := range urls {
			realtest.Eventually(t, url+" is gone", func() bool { return !there(url) })
		}
	}
	s.memory.Delete([]byte("p*\x00http\x00" + testHost + "\x00/b?\x00"))
	s.memory.Delete([]byte("p*\x00http\x00" + testHost + "\x00/b?q=1\x00"))
	e.purged(PurgeCall{URLs: []string{"/a"}, Soft: true})
	e.purged(PurgeCall{URLs: []string{"http://" + testHost + "/b"}})
	gone("/b") // which is named, and not in memory
	for _, url := range []string{"/a", "/a?q=1", "/b?q=1", "/c"} {
		if !there(url) {
			t.Errorf("%s is gone", url)
		}
	}
	e.purged(PurgeCall{URLs: []string{"/a"}})
	gone("/a", "/a?q=1") // which were in memory
	e.purged(PurgeCall{All: true})
	gone("/c")
	if st := s.tier.Stats(); st.Errors != 0 {
		t.Errorf("%+v", st)
	}
}

// A page that is filled while its older one is swept stays.
func TestSweepLeavesNewPages(t *testing.T) {
	e, _ := newPurged(t, withDisk(t.TempDir()))
	for range 20 {
		e.visit("/a")
		e.purged(PurgeCall{URLs: []string{"/a"}})
		body := e.visit("/a")
		realtest.Eventually(t, "the sweep has ended", func() bool {
			e.sweeper.mu.Lock()
			defer e.sweeper.mu.Unlock()
			return !e.sweeper.running
		})
		e.get("/a").is(t, 200, body)
	}
	e.waitFiles(1)
}

func TestKeyPath(t *testing.T) {
	for key, want := range map[string]string{
		"*\x00http\x00a.example\x00/x/y?q=1?2\x00": "/x/y",
		"s\x00https\x00\x00/?\x00more\x00?":        "/",
		"":                                         "",
		"a\x00b":                                   "",
	} {
		if got := keyPath([]byte(key)); string(got) != want {
			t.Errorf("%q: %q, want %q", key, got, want)
		}
	}
	key := []byte("*\x00http\x00a.example\x00/x/y?q=1\x00")
	if n := testing.AllocsPerRun(100, func() { keyPath(key) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// Many purges at once are one sweep of everything.
func TestSweepIsBounded(t *testing.T) {
	var w sweep
	st := new(state)
	site := &site{options: &Site{}}
	for i := range sweepPaths + 10 {
		u := purgedURL{host: []byte("a.example"), target: target{state: st, site: site, url: canonical{raw: fmt.Append(nil, "/", i)}}}
		if named := w.add(&purge{state: st, call: &PurgeCall{}, urls: []purgedURL{u}}); named != (i < sweepPaths) {
			t.Fatalf("after %d URLs: %v", i+1, named)
		}
	}
	if len(w.paths) != sweepPaths+1 || len(w.keys) != 2*(sweepPaths+10) {
		t.Errorf("%d paths, %d keys", len(w.paths), len(w.keys))
	}
}

// What a process was told to remove, and did not get to, the next one removes.
func TestSweepAfterRestart(t *testing.T) {
	dir := t.TempDir()
	url := newApp(t, new(counting).ServeHTTP)
	start := func(t *testing.T) *testEdge { return newEdge(t, withKeeping(), withOrigin(url), withDisk(dir)) }
	t.Run("first", func(t *testing.T) {
		e := start(t)
		e.visit("/purged")
		e.visit("/kept")
		e.waitFiles(2)
		e.end() // as if it were killed just after the purge
		e.purged(PurgeCall{URLs: []string{"/purged"}})
		if n := len(diskPages(t, dir)); n != 2 {
			t.Fatalf("%d files, the test is about what is left", n)
		}
	})
	t.Run("second", func(t *testing.T) {
		e := start(t)
		e.waitFiles(1)
		e.get("/kept").hit(t, "disk")
	})
}
