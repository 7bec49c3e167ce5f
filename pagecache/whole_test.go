package pagecache

import (
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// selfDescribing is a body that tells whether it is whole: it begins with its
// length and ends with its checksum.
func selfDescribing(r *rand.Rand) string {
	text := strings.Repeat(fmt.Sprintf("%x ", r.Uint64()), 1+r.IntN(2000))
	return fmt.Sprintf("%08d%s%08x", len(text), text, crc32.ChecksumIEEE([]byte(text)))
}

func isWhole(b []byte) bool {
	var length int
	var sum uint32
	if len(b) < 16 {
		return false
	}
	text := b[8 : len(b)-8]
	fmt.Sscanf(string(b[:8]), "%08d", &length)
	fmt.Sscanf(string(b[len(b)-8:]), "%08x", &sum)
	return length == len(text) && sum == crc32.ChecksumIEEE(text)
}

func TestIsWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	a, b := selfDescribing(r), selfDescribing(r)
	if !isWhole([]byte(a)) || isWhole([]byte(a[:len(a)-1])) || isWhole(nil) || isWhole([]byte(a[:len(a)/2]+b[len(b)/2:])) {
		t.Error("cannot tell a whole body from a torn one")
	}
}

// Readers must only ever see whole bodies. A writer that the machine holds up
// for as long as a file takes to grow old leaves a torn one itself; then the
// trial says nothing and is made again.
func TestFilesAreNeverTorn(t *testing.T) {
	for range 5 {
		torn, stalled := tornPages(t)
		if len(torn) == 0 {
			return
		}
		if !stalled {
			t.Fatalf("torn pages:\n%s", strings.Join(torn, "\n"))
		}
	}
	t.Skip("this machine holds up its writers for too long")
}

// tornPages has writers rewrite pages in place, slowly and in parts, and by
// rename, and root flipped all the while, until readers have got enough pages
// from memory and from disk. It returns those that were not whole.
func tornPages(t *testing.T) (torn []string, stalled bool) {
	base := t.TempDir()
	current := filepath.Join(base, "current")
	flip := func(to string) {
		os.Symlink(to, current+".new")
		os.Rename(current+".new", current)
	}
	seed := rand.New(rand.NewPCG(3, 4))
	for _, name := range []string{"v1/place.html", "v2/place.html", "v1/renamed.html", "v2/renamed.html"} {
		os.MkdirAll(filepath.Dir(filepath.Join(base, name)), 0o755)
		os.WriteFile(filepath.Join(base, name), []byte(selfDescribing(seed)), 0o644)
	}
	flip("v1")
	f, err := OpenFiles(FilesOptions{Root: current}, NewMemory(1<<20), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()

	stop := make(chan struct{})
	var workers sync.WaitGroup
	loop := func(n uint64, step func(r *rand.Rand) (rest time.Duration)) {
		workers.Go(func() {
			r := rand.New(rand.NewPCG(5, n))
			for {
				select {
				case <-stop:
					return
				case <-time.After(step(r)):
				}
			}
		})
	}
	// A rest is sometimes long enough for the page to grow old and be kept.
	rest := func(r *rand.Rand) time.Duration { return time.Duration(r.IntN(1500)) * time.Millisecond }
	var held atomic.Bool
	for i, release := range []string{"v1", "v2"} {
		loop(uint64(i), func(r *rand.Rand) time.Duration {
			if writeInParts(filepath.Join(base, release, "place.html"), selfDescribing(r), r) {
				held.Store(true)
			}
			return rest(r)
		})
		loop(uint64(10+i), func(r *rand.Rand) time.Duration {
			name := filepath.Join(base, release, "renamed.html")
			os.WriteFile(name+".new", []byte(selfDescribing(r)), 0o644)
			os.Rename(name+".new", name)
			return rest(r)
		})
	}
	var flips atomic.Int64
	loop(20, func(r *rand.Rand) time.Duration {
		flip([]string{"v1", "v2"}[r.IntN(2)])
		f.root.next.Store(0) // its second is over
		flips.Add(1)
		return time.Duration(r.IntN(40)) * time.Millisecond
	})
	var mu sync.Mutex
	for i := range 4 {
		path := []byte([]string{"/place", "/renamed"}[i%2])
		loop(uint64(30+i), func(*rand.Rand) time.Duration {
			if h, ok := f.Get(path, false); ok && !isWhole(h.Page.Body) {
				mu.Lock()
				torn = append(torn, fmt.Sprintf("%s: %d bytes, kept %v: %.40q", path, len(h.Page.Body), h.Page.Kept, h.Page.Body))
				mu.Unlock()
			}
			return time.Millisecond
		})
	}
	realtest.Eventually(t, "pages from memory and from disk, and flips", func() bool {
		st := f.Stats()
		return st.Hits > 400 && st.Reads > 150 && flips.Load() > 40
	})
	close(stop)
	workers.Wait()
	if st := f.Stats(); st.Errors != 0 {
		t.Errorf("stats %+v", st)
	}
	return torn, held.Load()
}

// writeInParts writes a file as page caching does, only slower: opened with
// truncation, then a part at a time. It says whether it was held up: between
// two parts for about a second, or while the file was cut off, which the
// kernel may do before it sets the file's times.
func writeInParts(name, text string, r *rand.Rand) (held bool) {
	began := time.Now()
	f, err := os.Create(name)
	if err != nil {
		return true
	}
	defer f.Close()
	held = time.Since(began) > writePause
	for text != "" {
		began = time.Now()
		n := min(len(text), 1+r.IntN(4000))
		f.WriteString(text[:n])
		text = text[n:]
		time.Sleep(time.Duration(r.IntN(3)) * time.Millisecond)
		held = held || time.Since(began) > 800*time.Millisecond
	}
	return held
}
