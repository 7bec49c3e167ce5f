package pagecache

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// testPage makes a page that a tier may keep.
func testPage(body string) *Page {
	return &Page{
		Status: 200,
		Head:   []byte("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"),
		Body:   append(make([]byte, 0, len(body)), body...), // no spare bytes: they would count
		Type:   typeHTML,
		ETag:   `"1"`,
		Length: int64(len(body)),
		Kept:   true,

		Freshness: Freshness{Measured: time.Now().UnixMilli(), Lifetime: 3600},
	}
}

// testTier is what every tier must do.
func testTier(t *testing.T, tier Tier) {
	get := func(key string) string {
		p, ok := tier.Get([]byte(key))
		if !ok {
			return "none"
		}
		return string(p.Body)
	}
	if got := get("a"); got != "none" {
		t.Errorf("an empty tier gave %q", got)
	}
	key := []byte("a")
	tier.Put(key, testPage("1"))
	key[0] = 'x' // the key must have been copied
	if got := get("a"); got != "1" {
		t.Errorf("put 1, got %q", got)
	}
	if got := get("x"); got != "none" {
		t.Errorf("the tier kept the caller's key: %q", got)
	}
	tier.Put([]byte("a"), testPage("2"))
	tier.Put([]byte("b"), testPage("3"))
	if got := get("a") + get("b"); got != "23" {
		t.Errorf("put 2 over 1 and 3 beside it, got %q", got)
	}
	if err := tier.Delete([]byte("a")); err != nil {
		t.Error(err)
	}
	if err := tier.Delete([]byte("never there")); err != nil {
		t.Error(err)
	}
	if got := get("a") + get("b"); got != "none3" {
		t.Errorf("deleted a, got %q", got)
	}
	tier.Put([]byte(""), testPage("empty key"))
	if got := get(""); got != "empty key" {
		t.Errorf("under the empty key: %q", got)
	}
}

func TestMemoryIsATier(t *testing.T) { testTier(t, NewMemory(1<<20)) }

func TestMemoryWithoutSize(t *testing.T) {
	for _, size := range []int64{0, -1} {
		m := NewMemory(size)
		p := testPage("")
		m.Put([]byte("a"), p)
		if _, ok := m.Get([]byte("a")); ok {
			t.Errorf("size %d: kept a page", size)
		}
		m.Delete([]byte("a"))
		p.Derive(func(*Page) (any, int) { return 1, 100 })
		if st := m.Stats(); st.Pages != 0 || st.Bytes != 0 || st.Size != 0 || st.Evictions != 0 {
			t.Errorf("size %d: %+v", size, st)
		}
	}
}

func TestMemoryKeepsWhatMayBeKept(t *testing.T) {
	const size = 1 << 20
	large := make([]byte, size/4+1)
	for _, c := range []struct {
		name string
		page func(p *Page)
		want bool
	}{
		{"a quarter", func(p *Page) { p.Body = large[:size/4]; p.Length = size / 4 }, true},
		{"more than a quarter", func(p *Page) { p.Body = large; p.Length = size/4 + 1 }, false},
		{"not to be kept", func(p *Page) { p.Kept = false }, false},
		{"body in a file", func(p *Page) { p.Body, p.Length = nil, 10 }, false},
		{"no body", func(p *Page) { p.Body, p.Length = []byte{}, 0 }, true},
	} {
		m := NewMemory(size)
		m.Put([]byte("a"), testPage("old"))
		p := testPage("new")
		c.page(p)
		m.Put([]byte("a"), p)
		got, ok := m.Get([]byte("a"))
		if ok != c.want || ok && got != p {
			t.Errorf("%s: kept %v, want %v", c.name, ok, c.want)
		}
	}
}

// The bound holds over all shards, and the page that goes is the one whose
// last use is longest ago, whatever its shard.
func TestMemoryEvictsTheEldest(t *testing.T) {
	one := footprint("00", testPage("body"))
	const pages = 50
	m := NewMemory(pages * one)
	key := func(i int) []byte { return fmt.Appendf(nil, "%02d", i) }
	for i := range pages {
		m.Put(key(i), testPage("body"))
	}
	if st := m.Stats(); st.Pages != pages || st.Bytes != pages*one || st.Evictions != 0 {
		t.Fatalf("full: %+v", st)
	}
	for i := range pages / 2 { // the first half is used again
		m.Get(key(i))
	}
	for i := range m.shards { // all are wanted alike: in so small a sketch one page is now and then counted for another
		m.shards[i].wanted = newSketch(m.size)
	}
	for i := range pages / 2 {
		m.Put(key(pages+i), testPage("body"))
		if st := m.Stats(); st.Bytes > st.Size {
			t.Fatalf("over its size: %+v", st)
		}
	}
	for i := range pages + pages/2 {
		_, ok := m.Get(key(i))
		if want := i < pages/2 || i >= pages; ok != want {
			t.Errorf("page %d is there: %v, want %v", i, ok, want)
		}
	}
	if st := m.Stats(); st.Evictions != pages/2 {
		t.Errorf("evictions: %+v", st)
	}
}

