package pagecache

import (
	"testing"
	"time"
)

// slowTier is a tier that says when it is about to delete or to put.
type slowTier struct {
	*Memory
	deleting, putting func()
}

func (s *slowTier) Put(key []byte, p *Page) {
	if s.putting != nil {
		s.putting()
	}
	s.Memory.Put(key, p)
}

func (s *slowTier) Delete(key []byte) error {
	if s.deleting != nil {
		s.deleting()
	}
	return s.Memory.Delete(key)
}

// Who asks for a page while it is deleted finds it in a tier that has it still.
// That must not bring it back to memory, when the deletion is over.
func TestPulledAskedForWhileDeleted(t *testing.T) {
	for name, remove := range map[string]func(s *pulledSite, k *PulledKey){
		"by Delete": func(s *pulledSite, k *PulledKey) { s.Delete(k.Key) },
		"by a fill that is not valid any more": func(s *pulledSite, k *PulledKey) {
			looks := 0
			valid := func() bool {
				looks++
				return looks == 1
			}
			if s.Put(k, NewPage{Page: pulledPage("old"), Valid: valid}) {
				t.Error("an old page was kept")
			}
		},
	} {
		s := &pulledSite{t: t, memory: NewMemory(1 << 20), gone: map[*Page]Verdict{}}
		tier := &slowTier{Memory: NewMemory(1 << 20)}
		s.Pulled = NewPulled(s.memory, NamedTier{"memcache", tier})
		s.put("/a", "", "old", "")
		asked := 0
		tier.deleting = func() {
			asked++
			s.memory.Delete([]byte("p/a")) // evicted, at the worst time
			s.Get(s.key("/a", ""))
		}
		remove(s, s.key("/a", ""))
		tier.deleting = nil
		if asked != 1 {
			t.Errorf("%s: asked %d times, want 1", name, asked)
		}
		s.want(name, "/a", "", "none")
	}
}

// A Delete while a variant is put does not have the list that is written go on
// with the deleted one: it would lead to what was deleted.
func TestPulledVariantPutWhileDeleted(t *testing.T) {
	s := &pulledSite{t: t, memory: NewMemory(1 << 20), gone: map[*Page]Verdict{}}
	tier := &slowTier{Memory: NewMemory(1 << 20)}
	s.Pulled = NewPulled(s.memory, NamedTier{"memcache", tier})
	s.put("/a", "A: 1", "old", "A")
	deleted := make(chan struct{})
	tier.putting = func() {
		tier.putting = nil
		go func() {
			defer close(deleted)
			s.Delete([]byte("/a"))
		}()
		select {
		case <-deleted:
		case <-time.After(50 * time.Millisecond): // it waits for the one who puts
		}
	}
	s.put("/a", "A: 2", "new", "A")
	<-deleted
	s.want("what was there before the deletion", "/a", "A: 1", "none")
}
