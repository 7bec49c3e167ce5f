package pagecache

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
)

// An envelope is a pulled page as bytes, for tiers outside this process. All
// numbers are big-endian:
//
//	 0  4  "SSE1": what it is, and its version
//	 4  4  CRC-32C of all other bytes
//	 8  2  status; 0: a list of the variants of one
//	10  2  0
//	12  8  Seq
//	20  8  Measured
//	28 16  InitialAge, Lifetime, StaleError, StaleWhile or Flags
//	44 16  lengths of journal, key, head and body
//	60     journal, key, head, body
//
// The key is inside because the place of an envelope may be a hash of it, or
// hold somebody else's value; the journal because Seq means nothing without.
const (
	envelopeMagic = "SSE1"
	envelopeHead  = 60
)

// Errors of Decode. Each means that there is no page.
var (
	ErrEnvelope        = errors.New("pagecache: no whole envelope of a page")
	ErrForeignEnvelope = errors.New("pagecache: envelope of another key or journal")
)

// Encode appends the envelope of a page under a key of a journal. Nothing is
// kept. What only memory holds, such as what was derived, is not part of it.
func Encode(dst []byte, key []byte, journal string, p *Page) []byte {
	body := p.Body
	if v := p.variants(); v != nil {
		body = v.append(nil)
	}
	start := len(dst)
	dst = append(dst, envelopeMagic...)
	dst = append(dst, 0, 0, 0, 0)
	dst = binary.BigEndian.AppendUint16(dst, uint16(p.Status))
	dst = append(dst, 0, 0)
	dst = binary.BigEndian.AppendUint64(dst, p.Seq)
	dst = binary.BigEndian.AppendUint64(dst, uint64(p.Measured))
	for _, n := range [...]uint32{p.InitialAge, p.Lifetime, p.StaleError, p.while} {
		dst = binary.BigEndian.AppendUint32(dst, n)
	}
	for _, n := range [...]int{len(journal), len(key), len(p.Head), len(body)} {
		if n > math.MaxUint32 {
			panic("BUG: pagecache: part of a page over 4 GiB")
		}
		dst = binary.BigEndian.AppendUint32(dst, uint32(n))
	}
	dst = append(dst, journal...)
	dst = append(dst, key...)
	dst = append(dst, p.Head...)
	dst = append(dst, body...)
	binary.BigEndian.PutUint32(dst[start+4:], envelopeSum(dst[start:]))
	return dst
}

// EnvelopeSize returns the bytes of a page's envelope.
func EnvelopeSize(key []byte, journal string, p *Page) int {
	n := envelopeHead + len(journal) + len(key) + len(p.Head) + len(p.Body)
	if v := p.variants(); v != nil {
		n += int(v.size())
	}
	return n
}

// Decode reads the envelope of a page that was stored under a key of a
// journal. Bytes that are anything else are an error. The page keeps nothing
// of b: what it takes in memory is what it counts for.
func Decode(b, key []byte, journal string) (*Page, error) {
	parts, ok := openEnvelope(b)
	if !ok {
		return nil, ErrEnvelope
	}
	if string(parts[0]) != journal || !bytes.Equal(parts[1], key) {
		return nil, ErrForeignEnvelope
	}
	f := Freshness{
		Measured:   int64(binary.BigEndian.Uint64(b[20:])),
		InitialAge: binary.BigEndian.Uint32(b[28:]),
		Lifetime:   binary.BigEndian.Uint32(b[32:]),
		StaleError: binary.BigEndian.Uint32(b[36:]),
		while:      binary.BigEndian.Uint32(b[40:]),
	}
	status, seq := int(binary.BigEndian.Uint16(b[8:])), binary.BigEndian.Uint64(b[12:])
	head, body := parts[2], parts[3]
	if status == 0 {
		v, err := readVariants(body)
		if err != nil || len(head) > 0 {
			return nil, fmt.Errorf("%w: no list of variants", ErrEnvelope)
		}
		return newVariantsPage(v, f, seq), nil
	}
	if !bytes.HasPrefix(head, []byte("HTTP/1.1 ")) || !bytes.HasSuffix(head, []byte("\r\n\r\n")) {
		return nil, fmt.Errorf("%w: its head is none", ErrEnvelope)
	}
	return NewPulledPage(status, exactCopy(head), exactCopy(body), f, seq), nil
}

// openEnvelope checks that b is an envelope, whole and unharmed, and cuts it
// into its parts.
func openEnvelope(b []byte) (parts [4][]byte, ok bool) {
	if len(b) < envelopeHead || string(b[:4]) != envelopeMagic || binary.BigEndian.Uint32(b[4:]) != envelopeSum(b) {
		return parts, false
	}
	rest := b[envelopeHead:]
	for i := range parts {
		n := binary.BigEndian.Uint32(b[44+4*i:])
		if uint64(n) > uint64(len(rest)) {
			return parts, false
		}
		parts[i], rest = rest[:n], rest[n:]
	}
	return parts, len(rest) == 0 && b[10]|b[11] == 0
}

// envelopeSum is the sum of all bytes but the sum's own.
func envelopeSum(b []byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	return crc32.Update(crc32.Checksum(b[:4], table), table, b[8:])
}

// exactCopy copies without spare room, which would count for the page.
func exactCopy(b []byte) []byte {
	c := make([]byte, len(b))
	copy(c, b)
	return c
}
