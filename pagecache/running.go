package pagecache

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	runningFileName = "running"

	// bootIDFile names the start of the machine. Where there is none, as on
	// other systems than Linux, nothing is noted.
	bootIDFile = "/proc/sys/kernel/random/boot_id"
)

// Running is a note beside the journal, there from the start of a process to its
// good end, of the start of the machine that both fall into. What is removed
// from a Disk is not synced one by one, for who removes it would have to wait for
// all that is just being written. kill -9 takes nothing of that back. But where
// the machine went down as well, a page that was removed may be there again: the
// note tells. It is for one goroutine.
type Running struct {
	path string
	text string // "": there is no note
}

// bootID names the start of the machine; "": nobody knows it.
func bootID() string {
	b, err := os.ReadFile(bootIDFile)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// FindRunning looks for the note of an earlier process in dir, the folder of a
// journal. lost says that the machine has been started since that process began,
// which did not end well: what was kept there is to be purged before Begin.
func FindRunning(dir string) (r *Running, lost bool) { return findRunning(dir, bootID()) }

func findRunning(dir, boot string) (r *Running, lost bool) {
	r = &Running{path: filepath.Join(dir, runningFileName)}
	if boot == "" {
		return r, false
	}
	r.text = fmt.Sprintf("ssiedge-running 1 %s\n", boot)
	b, err := os.ReadFile(r.path)
	return r, !errors.Is(err, fs.ErrNotExist) && (err != nil || string(b) != r.text)
}

// Begin writes the note: when it returns without an error it is on the disk.
func (r *Running) Begin() error {
	if r.text == "" {
		return nil
	}
	f, err := os.OpenFile(r.path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o640)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.WriteString(r.text); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return syncDir(filepath.Dir(r.path))
}

// End removes the note: all that was removed is on the disk as removed. That the
// note is gone need not be, for who finds it fills again.
func (r *Running) End() error {
	if r.text == "" {
		return nil
	}
	// Other files of the folder may have been put in their places, or removed.
	if err := syncDir(filepath.Dir(r.path)); err != nil {
		return err
	}
	if err := os.Remove(r.path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
