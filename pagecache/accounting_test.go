package pagecache

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
)

// audit fails the test unless the tier counts exactly what is in it: for each
// entry its page's own bytes, and what was derived from it, once.
func (m *Memory) audit(t *testing.T) {
	t.Helper()
	var sum int64
	for i := range m.shards {
		s := &m.shards[i]
		s.mu.Lock()
		keys, entries := s.pages.Keys(), s.pages.Values()
		for j, key := range keys {
			e := entries[j]
			want := footprint(key, e.page)
			if d := e.page.derived.Load(); d != nil && d.counted.Load() == e {
				want += d.size
			} else if d != nil && d.built.Load() && d.counted.Load() == nil {
				t.Errorf("%s: what was derived from it is counted by nobody", key)
			}
			if e.charge != want || e.shard != s {
				t.Errorf("%s: charged %d bytes, is %d", key, e.charge, want)
			}
			sum += e.charge
		}
		s.mu.Unlock()
	}
	if used := m.used.Load(); used != sum {
		t.Errorf("%d bytes are counted, %d are in it", used, sum)
	}
	if m.used.Load() > m.size {
		t.Errorf("%d bytes of %d are used", m.used.Load(), m.size)
	}
}

// accountant does anything to a tier.
type accountant struct {
	*rand.Rand
	memory *Memory
	pages  []*Page // that were put at some time, and may have gone since
}

func (a *accountant) step() {
	key := fmt.Appendf(nil, "/page/%d", a.IntN(60))
	switch a.IntN(8) {
	case 0, 1, 2:
		p := pulledPage(string(make([]byte, a.IntN(4000))))
		if a.IntN(2) == 0 {
			p = newValuePage("/v", make([]byte, a.IntN(4000)))
			p.Kept = a.IntN(10) > 0
		}
		if a.IntN(4) == 0 { // derived before it is put
			p.Derive(func(*Page) (any, int) { return 1, a.IntN(3000) })
		}
		a.memory.Put(key, p)
		a.pages = append(a.pages, p)
	case 3:
		a.memory.Delete(key)
	case 4:
		if p, ok := a.memory.peek(key); ok {
			a.memory.drop(key, p)
		}
	case 5:
		if len(a.pages) > 0 { // one that is there, or was replaced, evicted or removed
			a.pages[a.IntN(len(a.pages))].Derive(func(*Page) (any, int) { return 1, a.IntN(3000) - 100 })
		}
	default:
		for range 5 {
			a.memory.Get(fmt.Appendf(nil, "/page/%d", a.IntN(60)))
		}
	}
}

// The counter is the sum of what is kept, whatever was put, replaced, removed,
// derived, evicted and refused.
func TestMemoryCountsExactly(t *testing.T) {
	var evictions, refusals uint64
	for seed := range uint64(20) {
		a := &accountant{Rand: rand.New(rand.NewPCG(seed, 1)), memory: NewMemory(60_000)}
		for range 400 {
			a.step()
			a.memory.audit(t)
		}
		st := a.memory.Stats()
		evictions, refusals = evictions+st.Evictions, refusals+st.Refusals
		if t.Failed() {
			t.Fatalf("that was with seed %d", seed)
		}
		for i := range 60 {
			a.memory.Delete(fmt.Appendf(nil, "/page/%d", i))
		}
		if n := a.memory.used.Load(); n != 0 {
			t.Errorf("an empty tier counts %d bytes", n)
		}
	}
	if evictions == 0 || refusals == 0 {
		t.Errorf("%d evictions, %d refusals: nothing went", evictions, refusals)
	}
}

func TestMemoryCountsExactlyConcurrently(t *testing.T) {
	m := NewMemory(60_000)
	var wg sync.WaitGroup
	for seed := range uint64(8) {
		wg.Go(func() {
			a := &accountant{Rand: rand.New(rand.NewPCG(seed, 2)), memory: m}
			for range 1000 {
				a.step()
			}
		})
	}
	wg.Wait()
	m.audit(t)
}
