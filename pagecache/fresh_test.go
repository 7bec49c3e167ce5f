package pagecache

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// rename writes a file beside a name and moves it there, as a careful writer
// does.
func (s *site) rename(name, text string) {
	s.t.Helper()
	s.write(name+".new", text)
	if err := os.Rename(s.path(name+".new"), s.path(name)); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) remove(name string) {
	s.t.Helper()
	if err := os.RemoveAll(s.path(name)); err != nil {
		s.t.Fatal(err)
	}
}

// Each change of a file is seen by the very next request.
func TestFilesSeeChangesAtOnce(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(s *site)
		want   string
	}{
		{"written in place", func(s *site) { s.write("a.html", "new text") }, "new text"},
		{"written in place, same size", func(s *site) { s.write("a.html", "new") }, "new"},
		{"same size, time set back", func(s *site) {
			st, _ := os.Stat(s.path("a.html"))
			s.write("a.html", "new")
			s.dated("a.html", st.ModTime())
		}, "new"},
		{"renamed over", func(s *site) { s.rename("a.html", "new") }, "new"},
		{"renamed over, same size and time", func(s *site) {
			st, _ := os.Stat(s.path("a.html"))
			s.write("b.html", "new")
			s.dated("b.html", st.ModTime())
			os.Rename(s.path("b.html"), s.path("a.html"))
		}, "new"},
		{"appended to", func(s *site) {
			f, _ := os.OpenFile(s.path("a.html"), os.O_APPEND|os.O_WRONLY, 0)
			f.WriteString(" and new")
			f.Close()
		}, "old and new"},
		{"emptied", func(s *site) { os.Truncate(s.path("a.html"), 0) }, ""},
		{"removed", func(s *site) { s.remove("a.html") }, "none"},
		{"directory in its place", func(s *site) { s.remove("a.html"); os.Mkdir(s.path("a.html"), 0o755) }, "none"},
		{"link to another in its place", func(s *site) { s.write("b.html", "new"); s.remove("a.html"); s.link("b.html", "a.html") }, "new"},
		{"link to outside in its place", func(s *site) { s.remove("a.html"); s.link("/etc/passwd", "a.html") }, "none"},
		{"removed, lower name there", func(s *site) { s.write("a/index.html", "lower"); s.remove("a.html") }, "lower"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t, FilesOptions{}, "a.html=old")
			s.want("before", "/a=old", "/a=old")
			c.change(s)
			s.want("after", "/a="+c.want, "/a="+c.want)
		})
	}
}

// A link below root that is flipped is a change like any other.
func TestFilesSeeLinksFlip(t *testing.T) {
	s := newSite(t, FilesOptions{}, "v1/x.html=one", "v2/x.html=two")
	s.link("v1", "now")
	s.want("before", "/now/x=one", "/now/x=one")
	s.link("v2", "next")
	os.Rename(s.path("next"), s.path("now"))
	s.want("after", "/now/x=two")
}

func TestFilesSeeNewWithinASecond(t *testing.T) {
	s := newSite(t, FilesOptions{}, "b/index.html=lower", "c=itself")
	s.want("before", "/a=none", "/b=lower", "/c=itself")
	s.write("a.html", "a")
	s.write("b.html", "higher")
	s.write("c.html", "highest")
	s.want("remembered", "/a=none", "/b=lower", "/c=itself")
	s.clock.advance(time.Second)
	s.want("a second later", "/a=a", "/b=higher", "/b=higher", "/c=highest")
	s.remove("b.html")
	s.want("removed again", "/b=lower")
}

// What is remembered is bounded in time from the look, not from the last
// request: a page asked for all the time is seen as soon as any other.
func TestFilesSeeNewThoughAskedOften(t *testing.T) {
	s := newSite(t, FilesOptions{}, "b/index.html=lower")
	s.want("first", "/a=none", "/b=lower")
	s.write("a.html", "a")
	s.write("b.html", "higher")
	for range 9 {
		s.clock.advance(100 * time.Millisecond)
		s.want("meanwhile", "/a=none", "/b=lower")
	}
	s.clock.advance(100 * time.Millisecond)
	s.want("after a second", "/a=a", "/b=higher")
}

