package pagecache

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

var testLimits = diskLimits{pause: time.Millisecond, touch: time.Minute, flush: time.Minute, queueBytes: diskQueueBytes, rate: 1 << 20, readers: diskReaders}

func openTestDisk(t testing.TB, dir string, o DiskOptions, limits diskLimits) *Disk {
	t.Helper()
	o.Path = dir
	if o.Journal == "" {
		o.Journal = "journal"
	}
	d, err := openDisk(o, limits)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// runDisk runs d until stop is called, at the latest at the end of the test.
func runDisk(t testing.TB, d *Disk) (stop func()) {
	ctx, end := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { d.Run(ctx) })
	stop = func() {
		end()
		wg.Wait()
		d.Close()
	}
	t.Cleanup(stop)
	return stop
}

// newTestDisk opens a tier and runs it.
func newTestDisk(t testing.TB, dir string, size int64) (d *Disk, stop func()) {
	t.Helper()
	d = openTestDisk(t, dir, DiskOptions{Size: size}, testLimits)
	return d, runDisk(t, d)
}

// settle waits until all is written, counted and tidied.
func settle(t testing.TB, d *Disk) {
	t.Helper()
	realtest.Eventually(t, "the disk tier has settled", func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return d.complete && len(d.pending) == 0 && d.waiting.Load() == 0 && len(d.touches) == 0 &&
			d.index.dead == 0 && d.index.blocks*diskBlock <= d.size.Load()
	})
}

