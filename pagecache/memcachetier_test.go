package pagecache

import (
	"bufio"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

func newTestTier(t testing.TB, timeout time.Duration, o MemcacheTierOptions, servers ...string) *MemcacheTier {
	t.Helper()
	return NewMemcacheTier(newTestMemcache(t, timeout, servers...), "journal", o)
}

// stillClock makes pauses end only when the test adds to the clock, which is in
// nanoseconds.
func stillClock(c *Memcache) *atomic.Int64 {
	clock := new(atomic.Int64)
	c.now = func() time.Time { return c.start.Add(time.Duration(clock.Load())) }
	return clock
}

func TestMemcacheTierIsATier(t *testing.T) {
	for _, s := range []*realtest.Server{realtest.Memcached(t), realtest.MemcachedUnix(t)} {
		tier := newTestTier(t, patient, MemcacheTierOptions{}, s.Addr)
		testTier(t, tier)
		if st := tier.Stats(); st.Hits == 0 || st.Misses == 0 || st.Errors+st.Foreign+st.LeftAlone+st.Skipped != 0 {
			t.Errorf("%+v", st)
		}
	}
}

// Keys of any bytes and length are kept apart, and apart from those of another
// journal.
func TestMemcacheTierKeys(t *testing.T) {
	s := realtest.Memcached(t)
	tier := newTestTier(t, patient, MemcacheTierOptions{}, s.Addr)
	other := NewMemcacheTier(tier.client, "other journal", MemcacheTierOptions{})
	keys := []string{"/a", "/a%20", "/a ", "/a\x00", "/a\x7f", "/São", strings.Repeat("k", 250), strings.Repeat("k", 251), strings.Repeat(" ", 240), "\r\n"}
	for _, key := range keys {
		tier.Put([]byte(key), testPage(key))
		other.Put([]byte(key), testPage("other "+key))
	}
	for _, key := range keys {
		for tier, want := range map[*MemcacheTier]string{tier: key, other: "other " + key} {
			if p, ok := tier.Get([]byte(key)); !ok || string(p.Body) != want {
				t.Errorf("%.20q of %s: %v", key, tier.journal, ok)
			}
			if name := tier.name([]byte(key)); !validKey([]byte(name)) || !strings.HasPrefix(name, tier.prefix) {
				t.Errorf("%.20q became %q", key, name)
			}
		}
	}
	defer func() {
		if v := fmt.Sprint(recover()); !strings.HasPrefix(v, "BUG:") {
			t.Errorf("a long name of a journal: %v", v)
		}
	}()
	NewMemcacheTier(tier.client, strings.Repeat("j", 129), MemcacheTierOptions{})
}

// What stands under a key and is no page of it is a miss.
func TestMemcacheTierForeignValues(t *testing.T) {
	s := realtest.Memcached(t)
	tier := newTestTier(t, patient, MemcacheTierOptions{}, s.Addr)
	conn := dialMemcached(t, s.Addr)
	good := string(Encode(nil, []byte("/a"), "journal", testPage("body")))
	for i, value := range []string{
		"", "<p>an app's page</p>", good[:len(good)-1], good + "x",
		string(Encode(nil, []byte("/b"), "journal", testPage("of another key"))),
		string(Encode(nil, []byte("/a"), "before", testPage("of another journal"))),
	} {
		storeOn(t, conn, "journal:/a", 0, value)
		if _, ok := tier.Get([]byte("/a")); ok {
			t.Errorf("%.40q is a page", value)
		}
		if st := tier.Stats(); st.Foreign != uint64(i+1) || st.Errors != 0 {
			t.Errorf("%+v", st)
		}
	}
	storeOn(t, conn, "journal:/a", 1, good)
	if _, ok := tier.Get([]byte("/a")); ok {
		t.Error("a value with flags is a page")
	}
	storeOn(t, conn, "journal:/a", 0, good)
	if _, ok := tier.Get([]byte("/a")); !ok {
		t.Error("the right one is none")
	}
}

// lifeOf asks how long memcached keeps a key, in seconds; -1: for ever, -2: it
// has none.
func lifeOf(t *testing.T, conn net.Conn, key string) int {
	t.Helper()
	fmt.Fprintf(conn, "mg %s t\r\n", key)
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	life, found := strings.CutPrefix(strings.TrimSpace(line), "HD t")
	if !found {
		return -2
	}
	n, err := strconv.Atoi(life)
	if err != nil {
		t.Fatalf("memcached answered %q", line)
	}
	return n
}

// Nothing stays longer than it could serve anybody, nor over 30 days; but what
// may be validated stays for a day in any case.
func TestMemcacheTierExpiry(t *testing.T) {
	s := realtest.Memcached(t)
	tier := newTestTier(t, patient, MemcacheTierOptions{}, s.Addr)
	tier.now = func() time.Time { return came }
	conn := dialMemcached(t, s.Addr)
	for _, c := range []struct {
		f    Freshness
		want int
	}{
		{Freshness{Lifetime: 1000}, 1000},
		{Freshness{Lifetime: 1000, InitialAge: 400}, 600},
		{Freshness{Lifetime: 1000, while: 50, StaleError: 200}, 1200},
		{Freshness{Lifetime: 1000, while: 300, StaleError: 200, InitialAge: 1200}, 100},
		{Freshness{Lifetime: 1000, InitialAge: 1000}, -2},
		{Freshness{}, -2},
		{Freshness{Lifetime: 30*24*3600 + 1}, 30 * 24 * 3600},
		{Freshness{Lifetime: maxSeconds}, 30 * 24 * 3600},
	} {
		for _, validator := range []string{"", "\"a\""} {
			storeOn(t, conn, "journal:/a", 0, "an older page")
			p := testPage("body")
			p.ETag, p.Modified = validator, 0
			p.Freshness = c.f
			p.Measured = came.UnixMilli()
			stored := statOf(t, s.Addr, "uptime")
			tier.Put([]byte("/a"), p)
			want := c.want
			if validator != "" {
				want = max(want, 24*3600)
			}
			life := lifeOf(t, conn, "journal:/a")
			// By memcached's own clock, which may be late and catch up.
			passed := int(statOf(t, s.Addr, "uptime") - stored)
			if life != want && (want < 0 || life > want || life < want-passed) {
				t.Errorf("%+v, ETag %q: kept for %d seconds, want %d", c.f, validator, life, want)
			}
		}
	}
}

// A hung server costs one timeout, not one a request; when it is back it is
// used again. Other servers do not suffer.
func TestMemcacheTierHungServer(t *testing.T) {
	well, hung := realtest.Memcached(t), realtest.Memcached(t)
	const pause = DefaultMemcachePause
	tier := newTestTier(t, 20*time.Millisecond, MemcacheTierOptions{}, well.Addr, hung.Addr)
	clock := stillClock(tier.client)
	keys := map[int][]byte{}
	for i := 0; len(keys) < 2; i++ {
		key := fmt.Appendf(nil, "/%d", i)
		keys[tier.client.ring.pick(tier.name(key))] = key
	}
	of := func(s *realtest.Server) []byte {
		for i, a := range tier.client.ring.servers {
			if a.name() == s.Addr {
				return keys[i]
			}
		}
		t.Fatal("no such server")
		return nil
	}
	realtest.Eventually(t, "both have their page", func() bool { // however slow the machine is at 20 ms
		clock.Add(int64(pause))
		tier.Put(of(well), testPage("well"))
		tier.Put(of(hung), testPage("hung"))
		_, a := tier.Get(of(well))
		_, b := tier.Get(of(hung))
		return a && b
	})
	hung.Hang(t)
	defer hung.Resume()
	before := tier.Stats()
	for range 1000 {
		if _, ok := tier.Get(of(hung)); ok {
			t.Fatal("a hung server answered")
		}
		tier.Put(of(hung), testPage("hung"))
	}
	if err := tier.Delete(of(hung)); err != ErrLeftAlone {
		t.Errorf("delete: %v", err)
	}
	st := tier.Stats()
	if st.Errors != before.Errors+1 || st.LeftAlone != before.LeftAlone+2000 {
		t.Errorf("before %+v, after %+v", before, st)
	}
	realtest.Eventually(t, "the other answers", func() bool {
		clock.Add(int64(pause)) // in case that it was too slow once
		_, ok := tier.Get(of(well))
		return ok
	})
	errors := tier.Stats().Errors
	clock.Add(int64(pause))
	for range 100 {
		tier.Get(of(hung))
	}
	if n := tier.Stats().Errors - errors; n != 1 {
		t.Errorf("%d probes after the pause, want one", n)
	}
	hung.Resume()
	realtest.Eventually(t, "the server is used again", func() bool {
		clock.Add(int64(pause))
		tier.Put(of(hung), testPage("hung"))
		_, ok := tier.Get(of(hung))
		return ok
	})
}

// A restart costs nothing but the pages; an end is a miss.
func TestMemcacheTierRestart(t *testing.T) {
	s := realtest.Memcached(t)
	tier := newTestTier(t, patient, MemcacheTierOptions{}, s.Addr)
	tier.client.pause = time.Nanosecond
	var wg sync.WaitGroup
	for i := range 10 { // some idle connections
		wg.Go(func() { tier.Put(fmt.Appendf(nil, "/%d", i), testPage("one")) })
	}
	wg.Wait()
	s.Restart(t)
	tier.Put([]byte("/0"), testPage("two"))
	if p, ok := tier.Get([]byte("/0")); !ok || string(p.Body) != "two" {
		t.Errorf("after the restart: %v", ok)
	}
	if err := tier.Delete([]byte("/0")); err != nil {
		t.Error(err)
	}
	if st := tier.Stats(); st.Errors != 0 {
		t.Errorf("%+v", st)
	}
	s.Stop()
	if _, ok := tier.Get([]byte("/0")); ok || tier.Delete([]byte("/0")) == nil {
		t.Error("a server that ended answers")
	}
	if st := tier.Stats(); st.Errors != 2 {
		t.Errorf("%+v", st)
	}
}

func TestBreaker(t *testing.T) {
	const pause = 10
	var b breaker
	for range 2 {
		if !b.allow(0, pause) {
			t.Error("a well server is left alone")
		}
	}
	b.failed(100, pause)
	for now, want := range map[time.Duration]bool{100: false, 109: false} {
		if b.allow(now, pause) != want {
			t.Errorf("at %d: %v", now, !want)
		}
	}
	var let atomic.Int32
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			if b.allow(110, pause) {
				let.Add(1)
			}
		})
	}
	wg.Wait()
	if let.Load() != 1 {
		t.Errorf("%d probes", let.Load())
	}
	if !b.leaves(119) || b.leaves(120) || b.allow(119, pause) || !b.allow(120, pause) {
		t.Error("nothing was heard of the probe: another one is due a pause later")
	}
	b.worked()
	for range 2 {
		if b.leaves(121) || !b.allow(121, pause) {
			t.Error("the probe came back, and the server is left alone")
		}
	}
}