func TestMemoryCounts(t *testing.T) {
	m := NewMemory(1 << 20)
	p := testPage("body")
	m.Put([]byte("a"), p)
	m.Get([]byte("a"))
	m.Get([]byte("a"))
	m.Get([]byte("b"))
	one := footprint("a", p)
	if st := m.Stats(); st != (MemoryStats{Pages: 1, Bytes: one, Size: 1 << 20, Hits: 2, Misses: 1}) {
		t.Errorf("%+v", st)
	}
	p.Derive(func(*Page) (any, int) { return "v", 1000 })
	if st := m.Stats(); st.Bytes != one+1000 {
		t.Errorf("derived while in the tier: %d bytes, want %d", st.Bytes, one+1000)
	}
	m.Put([]byte("a"), p) // the same page again
	if st := m.Stats(); st.Bytes != one+1000 || st.Pages != 1 {
		t.Errorf("put again: %+v", st)
	}
	m.Delete([]byte("a"))
	if st := m.Stats(); st.Bytes != 0 || st.Pages != 0 {
		t.Errorf("deleted: %+v", st)
	}
	m.Put([]byte("b"), p)
	if st := m.Stats(); st.Bytes != one+1000 {
		t.Errorf("derived before it came in: %d bytes, want %d", st.Bytes, one+1000)
	}
	q := testPage("body")
	m.Put([]byte("b"), q)
	p.Derive(func(*Page) (any, int) { t.Error("built twice"); return nil, 0 })
	if st := m.Stats(); st.Bytes != one {
		t.Errorf("replaced: %d bytes, want %d", st.Bytes, one)
	}
}

// What is derived counts against the bound, so pages go for it.
func TestMemoryMakesRoomForDerived(t *testing.T) {
	m := NewMemory(100_000)
	pages := make([]*Page, 100)
	for i := range pages {
		pages[i] = testPage("body")
		m.Put(fmt.Appendf(nil, "%d", i), pages[i])
	}
	before := m.Stats()
	pages[99].Derive(func(*Page) (any, int) { return 1, 90_000 })
	after := m.Stats()
	if before.Pages != 100 || after.Bytes > after.Size || after.Pages >= 25 {
		t.Errorf("before %+v, after %+v", before, after)
	}
	if _, ok := m.Get([]byte("99")); !ok {
		t.Error("the youngest page went")
	}
}

func TestDeriveOnce(t *testing.T) {
	p := testPage("body")
	m := NewMemory(1 << 20)
	m.Put([]byte("a"), p)
	var built atomic.Int32
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			v := p.Derive(func(q *Page) (any, int) {
				if q != p {
					t.Error("build got another page")
				}
				built.Add(1)
				runtime.Gosched()
				return "made", 64
			})
			if v != "made" {
				t.Errorf("derived %v", v)
			}
		})
	}
	wg.Wait()
	if built.Load() != 1 {
		t.Errorf("built %d times", built.Load())
	}
	if st := m.Stats(); st.Bytes != footprint("a", p)+64 {
		t.Errorf("counted %d bytes", st.Bytes)
	}
}

func TestDeriveAfterPanic(t *testing.T) {
	p := testPage("body")
	func() {
		defer func() { recover() }()
		p.Derive(func(*Page) (any, int) { panic("broken") })
	}()
	if v := p.Derive(func(*Page) (any, int) { return 1, -5 }); v != 1 {
		t.Errorf("derived %v after a panic", v)
	}
	if p.derivedSize() != 0 {
		t.Errorf("a negative size counts as %d", p.derivedSize())
	}
}

// Goroutines put, get, delete and derive at random; in the end the count is
// that of the pages that are there.
func TestMemoryConcurrently(t *testing.T) {
	m := NewMemory(64 << 10)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(g)))
			for range 5000 {
				key := fmt.Appendf(nil, "%d", r.IntN(200))
				switch r.IntN(4) {
				case 0:
					m.Put(key, testPage(fmt.Sprint(r.IntN(1000))))
				case 1:
					m.Delete(key)
				default:
					if p, ok := m.Get(key); ok {
						p.Derive(func(*Page) (any, int) { return 1, r.IntN(2000) })
					}
				}
			}
		})
	}
	wg.Wait()
	var want, pages int64
	for i := range m.shards {
		s := &m.shards[i]
		for _, k := range s.pages.Keys() {
			e, _ := s.pages.Peek(k)
			want += footprint(k, e.page) + e.page.derivedSize()
			pages++
		}
	}
	st := m.Stats()
	if st.Bytes != want || st.Pages != pages || st.Bytes > st.Size || pages == 0 {
		t.Errorf("%+v, the pages take %d", st, want)
	}
}