func TestFilesSeeRootFlip(t *testing.T) {
	base := t.TempDir()
	for _, f := range []string{"v1/a.html=one", "v1/only1.html=1", "v2/a.html=two", "v2/only2.html=2", "v2/b/index.html=b"} {
		name, text, _ := strings.Cut(f, "=")
		os.MkdirAll(filepath.Dir(filepath.Join(base, name)), 0o755)
		os.WriteFile(filepath.Join(base, name), []byte(text), 0o644)
	}
	current := filepath.Join(base, "current")
	flip := func(to string) {
		os.Symlink(to, current+".new")
		if err := os.Rename(current+".new", current); err != nil {
			t.Fatal(err)
		}
	}
	flip("v1")
	s := newSite(t, FilesOptions{Root: current})
	s.want("first release", "/a=one", "/only1=1", "/only2=none", "/b=none")
	s.clock.advance(900 * time.Millisecond)
	s.want("remembered just before the flip", "/only2=none")
	flip("v2")
	s.clock.advance(100 * time.Millisecond)
	s.want("second release", "/a=two", "/only1=none", "/only2=2", "/b=b")
	s.clock.advance(time.Second)
	flip("v1")
	s.want("seen when the second is over, not before", "/a=one")

	os.Remove(current)
	s.clock.advance(time.Second)
	s.want("no root", "/a=none", "/only2=none")
	s.clock.advance(time.Second)
	s.want("still no root", "/a=none")
	flip("v2")
	s.clock.advance(time.Second)
	s.want("root is back", "/a=two", "/only2=2")
	if s.said.count("root is gone") != 1 || s.said.count("root is back") != 1 {
		t.Errorf("log %s", s.said)
	}
}

// A root that is renamed away and replaced, without a link.
func TestFilesSeeRootReplaced(t *testing.T) {
	s := newSite(t, FilesOptions{}, "a.html=one")
	s.want("before", "/a=one")
	os.Rename(s.dir, s.dir+".old")
	s.write("a.html", "two")
	s.clock.advance(time.Second)
	s.want("after", "/a=two")
	os.RemoveAll(s.dir)
	os.WriteFile(s.dir, nil, 0o644)
	s.clock.advance(time.Second)
	s.want("root is a file", "/a=none")
}

// Old roots are closed when nobody uses them any more.
func TestFilesDropOldRoots(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		realtest.Absent(t, "no /proc here")
	}
	s := newSite(t, FilesOptions{}, "a.html=0")
	for i := range 20 {
		os.Rename(s.dir, fmt.Sprint(s.dir, i))
		s.write("a.html", fmt.Sprint(i))
		s.clock.advance(time.Second)
		s.want("flipped", fmt.Sprint("/a=", i))
	}
	realtest.Eventually(t, "only the descriptors of the last root are open", func() bool {
		runtime.GC()
		return descriptorsBelow(s.dir) <= 2
	})
}

func descriptorsBelow(path string) int {
	n := 0
	fds, _ := os.ReadDir("/proc/self/fd")
	for _, fd := range fds {
		if target, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && strings.HasPrefix(target, path) {
			n++
		}
	}
	return n
}

// root_check: a copy is used without a look for that long.
func TestFilesCheck(t *testing.T) {
	s := newSite(t, FilesOptions{Check: 5 * time.Second}, "a.html=old", "b/index.html=lower")
	s.want("before", "/a=old", "/b=lower")
	s.write("a.html", "new")
	s.write("b.html", "higher")
	s.clock.advance(4 * time.Second)
	s.want("trusted", "/a=old", "/b=lower")
	s.clock.advance(time.Second)
	s.want("checked", "/a=new", "/b=higher")
	s.clock.advance(4 * time.Second)
	s.want("still good", "/a=new")
	s.clock.advance(time.Second) // looked at, found unchanged: good for another five
	s.want("still good", "/a=new")
	s.remove("a.html")
	s.clock.advance(4 * time.Second)
	s.want("trusted since the last look", "/a=new")
	s.clock.advance(time.Second)
	s.want("gone", "/a=none")
}

// A flip of root ends the trust in copies.
func TestFilesCheckEndsWithTheRoot(t *testing.T) {
	s := newSite(t, FilesOptions{Check: time.Hour}, "a.html=one")
	s.want("before", "/a=one")
	os.Rename(s.dir, s.dir+".old")
	s.write("a.html", "two")
	s.clock.advance(time.Second)
	s.want("after", "/a=two")
}

