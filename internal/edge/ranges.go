package edge

import (
	"bytes"
	"math"
	"strconv"
)

// byteRange is a part of a body, not empty and within it.
type byteRange struct{ start, length int64 }

// rangeResult says what becomes of a Range field.
type rangeResult uint8

const (
	rangeIgnored       rangeResult = iota // the whole body is sent, with 200
	rangeSatisfiable                      // 206
	rangeUnsatisfiable                    // 416
)

// maxOverlaps is how often the ranges of a request may overlap: RFC 9110,
// section 14.2 lets more be taken for an attack.
const maxOverlaps = 2

// parseRanges reads the value of a Range field for a body of size bytes, and
// appends the satisfiable ranges to dst in the order asked for. Ranges that
// overlap become one, in the place of the first. Ignored are other units than
// bytes, malformed values, more than max ranges, and more than two overlaps.
// Numbers may be of any length.
func parseRanges(dst []byteRange, value []byte, size int64, max int) (ranges []byteRange, res rangeResult) {
	unit, set, ok := bytes.Cut(value, []byte("="))
	if !ok || !equalFold(unit, "bytes") {
		return dst, rangeIgnored
	}
	first := len(dst)
	overlaps, count := 0, 0
	for more := true; more; {
		var spec []byte
		spec, set, more = bytes.Cut(set, []byte(","))
		if spec = bytes.Trim(spec, " \t"); len(spec) == 0 {
			continue // an empty member of a list
		}
		r, ok := parseRange(spec, size)
		if count++; !ok || count > max {
			return dst[:first], rangeIgnored
		}
		if r.length == 0 {
			continue
		}
		var n int
		dst, n = addRange(dst, first, r)
		if overlaps += n; overlaps > maxOverlaps {
			return dst[:first], rangeIgnored
		}
	}
	switch {
	case count == 0:
		return dst, rangeIgnored
	case len(dst) == first:
		return dst, rangeUnsatisfiable
	}
	return dst, rangeSatisfiable
}

// parseRange reads "a-b", "a-" or "-n", cut to the body. The length is 0 where
// no byte of the body is meant.
func parseRange(spec []byte, size int64) (r byteRange, ok bool) {
	from, to, ok := bytes.Cut(spec, []byte("-"))
	if !ok {
		return r, false
	}
	if len(from) == 0 {
		n, ok := parsePosition(to)
		n = min(n, size)
		return byteRange{size - n, n}, ok
	}
	start, ok := parsePosition(from)
	if !ok {
		return r, false
	}
	last := int64(math.MaxInt64)
	if len(to) > 0 {
		if last, ok = parsePosition(to); !ok || last < start {
			return r, false
		}
	}
	if start >= size {
		return r, true
	}
	return byteRange{start, min(last, size-1) - start + 1}, true
}

// parsePosition reads digits; what is beyond 64 bits is as large as can be.
func parsePosition(s []byte) (n int64, ok bool) {
	for _, b := range s {
		if b < '0' || b > '9' {
			return 0, false
		}
		if d := int64(b - '0'); n > (math.MaxInt64-d)/10 {
			n = math.MaxInt64
		} else {
			n = n*10 + d
		}
	}
	return n, len(s) > 0
}

// addRange adds r to those from first on, or joins it to the first that it
// overlaps. overlaps is how many it did.
func addRange(dst []byteRange, first int, r byteRange) (_ []byteRange, overlaps int) {
	at := -1
	kept := first
	for _, o := range dst[first:] {
		if o.start < r.start+r.length && r.start < o.start+o.length {
			overlaps++
			end := max(o.start+o.length, r.start+r.length)
			r.start = min(o.start, r.start)
			r.length = end - r.start
			if at >= 0 {
				continue // now part of r, whose place is further left
			}
			at = kept
		}
		dst[kept] = o
		kept++
	}
	dst = dst[:kept]
	if at < 0 {
		return append(dst, r), 0
	}
	dst[at] = r
	return dst, overlaps
}

// appendContentRange adds the value of Content-Range for r of size bytes.
func appendContentRange(dst []byte, r byteRange, size int64) []byte {
	dst = strconv.AppendInt(append(dst, "bytes "...), r.start, 10)
	dst = strconv.AppendInt(append(dst, '-'), r.start+r.length-1, 10)
	return strconv.AppendInt(append(dst, '/'), size, 10)
}