// heapBytes returns what is on the heap and in use.
func heapBytes() int64 {
	var ms runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&ms)
	return int64(ms.HeapAlloc)
}

func TestMemoryBytesAreHonest(t *testing.T) {
	published := func(i, body int) *Page {
		p := newValuePage(fmt.Sprintf("/region/info/%d.html", i), make([]byte, body))
		p.Kept = true
		return p
	}
	pulled := func(_, body int) *Page { return pulledPage(string(make([]byte, body))) }
	for _, c := range []struct {
		name string
		page func(i, body int) *Page
		body int
	}{
		{"published", published, 0}, {"published", published, 100}, {"published", published, 3000},
		{"pulled", pulled, 0}, {"pulled", pulled, 100}, {"pulled", pulled, 3000},
	} {
		const pages = 20_000
		m := NewMemory(1 << 40)
		before := heapBytes()
		for i := range pages {
			m.Put(fmt.Appendf(nil, "prefix123/region/info/%d", i), c.page(i, c.body))
		}
		real := float64(heapBytes()-before) / pages
		counted := float64(m.Stats().Bytes) / pages
		t.Logf("%s, body %d: %.0f bytes a page, counted %.0f", c.name, c.body, real, counted)
		if counted < 0.9*real || counted > 1.4*real {
			t.Errorf("%s, body %d: a page takes %.0f bytes, counted %.0f", c.name, c.body, real, counted)
		}
		runtime.KeepAlive(m)
	}
}

// A pulled page takes at most 400 bytes over its body, its fields and its key,
// whether a fill or a tier brought it.
func TestPulledPageOverhead(t *testing.T) {
	sizes := []int{30_000, 60_000, 100_000} // the map's share swings with its size
	if realtest.Race {
		sizes = sizes[:1] // it is slow, and measures the same
	}
	for _, pages := range sizes {
		m := NewMemory(1 << 40)
		c := NewPulled(m)
		before, own := heapBytes(), int64(0)
		for i := range pages {
			p := pulledPage("<p>some page</p>")
			k := &PulledKey{Key: fmt.Appendf(nil, "www.example.com/region/info/%d", i), Check: func(*Page) Verdict { return Valid }}
			if i%2 == 1 {
				p, _ = Decode(Encode(nil, k.Key, "journal", p), k.Key, "journal")
			}
			own += int64(len(p.Head) + len(p.Body) + len(k.Key))
			c.Put(k, NewPage{Page: p})
		}
		over := float64(heapBytes()-before-own) / float64(pages)
		counted := float64(m.Stats().Bytes-own) / float64(pages)
		t.Logf("%d pages: %.0f bytes a page over its own, counted %.0f", pages, over, counted)
		if over > 400 {
			t.Errorf("%d pages: %.0f bytes a page over its own, want at most 400", pages, over)
		}
		runtime.KeepAlive(c)
	}
}

func TestMemoryGetDoesNotAllocate(t *testing.T) {
	m := NewMemory(1 << 20)
	key := []byte("a key that is longer than what the compiler keeps on the stack: /region/info/Hawaii")
	m.Put(key, testPage("body"))
	if n := testing.AllocsPerRun(1000, func() {
		if _, ok := m.Get(key); !ok {
			t.Fatal("gone")
		}
	}); n != 0 {
		t.Errorf("%v allocations a hit", n)
	}
}

func BenchmarkMemoryGet(b *testing.B) {
	m := NewMemory(1 << 30)
	keys := make([][]byte, 10_000)
	for i := range keys {
		keys[i] = fmt.Appendf(nil, "prefix123/region/info/%d", i)
		m.Put(keys[i], testPage("body"))
	}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for i := rand.IntN(len(keys)); pb.Next(); i++ {
			m.Get(keys[i%len(keys)])
		}
	})
}

func BenchmarkMemoryPutFull(b *testing.B) {
	m := NewMemory(10_000 * footprint("prefix123/region/info/00000", testPage("body")))
	p := testPage("body")
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		q := &Page{Status: 200, Head: p.Head, Body: p.Body, Length: p.Length, Kept: true}
		m.Put(fmt.Appendf(nil, "prefix123/region/info/%d", i), q)
	}
}

// derivedSize returns the bytes of what was built from the page so far.
func (p *Page) derivedSize() int64 {
	if d := p.derived.Load(); d != nil && d.built.Load() {
		return d.size
	}
	return 0
}
