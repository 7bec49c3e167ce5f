package pagecache

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// waitWritten waits until nothing waits to be written.
func waitWritten(t *testing.T, d *Disk) {
	t.Helper()
	realtest.Eventually(t, "all is written", func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return len(d.pending) == 0 && d.waiting.Load() == 0
	})
}

func waitGone(t *testing.T, path string) {
	t.Helper()
	realtest.Eventually(t, path+" is gone", func() bool {
		_, err := os.Lstat(path)
		return os.IsNotExist(err)
	})
}

// Nothing that came before a Delete comes back, however far its write was.
func TestDiskDeleteIsNotOvertaken(t *testing.T) {
	for _, when := range []string{"before the write", "during the write", "after the write"} {
		d := openTestDisk(t, t.TempDir(), DiskOptions{}, testLimits) // the test writes
		d.Put([]byte("p"), pulledPage("x"))
		if got := tierBody(d, "p"); got != "x" {
			t.Errorf("%s: while it waits: %q", when, got)
		}
		remove := func(now string) {
			if now != when {
				return
			}
			if err := d.Delete([]byte("p")); err != nil {
				t.Errorf("%s: %v", when, err)
			}
		}
		j := <-d.queue
		remove("before the write")
		if d.isCurrent(j) {
			writeBy(t, d, j, func() { remove("during the write") })
		} else if when != "before the write" {
			t.Errorf("%s: not current", when)
		} else {
			d.write(j)
		}
		remove("after the write")
		if got := tierBody(d, "p"); got != "none" || len(filesOf(t, d)) != 0 || d.Stats().Pages != 0 || len(d.pending) != 0 {
			t.Errorf("%s: %q, %q, %+v", when, got, filesOf(t, d), d.Stats())
		}
	}
}

// writeBy is Disk.write with something between its two steps.
func writeBy(t *testing.T, d *Disk, j *diskJob, between func()) {
	t.Helper()
	place := filepath.Join(d.folder, j.name.path())
	if err := os.MkdirAll(filepath.Dir(place), 0o750); err != nil {
		t.Fatal(err)
	}
	size, err := d.writeAside(place+".aside", j)
	if err != nil {
		t.Fatal(err)
	}
	between()
	if err := d.place(place+".aside", place, j, size); err != nil {
		t.Fatal(err)
	}
	d.waiting.Add(-j.size)
}

// Of two pages that wait, the later one is there in the end, whichever is
// written last.
func TestDiskLastPutWins(t *testing.T) {
	for _, later := range []string{"written", "skipped"} {
		d := openTestDisk(t, t.TempDir(), DiskOptions{Size: 16 * diskBlock}, testLimits)
		d.Put([]byte("p"), pulledPage("one"))
		one := <-d.queue
		want := "two"
		writeBy(t, d, one, func() {
			if later == "skipped" {
				want = "none"
				d.Put([]byte("p"), pulledPage(strings.Repeat("x", 5*diskBlock)))
				return
			}
			d.Put([]byte("p"), pulledPage("two"))
			d.write(<-d.queue)
		})
		d.tidy(t.Context())
		if got := tierBody(d, "p"); got != want || len(d.pending) != 0 {
			t.Errorf("%s: %q, %d wait", later, got, len(d.pending))
		}
		if files := filesOf(t, d); len(files) != map[string]int{"two": 1, "none": 0}[want] {
			t.Errorf("%s: files %q", later, files)
		}
	}
}

// A page is forgotten, or another one comes, between a write's last look and the
// note that the file is there.
func TestDiskPlaced(t *testing.T) {
	for what, want := range map[string]string{"nothing": "one", "forgotten": "none", "another": "two"} {
		d := openTestDisk(t, t.TempDir(), DiskOptions{}, testLimits)
		d.Put([]byte("p"), pulledPage("one"))
		j := <-d.queue
		writeBy(t, d, j, func() {})
		d.pending[j.name] = j // as it was before the note
		switch what {
		case "forgotten":
			d.forget(&j.name)
		case "another":
			d.Put([]byte("p"), pulledPage("two"))
		}
		d.placed(j, 100)
		d.tidy(t.Context())
		if got := tierBody(d, "p"); got != want || (want == "none") != (len(filesOf(t, d)) == 0) {
			t.Errorf("%s came: %q, files %q", what, got, filesOf(t, d))
		}
	}
}

// Many write, read and remove the same keys: a reader sees a page that was put
// under its key, whole, and in the end the tier is what its files are.
func TestDiskUnderLoad(t *testing.T) {
	d, _ := newTestDisk(t, t.TempDir(), 64*diskBlock)
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 400 {
				key := fmt.Sprint("p", (i*7+w)%97)
				switch {
				case i%5 == w:
					if err := d.Delete([]byte(key)); err != nil {
						t.Error(err)
					}
				case i%2 == 0:
					d.Put([]byte(key), pulledPage(strings.Repeat(key+" ", 1+i%400)))
				default:
					if p, ok := d.Get([]byte(key)); ok && (!strings.HasPrefix(string(p.Body), key+" ") || len(p.Body)%len(key+" ") != 0) {
						t.Errorf("%s is %.40q", key, p.Body)
					}
				}
			}
		})
	}
	wg.Wait()
	settle(t, d)
	wantConsistent(t, d)
	if st := d.Stats(); st.Foreign+st.Errors+st.Trouble != 0 {
		t.Errorf("%+v", st)
	}
}

// wantConsistent checks that the index is what the folder holds.
func wantConsistent(t *testing.T, d *Disk) {
	t.Helper()
	var blocks int64
	files := filesOf(t, d)
	for _, path := range files {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		n, ok := parseDiskName(filepath.Base(path))
		if !ok || d.index.find(&n) == 0 {
			t.Errorf("%s is not known", path)
		}
		blocks += int64(blocksOf(info.Size()))
	}
	if st := d.Stats(); st.Pages != int64(len(files)) || st.Bytes != blocks*diskBlock {
		t.Errorf("%d files of %d blocks, %+v", len(files), blocks, st)
	}
}

// 10,000 pages go while they are read: each read is a whole page or a miss.
func TestDiskEvictsWhileRead(t *testing.T) {
	const pages, room = 10_000, 500
	d, _ := newTestDisk(t, t.TempDir(), room*diskBlock)
	settle(t, d) // before its scan has ended, a full disk takes nothing
	var put atomic.Int64
	var wg sync.WaitGroup
	for r := range 2 {
		wg.Go(func() {
			for i := r; put.Load() < pages; i++ {
				n := max(put.Load()-int64(i%(2*room)), 0)
				key := fmt.Sprint("p", n)
				if p, ok := d.Get([]byte(key)); ok && string(p.Body) != key {
					t.Errorf("%s is %q", key, p.Body)
				}
			}
		})
	}
	for i := range pages {
		key := fmt.Sprint("p", i)
		d.Put([]byte(key), pulledPage(key))
		put.Store(int64(i))
		if i%1000 == 999 {
			waitWritten(t, d)
		}
	}
	put.Store(pages)
	wg.Wait()
	settle(t, d)
	wantConsistent(t, d)
	if st := d.Stats(); st.Evictions != pages-uint64(st.Pages) || st.Foreign+st.Errors+st.Busy+st.Trouble != 0 {
		t.Errorf("%+v", st)
	}
}
