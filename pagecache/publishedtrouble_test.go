package pagecache

import (
	"fmt"
	"testing"
	"time"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// Trouble is a miss and a count, remembered for a second; then the copy that
// was there is good again if its value still is the same.
func TestPublishedTrouble(t *testing.T) {
	s := newShelf(t, PublishedOptions{}, 1<<20)
	p := s.over(PublishedOptions{}, s.server.Addr, 30*time.Millisecond)
	pauses := stillClock(p.client)
	s.set("/a", "page")
	var first *Page
	realtest.Eventually(t, "the page is found", func() bool { // on a busy machine 30 ms may be over
		s.clock.advance(time.Second)
		pauses.Add(int64(p.client.pause))
		page, ok := p.Get(keyOf("/a"))
		first = page
		return ok
	})
	s.clock.advance(time.Second)
	s.server.Hang(t)
	defer s.server.Resume()
	before := p.Stats()
	for range 3 {
		if got := text(p.Get(keyOf("/a"))); got != "none" {
			t.Errorf("while memcached hangs: %q", got)
		}
	}
	if st := p.Stats(); st.Errors != before.Errors+1 || st.Misses != before.Misses+3 {
		t.Errorf("%+v, before %+v: want one question, three misses", st, before)
	}
	if s.said.count("published page cannot be asked for") == 0 {
		t.Errorf("log %s", s.said)
	}
	s.server.Resume()
	realtest.Eventually(t, "the page is found again", func() bool {
		s.clock.advance(time.Second)
		pauses.Add(int64(p.client.pause))
		page, ok := p.Get(keyOf("/a"))
		return ok && page == first
	})
}

// A hung server costs one request a pause its timeout; those for other keys
// are misses at once.
func TestPublishedHungServer(t *testing.T) {
	s := newShelf(t, PublishedOptions{}, 1<<20)
	p := s.over(PublishedOptions{}, s.server.Addr, 30*time.Millisecond)
	pauses := stillClock(p.client)
	s.server.Hang(t)
	defer s.server.Resume()
	const keys = 100
	for round := range uint64(3) {
		before := p.Stats()
		for i := range keys {
			if got := text(p.Get(keyOf(fmt.Sprintf("/%d/%d", round, i)))); got != "none" {
				t.Errorf("while memcached hangs: %q", got)
			}
		}
		st := p.Stats()
		if st.Errors != before.Errors+1 || st.LeftAlone != before.LeftAlone+keys-1 || st.Misses != before.Misses+keys {
			t.Errorf("%+v, before %+v: want one question", st, before)
		}
		pauses.Add(int64(p.client.pause))
	}
	if n := s.said.count("published page cannot be asked for"); n == 0 || n > 3 {
		t.Errorf("said %d times", n)
	}
	s.server.Resume()
	s.set("/back", "page")
	realtest.Eventually(t, "pages are found again", func() bool {
		s.clock.advance(time.Second)
		pauses.Add(int64(p.client.pause))
		return text(p.Get(keyOf("/back"))) == "page"
	})
}
