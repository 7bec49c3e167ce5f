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

// Writers rewrite pages in place, slowly and in parts, and by rename; root is
// flipped all the while; readers must only ever see whole bodies. It goes on
// until enough pages came from memory and from disk.
func TestFilesAreNeverTorn(t *testing.T) {
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
	for i, release := range []string{"v1", "v2"} {
		loop(uint64(i), func(r *rand.Rand) time.Duration {
			writeInParts(filepath.Join(base, release, "place.html"), selfDescribing(r), r)
			return rest(r)
		})
		loop(uint64(10+i), func(r *rand.Rand) time.Duration {
			name := filepath.Join(base, release, "renamed.html")
			os.WriteFile(name+".new", []byte(selfDescribing(r)), 0o644)
			os.Rename(name+".new", name)
			return rest(r)
		})
	}
	var flips, whole atomic.Int64
	loop(20, func(r *rand.Rand) time.Duration {
		flip([]string{"v1", "v2"}[r.IntN(2)])
		f.root.next.Store(0) // its second is over
		flips.Add(1)
		return time.Duration(r.IntN(40)) * time.Millisecond
	})
	for i := range 4 {
		path := []byte([]string{"/place", "/renamed"}[i%2])
		loop(uint64(30+i), func(*rand.Rand) time.Duration {
			h, ok := f.Get(path, false)
			switch {
			case !ok:
			case isWhole(h.Page.Body):
				whole.Add(1)
			default:
				t.Errorf("%s is torn: %d bytes %.40q, kept %v, written %v, changed %v, now %v", path, len(h.Page.Body), h.Page.Body, h.Page.Kept, time.Unix(0, h.Page.id.mtime), time.Unix(0, h.Page.id.change), time.Now())
			}
			return time.Millisecond
		})
	}
	realtest.Eventually(t, "pages from memory and from disk, and flips", func() bool {
		st := f.Stats()
		return t.Failed() || st.Hits > 500 && st.Reads > 200 && flips.Load() > 50
	})
	close(stop)
	workers.Wait()
	if st := f.Stats(); whole.Load() == 0 || st.Errors != 0 {
		t.Errorf("%d whole bodies, stats %+v", whole.Load(), st)
	}
}

// writeInParts writes a file as page caching does, only slower: opened with
// truncation, then a part at a time.
func writeInParts(name, text string, r *rand.Rand) {
	f, err := os.Create(name)
	if err != nil {
		return
	}
	defer f.Close()
	for text != "" {
		n := min(len(text), 1+r.IntN(4000))
		f.WriteString(text[:n])
		text = text[n:]
		time.Sleep(time.Duration(r.IntN(3)) * time.Millisecond)
	}
}
