package pagecache

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// writtenDisk is a tier that holds a page under "p", and that page's file.
func writtenDisk(t *testing.T) (d *Disk, path string, file []byte) {
	t.Helper()
	d, _ = newTestDisk(t, t.TempDir(), 1<<20)
	d.Put([]byte("p"), pulledPage("<p>whole</p>"))
	settle(t, d)
	path = d.placeOf("p")
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return d, path, file
}

// putFile puts a file in the place of a page, which the tier knows of.
func putFile(t *testing.T, d *Disk, key, path string, b []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	know(d, key)
}

// know has the tier look for a page.
func know(d *Disk, key string) {
	n := d.name([]byte(key))
	d.mu.Lock()
	d.index.put(&n, 1, 0)
	d.mu.Unlock()
}

// wantForeign checks that what stands in the place of a page is a miss, and is
// removed.
func wantForeign(t *testing.T, what string, d *Disk, key, path string) {
	t.Helper()
	before := d.Stats()
	if _, ok := d.Get([]byte(key)); ok {
		t.Fatalf("%s is a page", what)
	}
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Fatalf("%s is still there: %v", what, err)
	}
	after := d.Stats()
	if after.Foreign != before.Foreign+1 || after.Errors != 0 || after.Pages != before.Pages-1 {
		t.Fatalf("%s: %+v, then %+v", what, before, after)
	}
}

func TestDiskTruncatedFile(t *testing.T) {
	d, path, file := writtenDisk(t)
	for n := range file {
		putFile(t, d, "p", path, file[:n])
		wantForeign(t, fmt.Sprintf("cut to %d bytes", n), d, "p", path)
	}
	putFile(t, d, "p", path, append(bytes.Clone(file), 0))
	wantForeign(t, "a byte more", d, "p", path)
	putFile(t, d, "p", path, file)
	if got := tierBody(d, "p"); got != "<p>whole</p>" {
		t.Errorf("the whole file: %q", got)
	}
}

func TestDiskFlippedBits(t *testing.T) {
	d, path, file := writtenDisk(t)
	for n := range file {
		bit := byte(1) << (n % 8)
		file[n] ^= bit
		putFile(t, d, "p", path, file)
		wantForeign(t, fmt.Sprintf("byte %d flipped by %x", n, bit), d, "p", path)
		file[n] ^= bit
	}
}

func TestDiskForeignFiles(t *testing.T) {
	d, path, _ := writtenDisk(t)
	for what, b := range map[string][]byte{
		"another key's page":     Encode(nil, []byte("p2"), "journal", pulledPage("x")),
		"another journal's page": Encode(nil, []byte("p"), "journam", pulledPage("x")),
		"a page of HTML":         bytes.Repeat([]byte("<p>hello</p>\n\n"), 5000),
		"a list with a head":     resum(bytes.Replace(Encode(nil, []byte("p"), "journal", pulledPage("x")), []byte("200\n"), []byte("0\n"), 1)),
		"a preamble that is cut": Encode(nil, bytes.Repeat([]byte("p"), 2*diskStart), "journal", pulledPage("x"))[:diskStart+9],
		"zeros":                  make([]byte, 3*diskStart),
	} {
		putFile(t, d, "p", path, b)
		wantForeign(t, what, d, "p", path)
	}
}

// What is no regular file is a miss at once, and goes too.
func TestDiskOddFiles(t *testing.T) {
	d, path, file := writtenDisk(t)
	other := filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, file, 0o600); err != nil {
		t.Fatal(err)
	}
	var socket net.Listener
	for what, create := range map[string]func() error{
		"a folder":      func() error { return os.Mkdir(path, 0o700) },
		"a pipe":        func() error { return unix.Mkfifo(path, 0o600) },
		"a link":        func() error { return os.Symlink(other, path) },
		"a broken link": func() error { return os.Symlink("nowhere", path) },
		"a socket": func() error {
			t.Chdir(filepath.Dir(path)) // the address of a socket is short
			var err error
			socket, err = net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Base(path), Net: "unix"})
			return err
		},
	} {
		os.Remove(path)
		if err := create(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		know(d, "p")
		wantForeign(t, what, d, "p", path)
	}
	socket.Close()
	if _, err := os.Stat(other); err != nil {
		t.Errorf("what the link led to: %v", err)
	}
}

