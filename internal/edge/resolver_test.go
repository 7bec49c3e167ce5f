package edge

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ssiedge/ssiedge/origin"
	"github.com/ssiedge/ssiedge/pagecache"
)

// newResolver is the Resolver of a site whose root holds the files.
func newResolver(t *testing.T, files string, change func(*Options, *Site)) *Resolver {
	t.Helper()
	root := t.TempDir()
	for name := range strings.FieldsSeq(files) {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	o := testOptions(func(o *Options) {
		o.Sites[0].Files = &pagecache.FilesOptions{Root: root, MaxKeep: o.Limits.MaxKeep}
		change(o, &o.Sites[0])
	})
	e, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e.Resolver(0)
}

func TestResolverFile(t *testing.T) {
	r := newResolver(t, `index.html a.html a.txt plain/p.html moved/m.html moved.html .dot.html St.Louis parts\x.html`, func(o *Options, s *Site) {
		o.Memory = 4 << 20
		s.SSI.Types = []string{"text/html", "text/css"}
		s.Rules = []Rule{
			{Paths: []string{"/plain/*", "/a.html"}, SSI: new(false)},
			{Paths: []string{"/moved/*"}, Redirect: new("/a")},
			{Paths: []string{"/moved"}, Internal: new(true)},
		}
	})
	for name, want := range map[string]Reach{
		"/index.html":      {true, true, DefaultMaxKeep},
		"/a.html":          {true, true, DefaultMaxKeep}, // not as /a.html, but as /a
		"/a.txt":           {true, false, 1 << 20},
		"/a.css":           {true, true, 1 << 20},
		"/plain/p.html":    {true, false, DefaultMaxKeep},
		"/moved/m.html":    {false, false, DefaultMaxKeep},
		"/moved.html":      {true, true, DefaultMaxKeep},
		"/.dot.html":       {false, false, DefaultMaxKeep},
		"/St.Louis":        {true, true, DefaultMaxKeep},
		`/parts\x.html`:    {false, false, DefaultMaxKeep},
		"/per%20cent.html": {true, true, DefaultMaxKeep},
		"/q?x#y.html":      {true, true, DefaultMaxKeep},
	} {
		if got := r.File(name); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

// What the address of a directory ends in is the site's affair.
func TestResolverFileOfADirectory(t *testing.T) {
	for slash, want := range map[TrailingSlash]bool{StripSlash: false, RedirectSlash: false, KeepSlash: true} {
		r := newResolver(t, "a.html a/index.html", func(_ *Options, s *Site) {
			s.TrailingSlash = slash
			s.Files.Try = []string{"{path}.html", "{path}/index.html"}
			s.Rules = []Rule{{Paths: []string{"/a/index"}, Redirect: new("/")}}
		})
		if got := r.File("/a/index.html").Any; got != want {
			t.Errorf("trailing_slash %d: reached %v, want %v", slash, got, want)
		}
	}
}

func TestResolverInclude(t *testing.T) {
	r := newResolver(t, "index.html a.html dir/b.html dir/c.txt dir/index.html moved.html plain.html 100%.html", func(_ *Options, s *Site) {
		s.Rules = []Rule{
			{Paths: []string{"/app/*"}, Origin: &origin.Options{Name: "app", Servers: []string{"http://127.0.0.1:1"}}},
			{Paths: []string{"/moved"}, Redirect: new("/a")},
			{Paths: []string{"/plain"}, SSI: new(false)},
			{Paths: []string{"/dir/*"}, Internal: new(true)},
		}
	})
	for _, c := range []struct {
		from, url string
		want      Place
	}{
		{"/x.html", "/a", Place{Path: "/a", File: "/a.html", Size: 6, Largest: DefaultMaxKeep, Run: true}},
		{"/x.html", "/a.html?q=1", Place{Path: "/a.html", File: "/a.html", Size: 6, Largest: DefaultMaxKeep, Run: true}},
		{"/dir/x.html", "b", Place{Path: "/dir/b", File: "/dir/b.html", Size: 10, Largest: DefaultMaxKeep, Run: true}},
		{"/dir/x.html", "../a/", Place{Path: "/a", File: "/a.html", Size: 6, Largest: DefaultMaxKeep, Run: true}},
		{"/dir/x.html", "", Place{Path: "/dir", File: "/dir/index.html", Size: 14, Largest: DefaultMaxKeep, Run: true}},
		{"/x.html", "/", Place{Path: "/", File: "/index.html", Size: 10, Largest: DefaultMaxKeep, Run: true}},
		{"/x.html", "/dir/c.txt", Place{Path: "/dir/c.txt", File: "/dir/c.txt", Size: 9, Largest: 8 << 20}},
		{"/x.html", "/plain", Place{Path: "/plain", File: "/plain.html", Size: 10, Largest: DefaultMaxKeep}},
		{"/x.html", "/moved", Place{Path: "/moved", File: "/moved.html", Size: 10, Largest: DefaultMaxKeep, Run: true, Redirect: true}},
		{"/x.html", "/nothing", Place{Path: "/nothing"}},
		{"/x.html", "/a%2Fb", Place{Path: "/a/b"}},
		{"/x.html", "/100%25", Place{Path: "/100%", File: "/100%.html", Size: 9, Largest: DefaultMaxKeep, Run: true}},
		{"/x.html", "/app/menu", Place{Path: "/app/menu", Origin: true}},
		{"/100%/x.html", "y", Place{Path: "/100%/y"}},
	} {
		if got, err := r.Include(c.from, c.url); err != nil || got != c.want {
			t.Errorf("%q in %s: %+v, %v, want %+v", c.url, c.from, got, err, c.want)
		}
	}
	for url, want := range map[string]string{
		"/../a": `include "/../a": path leads above the root`,
		"/%":    `include "/%": malformed escape in the path, want % and two hex digits`,
	} {
		if _, err := r.Include("/x.html", url); err == nil || err.Error() != want {
			t.Errorf("%q: error %v, want %s", url, err, want)
		}
	}
}

// A query that an app may know what to do with is not answered by a page that
// was found by its path.
func TestResolverIncludeWithQuery(t *testing.T) {
	r := newResolver(t, "a.html", func(o *Options, s *Site) {
		s.Origin = &origin.Options{Name: "app", Servers: []string{"http://127.0.0.1:1"}}
		o.Memcache = &pagecache.MemcacheOptions{Servers: []string{"127.0.0.1:1"}}
		s.Published = &pagecache.PublishedOptions{Keys: []string{"{path}"}}
	})
	for url, want := range map[string]Place{
		"/a?page=2":      {Path: "/a", Origin: true},
		"/a.html?page=2": {Path: "/a.html", File: "/a.html", Size: 6, Largest: DefaultMaxKeep, Run: true, Origin: true},
		"/a":             {Path: "/a", File: "/a.html", Size: 6, Largest: DefaultMaxKeep, Run: true, Published: true, Origin: true},
	} {
		if got, err := r.Include("/x.html", url); err != nil || got != want {
			t.Errorf("%q: %+v, %v, want %+v", url, got, err, want)
		}
	}
}
