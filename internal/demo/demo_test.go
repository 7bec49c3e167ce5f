package demo

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// start runs a demo for the length of a test.
func start(t *testing.T) *Demo {
	t.Helper()
	d, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return d
}

func TestStartCopiesTheSite(t *testing.T) {
	d := start(t)
	for _, name := range publishedFiles(t) {
		want, err := embedded.ReadFile("site/" + name)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(d.Root, filepath.FromSlash(name))
		if got, err := os.ReadFile(path); err != nil || string(got) != string(want) {
			t.Errorf("%s: not the embedded file (%v)", name, err)
		}
		if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o200 == 0 {
			t.Errorf("%s: mode %v, its user must be able to edit it", name, info.Mode())
		}
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	d, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	if _, err := os.Stat(d.Dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is still there (%v)", d.Dir, err)
	}
	if c, err := net.Dial("tcp", strings.TrimPrefix(d.Origin, "http://")); err == nil {
		c.Close()
		t.Error("the app still listens")
	}
}

func TestWriteConfig(t *testing.T) {
	d := start(t)
	file, err := d.WriteConfig("127.0.0.1:1234", "127.0.0.1:5678")
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Dir(file) != d.Dir {
		t.Errorf("written to %s, want it in %s", file, d.Dir)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`listen = ["127.0.0.1:1234"]`, `listen = "127.0.0.1:5678"`, `servers = ["` + d.Origin + `"]`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if strings.Contains(string(text), "{{") {
		t.Errorf("a hole was left in\n%s", text)
	}
}

// publishedFiles are the names below site/.
func publishedFiles(t *testing.T) []string {
	t.Helper()
	var names []string
	err := fs.WalkDir(embedded, "site", func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			names = append(names, strings.TrimPrefix(path, "site/"))
		}
		return err
	})
	if err != nil || len(names) == 0 {
		t.Fatalf("no site embedded: %v", err)
	}
	return names
}