// A folder with something in it stays: nobody knows whose that is. Only its page
// is missing.
func TestDiskObstructed(t *testing.T) {
	d, path, _ := writtenDisk(t)
	os.Remove(path)
	if err := os.MkdirAll(filepath.Join(path, "somebody's"), 0o700); err != nil {
		t.Fatal(err)
	}
	know(d, "p")
	if _, ok := d.Get([]byte("p")); ok {
		t.Error("a folder is a page")
	}
	d.Put([]byte("p"), pulledPage("x"))
	d.Put([]byte("p2"), pulledPage("beside it"))
	waitWritten(t, d)
	if got := tierBody(d, "p") + " " + tierBody(d, "p2"); got != "none beside it" || d.Stats().Errors == 0 {
		t.Errorf("%q %+v", got, d.Stats())
	}
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	d.Put([]byte("p"), pulledPage("there"))
	settle(t, d)
	if got := tierBody(d, "p"); got != "there" {
		t.Errorf("after it is gone: %q", got)
	}
}

// What cannot be removed is tried again after a pause, not all the time, and the
// other pages stay within the size all the same.
func TestDiskObstructedForLong(t *testing.T) {
	limits := testLimits
	limits.pause = time.Hour
	d := openTestDisk(t, t.TempDir(), DiskOptions{Size: 4 * diskBlock}, limits)
	for i := range diskTries + 1 {
		key := fmt.Sprint("p", i)
		if err := os.MkdirAll(filepath.Join(d.placeOf(key), "somebody's"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := d.Delete([]byte(key)); err == nil {
			t.Error("a folder with something in it was removed")
		}
	}
	<-d.wake // since Delete failed
	before := d.Stats().Errors
	if d.tidy(t.Context()) || len(d.wake) != 0 || d.Stats().Errors != before+diskTries {
		t.Errorf("%d tried, and %d at once after that, want %d and none", d.Stats().Errors-before, len(d.wake), diskTries)
	}
	runDisk(t, d)
	<-d.scanned
	for i := range 10 {
		d.Put(fmt.Append(nil, "pnew", i), pulledPage("new"))
		realtest.Eventually(t, "it is written, and there is room for it", func() bool {
			d.mu.Lock()
			defer d.mu.Unlock()
			return len(d.pending) == 0 && d.index.blocks*diskBlock <= d.size.Load()
		})
	}
	if st := d.Stats(); st.Evictions != 6 || tierBody(d, "pnew9") != "new" {
		t.Errorf("%+v", st)
	}
}

// A file that somebody removes is a miss, and does not count any more.
func TestDiskFileRemoved(t *testing.T) {
	d, path, _ := writtenDisk(t)
	os.Remove(path)
	if got := tierBody(d, "p"); got != "none" {
		t.Errorf("%q", got)
	}
	if st := d.Stats(); st.Pages != 0 || st.Bytes != 0 || st.Errors+st.Foreign != 0 {
		t.Errorf("%+v", st)
	}
}

// A file that came in the place of a corrupt one while that was read stays.
func TestDiskRemovesOnlyWhatItRead(t *testing.T) {
	d, path, file := writtenDisk(t)
	putFile(t, d, "p", path, []byte("corrupt"))
	f, err := openPage(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	os.Remove(path)
	putFile(t, d, "p", path, file)
	n := d.name([]byte("p"))
	if d.removeSame(&n, f, nil) || tierBody(d, "p") != "<p>whole</p>" {
		t.Error("the good file went")
	}
}

// The clock was set back: what was written before that does not outlive what
// is used after it.
func TestDiskClockSetBack(t *testing.T) {
	dir := t.TempDir()
	d, stop := newTestDisk(t, dir, 1<<20)
	for i := range 4 {
		d.Put(fmt.Append(nil, "pold", i), pulledPage("old"))
	}
	settle(t, d)
	future := time.Now().Add(1000 * time.Hour)
	for i := range 4 {
		if err := os.Chtimes(d.placeOf(fmt.Sprint("pold", i)), future, future); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	for range 2 { // the first start puts the times right
		d, stop = newTestDisk(t, dir, 1<<20)
		settle(t, d)
		for i := range 4 {
			info, err := os.Stat(d.placeOf(fmt.Sprint("pold", i)))
			if err != nil || info.ModTime().After(time.Now()) || tierBody(d, fmt.Sprint("pold", i)) != "old" {
				t.Errorf("page %d: %v, %v", i, info, err)
			}
		}
		stop()
	}
	d, _ = newTestDisk(t, dir, 4*diskBlock)
	settle(t, d) // a full disk takes nothing before it knows what may go
	for i := range 4 {
		d.Put(fmt.Append(nil, "pnew", i), pulledPage("new"))
	}
	settle(t, d)
	for i := range 4 {
		if got := tierBody(d, fmt.Sprint("pnew", i)); got != "new" {
			t.Errorf("page %d is %q", i, got)
		}
	}
}

// What a process left that was killed in the middle of a write goes, other
// people's files stay.
func TestDiskLeftovers(t *testing.T) {
	dir := t.TempDir()
	d, stop := newTestDisk(t, dir, 1<<20)
	d.Put([]byte("p"), pulledPage("x"))
	settle(t, d)
	place := d.placeOf("p")
	stop()
	old := filepath.Join(dir, diskPages, "a1b2c3", filepath.Base(filepath.Dir(place)))
	theirs := []string{
		filepath.Join(dir, "README"), filepath.Join(dir, diskPages, "notes.txt"),
		filepath.Join(dir, diskPages, "a1b2c4", "thesis.tex"), filepath.Join(filepath.Dir(place), "core.new"),
		filepath.Join(d.folder, "00", filepath.Base(place)), // no place of ours
	}
	ours := []string{place + ".c0ffee.1.new", filepath.Join(old, filepath.Base(place)), filepath.Join(old, filepath.Base(place)+".c0ffee.2.new")}
	for _, path := range append(theirs, ours...) {
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d, stop = newTestDisk(t, dir, 1<<20)
	settle(t, d)
	waitGone(t, filepath.Dir(old))
	stop()
	for _, path := range ours {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is still there", path)
		}
	}
	for _, path := range append(theirs, place) {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	if st := d.Stats(); st.Pages != 1 || st.Errors != 0 {
		t.Errorf("%+v", st)
	}
}

// A file is read as Decode reads bytes, though by its beginning first.
func FuzzDiskFile(f *testing.F) {
	d := openTestDisk(f, f.TempDir(), DiskOptions{}, testLimits)
	for _, p := range []*Page{pulledPage("body"), pulledPage(strings.Repeat("x", 2*diskStart)), newVariantsPage(&variants{names: []string{"A"}, held: []string{"x"}}, Freshness{}, 3)} {
		f.Add(Encode(nil, []byte("p"), "journal", p))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) >= envelopeHead {
			b = resum(bytes.Clone(b)) // so that the fuzzer gets past it
		}
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := openPage(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		got, err := d.read(file, []byte("p"))
		want, wantErr := Decode(b, []byte("p"), "journal")
		if (err == nil) != (wantErr == nil) || err == nil && !same(got, want) || err != nil && !isForeign(err) {
			t.Errorf("%q: %v and %v", b, err, wantErr)
		}
	})
}

// A disk that hangs holds so many who read it, and nobody beside them.
func TestDiskHangs(t *testing.T) {
	dir := t.TempDir()
	d, stop := newTestDisk(t, dir, 1<<20)
	d.Put([]byte("p"), pulledPage("page"))
	settle(t, d)
	stop()
	limits := testLimits
	limits.readers = 1
	d = openTestDisk(t, dir, DiskOptions{}, limits)
	missing := []byte("pmissing")
	n := d.name(missing)
	held := d.stripe(&n) // who finds no file waits for it
	held.Lock()
	var wg sync.WaitGroup
	wg.Go(func() { d.Get(missing) })
	realtest.Eventually(t, "one reads", func() bool { return d.readers.Load() == 1 })
	if got := tierBody(d, "p"); got != "none" {
		t.Errorf("beside one who hangs another reads %q", got)
	}
	held.Unlock()
	wg.Wait()
	if got := tierBody(d, "p"); got != "page" {
		t.Errorf("after that: %q", got)
	}
}
