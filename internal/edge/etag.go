package edge

import "hash/crc32"

// weakTag is the entity-tag of what was printed: equal on every node for equal
// bytes, and cheap enough to make for every answer. Two checksums by different
// polynomials, each a machine instruction, and the length say "the same" to a
// visitor about a page of his own; they protect nobody from anybody.
func weakTag(b []byte) string {
	const digits = "0123456789abcdef"
	tag := make([]byte, 0, 32)
	tag = append(tag, `W/"`...)
	for _, n := range []uint32{uint32(len(b)), crc32.ChecksumIEEE(b), crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))} {
		for shift := 28; shift >= 0; shift -= 4 {
			tag = append(tag, digits[n>>shift&15])
		}
	}
	return string(append(tag, '"'))
}
