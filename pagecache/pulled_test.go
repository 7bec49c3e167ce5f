package pagecache

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// pulledSite is a Pulled over memory and two tiers that are memories too: a
// tier does nothing but keep.
type pulledSite struct {
	t      testing.TB
	memory *Memory
	disk   *Memory
	far    *brokenTier
	*Pulled
	gone map[*Page]Verdict // what the purges say; nothing: Valid
}

// brokenTier is a tier whose Delete can fail.
type brokenTier struct {
	*Memory
	broken bool
	asked  func()
}

func (b *brokenTier) Get(key []byte) (*Page, bool) {
	p, ok := b.Memory.Get(key)
	if b.asked != nil {
		b.asked()
	}
	return p, ok
}

func (b *brokenTier) Delete(key []byte) error {
	if b.broken {
		return errors.New("the tier is away")
	}
	return b.Memory.Delete(key)
}

func newPulledSite(t testing.TB) *pulledSite {
	s := &pulledSite{t: t, memory: NewMemory(1 << 20), disk: NewMemory(1 << 20), gone: map[*Page]Verdict{}}
	s.far = &brokenTier{Memory: NewMemory(1 << 20)}
	s.Pulled = NewPulled(s.memory, NamedTier{"disk", s.disk}, NamedTier{"memcache", s.far})
	return s
}

func (s *pulledSite) key(key, fields string) *PulledKey {
	return &PulledKey{
		Key: []byte(key), Field: fieldsOf(fields), Now: came,
		Check: func(p *Page) Verdict {
			if v, ok := s.gone[p]; ok {
				return v
			}
			return Valid
		},
	}
}

