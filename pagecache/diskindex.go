package pagecache

import (
	"encoding/binary"
	"encoding/hex"
	"slices"
)

const (
	// diskBlock is what a file's size is rounded up to: a file system gives
	// no less.
	diskBlock = 4 << 10

	// groupSize is the bytes of a name that pages of one group share.
	groupSize = 4

	diskChunk  = 1 << 12 // entries that are allocated together
	diskTables = 64      // tables of names, so that none takes long to grow
)

// diskName is what a page's file is called: a hash of the key's group, and one
// of the key. Two keys of one name are a page that is lost, and nothing worse:
// the file holds its key.
type diskName [16]byte

// path is the name as a path: a folder of 256, and the name in it.
func (n *diskName) path() string {
	b := make([]byte, 0, 3+2*len(n))
	b = append(hex.AppendEncode(b, n[groupSize:groupSize+1]), '/')
	return string(hex.AppendEncode(b, n[:]))
}

// parseDiskName reads the last part of a path; ok is false for a file that is
// no page.
func parseDiskName(text string) (n diskName, ok bool) {
	if len(text) != 2*len(n) {
		return n, false
	}
	for _, c := range []byte(text) {
		if c >= 'A' && c <= 'F' {
			return n, false // one way to write it
		}
	}
	_, err := hex.Decode(n[:], []byte(text))
	return n, err == nil
}

// diskEntry is what is known of a file: 32 bytes, and some 8 in a table.
type diskEntry struct {
	name         diskName
	blocks       uint32 // of the file; and the two bits below
	used         uint32 // Unix seconds: the last use, as far as the file's own time tells
	older, newer uint32 // neighbours in the list
}

// Bits in diskEntry.blocks: what list the entry is in, if not that of the live.
const (
	entryDead  = 1 << 31 // the file must not be used any more, and has yet to be removed
	entryLoose = 1 << 30 // found by the scan, and not in order yet
	mostBlocks = entryLoose - 1
)

// The heads of the lists are the first entries; 0 also stands for "none".
const (
	liveList  uint32 = iota // the least lately used is the oldest
	deadList                // files to be removed
	looseList               // found by the scan
	diskLists
)

// diskIndex knows the files of a disk tier, in the order of their last use. It
// is guarded by its owner. Without pointers in it, the garbage collector has
// nothing to look at.
type diskIndex struct {
	chunks [][]diskEntry
	fresh  uint32 // the first entry that was never used
	free   uint32 // the first of those that were, linked by newer; 0: none
	tables [diskTables]diskTable
	pages  int64 // entries that are not dead
	blocks int64 // of their files
	dead   int64
}

func newDiskIndex() *diskIndex {
	x := new(diskIndex)
	for i := range diskLists {
		*x.allocate() = diskEntry{older: i, newer: i}
	}
	return x
}

func (x *diskIndex) at(i uint32) *diskEntry { return &x.chunks[i/diskChunk][i%diskChunk] }

// allocate takes the next entry that was never used.
func (x *diskIndex) allocate() *diskEntry {
	if int(x.fresh) == len(x.chunks)*diskChunk {
		x.chunks = append(x.chunks, make([]diskEntry, diskChunk))
	}
	x.fresh++
	return x.at(x.fresh - 1)
}

// find gives the entry of a name; 0: there is none.
func (x *diskIndex) find(n *diskName) uint32 {
	t := x.table(n)
	if len(t.slots) == 0 {
		return 0
	}
	return t.slots[t.slot(x, n)]
}

// put notes a file that was just written, in place of what was known of it.
func (x *diskIndex) put(n *diskName, blocks, used uint32) {
	if i := x.find(n); i != 0 {
		x.remove(i)
	}
	x.add(n, blocks, used, liveList)
}

// add notes a file that is not known, as the youngest of a list.
func (x *diskIndex) add(n *diskName, blocks, used, list uint32) {
	i := x.free
	if i != 0 {
		x.free = x.at(i).newer
	} else {
		i = x.fresh
		x.allocate()
	}
	*x.at(i) = diskEntry{name: *n, blocks: blocks, used: used}
	x.link(i, list)
	x.table(n).add(x, i)
}

// remove forgets a file.
func (x *diskIndex) remove(i uint32) {
	x.unlink(i)
	e := x.at(i)
	x.table(&e.name).remove(x, &e.name)
	*e = diskEntry{newer: x.free}
	x.free = i
}

// use moves an entry to the young end of the live.
func (x *diskIndex) use(i uint32) {
	x.unlink(i)
	x.link(i, liveList)
}

// kill marks a file as one that must not be used any more.
func (x *diskIndex) kill(i uint32) {
	x.unlink(i)
	x.link(i, deadList)
}

