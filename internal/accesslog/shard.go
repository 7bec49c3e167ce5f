package accesslog

import (
	"encoding/binary"
	"sync"
	"time"
)

// shard is one of the buffers that lines wait in. There are several so that
// requests on different processors seldom meet at a lock.
//
// A line stands there after its number and its length. The writer takes all
// shards at once and merges their lines by number: so lines come out in the
// order of the calls, though a caller's lines are spread over the shards.
type shard struct {
	sync.Mutex
	lines  []byte
	line   []byte // the line being formatted
	clock  clock
	closed bool
	_      [64]byte // the next shard's lock is on another cache line
}

// lineHead is the bytes before a line: its number and its length.
const lineHead = 8 + 4

// add puts s.line among the lines, as number n.
func (s *shard) add(n uint64) {
	s.lines = binary.LittleEndian.AppendUint64(s.lines, n)
	s.lines = binary.LittleEndian.AppendUint32(s.lines, uint32(len(s.line)))
	s.lines = append(s.lines, s.line...)
}

// batch reads a shard's lines.
type batch []byte

// number is that of the first line. There must be one.
func (b batch) number() uint64 { return binary.LittleEndian.Uint64(b) }

// cut takes the first line off.
func (b *batch) cut() []byte {
	n := binary.LittleEndian.Uint32((*b)[8:])
	line := (*b)[lineHead : lineHead+n]
	*b = (*b)[lineHead+n:]
	return line
}

// clock keeps the printed form of a second, since a busy log prints the same
// one thousands of times.
type clock struct {
	second int64
	zone   *time.Location
	text   []byte
}

// append adds t in layout, which must be the same for all calls and say nothing
// finer than seconds.
func (c *clock) append(dst []byte, t time.Time, layout string) []byte {
	if second, zone := t.Unix(), t.Location(); c.text == nil || second != c.second || zone != c.zone {
		c.second, c.zone = second, zone
		c.text = t.AppendFormat(c.text[:0], layout)
	}
	return append(dst, c.text...)
}
