package pagecache

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// The limit is the server's own: a page that just fits is kept as it is, and a
// byte more is compressed. What cannot be made to fit is not kept, and the
// smaller page before it does not come back in its place.
func TestMemcacheTierItemLimit(t *testing.T) {
	for _, c := range []struct {
		args  []string
		limit int
	}{
		{nil, 1 << 20},
		{[]string{"-I", "2m"}, 2 << 20},
		{[]string{"-I", "512k"}, 512 << 10},
	} {
		tier := newTestTier(t, patient, MemcacheTierOptions{}, realtest.Memcached(t, c.args...).Addr)
		key := []byte(strings.Repeat("k", 300)) // hashed, so that the name is long
		room := c.limit - itemOverhead - EnvelopeSize(key, tier.journal, testPage("")) - len(fmt.Sprint(c.limit)) + 1
		for _, p := range []struct {
			what, body string
			kept       bool
		}{
			{"what just fits", noise(room), true},
			{"a byte more", noise(room + 1), false},
			{"twice as much noise", noise(2 * c.limit), false},
			{"four times as much text", strings.Repeat("Hawaii ", 4*c.limit/7), true},
		} {
			tier.Put(key, testPage("old"))
			before := tier.Stats()
			tier.Put(key, testPage(p.body))
			got, ok := tier.Get(key)
			after := tier.Stats()
			if ok != p.kept || ok && string(got.Body) != p.body || after.Errors != 0 || (after.Skipped > before.Skipped) == p.kept {
				t.Errorf("limit %d: %s: kept %v, %+v", c.limit, p.what, ok, after)
			}
		}
		half := testPage("half")
		half.Length++
		tier.Put(key, half)
		if _, ok := tier.Get(key); ok {
			t.Error("a page without all its body was kept")
		}
	}
}

// A server is asked for its limit once, and again when it has failed, or has
// refused a value: it may be another one.
func TestMemcacheLimitIsLearnedAnew(t *testing.T) {
	s := realtest.Memcached(t, "-I", "2m")
	tier := newTestTier(t, patient, MemcacheTierOptions{}, s.Addr)
	page := func(n int) *Page { return testPage(noise(n)) }
	known := func(want int64) {
		t.Helper()
		if n := tier.client.servers[0].limit.Load(); n != want {
			t.Errorf("the limit is known as %d, want %d", n, want)
		}
	}
	known(0)
	tier.Put([]byte("/a"), page(3<<19))
	known(2 << 20)
	tier.client.servers[0].limit.Store(4 << 20) // as if it had been started anew, and nobody had seen that
	tier.Put([]byte("/a"), page(3<<20))
	known(0)
	if st := tier.Stats(); st.Errors != 1 || st.Skipped != 0 {
		t.Errorf("%+v", st)
	}
	tier.Put([]byte("/a"), page(3<<20))
	known(2 << 20)
	if st := tier.Stats(); st.Errors != 1 || st.Skipped != 1 {
		t.Errorf("%+v", st)
	}
}

// A value that the server refuses is trouble, but the server is well.
func TestMemcacheTierRefusedValue(t *testing.T) {
	s := realtest.Memcached(t)
	tier := newTestTier(t, patient, MemcacheTierOptions{MaxItem: 4 << 20}, s.Addr)
	stillClock(tier.client)
	tier.Put([]byte("/a"), testPage(noise(2<<20)))
	tier.Put([]byte("/b"), testPage("small"))
	if _, ok := tier.Get([]byte("/b")); !ok {
		t.Error("the server was left alone")
	}
	if st := tier.Stats(); st.Errors != 1 || st.LeftAlone != 0 {
		t.Errorf("%+v", st)
	}
}

// A server that has no such command has memcached's own limit.
func TestMemcacheLimitUnknown(t *testing.T) {
	for _, answer := range []string{"ERROR\r\n", "END\r\n", "STAT item_size_max many\r\nEND\r\n", "STAT item_size_max -5\r\nEND\r\n", "STAT maxconns 5\r\nSERVER_ERROR\r\n"} {
		asked := make(chan string, 10)
		addr := fakeServer(t, func(conn net.Conn, command string, _ int) {
			asked <- command
			fmt.Fprint(conn, answer)
		})
		c := newTestMemcache(t, patient, addr)
		for range 3 {
			if n := c.itemLimit("/a"); n != DefaultMemcacheItem {
				t.Errorf("%q: %d", answer, n)
			}
		}
		if len(asked) != 1 || <-asked != "stats settings" {
			t.Errorf("%q: asked %d times more", answer, len(asked))
		}
	}
	gone := newTestMemcache(t, patient, realtest.FreeAddr(t))
	for range 2 {
		if n := gone.itemLimit("/a"); n != DefaultMemcacheItem {
			t.Errorf("no server: %d", n)
		}
	}
	if gone.server("/a").limit.Load() != 0 || !gone.leaves("/a") {
		t.Error("no server: its limit is known, or it is well")
	}
}
