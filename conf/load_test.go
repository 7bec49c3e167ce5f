package conf

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestRelativePaths start from the folder of the file, wherever the process is.
func TestRelativePaths(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"public", "uploads", "log"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "ssiedge.toml")
	src := "state = 'journal'\n[log]\naccess = 'log/access.log'\n[[site]]\nroot = 'public'\nlinks = ['uploads', '" + dir + "']\n"
	if err := os.WriteFile(file, []byte(src), 0o644); err != nil {
		t.Fatal(err)
	}
	cfg, err := Load(file, os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	files := cfg.Edge.Sites[0].Files
	got := []string{cfg.Edge.State, cfg.Log.Access, files.Root, files.Links[0], files.Links[1], cfg.File, cfg.Edge.Sites[0].Where}
	want := []string{filepath.Join(dir, "journal"), filepath.Join(dir, "log/access.log"), filepath.Join(dir, "public"), filepath.Join(dir, "uploads"), dir, file, file + ":4"}
	if d := diff(got, want); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestStateIsThere: the folder of an earlier start is as good as one to be made,
// and so is a symlink to it.
func TestStateIsThere(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "1"), 0o755), os.Symlink("1", filepath.Join(dir, "state"))); err != nil {
		t.Fatal(err)
	}
	for _, state := range []string{"1", "1/", "state", "2/", dir, dir + "/3/"} {
		cfg, err := Parse(filepath.Join(dir, "ssiedge.toml"), []byte("state = '"+state+"'\n[[site]]\nroot = '1'\nhosts = 'a'"), environment)
		if err != nil {
			t.Errorf("%q: %v", state, err)
		} else if !filepath.IsAbs(cfg.Edge.State) || cfg.Edge.State != filepath.Clean(cfg.Edge.State) {
			t.Errorf("%q gives %q, want an absolute, clean path", state, cfg.Edge.State)
		}
		if _, err := os.Stat(filepath.Join(dir, "2")); err == nil {
			t.Errorf("%q was made: only a start may", state)
		}
	}
}

// TestRootIsASymlink: a deploy flips it, so it is kept as it is written.
func TestRootIsASymlink(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "1"), 0o755), os.Symlink("1", filepath.Join(dir, "current"))); err != nil {
		t.Fatal(err)
	}
	cfg, err := Parse(filepath.Join(dir, "ssiedge.toml"), []byte("[[site]]\nroot = 'current'"), environment)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := cfg.Edge.Sites[0].Files.Root, filepath.Join(dir, "current"); got != want {
		t.Errorf("root is %q, want %q", got, want)
	}
}

func TestLoadMissing(t *testing.T) {
	cfg, err := Load(filepath.Join(t.TempDir(), "ssiedge.toml"), os.LookupEnv)
	if _, list := errors.AsType[ErrorList](err); cfg != nil || list || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v and %v, want the error of reading the file", cfg, err)
	}
}
