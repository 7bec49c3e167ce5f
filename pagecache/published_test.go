package pagecache

import (
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// shelf is a memcached with the published pages of a site on it.
type shelf struct {
	*Published
	t      testing.TB
	server *realtest.Server
	conn   net.Conn
	clock  *testClock
	memory *Memory
	said   *logText
}

func newShelf(t testing.TB, o PublishedOptions, memory int64) *shelf {
	t.Helper()
	s := &shelf{t: t, server: realtest.Memcached(t), clock: newTestClock(), memory: NewMemory(memory), said: new(logText)}
	s.conn = dialMemcached(t, s.server.Addr)
	s.Published = s.over(o, s.server.Addr, patient)
	return s
}

// over makes the published pages of a site in the memcached at addr.
func (s *shelf) over(o PublishedOptions, addr string, timeout time.Duration) *Published {
	s.t.Helper()
	if o.Keys == nil {
		o.Keys = []string{"{path}"}
	}
	p, err := NewPublished(o, newTestMemcache(s.t, timeout, addr), s.memory, slog.New(slog.NewTextHandler(s.said, nil)))
	if err != nil {
		s.t.Fatal(err)
	}
	p.clock = s.clock.clock()
	return p
}

func (s *shelf) set(key, value string) { s.t.Helper(); storeOn(s.t, s.conn, key, 0, value) }

func (s *shelf) delete(key string) {
	s.t.Helper()
	command(s.t, s.conn, "DELETED\r\n", "delete %s\r\n", key)
}

// gets returns how many values memcached was asked for so far.
func (s *shelf) gets() int {
	s.t.Helper()
	return int(statOf(s.t, s.server.Addr, "cmd_get"))
}

func keyOf(path string) PublishedKey {
	return PublishedKey{Path: []byte(path), RawPath: []byte(path), Host: []byte("www.example.com"), Scheme: "http"}
}

func text(p *Page, ok bool) string {
	if !ok || p == nil {
		return "none"
	}
	return string(p.Body)
}

func TestNewPublishedErrors(t *testing.T) {
	c := newTestMemcache(t, patient, "127.0.0.1:1")
	for _, keys := range [][]string{nil, {"{path}", "{pth}"}, {""}} {
		if _, err := NewPublished(PublishedOptions{Keys: keys}, c, NewMemory(0), nil); err == nil || !strings.Contains(err.Error(), "{path}") {
			t.Errorf("%q: error %v", keys, err)
		}
	}
}

// O10: the type is made from the path, whatever the size; a marshalled value
// is no page.
func TestPublishedPage(t *testing.T) {
	s := newShelf(t, PublishedOptions{}, 1<<20)
	s.set("/p1", strings.Repeat("a", 100))
	s.set("/p2", strings.Repeat("b", 20_000))
	s.set("/p.json", "{}")
	s.set("/St.Louis", "<p>St. Louis</p>")
	for path, mediaType := range map[string]string{"/p1": typeHTML, "/p2": typeHTML, "/p.json": "application/json; charset=utf-8", "/St.Louis": typeHTML} {
		p, ok := s.Get(keyOf(path))
		if !ok || p.Type != mediaType || p.Name != path || p.Status != 200 || p.Length != int64(len(p.Body)) || p.Modified != 0 || !p.Kept {
			t.Errorf("%s: %v %+v", path, ok, p)
			continue
		}
		want := "HTTP/1.1 200 OK\r\nContent-Type: " + mediaType + "\r\nETag: " + p.ETag + "\r\nAccept-Ranges: bytes\r\n\r\n"
		if string(p.Head) != want {
			t.Errorf("%s: head %q, want %q", path, p.Head, want)
		}
	}
	if a, b := bodyETag([]byte("abc")), bodyETag([]byte("abd")); a == b || a != `"3-352441c2364b3fb7"` {
		t.Errorf("ETags %s %s: must differ, and be the same on every node", a, b)
	}
}

func TestPublishedRefuses(t *testing.T) {
	s := newShelf(t, PublishedOptions{}, 1<<20)
	storeOn(t, s.conn, "/marshalled", 1, "\x04\bI\"")
	storeOn(t, s.conn, "/empty", 0, "")
	for range 3 {
		for _, path := range []string{"/marshalled", "/empty"} {
			if p, ok := s.Get(keyOf(path)); ok {
				t.Errorf("%s: %+v", path, p)
			}
			if p, known := s.Peek(keyOf(path)); p != nil || !known {
				t.Errorf("%s: not remembered", path)
			}
		}
		s.clock.advance(time.Second)
	}
	if n := s.said.count("/marshalled"); n != 1 {
		t.Errorf("warned %d times in a minute:\n%s", n, s.said)
	}
	if st := s.Stats(); st != (PublishedStats{Misses: 6, Refused: 6}) {
		t.Errorf("%+v", st)
	}
	s.clock.advance(time.Minute)
	s.Get(keyOf("/marshalled"))
	if n := s.said.count("/marshalled"); n != 2 {
		t.Errorf("warned %d times after another minute", n)
	}
	s.set("/marshalled", "raw now")
	s.clock.advance(time.Second)
	if got := text(s.Get(keyOf("/marshalled"))); got != "raw now" {
		t.Errorf("then a page: %q", got)
	}
}

// O9: the keys are the app's.
func TestPublishedKeys(t *testing.T) {
	s := newShelf(t, PublishedOptions{Keys: []string{":1:{path}", "{raw_path}"}}, 1<<20)
	s.set(":1:/p", "by the first key")
	s.set("/p", "by the second key")
	s.set("/mc/region/info/S%C3%A3o-Paulo", "as sent")
	sao := PublishedKey{Path: []byte("/mc/region/info/São-Paulo"), RawPath: []byte("/mc/region/info/S%C3%A3o-Paulo")}
	if got := text(s.Get(keyOf("/p"))); got != "by the first key" {
		t.Errorf("%q", got)
	}
	if got := text(s.Get(sao)); got != "as sent" {
		t.Errorf("%q", got)
	}
	if got := text(s.Peek(sao)); got != "as sent" {
		t.Errorf("peek: %q", got)
	}
	s.delete(":1:/p")
	s.clock.advance(time.Second)
	if got := text(s.Get(keyOf("/p"))); got != "by the second key" {
		t.Errorf("%q", got)
	}
	for _, path := range []string{"/" + strings.Repeat("x", 250), "/\x7f"} {
		before := s.gets()
		if p, known := s.Peek(keyOf(path)); p != nil || !known {
			t.Errorf("%.10q: known %v", path, known)
		}
		if _, ok := s.Get(keyOf(path)); ok || s.gets() != before {
			t.Errorf("%.10q: asked for a key that cannot be", path)
		}
	}
}

// Where a query is left, only keys that name it are asked.
func TestPublishedQuery(t *testing.T) {
	s := newShelf(t, PublishedOptions{Keys: []string{"{path}", "{path}?{query}"}}, 1<<20)
	s.set("/a", "page one")
	s.set("/a?page=2", "page two")
	with := keyOf("/a")
	with.Query = []byte("page=2")
	if got := text(s.Get(with)); got != "page two" {
		t.Errorf("%q", got)
	}
	with.Query = []byte("page=3")
	if got := text(s.Get(with)); got != "none" {
		t.Errorf("%q", got)
	}
	if got := text(s.Get(keyOf("/a"))); got != "page one" {
		t.Errorf("%q", got)
	}
	if !s.UsesQuery() {
		t.Error("a key names the query")
	}
	plain := s.over(PublishedOptions{}, s.server.Addr, patient)
	if plain.UsesQuery() {
		t.Error("no key names the query")
	}
	before := s.gets()
	if p, known := plain.Peek(with); p != nil || !known {
		t.Errorf("known %v", known)
	}
	if _, ok := plain.Get(with); ok || s.gets() != before {
		t.Error("asked although a query is left")
	}
}

func TestPublishedFor(t *testing.T) {
	s := newShelf(t, PublishedOptions{For: 3 * time.Second}, 1<<20)
	if _, known := s.Peek(keyOf("/a")); known {
		t.Error("known before it was asked for")
	}
	s.set("/a", "one")
	first, ok := s.Get(keyOf("/a"))
	if text(first, ok) != "one" {
		t.Fatalf("%+v", first)
	}
	first.Derive(func(*Page) (any, int) { return "template", 10 })
	s.set("/a", "two")
	s.clock.advance(3*time.Second - 50*time.Millisecond)
	if p, known := s.Peek(keyOf("/a")); p != first || !known {
		t.Errorf("a copy that is good: %+v %v", p, known)
	}
	s.set("/a", "one")
	s.clock.advance(50 * time.Millisecond)
	if _, known := s.Peek(keyOf("/a")); known {
		t.Error("known though its time is over")
	}
	if p, _ := s.Get(keyOf("/a")); p != first {
		t.Error("the same value is another page")
	}
	if p, known := s.Peek(keyOf("/a")); p != first || !known {
		t.Error("not good again")
	}
	s.set("/a", "two")
	s.clock.advance(3 * time.Second)
	second, ok := s.Get(keyOf("/a"))
	if text(second, ok) != "two" || second == first || second.ETag == first.ETag {
		t.Errorf("changed: %+v", second)
	}
	s.delete("/a")
	s.clock.advance(3 * time.Second)
	if got := text(s.Get(keyOf("/a"))); got != "none" {
		t.Errorf("deleted: %q", got)
	}
	if p, known := s.Peek(keyOf("/a")); p != nil || !known {
		t.Errorf("deleted: known %v", known)
	}
	if st := s.memory.Stats(); st.Pages != 0 {
		t.Errorf("deleted: %+v", st)
	}
	s.set("/a", "back")
	s.clock.advance(time.Second) // absence is remembered for a second, whatever For says
	if got := text(s.Get(keyOf("/a"))); got != "back" {
		t.Errorf("back: %q", got)
	}
}

func TestPublishedTooLargeToKeep(t *testing.T) {
	s := newShelf(t, PublishedOptions{MaxKeep: 10}, 1<<20)
	s.set("/a", "more than ten bytes")
	for range 2 {
		p, ok := s.Get(keyOf("/a"))
		if text(p, ok) != "more than ten bytes" || p.Kept {
			t.Errorf("%v %+v", ok, p)
		}
	}
	if _, known := s.Peek(keyOf("/a")); known {
		t.Error("known from memory")
	}
}

func TestPublishedWithoutMemory(t *testing.T) {
	s := newShelf(t, PublishedOptions{}, 0)
	s.set("/a", "one")
	if got := text(s.Get(keyOf("/a"))); got != "one" {
		t.Errorf("%q", got)
	}
	s.set("/a", "two")
	if got := text(s.Get(keyOf("/a"))); got != "two" {
		t.Errorf("%q", got)
	}
}

// A reload makes another Published over the same memory; times mean the same
// to both.
func TestPublishedSharesMemory(t *testing.T) {
	m := NewMemory(1 << 20)
	server := realtest.Memcached(t)
	c := newTestMemcache(t, patient, server.Addr)
	storeOn(t, dialMemcached(t, server.Addr), "/a", 0, "one")
	a, _ := NewPublished(PublishedOptions{Keys: []string{"{path}"}, For: time.Hour}, c, m, nil)
	p, _ := a.Get(keyOf("/a"))
	b, _ := NewPublished(PublishedOptions{Keys: []string{"{path}"}, For: time.Hour}, c, m, nil)
	if q, known := b.Peek(keyOf("/a")); q != p || !known {
		t.Error("a reload forgets the copy")
	}
	if a.clock.start != b.clock.start {
		t.Error("times mean something else to each")
	}
	other, _ := NewPublished(PublishedOptions{Keys: []string{"{raw_path}"}}, c, m, nil)
	if _, known := other.Peek(keyOf("/a")); known {
		t.Error("another site's copy is known")
	}
}

// Two paths may come to one key; each page has the type of its own path.
func TestPublishedSameKeyOtherPath(t *testing.T) {
	s := newShelf(t, PublishedOptions{Keys: []string{"{path}{query}"}}, 1<<20)
	s.set("/a.json", "{}")
	split := keyOf("/a")
	split.Query = []byte(".json")
	for range 2 {
		whole, ok := s.Get(keyOf("/a.json"))
		if !ok || whole.Type == typeHTML {
			t.Errorf("%v %+v", ok, whole)
		}
		part, ok := s.Get(split)
		if !ok || part.Type != typeHTML {
			t.Errorf("%v %+v", ok, part)
		}
	}
}

func TestPublishedPeekDoesNotAllocate(t *testing.T) {
	s := newShelf(t, PublishedOptions{Keys: []string{"{scheme}://{host}{raw_path}"}, For: time.Hour}, 1<<20)
	s.set("http://www.example.com/region/info/Hawaii", "page")
	there, absent := keyOf("/region/info/Hawaii"), keyOf("/region/info/Nowhere")
	s.Get(there)
	s.Get(absent)
	if n := testing.AllocsPerRun(1000, func() {
		if p, _ := s.Peek(there); p == nil {
			t.Fatal("no copy")
		}
		if _, known := s.Peek(absent); !known {
			t.Fatal("not known")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkPublishedPeek(b *testing.B) {
	s := newShelf(b, PublishedOptions{For: time.Hour}, 1<<20)
	s.set("/region/info/Hawaii", strings.Repeat("x", 10<<10))
	k := keyOf("/region/info/Hawaii")
	s.Get(k)
	b.ReportAllocs()
	for b.Loop() {
		if p, _ := s.Peek(k); p == nil {
			b.Fatal("no copy")
		}
	}
}
