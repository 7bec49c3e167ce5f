package check

import (
	"os"
	"path/filepath"
	"testing"
)

func TestBounds(t *testing.T) {
	b := bounds{"/srv/www", "/srv/shared/files"}
	for path, want := range map[string][2]bool{ // hold, liesIn
		"/srv/www":              {true, true},
		"/srv/www/a/b":          {true, false},
		"/srv/www2":             {false, false},
		"/srv":                  {false, true},
		"/":                     {false, true},
		"/srv/shared":           {false, true},
		"/srv/shared/files":     {true, true},
		"/srv/shared/files/..x": {true, false},
		"/srv/shared/file":      {false, false},
		"/etc":                  {false, false},
	} {
		if got := [2]bool{b.hold(path), b.liesIn(path)}; got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
	if whole := (bounds{"/"}); !whole.hold("/") || !whole.hold("/etc") {
		t.Error("/ does not hold what is in it")
	}
}

func TestNewBounds(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"real", "shared"} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("real", "link"); err != nil {
		t.Fatal(err)
	}
	b, err := newBounds("link", []string{"nothing", "shared"})
	if err != nil || len(b) != 2 || filepath.Base(b[0]) != "real" || !filepath.IsAbs(b[0]) || filepath.Base(b[1]) != "shared" {
		t.Errorf("got %q, %v, want the real paths of real and shared", b, err)
	}
	if _, err := newBounds("nothing", nil); err == nil {
		t.Error("a root that is not there: no error")
	}
}

func TestHidden(t *testing.T) {
	for name, want := range map[string]bool{
		"/a": false, "/.a": true, "/a/.b": true, "/a.b": false, "/..a": true, "/.well-known": false, "/.well-known/a": false,
		"/.well-known/.a": false, "/a/.well-known": true, "/.well-known2": true,
	} {
		if got := hidden(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