// filesOf gives all files of pages below a folder, aside ones too.
func filesOf(t testing.TB, d *Disk) (names []string) {
	t.Helper()
	err := filepath.WalkDir(d.folder, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func (d *Disk) placeOf(key string) string {
	n := d.name([]byte(key))
	return filepath.Join(d.folder, n.path())
}

func tierBody(tier Tier, key string) string {
	p, ok := tier.Get([]byte(key))
	if !ok {
		return "none"
	}
	return string(p.Body)
}

func TestDiskIsATier(t *testing.T) {
	d, _ := newTestDisk(t, t.TempDir(), 1<<20)
	testTier(t, d)
	settle(t, d)
	if got := tierBody(d, "a") + tierBody(d, "b") + tierBody(d, ""); got != "none3empty key" {
		t.Errorf("from files: %q", got)
	}
	st := d.Stats()
	if st.Hits == 0 || st.Misses == 0 || st.Errors+st.Foreign+st.Large+st.Busy+st.Trouble+st.Evictions != 0 || st.Pages != 2 || st.Bytes != 2*diskBlock || st.Size != 1<<20 || st.Scanning {
		t.Errorf("%+v", st)
	}
}

// What a page is comes back whole, whatever it is and however large.
func TestDiskKeepsPages(t *testing.T) {
	d, _ := newTestDisk(t, t.TempDir(), 1<<30)
	list := newVariantsPage(&variants{names: []string{"A"}, generation: 9, held: []string{"x"}}, Freshness{Lifetime: 5}, 3)
	pages := map[string]*Page{"plist": list, strings.Repeat("k", 100_000): pulledPage("long key")}
	for _, n := range []int{0, 1, 100, diskStart - 600, diskStart - 450, diskStart, diskStart + 1, 3 << 20} {
		pages[fmt.Sprint("p", n)] = pulledPage(strings.Repeat("x", n))
	}
	head := pulledPage("body")
	head.Head = append([]byte("HTTP/1.1 200 OK\r\nX: "+strings.Repeat("h", 2*diskStart)), head.Head[15:]...)
	pages["phead"] = head
	for key, p := range pages {
		d.Put([]byte(key), p)
	}
	settle(t, d)
	for key, p := range pages {
		got, ok := d.Get([]byte(key))
		if !ok || got == p || !same(got, p) || cap(got.Head) != len(got.Head) || cap(got.Body) != len(got.Body) {
			t.Errorf("%.10q: %v %.300v", key, ok, got)
		}
	}
	if st := d.Stats(); st.Pages != int64(len(pages)) || st.Foreign+st.Errors != 0 {
		t.Errorf("%+v", st)
	}
}

// A person can read the file.
func TestDiskFileIsText(t *testing.T) {
	d, _ := newTestDisk(t, t.TempDir(), 1<<20)
	d.Put([]byte("p0\x00http\x00www.example.com\x00/towns?\x00"), pulledPage("<p>towns</p>"))
	settle(t, d)
	names := filesOf(t, d)
	if len(names) != 1 {
		t.Fatalf("files %q", names)
	}
	b, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"ssiedge-page 2 ", "\njournal: \"journal\"\n", `www.example.com\x00/towns?\x00"`, "\nlifetime: 3600\n", "\r\nX-Other: 1\r\n", "<p>towns</p>",
	} {
		if !bytes.Contains(b, []byte(want)) {
			t.Errorf("there is no %q in\n%s", want, b)
		}
	}
}

// Pages are there at once after a restart, also while they are being counted.
func TestDiskRestart(t *testing.T) {
	dir := t.TempDir()
	d, stop := newTestDisk(t, dir, 1<<20)
	for i := range 10 {
		d.Put(fmt.Append(nil, "p", i), pulledPage(fmt.Sprint("page ", i)))
	}
	stop() // which writes what waits
	d = openTestDisk(t, dir, DiskOptions{Size: 1 << 20}, testLimits)
	for i := range 10 {
		if got := tierBody(d, fmt.Sprint("p", i)); got != fmt.Sprint("page ", i) {
			t.Errorf("page %d is %q", i, got)
		}
	}
	if err := d.Delete([]byte("p3")); err != nil {
		t.Error(err)
	}
	n := d.name([]byte("p4"))
	d.forget(&n)
	if got := tierBody(d, "p3") + tierBody(d, "p4"); got != "nonenone" {
		t.Errorf("removed before they were counted: %q", got)
	}
	if st := d.Stats(); !st.Scanning {
		t.Errorf("%+v", st)
	}
	runDisk(t, d)
	settle(t, d)
	if st := d.Stats(); st.Pages != 8 || st.Bytes != 8*diskBlock || len(filesOf(t, d)) != 8 {
		t.Errorf("%+v", st)
	}
}

// The size holds, the least lately used go first, and a restart knows the order.
func TestDiskOrderOfUse(t *testing.T) {
	dir := t.TempDir()
	const pages = 8
	clock := &testClock{base: time.Now().Add(-time.Hour)}
	d := openTestDisk(t, dir, DiskOptions{Size: pages * diskBlock}, testLimits)
	d.now = clock.now
	stop := runDisk(t, d)
	for i := range pages {
		d.Put(fmt.Append(nil, "p", i), pulledPage(fmt.Sprint(i)))
		settle(t, d)
	}
	for _, i := range []int{5, 2, 7, 0} { // the files were written at one time; these are used later
		clock.advance(2 * time.Minute)
		tierBody(d, fmt.Sprint("p", i))
		settle(t, d)
	}
	for i := range pages {
		path := d.placeOf(fmt.Sprint("p", i))
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.ModTime().After(clock.now()) { // written, and not used since: by the real clock
			old := clock.base.Add(-time.Hour).Add(time.Duration(i) * time.Second)
			if err := os.Chtimes(path, old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	stop()

	d = openTestDisk(t, dir, DiskOptions{Size: pages * diskBlock}, testLimits)
	runDisk(t, d)
	settle(t, d)
	var gone []int
	for n := range pages {
		d.Put(fmt.Append(nil, "pnew", n), pulledPage("new"))
		settle(t, d)
		if st := d.Stats(); st.Pages != pages || st.Evictions != uint64(n+1) {
			t.Fatalf("%+v", st)
		}
		for i := range pages {
			if _, err := os.Stat(d.placeOf(fmt.Sprint("p", i))); err != nil && !slices.Contains(gone, i) {
				gone = append(gone, i)
			}
		}
	}
	if got := fmt.Sprint(gone); got != "[1 3 4 6 5 2 7 0]" {
		t.Errorf("they went in the order %s", got)
	}
}

// What is used in this process is younger than what was used before it, and a
// smaller size makes pages go at once.
func TestDiskUseAndSize(t *testing.T) {
	d, _ := newTestDisk(t, t.TempDir(), 1<<20)
	for i := range 20 {
		d.Put(fmt.Append(nil, "p", i), pulledPage("x"))
		settle(t, d)
	}
	for i := range 5 {
		tierBody(d, fmt.Sprint("p", i))
	}
	d.SetSize(5 * diskBlock)
	settle(t, d)
	for i := range 20 {
		if got := tierBody(d, fmt.Sprint("p", i)); (got == "x") != (i < 5) {
			t.Errorf("page %d: %q", i, got)
		}
	}
	if st := d.Stats(); st.Pages != 5 || st.Evictions != 15 || st.Bytes != 5*diskBlock || len(filesOf(t, d)) != 5 {
		t.Errorf("%+v", st)
	}
}

// A page that is not kept takes the older one with it.
func TestDiskSkips(t *testing.T) {
	d, _ := newTestDisk(t, t.TempDir(), 16*diskBlock)
	half := pulledPage("half")
	half.Length++
	for _, c := range []struct {
		page *Page
		want uint64 // of Large
	}{{pulledPage(strings.Repeat("x", 4*diskBlock)), 1}, {half, 1}} {
		d.Put([]byte("p"), pulledPage("old"))
		settle(t, d)
		d.Put([]byte("p"), c.page)
		if got := tierBody(d, "p"); got != "none" || d.Stats().Large != c.want {
			t.Errorf("%.10q %+v", got, d.Stats())
		}
		settle(t, d)
		if len(filesOf(t, d)) != 0 {
			t.Error("a file is left")
		}
	}
}

// When too much waits, pages are skipped; the older ones are gone all the same,
// also for the next process.
func TestDiskQueueIsBounded(t *testing.T) {
	dir := t.TempDir()
	limits := testLimits
	limits.queueBytes = 1100
	d := openTestDisk(t, dir, DiskOptions{}, limits)
	stop := runDisk(t, d)
	d.Put([]byte("p1"), pulledPage("old"))
	settle(t, d)
	stop()

	d = openTestDisk(t, dir, DiskOptions{}, limits) // nobody writes
	d.Put([]byte("p0"), pulledPage(strings.Repeat("x", 900)))
	d.Put([]byte("p1"), pulledPage("new"))
	if got := tierBody(d, "p0")[:1] + tierBody(d, "p1"); got != "xnone" {
		t.Errorf("%q", got)
	}
	if st := d.Stats(); st.Busy != 1 {
		t.Errorf("%+v", st)
	}
	for i := range 2 * diskQueuePages {
		d.Put(fmt.Append(nil, "q", i), pulledPage(""))
	}
	if len(d.pending) > diskQueuePages || d.waiting.Load() > 1100 {
		t.Errorf("%d pages and %d bytes wait", len(d.pending), d.waiting.Load())
	}
	runDisk(t, d)
	settle(t, d)
	if len(filesOf(t, d)) != int(d.Stats().Pages) || tierBody(d, "p1") != "none" {
		t.Errorf("%d files, %+v", len(filesOf(t, d)), d.Stats())
	}
}

// After the end nothing is written, and nothing older stays.
func TestDiskAfterItsEnd(t *testing.T) {
	dir := t.TempDir()
	limits := testLimits
	limits.flush = -1 // no time to write what waits
	d := openTestDisk(t, dir, DiskOptions{}, testLimits)
	stop := runDisk(t, d)
	d.Put([]byte("p1"), pulledPage("old"))
	d.Put([]byte("p2"), pulledPage("old"))
	stop()
	d = openTestDisk(t, dir, DiskOptions{}, limits)
	d.Put([]byte("p1"), pulledPage("new"))
	ctx, end := context.WithCancel(context.Background())
	end()
	d.Run(ctx)
	d.Put([]byte("p2"), pulledPage("new"))
	if files := filesOf(t, d); len(files) > 1 || d.Stats().Busy == 0 {
		t.Errorf("left: %q, %+v", files, d.Stats())
	}
	d.Close()
	d = openTestDisk(t, dir, DiskOptions{}, testLimits)
	if got := tierBody(d, "p1") + tierBody(d, "p2"); strings.Contains(got, "old") {
		t.Errorf("the next process has %q", got)
	}
}

// One process uses a folder.
func TestDiskIsForOneProcess(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made")
	d := openTestDisk(t, dir, DiskOptions{}, testLimits)
	_, err := OpenDisk(DiskOptions{Path: dir, Journal: "other"})
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("in use by process %d", os.Getpid())) {
		t.Errorf("error %v", err)
	}
	d.Close()
	if d, err = OpenDisk(DiskOptions{Path: dir, Journal: "other"}); err != nil {
		t.Fatal(err)
	}
	d.Close()
}

func TestOpenDiskErrors(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		file:                                `is no directory`,
		filepath.Join(file, "below"):        `not a directory`,
		filepath.Join(dir, "no", "parents"): fmt.Sprintf(`there is no directory %q`, filepath.Join(dir, "no")),
	} {
		if _, err := OpenDisk(DiskOptions{Path: path, Journal: "j"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
		if err := CheckDisk(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("check %s: %v, want %q", path, err, want)
		}
	}
	if size, ok := DiskRoom(filepath.Join(dir, "new")); !ok || size < 1<<20 {
		t.Errorf("%d bytes, %v", size, ok)
	}
	if a, b := journalFolder("../x"), journalFolder("e5ab41d9f5e5b8a2"); len(a) != 33 || b != "e5ab41d9f5e5b8a2" {
		t.Errorf("folders %q and %q", a, b)
	}
}
