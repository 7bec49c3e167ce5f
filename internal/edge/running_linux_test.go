package edge

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A process that ended well, or was killed, leaves its pages to the next. One
// that went down with the machine does not: what was removed last may be back.
func TestRunning(t *testing.T) {
	dir := t.TempDir()
	note := filepath.Join(dir, "running")
	app := new(counting)
	url := newApp(t, app.ServeHTTP)
	start := func(t *testing.T) *testEdge {
		return newEdge(t, withKeeping(), withOrigin(url), withDisk(dir))
	}
	var kept string
	var text []byte
	t.Run("first", func(t *testing.T) {
		e := start(t)
		kept = e.visit("/p")
		e.waitFiles(1)
		var err error
		if text, err = os.ReadFile(note); err != nil {
			t.Fatal(err)
		}
	})
	if _, err := os.Stat(note); !os.IsNotExist(err) {
		t.Errorf("after a good end the note is still there: %v", err)
	}
	t.Run("after a good end", func(t *testing.T) { start(t).get("/p").is(t, 200, kept) })
	leave := func(text string) {
		t.Helper()
		if err := os.WriteFile(note, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	leave(string(text))
	t.Run("after kill -9", func(t *testing.T) { start(t).get("/p").is(t, 200, kept) })
	leave("ssiedge-running 1 another\n")
	t.Run("after a power loss", func(t *testing.T) {
		e := start(t)
		if got := e.visit("/p"); got == kept {
			t.Errorf("%q is still used", got)
		}
		if log := e.log.String(); !strings.Contains(log, "the machine went down while ssiedge ran") {
			t.Errorf("the log says %q", log)
		}
	})
	t.Run("after that", func(t *testing.T) {
		if got := start(t).visit("/p"); got == kept {
			t.Errorf("%q is used again", got)
		}
	})
}