// want checks what a request gets: "body tier", "body tier stale", or "none".
func (s *pulledSite) want(what, key, fields, want string) {
	s.t.Helper()
	p, tier := s.Get(s.key(key, fields))
	got := "none"
	if p != nil {
		got = string(p.Body) + " " + tier
		if !p.Fresh(came) {
			got += " stale"
		}
	}
	if got != want {
		s.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func (s *pulledSite) put(key, fields, body, vary string) *Page {
	s.t.Helper()
	p := pulledPage(body)
	var names []string
	if vary != "" {
		names = strings.Split(vary, " ")
	}
	if !s.Put(s.key(key, fields), NewPage{Page: p, Vary: names, MaxVariants: 3}) {
		s.t.Errorf("%s was not kept", body)
	}
	return p
}

func stalePage(body string) *Page {
	p := pulledPage(body)
	p.InitialAge = 3600
	return p
}

func TestPulledTiers(t *testing.T) {
	s := newPulledSite(t)
	s.want("cold", "/a", "", "none")
	s.put("/a", "", "one", "")
	s.want("put", "/a", "", "one memory")
	s.memory.Delete([]byte("p/a"))
	s.want("memory forgot", "/a", "", "one disk")
	s.want("and has it again", "/a", "", "one memory")
	s.memory.Delete([]byte("p/a"))
	s.disk.Delete([]byte("p/a"))
	s.want("disk forgot too", "/a", "", "one memcache")
	s.want("and memory has it again", "/a", "", "one memory")
	s.put("/a", "", "two", "")
	s.want("put again", "/a", "", "two memory")
	if err := s.Delete([]byte("/a")); err != nil {
		t.Error(err)
	}
	s.want("deleted", "/a", "", "none")
}

// The first fresh page wins; a stale one is only remembered.
func TestPulledFreshBeforeStale(t *testing.T) {
	s := newPulledSite(t)
	s.memory.Put([]byte("p/a"), stalePage("nearest"))
	s.want("nothing better", "/a", "", "nearest memory stale")
	s.disk.Put([]byte("p/a"), stalePage("nearer"))
	s.want("nothing better", "/a", "", "nearest memory stale")
	s.far.Put([]byte("p/a"), pulledPage("far"))
	s.want("a fresh one", "/a", "", "far memcache")
	s.want("in memory by now", "/a", "", "far memory")
	s.memory.Delete([]byte("p/a"))
	s.far.Delete([]byte("p/a"))
	s.want("only a stale one", "/a", "", "nearer disk stale")
	s.want("which is in memory now", "/a", "", "nearer memory stale")
}

// What the purges take away is a miss in every tier; what they only expire is
// stale.
func TestPulledPurged(t *testing.T) {
	s := newPulledSite(t)
	p := s.put("/a", "", "one", "")
	s.gone[p] = Gone
	s.want("gone everywhere", "/a", "", "none")
	if _, ok := s.memory.peek([]byte("p/a")); ok {
		t.Error("it takes memory still")
	}
	q := pulledPage("two")
	s.far.Put([]byte("p/a"), q)
	s.want("one that is not", "/a", "", "two memcache")
	s.gone[q] = Expired
	fresh := pulledPage("three")
	s.far.Put([]byte("p/a"), fresh)
	s.want("softly: a better one is looked for", "/a", "", "three memcache")
	s.gone[fresh] = Expired
	s.want("softly: it is still there", "/a", "", "three memory")
}

// Peek asks memory only, and Look changes nothing.
func TestPulledPeekAndLook(t *testing.T) {
	s := newPulledSite(t)
	s.disk.Put([]byte("p/a"), pulledPage("one"))
	if p, _ := s.Peek(s.key("/a", "")); p != nil {
		t.Error("peek found what is not in memory")
	}
	look := func() string {
		var got []string
		s.Look(s.key("/a", ""), func(tier string, p *Page) { got = append(got, fmt.Sprint(tier, p != nil)) })
		return strings.Join(got, " ")
	}
	before := s.memory.Stats()
	if got := look(); got != "memoryfalse disktrue memcachefalse" {
		t.Error(got)
	}
	if after := s.memory.Stats(); after != before {
		t.Errorf("look changed %+v to %+v", before, after)
	}
	s.put("/a", "A: 1", "two", "A")
	if got := look(); got != "memoryfalse diskfalse memcachefalse" {
		t.Errorf("of another variant: %s", got)
	}
}

func TestPulledVariants(t *testing.T) {
	s := newPulledSite(t)
	s.put("/a", "A: 1", "one", "A")
	s.put("/a", "A: 2", "two", "A")
	s.put("/a", "", "absent", "A")
	s.want("VAR_1", "/a", "A: 1\nB: 9", "one memory")
	s.want("VAR_1", "/a", "A: 2", "two memory")
	s.want("VAR_3", "/a", "", "absent memory")
	s.want("VAR_1", "/a", "A: 3", "none")
	s.want("another page", "/b", "A: 1", "none")
	s.put("/a", "A: 1", "one again", "A")
	s.want("replaced", "/a", "A: 1", "one again memory")

	// VAR-12: the oldest goes, and nothing of it stays.
	before := s.memory.Stats().Pages
	s.put("/a", "A: 4", "four", "A")
	s.want("VAR_12", "/a", "A: 2", "none")
	s.want("VAR_12", "/a", "A: 1", "one again memory")
	s.want("VAR_12", "/a", "A: 4", "four memory")
	if after := s.memory.Stats().Pages; after != before || s.far.Stats().Pages != before {
		t.Errorf("%d pages became %d, and %d behind", before, after, s.far.Stats().Pages)
	}

	// VAR-14: the newest Vary decides.
	s.put("/a", "A: 4\nB: 1", "by B", "B")
	s.want("VAR_14", "/a", "A: 1\nB: 1", "by B memory")
	s.want("VAR_14", "/a", "A: 4", "none")
	s.put("/a", "", "plain", "")
	s.want("no Vary any more", "/a", "A: 4\nB: 1", "plain memory")
	s.put("/a", "B: 1", "by B again", "B")
	s.want("Vary again", "/a", "B: 1", "by B again memory")
}

// VAR-15: what removes a page removes its variants, and they do not come back
// when a new one comes, in any tier.
func TestPulledVariantsDeleted(t *testing.T) {
	s := newPulledSite(t)
	s.put("/a", "A: 1", "one", "A")
	s.put("/a", "A: 2", "two", "A")
	if err := s.Delete([]byte("/a")); err != nil {
		t.Error(err)
	}
	if st := s.memory.Stats(); st.Pages != 0 {
		t.Errorf("%d pages left in memory", st.Pages)
	}
	s.want("VAR_15", "/a", "A: 1", "none")
	s.put("/a", "A: 1", "new", "A")
	s.want("VAR_15", "/a", "A: 1", "new memory")
	s.want("VAR_15", "/a", "A: 2", "none")
	for p := range pagesOf(s.memory) {
		s.gone[p] = Gone // purged, the list of variants too
	}
	s.want("purged", "/a", "A: 1", "none")
	s.put("/a", "A: 2", "newer", "A")
	s.want("purged", "/a", "A: 1", "none")
	s.want("purged", "/a", "A: 2", "newer memory")
}

func pagesOf(m *Memory) map[*Page]bool {
	all := map[*Page]bool{}
	m.each(func(_ string, p *Page) { all[p] = true })
	return all
}

// Variants are found through the tiers behind memory, and another node's list
// of them is gone on with.
func TestPulledVariantsBehindMemory(t *testing.T) {
	s := newPulledSite(t)
	s.put("/a", "A: 1", "one", "A")
	s.memory = NewMemory(1 << 20)
	s.Pulled = NewPulled(s.memory, NamedTier{"memcache", s.far})
	s.put("/a", "A: 2", "two", "A") // before anybody asked for the list
	s.want("the other node's", "/a", "A: 1", "one memcache")
	s.want("in memory by now", "/a", "A: 1", "one memory")
	s.want("this node's", "/a", "A: 2", "two memory")
}

func TestPulledEach(t *testing.T) {
	s := newPulledSite(t)
	s.put("/a", "", "plain", "")
	s.put("/b\x00x", "A: 1", "one", "A")
	s.put("/b\x00x", "A: "+strings.Repeat("2", 999), "two", "A")
	s.memory.Put([]byte("f/file"), testPage("a file"))
	s.memory.Put([]byte("v"), testPage("a key of nothing here"))
	var got []string
	s.Each(func(key []byte, p *Page) { got = append(got, string(key)+" "+string(p.Body)) })
	slices.Sort(got)
	if want := []string{"/a plain", "/b\x00x one", "/b\x00x two"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// Pages of files and of the app do not meet, whatever their keys.
func TestPulledKeysAreItsOwn(t *testing.T) {
	s := newPulledSite(t)
	s.memory.Put([]byte("f12345678/a"), testPage("a file"))
	s.put("f12345678/a", "", "of the app", "")
	p, ok := s.memory.Get([]byte("f12345678/a"))
	if !ok || string(p.Body) != "a file" {
		t.Error("the app's page took the file's place")
	}
}

// INV-7: a fill that was hit does not put its page back, whenever it was hit.
func TestPulledPutOfAnInvalidFill(t *testing.T) {
	for _, vary := range [][]string{nil, {"A"}} {
		s := newPulledSite(t)
		var x Flights
		k := s.key("/a", "A: 1")
		f, _ := x.Join(k.Key)
		asked := false
		valid := func() bool {
			if !asked { // the unsafe method comes when the page is in the tiers already
				asked = true
				x.InvalidateKey(k.Key)
				s.Delete(k.Key)
			}
			return f.Valid()
		}
		if s.Put(k, NewPage{Page: pulledPage("old"), Vary: vary, Valid: valid}) || !asked {
			t.Error("an old page was kept")
		}
		f.Abandon()
		s.want("after it", "/a", "A: 1", "none")
		if s.memory.Stats().Pages > 1 {
			t.Errorf("%+v", s.memory.Stats())
		}
	}
}

// A page that is on its way from a tier into memory does not come back when it
// is deleted meanwhile.
func TestPulledDeletedOnItsWay(t *testing.T) {
	s := newPulledSite(t)
	s.far.Put([]byte("p/a"), pulledPage("old"))
	s.far.asked = func() {
		s.far.asked = nil
		s.Delete([]byte("/a"))
	}
	s.want("deleted while it is read", "/a", "", "none")
	s.want("later", "/a", "", "none")
}

// A tier that could not delete has its old page disbelieved; a page from after
// the deletion is good.
func TestPulledDeleteUnconfirmed(t *testing.T) {
	for _, vary := range []string{"", "A"} {
		s := newPulledSite(t)
		k := s.key("/a", "A: 1")
		k.Now = time.Now()
		p := pulledPage("old")
		p.Measured = time.Now().UnixMilli() - 1
		s.Put(k, NewPage{Page: p, Vary: strings.Fields(vary)})
		s.far.broken = true
		if err := s.Delete([]byte("/a")); err == nil {
			t.Error("no error")
		}
		s.far.broken = false
		s.want("deleted", "/a", "A: 1", "none")
		s.Look(s.key("/a", "A: 1"), func(tier string, p *Page) {
			if p != nil {
				t.Errorf("%s has a page", tier)
			}
		})
		k.Now = time.Now().Add(5 * time.Second)
		q := pulledPage("new")
		q.Measured = k.Now.UnixMilli()
		s.Put(k, NewPage{Page: q, Vary: strings.Fields(vary)})
		s.memory = NewMemory(1 << 20)
		s.Pulled.memory = s.memory
		s.disk.Delete([]byte("p/a"))
		if p, _ := s.Get(k); p == nil || string(p.Body) != "new" {
			t.Errorf("vary %q: a page from after the deletion: %v", vary, p)
		}
	}
}

func TestPulledWithoutMemory(t *testing.T) {
	s := newPulledSite(t)
	s.memory = NewMemory(0)
	s.Pulled = NewPulled(s.memory, NamedTier{"memcache", s.far})
	s.put("/a", "A: 1", "one", "A")
	s.put("/a", "A: 2", "two", "A")
	s.put("/b", "", "plain", "")
	s.want("variant", "/a", "A: 1", "one memcache")
	s.want("variant", "/a", "A: 2", "two memcache")
	s.want("plain", "/b", "", "plain memcache")
	s.Delete([]byte("/a"))
	s.want("deleted", "/a", "A: 1", "none")

	alone := NewPulled(NewMemory(0))
	if p, _ := alone.Get(s.key("/a", "")); p != nil || !alone.Put(s.key("/a", ""), NewPage{Page: pulledPage("x")}) {
		t.Error("no tier at all")
	}
}

func TestPulledHitDoesNotAllocate(t *testing.T) {
	s := newPulledSite(t)
	long := strings.Repeat("/region", 20)
	s.put(long, "", "plain", "")
	s.put(long+"?v", "Accept-Encoding: gzip", "one", "Accept-Encoding")
	value := []byte("gzip")
	for _, key := range []string{long, long + "?v"} {
		k := s.key(key, "")
		k.Field = func(string) []byte { return value }
		if n := testing.AllocsPerRun(1000, func() {
			q := PulledKey{Key: k.Key, Field: k.Field, Check: k.Check, Now: k.Now}
			if p, _ := s.Get(&q); p == nil {
				t.Fatal("gone")
			}
		}); n != 0 {
			t.Errorf("%d bytes of key: %v allocations a hit", len(key), n)
		}
	}
}

// Everything at once: what is found is always of its key and its variant.
func TestPulledConcurrently(t *testing.T) {
	s := newPulledSite(t)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 500 {
				key := fmt.Sprint("/", (g+i)%5)
				language := fmt.Sprint((g * i) % 6)
				k := s.key(key, "A: "+language)
				switch i % 7 {
				case 0, 1:
					n := NewPage{Page: pulledPage(key + language), MaxVariants: 4}
					if i%2 == 0 || (g+i)%5 > 0 {
						n.Vary = []string{"A"}
					} else {
						n.Page = pulledPage(key)
					}
					s.Put(k, n)
				case 2:
					s.Delete(k.Key)
				default:
					p, _ := s.Get(k)
					if p != nil && string(p.Body) != key+language && string(p.Body) != key {
						t.Errorf("%s %s got %s", key, language, p.Body)
					}
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkPulledGet(b *testing.B) {
	s := newPulledSite(b)
	for i := range 1000 {
		s.put(fmt.Sprint("www.example.com/region/", i), "", "body", "")
	}
	s.put("vary", "Accept-Encoding: gzip", "body", "Accept-Encoding")
	for name, key := range map[string]string{"plain": "www.example.com/region/7", "variant": "vary"} {
		k := s.key(key, "")
		value := []byte("gzip, deflate, br")
		k.Field = func(string) []byte { return value }
		k.Check = func(*Page) Verdict { return Valid }
		s.Put(k, NewPage{Page: pulledPage("body"), Vary: map[string][]string{"variant": {"Accept-Encoding"}}[name]})
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if p, _ := s.Get(k); p == nil {
					b.Fatal("gone")
				}
			}
		})
	}
}

// Room that a body grew in is not kept with the page.
func TestPulledPageHasNoSpareRoom(t *testing.T) {
	for _, spare := range []int{0, 1, 100, 5_000, 10_000} {
		body := append(make([]byte, 0, 10_000+spare), bytes.Repeat([]byte("x"), 10_000)...)
		p := NewPulledPage(200, []byte("HTTP/1.1 200 OK\r\n\r\n"), body, Freshness{}, 0)
		if len(p.Body) != 10_000 || cap(p.Body) > 10_000+10_000/16+300 {
			t.Errorf("%d bytes to spare: %d of %d are kept", spare, len(p.Body), cap(p.Body))
		}
	}
}
