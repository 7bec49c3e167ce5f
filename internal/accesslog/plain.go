package accesslog

import "encoding/binary"

const (
	lows  = 0x0101010101010101 // times a byte: that byte eight times
	highs = 0x8080808080808080
)

// plainRun counts the bytes at the beginning of b, eight at a time, that no
// format escapes: ASCII but for controls, quotes and backslashes. What follows
// has to be looked at one by one. Nearly all of a log is plain, and this is the
// most of what formatting a line costs.
func plainRun(b []byte) (n int) {
	for len(b)-n >= 8 {
		w := binary.LittleEndian.Uint64(b[n:])
		special := w | // its high bit: not ASCII
			(w-lows*' ')&^w | // below a space
			zeroBytes(w^lows*'"') | zeroBytes(w^lows*'\\') | zeroBytes(w^lows*0x7f)
		if special&highs != 0 {
			return n
		}
		n += 8
	}
	return n
}

// zeroBytes has a high bit set where w has a byte 0, and may have others set
// only above such a one.
func zeroBytes(w uint64) uint64 { return (w - lows) &^ w }