// Two sites over one memory share pages only if they have the same options.
func TestFilesShareMemory(t *testing.T) {
	s := newSite(t, FilesOptions{}, "a.html=a", "a=itself")
	s.want("first", "/a=a")
	again, err := OpenFiles(FilesOptions{Root: s.dir}, s.memory, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	again.clock = s.clock.clock()
	if h, ok := again.Get([]byte("/a"), false); !ok || !h.Memory {
		t.Errorf("after a reload: %v %+v", ok, h)
	}
	for _, o := range []FilesOptions{{Root: s.dir, Try: []string{"{path}"}}, {Root: s.dir, Links: []string{"/usr"}}, {Root: s.dir, MaxKeep: 1 << 20}} {
		other, err := OpenFiles(o, s.memory, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		if h, ok := other.Get([]byte("/a"), false); !ok || h.Memory {
			t.Errorf("%+v shares its pages: %v %+v", o, ok, h)
		}
	}
}

// With memory off, or when a page was evicted, each request reads the file.
func TestFilesWithoutMemory(t *testing.T) {
	s := &site{t: t, clock: newTestClock(), memory: NewMemory(0), said: new(logText)}
	s.open(FilesOptions{}, "a.html=old")
	for range 2 {
		h, ok := s.Get([]byte("/a"), false)
		if !ok || h.Memory || string(h.Page.Body) != "old" {
			t.Errorf("%v %+v", ok, h)
		}
	}
	s.write("a.html", "new")
	s.want("changed", "/a=new")
	s.remove("a.html")
	s.want("removed", "/a=none")
	s.write("a.html", "back")
	s.clock.advance(time.Second)
	s.want("back", "/a=back")
}

func TestFilesTooLargeToKeep(t *testing.T) {
	large, small := strings.Repeat("x", 70<<10), strings.Repeat("y", 60<<10)
	for _, c := range []struct {
		name    string
		memory  int64
		maxKeep int64
		path    string
		open    bool
	}{
		{"kept", 1 << 20, 0, "/large.txt", false},
		{"over a quarter of memory", 256 << 10, 0, "/large.txt", true},
		{"a quarter of memory", 280 << 10, 0, "/large.txt", false},
		{"over max_keep", 1 << 20, 69 << 10, "/large.txt", true},
		{"memory off, over 64 KiB", 0, 0, "/large.txt", true},
		{"memory off, less", 0, 0, "/small.txt", false},
		{"HTML, memory off", 0, 0, "/large", false},
		{"HTML, over a quarter of memory", 1 << 10, 0, "/large", false},
		{"HTML, over max_keep", 1 << 20, 69 << 10, "/large", true},
	} {
		s := &site{t: t, clock: newTestClock(), memory: NewMemory(c.memory), said: new(logText)}
		s.open(FilesOptions{MaxKeep: c.maxKeep}, "large.txt="+large, "large.html="+large, "small.txt="+small)
		for range 2 {
			h, ok := s.Get([]byte(c.path), false)
			if !ok || (h.File != nil) != c.open || (h.Page.Body == nil) != c.open || h.File != nil && h.Memory {
				t.Errorf("%s: %v, file %v, memory %v", c.name, ok, h.File, h.Memory)
				continue
			}
			body := bodyOf(t, h)
			if body != large && body != small || int64(len(body)) != h.Page.Length {
				t.Errorf("%s: %d bytes, length %d", c.name, len(body), h.Page.Length)
			}
		}
	}
}

// A file that grew out of memory leaves none of its old pages behind.
func TestFilesGrowTooLarge(t *testing.T) {
	s := newSite(t, FilesOptions{MaxKeep: 100}, "a.txt=small")
	s.want("small", "/a.txt=small")
	s.write("a.txt", strings.Repeat("x", 101))
	s.want("large", "/a.txt="+strings.Repeat("x", 101))
	if st := s.memory.Stats(); st.Pages != 0 {
		t.Errorf("%+v", st)
	}
}

func TestFilesHitDoesNotAllocate(t *testing.T) {
	s := newSite(t, FilesOptions{}, "region/info/Hawaii.html=<p>Aloha</p>", "b/index.html=b", "c.txt=c", "c.txt.gz=gz")
	for _, path := range []string{"/region/info/Hawaii", "/b", "/c.txt"} {
		path := []byte(path)
		h, ok := s.Get(path, false)
		if !ok {
			t.Fatalf("%s: none", path)
		}
		s.HasSiblings(h)
		s.Sibling(h, "gzip")
		if n := testing.AllocsPerRun(1000, func() {
			h, ok := s.Get(path, false)
			if !ok || !h.Memory {
				t.Fatal("no hit")
			}
			s.HasSiblings(h)
			s.Sibling(h, "gzip")
			s.Sibling(h, "br")
		}); n != 0 {
			t.Errorf("%s: %v allocations a hit", path, n)
		}
	}
	none := []byte("/region/info/Nowhere")
	s.Get(none, false)
	if n := testing.AllocsPerRun(1000, func() { s.Get(none, false) }); n != 0 {
		t.Errorf("%v allocations for a page known to be absent", n)
	}
}

func BenchmarkFilesHit(b *testing.B) {
	s := newSite(b, FilesOptions{}, "region/info/Hawaii.html="+strings.Repeat("x", 10<<10))
	path := []byte("/region/info/Hawaii")
	b.ReportAllocs()
	for b.Loop() {
		h, ok := s.Get(path, false)
		if !ok {
			b.Fatal("none")
		}
		s.HasSiblings(h)
	}
}

func BenchmarkFilesRead(b *testing.B) {
	s := &site{t: b, clock: newTestClock(), memory: NewMemory(0), said: new(logText)}
	s.open(FilesOptions{}, "region/info/Hawaii.html="+strings.Repeat("x", 10<<10))
	path := []byte("/region/info/Hawaii")
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := s.Get(path, false); !ok {
			b.Fatal("none")
		}
	}
}

func BenchmarkFilesAbsent(b *testing.B) {
	s := newSite(b, FilesOptions{})
	path := []byte("/region/info/Nowhere")
	b.ReportAllocs()
	for b.Loop() {
		s.Get(path, false)
	}
}
