package pagecache

import (
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
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

// Readers must only ever see whole bodies.
func TestFilesAreNeverTorn(t *testing.T) {
	if torn := tornPages(t); len(torn) > 0 {
		t.Fatalf("torn pages:\n%s", strings.Join(torn, "\n"))
	}
}

// heldUp are texts whose writer the machine held up for as long as a file has to
// lie still before it is read: then the file itself is torn, and no reader can
// tell.
type heldUp struct {
	mu    sync.Mutex
	texts []string
}

func (h *heldUp) add(text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.texts = append(h.texts, text)
}

// explains says whether a torn body is the beginning of such a text.
func (h *heldUp) explains(body []byte) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(h.texts, func(text string) bool { return strings.HasPrefix(text, string(body)) })
}

// tornPages has writers rewrite pages in place, slowly and in parts, and by
// rename, and root flipped all the while, until readers have got enough pages
// from memory and from disk. It returns those that were not whole though their
// writer was quick.
func tornPages(t *testing.T) (torn []string) {
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
	var held heldUp
	for i, release := range []string{"v1", "v2"} {
		loop(uint64(i), func(r *rand.Rand) time.Duration {
			if text := selfDescribing(r); writeInParts(filepath.Join(base, release, "place.html"), text, r) {
				held.add(text)
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
	var suspects []*Page
	for i := range 4 {
		path := []byte([]string{"/place", "/renamed"}[i%2])
		loop(uint64(30+i), func(*rand.Rand) time.Duration {
			if h, ok := f.Get(path, false); ok && !isWhole(h.Page.Body) {
				mu.Lock()
				suspects = append(suspects, h.Page)
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
	for _, p := range suspects {
		if !held.explains(p.Body) {
			torn = append(torn, fmt.Sprintf("%s: %d bytes, kept %v: %.40q", p.Name, len(p.Body), p.Kept, p.Body))
		}
	}
	return torn
}

// writeInParts writes a file as page caching does, only slower: opened with
// truncation, then a part at a time. It says whether it was held up, between two
// parts or while the file was cut off, which the kernel may do before it sets the
// file's times.
func writeInParts(name, text string, r *rand.Rand) (held bool) {
	last := time.Now()
	f, err := os.Create(name)
	if err != nil {
		return true
	}
	defer f.Close()
	for text != "" {
		began := time.Now()
		n := min(len(text), 1+r.IntN(4000))
		f.WriteString(text[:n])
		text = text[n:]
		held = held || time.Since(last) > writePause*8/10 // times of files are coarse
		last = began
		time.Sleep(time.Duration(r.IntN(3)) * time.Millisecond)
	}
	return held
}
