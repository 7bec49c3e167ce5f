package pagecache

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// names gives every file and link below the root, with a leading slash.
func (s *site) names() []string {
	s.t.Helper()
	var names []string
	err := filepath.WalkDir(s.dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			names = append(names, strings.TrimPrefix(path, s.dir))
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return names
}

// around gives the paths that might lead to some file of the site.
func around(names []string) []string {
	paths := []string{"/", "", "x", "/nothing", "/nothing/"}
	for _, name := range names {
		for path := name; ; path = path[:len(path)-1] {
			paths = append(paths, path, path+"/", path+".html")
			if len(path) <= 1 {
				break
			}
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// agree checks Name and Paths of a site against Get.
func (s *site) agree() {
	s.t.Helper()
	names := s.names()
	leads := map[string][]string{}
	for _, path := range around(names) {
		want := ""
		if h, ok := s.Get([]byte(path), false); ok {
			want = h.Page.Name
			leads[want] = append(leads[want], path)
			name, size, ok := s.Name([]byte(path), false)
			if !ok || name != want || size != h.Page.Length {
				s.t.Errorf("Name of %q: %q of %d bytes, %v; want %q of %d", path, name, size, ok, want, h.Page.Length)
			}
			bodyOf(s.t, h)
		} else if name, _, ok := s.Name([]byte(path), false); ok {
			s.t.Errorf("Name of %q: %q, want none", path, name)
		}
		h, exact := s.Get([]byte(path), true)
		if exact {
			bodyOf(s.t, h)
		}
		if name, _, ok := s.Name([]byte(path), true); ok != exact || ok && name != path {
			s.t.Errorf("Name of %q where only the file itself may answer: %q, %v; Get: %v", path, name, ok, exact)
		}
	}
	for _, name := range names {
		info, err := os.Lstat(s.path(name))
		if err != nil {
			s.t.Fatal(err)
		}
		if !info.Mode().IsRegular() && len(leads[name]) == 0 {
			continue // a link that may not be served, or to a directory
		}
		got := s.Paths(name)
		slices.Sort(got)
		if !slices.Equal(got, leads[name]) {
			s.t.Errorf("Paths of %q: %q, want %q", name, got, leads[name])
		}
	}
}

func TestNamesAgreeWithGet(t *testing.T) {
	files := []string{
		"index.html=home", "a.html=a", "a=itself", "b/index.html=b", "b.txt=t", "c=c", "both/index.html=i", "both.html=f",
		"images/foo.jpg=jpeg", "images/foo.jpg.html=page of the jpeg", "St.Louis.html=city", "São Paulo.html=sp", "d.html/index.html=dir", "d=d",
		"x/y.HTML=upper", ".well-known/acme=t", ".hidden.html=h", ".hidden/a.html=h", "cache/a.html=cached", "cache/index.html=cached home", "cache/b/index.htm=b",
		"empty.html=", "index/index.html=index",
	}
	for _, try := range [][]string{
		nil, {"{path}"}, {"{path}", "{path}.html", "{path}/index.html"}, {"cache{path}.html", "{path}.html"},
		{"/cache/{path}/index.html", "{path}"}, {"cache{path}/index.htm"}, {"cache{path}"}, {"{path}.jpg.html", "{path}.html"},
	} {
		t.Run(strings.Join(try, " "), func(t *testing.T) {
			s := newSite(t, FilesOptions{Try: try}, files...)
			s.link("a.html", "inside.html")
			s.link("../../secret.html", "outside.html")
			s.link("nothing.html", "c.html") // goes before c, were there a file
			s.link(filepath.Join(s.dir, "b"), "rooted")
			s.agree()
		})
	}
}

func TestPaths(t *testing.T) {
	s := newSite(t, FilesOptions{Try: []string{"{path}.html", "{path}/index.html", "{path}"}},
		"a.html=1", "a=2", "b/index.html=3", "index.html=4", ".h/x.html=5", ".well-known/x.html=6", "both/index.html=7", "both.html=8")
	for name, want := range map[string]string{
		"/a.html": "/a /a.html", "/a": "", "/b/index.html": "/b /b/ /b/index /b/index.html", "/index.html": "/ /index /index.html",
		"/.h/x.html": "", "/.well-known/x.html": "/.well-known/x /.well-known/x.html",
		"/both/index.html": "/both/ /both/index /both/index.html", "/both.html": "/both /both.html",
	} {
		got := s.Paths(name)
		slices.Sort(got)
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	s.Close()
	if got := s.Paths("/a.html"); got != nil {
		t.Errorf("without a root: %q", got)
	}
	if name, _, ok := s.Name([]byte("/a"), false); ok {
		t.Errorf("without a root: %q", name)
	}
}

// What is being written is named; whoever asks does not wait for it.
func TestNameOfAYoungFile(t *testing.T) {
	s := newSite(t, FilesOptions{}, "a.html=", "b.html=b")
	s.young("a.html", "b.html")
	for path, size := range map[string]int64{"/a": 0, "/b": 1} {
		if name, n, ok := s.Name([]byte(path), false); !ok || name != path+".html" || n != size {
			t.Errorf("%s: %q, %d bytes, %v", path, name, n, ok)
		}
	}
	if s.clock.pauses.Load() > 0 || s.Stats() != (FilesStats{}) {
		t.Errorf("%d pauses, stats %+v; want none", s.clock.pauses.Load(), s.Stats())
	}
}

func TestLargest(t *testing.T) {
	for _, c := range []struct {
		memory, maxKeep    int64
		html, other, plain int64
	}{
		{1 << 20, 0, DefaultMaxKeep, 1 << 18, DefaultMaxKeep},
		{1 << 20, 1000, 1000, 1000, 1000},
		{0, 0, DefaultMaxKeep, unkeptRead, DefaultMaxKeep},
	} {
		f, err := OpenFiles(FilesOptions{Root: t.TempDir(), MaxKeep: c.maxKeep}, NewMemory(c.memory), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if html, other, plain := f.Largest("/a.html"), f.Largest("/a.xml"), f.Largest("/a"); html != c.html || other != c.other || plain != c.plain {
			t.Errorf("memory %d, max_keep %d: html %d, xml %d, no suffix %d", c.memory, c.maxKeep, html, other, plain)
		}
	}
}
