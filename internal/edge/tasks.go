package edge

import "sync"

// tasks are goroutines of the edge's own, which Close waits for. The zero value
// is ready. A sync.WaitGroup alone will not do: a request that is still under
// way may want another goroutine while Close waits.
type tasks struct {
	mu      sync.Mutex
	ended   bool
	running sync.WaitGroup
}

// start calls f on a goroutine. false: the edge is closed, and f is not called.
func (t *tasks) start(f func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended {
		t.running.Go(f)
	}
	return !t.ended
}

// end lets no more begin, and waits for those that run.
func (t *tasks) end() {
	t.mu.Lock()
	t.ended = true
	t.mu.Unlock()
	t.running.Wait()
}
