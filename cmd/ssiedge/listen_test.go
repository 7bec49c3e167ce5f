package main

import (
	"net"
	"os"
	"path/filepath"
	"testing"
)

// A path that is not a socket's is left alone.
func TestListenUnixOverFile(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(at("file"), []byte("dear"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(at("folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(at("file"), at("link")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"file", "folder", "link"} {
		if l, err := listen("unix:" + at(name)); err == nil {
			l.Close()
			t.Errorf("%s: a listener is there in its place", name)
		}
	}
	if b, err := os.ReadFile(at("link")); err != nil || string(b) != "dear" {
		t.Errorf("the file, by its link: %q (%v)", b, err)
	}
	if _, err := os.Stat(at("folder")); err != nil {
		t.Error(err)
	}
}

// A socket that a killed process left is replaced, one that is alive is not.
func TestListenUnixOverSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	dead.Close()
	l, err := listen("unix:" + path)
	if err != nil {
		t.Fatalf("over a dead socket: %v", err)
	}
	defer l.Close()
	if second, err := listen("unix:" + path); err == nil {
		second.Close()
		t.Error("a live socket was replaced")
	}
}
