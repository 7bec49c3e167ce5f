package check

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// asNobody calls f with the rights of a user who owns nothing. Root, whom no
// mode keeps from reading, gives his rights over files up for that long: they
// belong to the thread, and f must not leave it.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		f()
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const nobody = 65534
	setfsuid(nobody)
	defer setfsuid(0)
	if now := setfsuid(nobody); now != nobody {
		realtest.Absent(t, fmt.Sprintf("this root cannot become somebody else for files: user %d", now))
	}
	f()
}

// setfsuid makes the thread's user for files id, if it may, and gives the one
// before. It knows no errors.
func setfsuid(id uintptr) (before uintptr) {
	before, _, _ = syscall.RawSyscall(syscall.SYS_SETFSUID, id, 0, 0)
	return before
}

func TestUnreadable(t *testing.T) {
	// Not t.TempDir, whose parents are closed to others.
	dir, err := os.MkdirTemp("", "check")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	modes := map[string]os.FileMode{}
	for name, mode := range map[string]os.FileMode{
		"public/open.html": 0o644, "public/closed.html": 0, "public/closed.png": 0, "public/.closed.html": 0, "public/closed.html.bak/a.html": 0o644,
		"public/folder/a.html": 0o644, "public/blind/a.html": 0o644, "shut/a.html": 0o644,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		text := "<!--#exec -->"
		if name == "public/open.html" {
			text = "<!--#include virtual='/closed' -->"
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		modes[name] = mode
	}
	if err := os.Symlink(filepath.Join(dir, "shut", "a.html"), filepath.Join(dir, "public", "link.html")); err != nil {
		t.Fatal(err)
	}
	// folder may be neither listed nor entered, blind only listed.
	for name, mode := range map[string]os.FileMode{"": 0o755, "public/folder": 0, "public/blind": 0o444, "shut": 0} {
		modes[name] = mode
	}
	for name, mode := range modes {
		if !strings.Contains(name, "/a.html") {
			if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Cleanup(func() {
		for _, name := range []string{"public/folder", "public/blind", "shut"} {
			os.Chmod(filepath.Join(dir, name), 0o755)
		}
	})
	t.Chdir(dir)
	if err := os.WriteFile("ssiedge.toml", []byte("[[site]]\nroot = 'public'\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var got string
	asNobody(t, func() { got = printed(t) })
	const denied = ":1:1: cannot be read: permission denied; let the user that runs ssiedge read it\n"
	want := "public/blind/a.html" + denied +
		"public/closed.html" + denied +
		"public/closed.html.bak/a.html:1:1: exec is never run; include a URL of the app instead\n" +
		"public/closed.png" + denied +
		"public/folder" + denied +
		`public/open.html:1:1: include "/closed": there is no page /closed, and no origin to ask; publish it under public, or correct the URL` + "\n" +
		"public/link.html" + denied +
		"4 files, 2 with directives, 7 problems, 0 warnings\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if os.Geteuid() == 0 {
		// The same tree, by somebody who may read all of it.
		all := printed(t)
		if strings.Contains(all, "cannot be read") || !strings.Contains(all, "public/folder/a.html:1:1: exec") {
			t.Errorf("root cannot read all:\n%s", all)
		}
	}
}
