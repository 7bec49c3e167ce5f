package pagecache

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// BenchmarkDiskStart starts a tier over a million pages: the time to its first
// page, the time until all are counted, and what the index takes in memory.
func BenchmarkDiskStart(b *testing.B) {
	const pages = 1_000_000
	dir := b.TempDir()
	fillDisk(b, dir, pages)
	for b.Loop() {
		before := heapOf()
		began := time.Now()
		d := openTestDisk(b, dir, DiskOptions{Size: 1 << 40}, diskLimits{pause: diskPause, touch: diskTouch, flush: diskFlush, queueBytes: diskQueueBytes, rate: diskScanRate, readers: diskReaders})
		stop := runDisk(b, d)
		if got := tierBody(d, fmt.Sprint("p", pages/2)); got == "none" {
			b.Fatal("the page is not there")
		}
		b.ReportMetric(float64(time.Since(began).Microseconds())/1000, "ms/first-page")
		<-d.scanned
		b.ReportMetric(time.Since(began).Seconds(), "s/counted")
		if st := d.Stats(); st.Pages != pages {
			b.Fatalf("%+v", st)
		}
		b.ReportMetric(float64(heapOf()-before)/pages, "B/page")
		stop()
	}
}

func heapOf() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// fillDisk writes pages as an earlier process would have left them.
func fillDisk(b *testing.B, dir string, pages int) {
	d := openTestDisk(b, dir, DiskOptions{}, testLimits)
	for sub := range 256 {
		if err := os.MkdirAll(filepath.Join(d.folder, subfolder(sub)), 0o750); err != nil {
			b.Fatal(err)
		}
	}
	p := pulledPage(strings.Repeat("x", 1000))
	var wg sync.WaitGroup
	for w := range 2 {
		wg.Go(func() {
			for i := w; i < pages; i += 2 {
				key := fmt.Sprint("p", i)
				if err := os.WriteFile(d.placeOf(key), Encode(nil, []byte(key), "journal", p), 0o640); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	d.Close()
}

func BenchmarkDiskGet(b *testing.B) {
	for _, size := range []int{1 << 10, 10 << 10, 1 << 20} {
		b.Run(fmt.Sprint(size>>10, "KiB"), func(b *testing.B) {
			d, _ := newTestDisk(b, b.TempDir(), 1<<30)
			d.Put([]byte("p"), pulledPage(strings.Repeat("x", size)))
			settle(b, d)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := d.Get([]byte("p")); !ok {
					b.Fatal("no page")
				}
			}
		})
	}
	b.Run("miss", func(b *testing.B) {
		d, _ := newTestDisk(b, b.TempDir(), 1<<30)
		settle(b, d)
		b.ReportAllocs()
		for b.Loop() {
			d.Get([]byte("p"))
		}
	})
}
