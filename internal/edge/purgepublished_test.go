package edge

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// withPurgeRoot lets a purge remove files.
func withPurgeRoot() func(*Options) {
	return withSite(func(s *Site) { s.Cache.PurgeRoot = true })
}

func answering(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		io.WriteString(w, text)
	}
}

func TestPurgePublishedValue(t *testing.T) {
	const host, other = "www.example.com", "other.example.com"
	tests := []struct {
		key    string   // template
		values []string // in memcached, each asked for by the URL beside it
		urls   []string
		purge  string
		gone   string // of urls, one digit each
		left   string // part of what is left
	}{
		{"{raw_path}", []string{"/p", "/q"}, []string{"/p", "/q"}, "/p/", "0", ""},
		{"{raw_path}", []string{"/p", "/q"}, []string{"/p", "/q"}, "http://" + host + "/p?utm_source=1", "0", ""},
		{"{raw_path}", []string{"/p"}, []string{"/p"}, "/p?page=2", "", ""},
		{"{host}{path}", []string{host + "/p", other + "/p"}, []string{"/p", "http://" + other + "/p"}, "http://" + host + "/p", "0", ""},
		{"{host}{path}", []string{host + "/p"}, []string{"/p"}, "/p", "", "{host}"},
		{"{scheme}{path}", []string{"http/p", "https/p"}, []string{"/p", "https://" + host + "/p"}, "/p", "01", ""},
		{"{path}?{query}", []string{"/p?a=1", "/p?a=2"}, []string{"/p?a=1", "/p?a=2"}, "/p?utm_x=1&a=1", "0", ""},
		{"{path}?{query}", []string{"/p?a=1", "/p?"}, []string{"/p?a=1", "/p"}, "/p", "1", "quer"},
	}
	for _, test := range tests {
		t.Run(test.key+" "+test.purge, func(t *testing.T) {
			m := realtest.Memcached(t)
			e := newEdge(t, withKeeping(), withTrust("127.0.0.0/8"), withMemcached(m.Addr, test.key), withApp(t, answering("app")),
				withSite(func(s *Site) { s.Published.For = time.Hour })) // a copy in memory would answer long after
			for i, value := range test.values {
				memcachedSet(t, m.Addr, value, 0, "value of "+value)
				if got := e.visit(test.urls[i]); got != "value of "+value {
					t.Fatalf("%s is %q before the purge", test.urls[i], got)
				}
			}
			check := func(when, gone string) {
				t.Helper()
				for i, url := range test.urls {
					want := "value of " + test.values[i]
					if strings.Contains(gone, itoa(i)) {
						want = "app"
					}
					if got := e.visit(url); got != want {
						t.Errorf("%s is %q after %s, want %q", url, got, when, want)
					}
				}
			}
			e.purged(PurgeCall{URLs: []string{test.purge}, DryRun: true})
			check("a dry run", "")
			res := e.purged(PurgeCall{URLs: []string{test.purge}})
			check("the purge", test.gone)
			if left := strings.Join(res.Left, "\n"); !strings.Contains(left, test.left) || test.left == "" && left != "" {
				t.Errorf("left is %q, want %q", left, test.left)
			}
		})
	}
}

func TestPurgeTellsThatMemcachedIsAway(t *testing.T) {
	m := realtest.Memcached(t)
	e := newEdge(t, withKeeping(), withMemcached(m.Addr, "{path}"), withApp(t, answering("app")))
	m.Stop()
	res := e.purged(PurgeCall{URLs: []string{"/a", "/b", "/c", "/d"}})
	if len(res.Left) != 4 || res.ID == "" {
		t.Fatalf("%+v, want the purge done, and four values that may be left", res)
	}
	for i, left := range res.Left {
		if alone := strings.Contains(left, "left alone"); alone != (i >= memcachedTries) {
			t.Errorf("%q: left alone is %v", left, alone)
		}
	}
}

func TestPurgeBoundsWhatIsLeft(t *testing.T) {
	files, urls := map[string]string{}, []string(nil)
	for i := range maxLeft + 5 {
		files["p"+itoa(i)+".html"] = "x"
		urls = append(urls, "/p"+itoa(i))
	}
	e := newEdge(t, withKeeping(), withFiles(t, files))
	res := e.purged(PurgeCall{URLs: urls})
	if len(res.Left) != maxLeft+1 || res.Left[maxLeft] != "5 more" {
		t.Errorf("%d are left, the last %q", len(res.Left), res.Left[len(res.Left)-1])
	}
}

