package pagecache

import (
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// slowShelf is a shelf whose memcached holds back its answers until released.
func slowShelf(t *testing.T, o PublishedOptions, value func() string) (s *shelf, asked *atomic.Int64, release chan struct{}) {
	asked, release = new(atomic.Int64), make(chan struct{})
	addr := fakeServer(t, func(conn net.Conn, key string, _ int) {
		asked.Add(1)
		<-release
		if v := value(); v != "" {
			fmt.Fprintf(conn, "VALUE %s 0 %d\r\n%s\r\n", key, len(v), v)
		}
		fmt.Fprint(conn, "END\r\n")
	})
	s = &shelf{t: t, clock: newTestClock(), memory: NewMemory(1 << 20), said: new(logText)}
	s.Published = s.over(o, addr, patient)
	return s, asked, release
}

// One request a key asks; without an old copy the others wait for it.
func TestPublishedAsksOnce(t *testing.T) {
	for _, value := range []string{"page", ""} {
		s, asked, release := slowShelf(t, PublishedOptions{}, func() string { return value })
		want := value
		if value == "" {
			want = "none"
		}
		var started, wg sync.WaitGroup
		for range 20 {
			started.Add(1)
			wg.Go(func() {
				started.Done()
				if got := text(s.Get(keyOf("/a"))); got != want {
					t.Errorf("%q, want %q", got, want)
				}
			})
		}
		started.Wait()
		realtest.Eventually(t, "memcached is asked", func() bool { return asked.Load() > 0 })
		close(release)
		wg.Wait()
		if n := asked.Load(); n != 1 {
			t.Errorf("value %q: asked %d times", value, n)
		}
	}
}

// With an old copy only the one that asks waits, unless the copy is so old
// that nobody asked for it in a long time.
func TestPublishedOldCopyMeanwhile(t *testing.T) {
	var value atomic.Value
	value.Store("old")
	s, asked, release := slowShelf(t, PublishedOptions{}, func() string { return value.Load().(string) })
	var wg sync.WaitGroup
	get := func(want string) {
		wg.Go(func() {
			if got := text(s.Get(keyOf("/a"))); got != want {
				t.Errorf("the one that asks: %q, want %q", got, want)
			}
		})
	}
	get("old")
	release <- struct{}{}
	wg.Wait()
	value.Store("new")
	s.clock.advance(time.Second)
	get("new")
	realtest.Eventually(t, "memcached is asked", func() bool { return asked.Load() == 2 })
	for range 3 {
		if got := text(s.Get(keyOf("/a"))); got != "old" {
			t.Errorf("meanwhile: %q", got)
		}
	}
	release <- struct{}{}
	wg.Wait()

	value.Store("newer")
	s.clock.advance(time.Hour)
	get("newer")
	realtest.Eventually(t, "memcached is asked", func() bool { return asked.Load() == 3 })
	get("newer") // waits: an hour is too old
	release <- struct{}{}
	wg.Wait()
}

// A panic on the way leaves nobody waiting.
func TestFlightLandsAfterPanic(t *testing.T) {
	s := newShelf(t, PublishedOptions{}, 1<<20)
	client := s.client
	s.client = nil
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		s.Get(keyOf("/a"))
	}()
	s.client = client
	s.set("/a", "page")
	if got := text(s.Get(keyOf("/a"))); got != "page" {
		t.Errorf("%q", got)
	}
}
