package pagecache

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRunning(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, runningFileName)
	find := func(boot string, want bool) *Running {
		t.Helper()
		r, lost := findRunning(dir, boot)
		if lost != want {
			t.Errorf("lost is %v, want %v", lost, want)
		}
		return r
	}
	r := find("one", false)
	for range 2 { // as after kill -9
		if err := r.Begin(); err != nil {
			t.Fatal(err)
		}
		r = find("one", false)
	}
	find("two", true)
	find("", false)
	if err := r.End(); err != nil {
		t.Fatal(err)
	}
	if err := r.End(); err != nil {
		t.Errorf("without the note: %v", err)
	}
	find("two", false)
	for _, torn := range []string{"", "ssiedge-running 1 on", "ssiedge-running 2 one\n"} {
		if err := os.WriteFile(path, []byte(torn), 0o640); err != nil {
			t.Fatal(err)
		}
		find("one", true)
	}
	if err := find("one", true).Begin(); err != nil {
		t.Fatal(err)
	}
	find("one", false)
}

// Where nobody knows which start of the machine it is, nothing is noted.
func TestRunningUnknown(t *testing.T) {
	dir := t.TempDir()
	r, _ := findRunning(dir, "")
	if err := r.Begin(); err != nil {
		t.Fatal(err)
	}
	if err := r.End(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestRunningInTrouble(t *testing.T) {
	r, lost := findRunning(filepath.Join(t.TempDir(), "missing"), "one")
	if lost || r.Begin() == nil || r.End() == nil {
		t.Error("a folder that is missing is no error")
	}
}