// A server that hangs up in the middle of a large value is in trouble; the
// connection was no idle one, so there is no second try.
func TestMemcacheSetIsNotRetriedHalfway(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var accepted atomic.Int32
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			accepted.Add(1)
			conn.Read(make([]byte, 1))
			conn.(*net.TCPConn).SetLinger(0) // a reset
			conn.Close()
		}
	}()
	c := newTestMemcache(t, patient, l.Addr().String())
	if err := c.Set("/a", make([]byte, 16<<20), 0, time.Hour); err == nil || !isConnectionTrouble(err) {
		t.Errorf("error %v", err)
	}
	l.Close()
	<-done
	if n := accepted.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

func TestMemcacheSetAndDelete(t *testing.T) {
	s := realtest.Memcached(t)
	c := newTestMemcache(t, patient, s.Addr)
	if err := c.Set("/a", []byte("one"), 3, time.Hour); err != nil {
		t.Error(err)
	}
	if v, flags, err := c.Get("/a"); string(v) != "one" || flags != 3 || err != nil {
		t.Errorf("%q %d %v", v, flags, err)
	}
	for range 2 { // the second time it is gone already
		if err := c.Delete("/a"); err != nil {
			t.Error(err)
		}
	}
	if _, _, err := c.Get("/a"); err != ErrMiss {
		t.Error(err)
	}
	for _, key := range []string{"", "a b", strings.Repeat("k", 251)} {
		if err := c.Set(key, nil, 0, time.Hour); err != ErrKey {
			t.Errorf("set %.10q: %v", key, err)
		}
		if err := c.Delete(key); err != ErrKey {
			t.Errorf("delete %.10q: %v", key, err)
		}
	}
	conn := dialMemcached(t, s.Addr)
	for expiry, want := range map[time.Duration]int{0: 1, -time.Second: 1, time.Nanosecond: 1, 1000 * time.Second: 1000, 1 << 62: 30 * 24 * 3600} {
		stored := statOf(t, s.Addr, "uptime")
		if err := c.Set("/a", nil, 0, expiry); err != nil {
			t.Error(err)
		}
		life := lifeOf(t, conn, "/a")
		passed := int(statOf(t, s.Addr, "uptime") - stored)
		if want == 1 && life == -2 && passed > 0 {
			continue // its second is over
		}
		if life > want || life < want-passed {
			t.Errorf("%v: kept for %d seconds, want %d", expiry, life, want)
		}
	}
}