func TestPurgeRoot(t *testing.T) {
	all := map[string]string{
		"towns.html": "towns", "towns.html.gz": gzipped("towns"), "towns/index.html": "index", "towns/bay.html": "bay",
		"app.css": "css", "index.html": "home", "other.html": "other",
	}
	tests := []struct {
		purge string
		gone  []string // files
		left  string
	}{
		{"/towns/", []string{"towns.html", "towns.html.gz"}, `"/towns/index.html" under root now answers`},
		{"/towns?utm_source=1", []string{"towns.html", "towns.html.gz"}, "now answers"},
		{"/towns?page=2", nil, ""}, // no file answers that
		{"/towns/bay", []string{"towns/bay.html"}, ""},
		{"/app.css?v=3", []string{"app.css"}, ""},
		{"/", []string{"index.html"}, ""},
		{"http://www.example.com/other.html", []string{"other.html"}, ""},
		{"/towns%2Fbay", nil, ""},
		{"/none", nil, ""},
	}
	for _, test := range tests {
		t.Run(test.purge, func(t *testing.T) {
			root := writeFiles(t, all)
			e := newEdge(t, withKeeping(), withRoot(root), withPurgeRoot(), withApp(t, answering("app")),
				withSite(func(s *Site) { s.Files.Check = time.Hour })) // a copy in memory would answer long after
			path, _, _ := strings.Cut(strings.TrimPrefix(test.purge, "http://www.example.com"), "?")
			first := e.get(path).body
			e.purged(PurgeCall{URLs: []string{test.purge}, DryRun: true})
			if missing := missingFiles(root, all); missing != nil {
				t.Fatalf("a dry run removes %q", missing)
			}
			res := e.purged(PurgeCall{URLs: []string{test.purge}})
			missing := missingFiles(root, all)
			if strings.Join(missing, " ") != strings.Join(test.gone, " ") {
				t.Errorf("the purge removes %q, want %q", missing, test.gone)
			}
			if left := strings.Join(res.Left, "\n"); !strings.Contains(left, test.left) || test.left == "" && left != "" {
				t.Errorf("left is %q, want %q", left, test.left)
			}
			if got := e.get(path).body; (got == first) != (test.gone == nil) {
				t.Errorf("%s is %q, before the purge it was %q", path, got, first)
			}
		})
	}
}

// missingFiles are those of files, in order, that are not under root.
func missingFiles(root string, files map[string]string) []string {
	var missing []string
	for _, name := range []string{"app.css", "index.html", "other.html", "towns.html", "towns.html.gz", "towns/bay.html", "towns/index.html"} {
		if _, ok := files[name]; !ok {
			continue
		}
		if _, err := os.Stat(filepath.Join(root, name)); err != nil {
			missing = append(missing, name)
		}
	}
	return missing
}

func TestPurgeLeavesFiles(t *testing.T) {
	root := writeFiles(t, map[string]string{"p.html": "page"})
	e := newEdge(t, withKeeping(), withRoot(root), withApp(t, answering("app")))
	for _, dry := range []bool{true, false} {
		res := e.purged(PurgeCall{URLs: []string{"/p"}, DryRun: dry})
		if len(res.Left) != 1 || !strings.Contains(res.Left[0], `/p: the file "/p.html" under root still answers`) {
			t.Errorf("dry run %v: left is %q", dry, res.Left)
		}
	}
	e.get("/p").is(t, 200, "page")
	if res := e.purged(PurgeCall{URLs: []string{"/p?page=2"}}); res.Left != nil {
		t.Errorf("left is %q of a URL that the file does not answer", res.Left)
	}
}

// A purge with purge_root must not reach out of root, whatever links are there.
func TestPurgeRootStaysInside(t *testing.T) {
	root := writeFiles(t, map[string]string{"in.html": "in"})
	shared := writeFiles(t, map[string]string{"s.html": "shared", "d.html": "shared too"})
	for target, name := range map[string]string{filepath.Join(shared, "s.html"): "link.html", shared: "dir"} {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	e := newEdge(t, withKeeping(), withRoot(root), withPurgeRoot(), withApp(t, answering("app")),
		withSite(func(s *Site) { s.Files.Links = []string{shared} }))
	e.get("/link").is(t, 200, "shared")
	e.get("/dir/d").is(t, 200, "shared too")
	if res := e.purged(PurgeCall{URLs: []string{"/link"}}); res.Left != nil {
		t.Errorf("left is %q", res.Left)
	}
	e.get("/link").is(t, 200, "app")
	res := e.purged(PurgeCall{URLs: []string{"/dir/d"}})
	if len(res.Left) != 1 || !strings.Contains(res.Left[0], `"/dir/d.html" under root is not removed`) {
		t.Errorf("left is %q, want that the file is outside", res.Left)
	}
	for _, name := range []string{"s.html", "d.html"} {
		if _, err := os.Stat(filepath.Join(shared, name)); err != nil {
			t.Errorf("a purge removes what lies outside root: %v", err)
		}
	}
}