func (x *diskIndex) isDead(i uint32) bool { return x.at(i).blocks&entryDead != 0 }

// oldest gives the oldest entry of a list; 0: it is empty.
func (x *diskIndex) oldest(list uint32) uint32 {
	if i := x.at(list).newer; i != list {
		return i
	}
	return 0
}

// link puts an entry at the young end of a list.
func (x *diskIndex) link(i, list uint32) {
	e, head := x.at(i), x.at(list)
	e.older, e.newer = head.older, list
	x.at(head.older).newer = i
	head.older = i
	x.count(e, list)
}

// count notes which list an entry is in.
func (x *diskIndex) count(e *diskEntry, list uint32) {
	switch list {
	case deadList:
		e.blocks |= entryDead
		x.dead++
		return
	case looseList:
		e.blocks |= entryLoose
	}
	x.pages++
	x.blocks += int64(e.blocks & mostBlocks)
}

// unlink takes an entry out of its list.
func (x *diskIndex) unlink(i uint32) {
	e := x.at(i)
	x.at(e.older).newer, x.at(e.newer).older = e.newer, e.older
	if e.blocks&entryDead != 0 {
		x.dead--
	} else {
		x.pages--
		x.blocks -= int64(e.blocks & mostBlocks)
	}
	e.blocks &= mostBlocks
}

// loose gives the entries that are not in order, the youngest first.
func (x *diskIndex) loose() []uint64 {
	var found []uint64
	for i := x.at(looseList).newer; i != looseList; i = x.at(i).newer {
		found = append(found, uint64(x.at(i).used)<<32|uint64(i))
	}
	return found
}

// youngestFirst sorts what loose gave.
func youngestFirst(found []uint64) {
	slices.Sort(found)
	slices.Reverse(found)
}

// adopt puts an entry that loose gave at the old end of the live, unless it was
// used, killed or removed since.
func (x *diskIndex) adopt(found uint64) {
	i := uint32(found)
	e := x.at(i)
	if e.blocks&entryLoose == 0 {
		return
	}
	x.unlink(i)
	x.pages++
	x.blocks += int64(e.blocks)
	head := x.at(liveList)
	e.older, e.newer = liveList, head.newer
	x.at(head.newer).older = i
	head.newer = i
}

// names appends the names of a chunk's files that must not be removed, those of
// a group if one is given.
func (x *diskIndex) names(dst []diskName, chunk int, group *[groupSize]byte) []diskName {
	entries := x.chunks[chunk]
	for i := range entries[:min(diskChunk, int(x.fresh)-chunk*diskChunk)] {
		e := &entries[i]
		known := e.name != diskName{} && e.blocks&entryDead == 0
		if known && (group == nil || [groupSize]byte(e.name[:groupSize]) == *group) {
			dst = append(dst, e.name)
		}
	}
	return dst
}

func (x *diskIndex) table(n *diskName) *diskTable { return &x.tables[n[groupSize]%diskTables] }

// diskTable finds entries by their names: open addressing, and the next free
// slot where one is taken.
type diskTable struct {
	slots []uint32 // 0: free; a power of two of them
	used  int
}

func (t *diskTable) start(n *diskName) uint32 {
	return binary.LittleEndian.Uint32(n[len(n)-4:]) & uint32(len(t.slots)-1)
}

// slot gives the slot of a name, or the free one where it would be.
func (t *diskTable) slot(x *diskIndex, n *diskName) uint32 {
	s := t.start(n)
	for t.slots[s] != 0 && x.at(t.slots[s]).name != *n {
		s = (s + 1) & uint32(len(t.slots)-1)
	}
	return s
}

// add adds an entry whose name is not in the table.
func (t *diskTable) add(x *diskIndex, i uint32) {
	if t.used*4 >= len(t.slots)*3 {
		old := t.slots
		t.slots = make([]uint32, max(2*len(old), 16))
		for _, j := range old {
			if j != 0 {
				t.slots[t.slot(x, &x.at(j).name)] = j
			}
		}
	}
	t.slots[t.slot(x, &x.at(i).name)] = i
	t.used++
}

// remove takes a name out, and moves up those that its slot had kept from
// theirs.
func (t *diskTable) remove(x *diskIndex, n *diskName) {
	mask := uint32(len(t.slots) - 1)
	hole := t.slot(x, n)
	t.used--
	for s := hole; ; {
		t.slots[hole] = 0
		for {
			s = (s + 1) & mask
			if t.slots[s] == 0 {
				return
			}
			// It may move if the hole lies between where it wants to be and where it is.
			if start := t.start(&x.at(t.slots[s]).name); (s-start)&mask >= (s-hole)&mask {
				break
			}
		}
		t.slots[hole] = t.slots[s]
		hole = s
	}
}
