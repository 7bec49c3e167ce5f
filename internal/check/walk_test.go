package check

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ssiedge/ssiedge/internal/edge"
	"github.com/ssiedge/ssiedge/internal/realtest"
	"github.com/ssiedge/ssiedge/pagecache"
	"pgregory.net/rapid"
)

// options are those of an edge with one site over a root.
func options(files pagecache.FilesOptions) edge.Options {
	return edge.Options{
		Limits: edge.Limits{MaxKeep: edge.DefaultMaxKeep},
		Sites: []edge.Site{{
			Where: "test", Files: &files,
			SSI: edge.SSI{Enabled: true, Types: []string{"text/html"}, MaxFragment: edge.DefaultMaxFragment},
		}},
	}
}

// folders are where the random trees of TestWalkAgreesWithServing have files;
// the last two are no part of root, and the last is never served.
var folders = []string{"root", "root/a", "root/a/b", "root/.dot", "root/.well-known", "shared", "outside"}

// growTree makes files with one problem each, and links of any kind. The links
// stand in the first folders only: what is not served is not gone into, though
// some link in there may lead back.
func growTree(t *rapid.T, dir string, served []string) {
	for _, folder := range folders {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	folder := rapid.SampledFrom(folders)
	file := rapid.SampledFrom([]string{"x.html", "y.html", "index.html", ".z.html", "x"})
	for range rapid.IntRange(1, 8).Draw(t, "files") {
		path := filepath.Join(dir, folder.Draw(t, "folder"), file.Draw(t, "file"))
		if err := os.WriteFile(path, []byte("<!--#exec -->"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	from := rapid.SampledFrom(served)
	names := rapid.SampledFrom([]string{"l", "m", "y.html", "index.html", ".n"})
	ends := rapid.SampledFrom([]string{"", "", "x.html", "y.html", "l", "m", "index.html", "nothing"})
	for range rapid.IntRange(0, 6).Draw(t, "links") {
		link := filepath.Join(dir, from.Draw(t, "from"), names.Draw(t, "link"))
		to := filepath.Join(dir, folder.Draw(t, "to"), ends.Draw(t, "end"))
		if rapid.Bool().Draw(t, "relative") {
			to, _ = filepath.Rel(filepath.Dir(link), to)
		}
		os.Remove(link)
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
}

// served gives the real paths of all files that some URL leads to, by asking
// for every path that the names below root make up. By the default of try what
// is in a folder is the same under each of its names, but for dot names.
func served(t *rapid.T, o pagecache.FilesOptions) []string {
	files, err := pagecache.OpenFiles(o, pagecache.NewMemory(0), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	found := map[string]bool{}
	ask := func(path string) {
		if name, _, ok := files.Name([]byte(path), false); ok {
			real, err := filepath.EvalSymlinks(filepath.Join(o.Root, name))
			if err != nil {
				t.Fatal(err)
			}
			found[real] = true
		}
	}
	been := map[string]bool{}
	var descend func(name string)
	descend = func(name string) {
		ask(name)
		ask(strings.TrimSuffix(name, ".html"))
		ask(name + "/")
		entries, err := os.ReadDir(filepath.Join(o.Root, name))
		if err != nil {
			return
		}
		real, err := filepath.EvalSymlinks(filepath.Join(o.Root, name))
		if err != nil {
			t.Fatal(err)
		}
		// No URL leads below a dot name; it must not hide the folder's other names.
		wellKnown := strings.HasPrefix(name, "/.well-known")
		if real += fmt.Sprint(wellKnown, strings.Contains(name, "/.")); been[real] {
			return
		}
		been[real] = true
		for _, e := range entries {
			descend(name + "/" + e.Name())
		}
	}
	descend("")
	return sorted(found)
}

func sorted(set map[string]bool) []string {
	var list []string
	for s := range set {
		list = append(list, s)
	}
	slices.Sort(list)
	return list
}

// Files that the walk looks at are those that serving would serve, each once.
func TestWalkAgreesWithServing(t *testing.T) {
	base := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		dir := filepath.Join(base, fmt.Sprint(n))
		o := pagecache.FilesOptions{Root: filepath.Join(dir, "root")}
		open := folders[:5]
		if rapid.Bool().Draw(t, "links are allowed") {
			o.Links = []string{filepath.Join(dir, "shared")}
			open = folders[:6]
		}
		growTree(t, dir, open)
		defer os.RemoveAll(dir)
		seen := map[string]bool{}
		counts, err := Run(options(o), func(p Problem) {
			if p.Warning {
				return
			}
			real, err := filepath.EvalSymlinks(p.File)
			if err != nil {
				t.Fatal(err)
			}
			if seen[real] {
				t.Fatalf("%s was looked at twice", real)
			}
			seen[real] = true
		})
		if err != nil {
			t.Fatal(err)
		}
		got, want := sorted(seen), served(t, o)
		if !slices.Equal(got, want) || counts.Files != len(want) || counts.Pages != len(want) {
			t.Fatalf("looked at\n%s\n%+v, served are\n%s", strings.Join(got, "\n"), counts, strings.Join(want, "\n"))
		}
	})
}

// A tree of many files: each is seen, and what is wrong with a few is found.
func TestBigTree(t *testing.T) {
	root := t.TempDir()
	broad, each := 100, 100
	if realtest.Race {
		broad = 10
	}
	page := []byte("<!--#include virtual='/parts/header' -->" + strings.Repeat("text ", 200) + "<!--#echo var='a' -->")
	for i := range broad {
		dir := filepath.Join(root, fmt.Sprintf("d%02d", i), "deep", "deeper")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for j := range each {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("p%02d.html", j)), page, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, text := range map[string]string{"parts/header.html": "top", "d05/broken.html": "\n<!--#if expr=$a -->"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var said []string
	counts, err := Run(options(pagecache.FilesOptions{Root: root}), func(p Problem) { said = append(said, p.String()) })
	want := []string{filepath.Join(root, "d05/broken.html") + ":2:1: if is not closed; add <!--#endif -->"}
	if err != nil || !slices.Equal(said, want) || counts != (Counts{Files: broad*each + 2, Pages: broad*each + 1, Problems: 1}) {
		t.Errorf("%q, %+v, %v; want %q", said, counts, err, want)
	}
}

// More URLs than are remembered make the check slower, not wrong.
func TestManyURLs(t *testing.T) {
	root := t.TempDir()
	var b strings.Builder
	for i := range maxLeads + 100 {
		fmt.Fprintf(&b, "<!--#include virtual='/part?%d' -->", i)
	}
	for name, text := range map[string]string{"page.html": b.String(), "part.html": "<!--#include virtual='/page?1' -->"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	o := options(pagecache.FilesOptions{Root: root})
	o.Sites[0].SSI.MaxFragment = 1 << 30
	var said []string
	counts, err := Run(o, func(p Problem) { said = append(said, p.String()) })
	if err != nil || counts != (Counts{Files: 2, Pages: 2, Problems: 1}) || !strings.Contains(said[0], "part.html:1:1: includes in a loop: /page.html -> /part.html -> /page.html;") {
		t.Errorf("%.200q, %+v, %v; want one loop", said, counts, err)
	}
}

// What an edge keeps belongs to one that runs, perhaps at this very moment.
func TestRunLeavesNoTrace(t *testing.T) {
	o := options(pagecache.FilesOptions{Root: t.TempDir()})
	o.State = filepath.Join(t.TempDir(), "state")
	if _, err := Run(o, func(Problem) {}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(o.State); !os.IsNotExist(err) {
		t.Errorf("there is a state: %v", err)
	}
}

func TestRunErrors(t *testing.T) {
	o := options(pagecache.FilesOptions{Root: filepath.Join(t.TempDir(), "nothing")})
	if _, err := Run(o, func(Problem) {}); err == nil || !strings.Contains(err.Error(), "nothing") {
		t.Errorf("a root that is not there: error %v", err)
	}
	// Without a root there is nothing to look at.
	o.Sites[0].Files = nil
	if counts, err := Run(o, func(Problem) {}); err != nil || counts != (Counts{}) {
		t.Errorf("a site without root: %+v, %v", counts, err)
	}
}
