package edge

import (
	"crypto/rand"
	"io"
)

// multipart is the body of a 206 of several ranges, multipart/byteranges (RFC
// 9110, section 14.6). It is read once, by one goroutine, and holds no part in
// memory.
type multipart struct {
	source   io.ReaderAt
	ranges   []byteRange // left to send, the one under way included
	total    int64       // bytes of the whole representation
	typ      string      // its Content-Type; "": parts have none
	boundary string

	head  []byte // left of the delimiter and fields under way
	at    int64  // where to read in source next
	left  int64  // bytes of the part under way
	ended bool   // the last delimiter is in head
}

// newMultipart makes the body for parts of source, which has total bytes. It
// keeps ranges and reads source only when read. The boundary is random: a page
// whose author could guess it might end its part early.
func newMultipart(source io.ReaderAt, ranges []byteRange, total int64, contentType string) *multipart {
	m := &multipart{source: source, ranges: ranges, total: total, typ: contentType, boundary: rand.Text()}
	m.next()
	return m
}

// contentType is that of the answer.
func (m *multipart) contentType() string {
	return "multipart/byteranges; boundary=" + m.boundary
}

// size is the number of bytes that are left to read: before the first Read, the
// length of the answer.
func (m *multipart) size() int64 {
	n := int64(len(m.head)) + m.left
	if m.ended {
		return n
	}
	var scratch []byte
	for _, r := range m.ranges {
		scratch = m.appendHead(scratch[:0], r)
		n += int64(len(scratch)) + r.length
	}
	return n + int64(len(m.appendEnd(scratch[:0])))
}

// Read reads on. A source that ends early is an io.ErrUnexpectedEOF: the
// length has been promised.
func (m *multipart) Read(p []byte) (n int, err error) {
	for n < len(p) {
		switch {
		case len(m.head) > 0:
			c := copy(p[n:], m.head)
			m.head = m.head[c:]
			n += c
		case m.left > 0:
			c, err := m.source.ReadAt(p[n:n+int(min(m.left, int64(len(p)-n)))], m.at)
			m.at, m.left, n = m.at+int64(c), m.left-int64(c), n+c
			if err != nil && (err != io.EOF || m.left > 0) {
				if err == io.EOF {
					err = io.ErrUnexpectedEOF
				}
				return n, err
			}
		case m.ended:
			if n > 0 {
				return n, nil
			}
			return 0, io.EOF
		default:
			m.next()
		}
	}
	return n, nil
}

// next begins the next part, or the end.
func (m *multipart) next() {
	if len(m.ranges) == 0 {
		m.head, m.ended = m.appendEnd(m.head[:0]), true
		return
	}
	r := m.ranges[0]
	m.ranges = m.ranges[1:]
	m.head = m.appendHead(m.head[:0], r)
	m.at, m.left = r.start, r.length
}

// appendHead adds what stands before a part. The line end before the first
// delimiter is the (empty) preamble's.
func (m *multipart) appendHead(dst []byte, r byteRange) []byte {
	dst = append(append(dst, "\r\n--"...), m.boundary...)
	if m.typ != "" {
		dst = append(append(dst, "\r\nContent-Type: "...), m.typ...)
	}
	dst = append(dst, "\r\nContent-Range: "...)
	return append(appendContentRange(dst, r, m.total), "\r\n\r\n"...)
}

func (m *multipart) appendEnd(dst []byte) []byte {
	dst = append(append(dst, "\r\n--"...), m.boundary...)
	return append(dst, "--\r\n"...)
}
