package pagecache

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"strconv"
)

// An envelope is a pulled page as bytes, for tiers outside this process. A
// person can read it: lines of text say what the page is, then come its head,
// as bytes of HTTP, and its body:
//
//	ssiedge-page 2 8c7f1d02
//	journal: "e5ab41d9f5e5b8a2"
//	key: "p0\x00http\x00www.example.com\x00/towns?\x00"
//	...
//	body: 10240
//
//	HTTP/1.1 200 OK
//	Content-Type: text/html
//
//	<html>...
//
// The first line is what it is, its version, and CRC-32C of all that follows
// it. What the others say is in preamble.go. The key is inside because the
// place of an envelope may be a hash of it, or hold somebody else's bytes; the
// journal because Seq means nothing without.
const (
	envelopeMagic = "ssiedge-page 2 "
	envelopeHead  = len(envelopeMagic + "8c7f1d02\n")
)

// Errors of Decode. Each means that there is no page.
var (
	ErrEnvelope        = errors.New("pagecache: no whole envelope of a page")
	ErrForeignEnvelope = errors.New("pagecache: envelope of another key or journal")
)

// Encode appends the envelope of a page under a key of a journal. Nothing is
// kept. What only memory holds, such as what was derived, is not part of it.
func Encode(dst []byte, key []byte, journal string, p *Page) []byte {
	dst, body := encodeStart(dst, key, journal, p)
	return append(dst, body...)
}

// encodeStart appends an envelope but for its body, which it returns.
func encodeStart(dst []byte, key []byte, journal string, p *Page) (start, body []byte) {
	body = p.Body
	if v := p.variants(); v != nil {
		body = v.append(nil)
	}
	if len(p.Head) > math.MaxUint32 || len(body) > math.MaxUint32 {
		panic("BUG: pagecache: part of a page over 4 GiB")
	}
	m := preambleOf(key, journal, p, len(body))
	return m.start(dst, p.Head, body), body
}

// start appends an envelope of these parts, but for its body.
func (m *preamble) start(dst, head, body []byte) []byte {
	from := len(dst)
	dst = append(dst, envelopeMagic+"00000000\n"...)
	dst = append(m.append(dst), head...)
	putSum(dst[from:], crc32.Update(crc32.Checksum(dst[from+envelopeHead:], castagnoli), castagnoli, body))
	return dst
}

// EnvelopeSize returns the bytes of a page's envelope.
func EnvelopeSize(key []byte, journal string, p *Page) int {
	body := len(p.Body)
	if v := p.variants(); v != nil {
		body = len(v.append(nil))
	}
	m := preambleOf(key, journal, p, body)
	var space [512]byte
	return envelopeHead + len(m.append(space[:0])) + len(p.Head) + body
}

// Decode reads the envelope of a page that was stored under a key of a
// journal. Bytes that are anything else are an error. The page keeps nothing
// of b: what it takes in memory is what it counts for.
func Decode(b, key []byte, journal string) (*Page, error) {
	sum, ok := envelopeSum(b)
	if !ok || sum != crc32.Checksum(b[envelopeHead:], castagnoli) {
		return nil, ErrEnvelope
	}
	m, rest, ok := readPreamble(b[envelopeHead:])
	if !ok || uint64(len(rest)) != m.length() {
		return nil, ErrEnvelope
	}
	if err := m.belongs(key, journal); err != nil {
		return nil, err
	}
	return m.page(exactCopy(rest[:m.head]), exactCopy(rest[m.head:]))
}

// belongs says whether the envelope is one of a key of a journal.
func (m *preamble) belongs(key []byte, journal string) error {
	if m.journal != journal || m.key != string(key) {
		return ErrForeignEnvelope
	}
	return nil
}

// page makes the page of an envelope's parts, which it keeps.
func (m *preamble) page(head, body []byte) (*Page, error) {
	if m.inflated > 0 {
		var err error
		if body, err = inflate(body, m.inflated); err != nil {
			return nil, err
		}
	}
	if m.status == 0 {
		v, err := readVariants(body)
		if err != nil || len(head) > 0 {
			return nil, fmt.Errorf("%w: no list of variants", ErrEnvelope)
		}
		return newVariantsPage(v, m.freshness, m.seq), nil
	}
	if !bytes.HasPrefix(head, []byte("HTTP/1.1 ")) || !bytes.HasSuffix(head, []byte("\r\n\r\n")) {
		return nil, fmt.Errorf("%w: its head is none", ErrEnvelope)
	}
	return NewPulledPage(m.status, head, body, m.freshness, m.seq), nil
}

// envelopeSum reads the sum in an envelope's first line.
func envelopeSum(b []byte) (sum uint32, ok bool) {
	if len(b) < envelopeHead || string(b[:len(envelopeMagic)]) != envelopeMagic {
		return 0, false
	}
	n, err := strconv.ParseUint(view(b[len(envelopeMagic):envelopeHead-1]), 16, 32)
	var same [envelopeHead]byte
	copy(same[:], b)
	putSum(same[:], uint32(n)) // one way to write it
	return uint32(n), err == nil && bytes.Equal(same[:], b[:envelopeHead])
}

// putSum writes the sum into an envelope's first line.
func putSum(b []byte, sum uint32) {
	const digits = "0123456789abcdef"
	for i := range 8 {
		b[len(envelopeMagic)+i] = digits[sum>>(28-4*i)&15]
	}
	b[envelopeHead-1] = '\n'
}

// exactCopy copies without spare room, which would count for the page.
func exactCopy(b []byte) []byte {
	c := make([]byte, len(b))
	copy(c, b)
	return c
}
