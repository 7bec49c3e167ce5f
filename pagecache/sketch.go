package pagecache

const (
	// sketchBytes is how many bytes of the tier there are for each counter:
	// some ten counters a page of usual size, for a thousandth of the memory.
	sketchBytes = 1 << 10

	// sketchLimit bounds the counters of a tier: enough for some millions of
	// pages, and nothing to somebody who has that much memory.
	sketchLimit = 8 << 20

	sketchBlock = 64 // counters that one key is counted in: a cache line
	sketchMost  = 15 // a counter goes no higher
)

// sketch counts roughly how often keys were asked for of late: a count-min
// sketch whose counters are halved now and then. Keys are hashes. It has no lock
// and allocates nothing.
type sketch struct {
	counters []uint8
	asked    int // since the counters were halved
}

// newSketch returns a sketch for the shard of a tier of size bytes.
func newSketch(size int64) sketch {
	blocks := max(min(size/sketchBytes, sketchLimit)/shardCount/sketchBlock, 4)
	return sketch{counters: make([]uint8, blocks*sketchBlock)}
}

// of returns the counters of a key: one block, and four places in it.
func (s *sketch) of(hash uint64) (block []uint8, at [4]uint8) {
	// The low bits have chosen the shard.
	start := (hash >> 32) % (uint64(len(s.counters)) / sketchBlock) * sketchBlock
	for i := range at {
		at[i] = uint8(i*16) + uint8(hash>>(8+4*i)&15)
	}
	return s.counters[start : start+sketchBlock], at
}

// add counts a use of a key. Only the lowest of its counters go up: the others
// are of other keys, too.
func (s *sketch) add(hash uint64) {
	block, at := s.of(hash)
	if low := lowest(block, at); low < sketchMost {
		for _, i := range at {
			if block[i] == low {
				block[i]++
			}
		}
	}
	if s.asked++; s.asked >= 2*len(s.counters) {
		s.age()
	}
}

// estimate returns how often a key was asked for, and seldom more.
func (s *sketch) estimate(hash uint64) uint8 {
	block, at := s.of(hash)
	return lowest(block, at)
}

func lowest(block []uint8, at [4]uint8) uint8 {
	return min(block[at[0]], block[at[1]], block[at[2]], block[at[3]])
}

// age forgets half: what was wanted yesterday makes room for what is wanted
// today.
func (s *sketch) age() {
	for i := range s.counters {
		s.counters[i] /= 2
	}
	s.asked = 0
}
