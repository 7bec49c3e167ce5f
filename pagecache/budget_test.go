package pagecache

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"testing"
)

func newBudget(most int64) *Budget {
	b := new(Budget)
	b.Resize(most)
	return b
}

func TestBudget(t *testing.T) {
	b := newBudget(100)
	x, y := b.Hold(), b.Hold()
	if !x.Grow(60) || !x.Grow(50) || y.Grow(41) || !y.Grow(40) || x.Grow(61) {
		t.Error("more or less was taken than there is")
	}
	if b.Used() != 100 {
		t.Errorf("%d bytes are used, want 100", b.Used())
	}
	b.Resize(50)
	x.End()
	x.End()
	if b.Used() != 40 || !y.Grow(50) || y.Grow(51) {
		t.Errorf("after the end of one: %d bytes", b.Used())
	}
	x.resume()
	x.resume()
	if b.Used() != 110 {
		t.Errorf("%d bytes are used again, want 110", b.Used())
	}
	var none *Holding
	none.resume()
	if !none.Grow(1 << 40) {
		t.Error("what is not counted is refused")
	}
	none.End()
}

func TestBudgetInParallel(t *testing.T) {
	b := newBudget(50)
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			for range 100 {
				if h := b.Hold(); h.Grow(20) {
					if n := b.Used(); n > 50 {
						t.Errorf("%d bytes are used", n)
					}
					h.End()
				}
			}
		})
	}
	wg.Wait()
	if b.Used() != 0 {
		t.Errorf("%d bytes are left", b.Used())
	}
}

// The room for a body grows with what has come, not with what is announced.
func TestGrowBody(t *testing.T) {
	for _, test := range []struct{ have, size, limit, want int64 }{
		{0, 16 << 20, 16 << 20, firstRoom},
		{firstRoom, 16 << 20, 16 << 20, 2 * firstRoom},
		{0, 100, 16 << 20, 101},
		{firstRoom, firstRoom + 10, 16 << 20, firstRoom + 11},
		{0, -1, 16 << 20, firstRoom},
		{0, -1, 100, 101},
		{firstRoom, -1, firstRoom + 10, firstRoom + 11},
		{101, 100, 1000, 102}, // more than is announced
		{101, -1, 100, 102},
	} {
		b := bytes.Repeat([]byte("x"), int(test.have))
		got := GrowBody(b[:len(b):len(b)], test.size, test.limit)
		if int64(cap(got)) != test.want || !bytes.Equal(got, b) {
			t.Errorf("%d of %d, at most %d: room for %d, want %d", test.have, test.size, test.limit, cap(got), test.want)
		}
	}
}

// A body is counted until it has ended and nobody reads it any more, also by
// who comes when it has ended.
func TestArrivalIsCounted(t *testing.T) {
	b := newBudget(1000)
	used := func(when string, want int64) {
		t.Helper()
		if n := b.Used(); n != want {
			t.Errorf("%s: %d bytes are used, want %d", when, n, want)
		}
	}
	h := b.Hold()
	h.Grow(10)
	a := NewArrival(10, 100, h)
	first := a.Reader()
	gatherAndEnd(a, strings.NewReader("0123456789"))
	used("read by one", 10)
	second := a.Reader()
	first.Close()
	first.Close()
	used("read by another", 10)
	second.Close()
	used("read by nobody", 0)
	late := a.Reader()
	used("read late", 10)
	late.Close()
	used("at the end", 0)
}

func TestArrivalOverBudget(t *testing.T) {
	const size = 10 * firstRoom
	body := strings.Repeat("0123456789", firstRoom)
	b := newBudget(5 * firstRoom)
	a := NewArrival(-1, size, b.Hold())
	from := strings.NewReader(body)
	got, err := a.Gather(from)
	if err != ErrOverBudget || string(got) != body[:len(got)] || len(got) != 4*firstRoom {
		t.Fatalf("gathered %d bytes, %v", len(got), err)
	}
	if b.Used() != 4*firstRoom {
		t.Errorf("%d bytes are used, want %d", b.Used(), 4*firstRoom)
	}
	r := a.Reader()
	a.EndOver(io.NopCloser(from))
	if all, err := readAll(a); err != io.EOF || all != body {
		t.Errorf("%d bytes and %v, want all", len(all), err)
	}
	r.Close()
	if b.Used() != 0 {
		t.Errorf("%d bytes are left", b.Used())
	}
}
