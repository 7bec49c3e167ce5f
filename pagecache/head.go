package pagecache

import (
	"hash/crc32"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// newFilePage makes the page of a file but for its body. name has a leading
// slash and a NUL at its end; coding is that of a precompressed copy of the
// page whose name stands before the suffix, else "".
func newFilePage(name, coding string, st *fileStat, now time.Time) *Page {
	plain := name[:len(name)-1]
	p := &Page{
		Status: http.StatusOK,
		Type:   TypeByName(strings.TrimSuffix(plain, codingSuffix(coding))),
		ETag:   fileETag(&st.id, coding),
		Name:   plain,
		Length: st.id.size,

		published: &published{cname: name[1:], id: st.id},
	}
	// RFC 9110, 8.8.2.1: not later than the time of the answer.
	if seconds := st.seconds(); seconds <= now.Unix() {
		p.Modified = seconds
	}
	p.Head = appendHead(nil, p, coding)
	return p
}

// newValuePage makes the page of a value in memcached; body is kept.
func newValuePage(path string, body []byte) *Page {
	p := &Page{
		Status: http.StatusOK,
		Body:   body,
		Type:   TypeByName(path),
		ETag:   bodyETag(body),
		Name:   path,
		Length: int64(len(body)),

		published: new(published),
	}
	p.Head = appendHead(nil, p, "")
	return p
}

// appendHead appends the stored head of a page; coding "": none.
func appendHead(dst []byte, p *Page, coding string) []byte {
	dst = append(dst, "HTTP/1.1 200 OK\r\nContent-Type: "...)
	dst = append(dst, p.Type...)
	if coding != "" {
		dst = append(dst, "\r\nContent-Encoding: "...)
		dst = append(dst, coding...)
		dst = append(dst, "\r\nVary: Accept-Encoding"...)
	}
	if p.Modified != 0 {
		dst = append(dst, "\r\nLast-Modified: "...)
		dst = time.Unix(p.Modified, 0).UTC().AppendFormat(dst, http.TimeFormat)
	}
	dst = append(dst, "\r\nETag: "...)
	dst = append(dst, p.ETag...)
	return append(dst, "\r\nAccept-Ranges: bytes\r\n\r\n"...)
}

// fileETag is strong: time of the last write in nanoseconds, and size. Those
// of a page's codings differ even if the times and sizes do not.
func fileETag(id *fileID, coding string) string {
	b := append(make([]byte, 0, 40), '"')
	b = strconv.AppendUint(b, uint64(id.mtime), 16)
	b = append(b, '-')
	b = strconv.AppendInt(b, id.size, 16)
	if coding != "" {
		b = append(b, '-')
		b = append(b, coding...)
	}
	return string(append(b, '"'))
}

// bodyETag is strong and the same on every node: the length, and two checksums
// with different polynomials, which together tell as much as one of 64 bits.
// Processors have instructions for both.
func bodyETag(body []byte) string {
	b := append(make([]byte, 0, 32), '"')
	b = strconv.AppendInt(b, int64(len(body)), 16)
	b = append(b, '-')
	sums := uint64(crc32.ChecksumIEEE(body))<<32 | uint64(crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
	b = strconv.AppendUint(b, sums, 16)
	return string(append(b, '"'))
}
