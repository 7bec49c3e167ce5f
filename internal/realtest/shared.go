package realtest

import (
	"os"
	"path/filepath"
	"testing"
)

// Shared gives the absolute path of name below the folder of shared material
// (the Rails app, the trace), which lies beside the repository and is not part
// of it: SSIEDGE_SHARED names it, else it is ../shared seen from the root of
// the repository. Absent, the test fails or is skipped as Require has it.
func Shared(t testing.TB, name string) string {
	t.Helper()
	dir := os.Getenv("SSIEDGE_SHARED")
	if dir == "" {
		dir = filepath.Join(Root(t), "..", "shared")
	}
	path := filepath.Join(dir, filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		Absent(t, "shared material "+name+" is not there: SSIEDGE_SHARED should name its folder: "+err.Error())
	}
	return path
}

// Root gives the root of the repository: the nearest folder with a go.mod, up
// from the one that the test runs in.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod in this folder or above it")
		}
		dir = parent
	}
}

// Absent ends the test for want of something that it needs: a failure where
// everything has to be there (CI=true or SSIEDGE_REQUIRE=1), else a skip.
func Absent(t testing.TB, reason string) {
	t.Helper()
	if os.Getenv("CI") == "true" || os.Getenv("SSIEDGE_REQUIRE") == "1" {
		t.Fatal(reason)
	}
	t.Skip(reason)
}
