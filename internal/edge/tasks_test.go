package edge

import (
	"sync"
	"testing"
)

// What begins while the edge closes has ended when end returns, or was refused:
// the race detector sees what is read here without a lock.
func TestTasksEnd(t *testing.T) {
	for range 100 {
		var (
			group  tasks
			asking sync.WaitGroup
			begun  [4]bool
			done   [4]bool
		)
		for i := range begun {
			asking.Go(func() { begun[i] = group.start(func() { done[i] = true }) })
		}
		group.end()
		asking.Wait()
		for i := range begun {
			if begun[i] != done[i] {
				t.Errorf("begun: %v, done: %v", begun[i], done[i])
			}
		}
		if group.start(func() { t.Error("it was begun after the end") }) {
			t.Error("a closed edge says that it has begun")
		}
	}
}
