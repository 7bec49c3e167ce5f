package pagecache

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// mounted mounts something at a folder until the end of the test.
func mounted(t *testing.T, source, dir, kind string, flags uintptr, data string) (unmount func()) {
	t.Helper()
	if err := unix.Mount(source, dir, kind, flags, data); err != nil {
		realtest.Absent(t, fmt.Sprintf("nothing can be mounted here: %v", err))
	}
	var once sync.Once
	unmount = func() {
		once.Do(func() {
			if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(unmount)
	return unmount
}

// tierLog is what a tier says in the log.
type tierLog struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *tierLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *tierLog) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.b.String(), text)
}

const (
	saysCannot = "the disk tier cannot write"
	saysAgain  = "the disk tier can write again"
)

// keepsAgain puts a page until it is kept in a file.
func keepsAgain(t *testing.T, d *Disk, key string) {
	t.Helper()
	realtest.Eventually(t, "pages are kept again", func() bool {
		d.Put([]byte(key), pulledPage("again"))
		waitWritten(t, d)
		_, err := os.Stat(d.placeOf(key))
		return err == nil && tierBody(d, key) == "again"
	})
}

// A full disk is a miss and a count; what is there is served; when there is
// room again, pages are kept again.
func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	mounted(t, "tmpfs", dir, "tmpfs", 0, "size=1m,mode=755")
	log := new(tierLog)
	d := openTestDisk(t, dir, DiskOptions{Size: 1 << 30, Log: slog.New(slog.NewTextHandler(log, nil))}, testLimits)
	defer runDisk(t, d)()
	for i := range 5 {
		d.Put(fmt.Append(nil, "p", i), pulledPage(fmt.Sprint(i)))
	}
	settle(t, d)
	filler := filepath.Join(dir, "filler")
	if err := os.WriteFile(filler, make([]byte, 2<<20), 0o600); err == nil {
		t.Fatal("the disk is not full")
	}
	for i := range 20 {
		d.Put(fmt.Append(nil, "pnew", i), pulledPage(strings.Repeat("x", 2*diskBlock)))
		waitWritten(t, d)
		if got := tierBody(d, fmt.Sprint("pnew", i)); got != "none" {
			t.Errorf("page %d was kept", i)
		}
	}
	for i := range 5 {
		if got := tierBody(d, fmt.Sprint("p", i)); got != fmt.Sprint(i) {
			t.Errorf("page %d is %q", i, got)
		}
	}
	st := d.Stats()
	if st.Trouble != 20 || st.Errors == 0 || st.Foreign != 0 || log.count(saysCannot) != 1 || log.count("no space left on device") != 1 {
		t.Errorf("%+v, in the log:\n%s", st, &log.b)
	}
	wantConsistent(t, d) // nothing is left of what did not fit
	d.Put([]byte("p1"), pulledPage(strings.Repeat("x", 5*diskBlock)))
	waitWritten(t, d)
	if got := tierBody(d, "p1"); got != "none" {
		t.Errorf("the older page is used: %q", got)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	keepsAgain(t, d, "p1")
	settle(t, d)
	wantConsistent(t, d)
	if log.count(saysAgain) == 0 {
		t.Errorf("in the log:\n%s", &log.b)
	}
}

