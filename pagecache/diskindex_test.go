package pagecache

import (
	"crypto/sha256"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func testName(n int) *diskName {
	sum := sha256.Sum256(fmt.Append(nil, n))
	name := diskName(sum[:16])
	return &name
}

// diskModel is an index as simple as can be.
type diskModel struct {
	live, dead, loose []int // the oldest first
	blocks            map[int]uint32
	clock             uint32
}

func (m *diskModel) drop(n int) {
	is := func(k int) bool { return k == n }
	m.live, m.dead, m.loose = slices.DeleteFunc(m.live, is), slices.DeleteFunc(m.dead, is), slices.DeleteFunc(m.loose, is)
}

// Whatever is done with an index, it knows what a simple one knows.
func TestDiskIndexIsTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, m := newDiskIndex(), &diskModel{blocks: map[int]uint32{}}
		name := func() (int, uint32) {
			n := rapid.IntRange(0, 40).Draw(t, "n")
			return n, x.find(testName(n))
		}
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				n, _ := name()
				m.drop(n)
				m.live = append(m.live, n)
				m.blocks[n] = uint32(n + 1)
				x.put(testName(n), uint32(n+1), 0)
			},
			"found": func(t *rapid.T) {
				if n, i := name(); i == 0 {
					m.loose = append(m.loose, n)
					m.blocks[n] = 2
					m.clock++
					x.add(testName(n), 2, m.clock, looseList)
				}
			},
			"use": func(t *rapid.T) {
				if n, i := name(); i != 0 {
					m.drop(n)
					m.live = append(m.live, n)
					x.use(i)
				}
			},
			"kill": func(t *rapid.T) {
				if n, i := name(); i != 0 {
					m.drop(n)
					m.dead = append(m.dead, n)
					x.kill(i)
				}
			},
			"remove": func(t *rapid.T) {
				if n, i := name(); i != 0 {
					m.drop(n)
					x.remove(i)
				}
			},
			"adopt": func(t *rapid.T) {
				found := x.loose()
				youngestFirst(found)
				for _, f := range found {
					x.adopt(f)
				}
				m.live, m.loose = append(m.loose, m.live...), nil
			},
			"": func(t *rapid.T) { m.compare(t, x) },
		})
	})
}

func (m *diskModel) compare(t *rapid.T, x *diskIndex) {
	for list, want := range map[uint32][]int{liveList: m.live, deadList: m.dead, looseList: m.loose} {
		i := x.at(list).newer
		for _, n := range want {
			if i == list || x.at(i).name != *testName(n) || x.find(testName(n)) != i || x.isDead(i) != (list == deadList) {
				t.Fatalf("list %d is not %v", list, want)
			}
			i = x.at(i).newer
		}
		if i != list {
			t.Fatalf("list %d is longer than %v", list, want)
		}
	}
	var blocks int64
	for _, n := range append(slices.Clone(m.live), m.loose...) {
		blocks += int64(m.blocks[n])
	}
	known := 0
	for chunk := range x.chunks {
		known += len(x.names(nil, chunk, nil))
	}
	pages := len(m.live) + len(m.loose)
	if x.blocks != blocks || x.pages != int64(pages) || known != pages || x.dead != int64(len(m.dead)) {
		t.Fatalf("%d blocks in %d pages, %d dead, %d names, want %d in %d, %d dead", x.blocks, x.pages, x.dead, known, blocks, pages, len(m.dead))
	}
}

// What the index takes in memory is small, also after it has shrunk and grown.
func TestDiskIndexMemory(t *testing.T) {
	const pages = 60_000
	heap := func() int64 {
		for range 3 { // what pools hold goes with the second
			runtime.GC()
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	x := newDiskIndex()
	for n := range pages {
		x.put(testName(n), 3, 0)
	}
	for n := range pages / 2 {
		x.remove(x.find(testName(n)))
	}
	for n := range pages / 2 {
		x.put(testName(n), 3, 0)
	}
	each := float64(heap()-before) / pages
	if each > 64 {
		t.Errorf("%.1f bytes a page, want 64 at most", each)
	}
	t.Logf("%.1f bytes a page", each)
	runtime.KeepAlive(x)
}

func TestDiskName(t *testing.T) {
	n := *testName(1)
	copy(n[:], "\x01\x02\xab\xcd\xef")
	path := n.path()
	if want := fmt.Sprintf("ef/%x", n[:]); path != want {
		t.Errorf("path %q, want %q", path, want)
	}
	if got, ok := parseDiskName(path[3:]); !ok || got != n {
		t.Errorf("%q is %x, %v", path[3:], got, ok)
	}
	for _, text := range []string{"", "x", path, path[3:] + ".new", path[3:len(path)-1] + "g", "ABCDEFABCDEFABCDEFABCDEFABCDEFAB"} {
		if _, ok := parseDiskName(text); ok {
			t.Errorf("%q is a name", text)
		}
	}
}