// A disk that became read-only serves what it has. What is removed is not used
// any more, and its file goes when it can.
func TestDiskReadOnly(t *testing.T) {
	dir := t.TempDir()
	log := new(tierLog)
	d := openTestDisk(t, dir, DiskOptions{Log: slog.New(slog.NewTextHandler(log, nil))}, testLimits)
	defer runDisk(t, d)()
	for i := range 3 {
		d.Put(fmt.Append(nil, "p", i), pulledPage(fmt.Sprint(i)))
	}
	settle(t, d)
	unmount := mounted(t, dir, dir, "", unix.MS_BIND, "")
	if err := unix.Mount("", dir, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	d.Put([]byte("pnew"), pulledPage("new"))
	d.Put([]byte("p0"), pulledPage("new"))
	if err := d.Delete([]byte("p1")); err == nil {
		t.Error("a page was removed from a disk that is read-only")
	}
	waitWritten(t, d)
	if got := tierBody(d, "p0") + tierBody(d, "p1") + tierBody(d, "p2") + tierBody(d, "pnew"); got != "nonenone2none" {
		t.Errorf("%q", got)
	}
	if st := d.Stats(); st.Trouble == 0 || st.Errors == 0 || st.Pages != 1 || log.count(saysCannot) != 1 || log.count("read-only file system") == 0 {
		t.Errorf("%+v, in the log:\n%s", st, &log.b)
	}
	for _, err := range []error{CheckDisk(dir), CheckDisk(filepath.Join(dir, "new"))} {
		if err == nil || !strings.Contains(err.Error(), "cannot be written by user") || !strings.Contains(err.Error(), "read-only") {
			t.Errorf("check says %v", err)
		}
	}
	unmount()
	waitGone(t, d.placeOf("p1"))
	keepsAgain(t, d, "p0")
	settle(t, d)
	wantConsistent(t, d)
}

// A folder that somebody removed is made again, and is this process's again.
func TestDiskFolderRemoved(t *testing.T) {
	parent := filepath.Join(t.TempDir(), "parent")
	dir := filepath.Join(parent, "disk")
	if err := os.Mkdir(parent, 0o755); err != nil {
		t.Fatal(err)
	}
	log := new(tierLog)
	d := openTestDisk(t, dir, DiskOptions{Log: slog.New(slog.NewTextHandler(log, nil))}, testLimits)
	defer runDisk(t, d)()
	for i := range 3 {
		d.Put(fmt.Append(nil, "p", i), pulledPage("x"))
	}
	settle(t, d)
	for _, gone := range []string{parent, dir, filepath.Join(dir, diskPages), d.folder, filepath.Dir(d.placeOf("p0"))} {
		if err := os.RemoveAll(gone); err != nil {
			t.Fatal(err)
		}
		if got := tierBody(d, "p0"); got != "none" {
			t.Errorf("without %s: %q", gone, got)
		}
		if gone == parent {
			d.Put([]byte("p0"), pulledPage("lost"))
			waitWritten(t, d)
			if tierBody(d, "p0") != "none" || log.count(saysCannot) != 1 {
				t.Errorf("without %s, in the log:\n%s", gone, &log.b)
			}
			if err := os.Mkdir(parent, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		keepsAgain(t, d, "p0")
		if _, err := OpenDisk(DiskOptions{Path: dir, Journal: "journal"}); err == nil || !strings.Contains(err.Error(), "in use by process") {
			t.Errorf("without %s the folder is nobody's: %v", gone, err)
		}
	}
	settle(t, d)
	for i := range 3 { // of what was in the last one that went
		tierBody(d, fmt.Sprint("p", i))
	}
	wantConsistent(t, d)
}

// What is in a folder that comes back is used again.
func TestDiskComesBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "disk")
	d, _ := newTestDisk(t, dir, 1<<30)
	d.Put([]byte("p0"), pulledPage("x"))
	settle(t, d)
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	if got := tierBody(d, "p0"); got != "none" {
		t.Errorf("%q", got)
	}
	if err := os.Rename(dir+".away", dir); err != nil {
		t.Fatal(err)
	}
	if got := tierBody(d, "p0"); got != "x" {
		t.Errorf("after it came back: %q", got)
	}
	if st := d.Stats(); st.Pages != 1 || st.Errors != 0 {
		t.Errorf("%+v", st)
	}
}

// otherUser makes this test program another user's process.
const otherUser = "PAGECACHE_TEST_DISK_OF_ANOTHER"

// As a user that may not write there, the start is an error that says so.
func TestDiskOfAnotherUser(t *testing.T) {
	if dir := os.Getenv(otherUser); dir != "" { // that process
		for _, path := range []string{dir, filepath.Join(dir, "new")} {
			_, err := OpenDisk(DiskOptions{Path: path, Journal: "journal"})
			fmt.Println("opened:", err)
		}
		return
	}
	if os.Geteuid() != 0 {
		realtest.Absent(t, "only root can start a process of another user")
	}
	parent := t.TempDir()
	for path := parent; path != filepath.Clean(os.TempDir()) && len(path) > 1; path = filepath.Dir(path) {
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	dir, program := filepath.Join(parent, "theirs"), filepath.Join(parent, "program")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(os.Args[0]) // it lies where only root comes
	if err == nil {
		err = os.WriteFile(program, b, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	const nobody = 65534
	cmd := exec.Command(program, "-test.run=^TestDiskOfAnotherUser$")
	cmd.Dir = parent
	cmd.Env = append(os.Environ(), otherUser+"="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	want := fmt.Sprintf("opened: the directory %q cannot be written by user %d, it belongs to user 0: permission denied, want one that this user may write\n", dir, nobody)
	if err != nil || strings.Count(string(out), want) != 2 {
		t.Errorf("%v, want twice %s\ngot\n%s", err, want, out)
	}
}
