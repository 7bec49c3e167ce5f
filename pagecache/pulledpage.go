package pagecache

import (
	"bytes"
	"time"
)

// NewPulledPage makes the page of an answer of the origin. head is as in
// Page.Head, with the answer's Date; head and body are kept. Type, ETag and
// Modified are those of the head, and share its bytes.
func NewPulledPage(status int, head, body []byte, f Freshness, seq uint64) *Page {
	p := &Page{
		Status:    status,
		Head:      head,
		Body:      body,
		Length:    int64(len(body)),
		Kept:      true,
		Freshness: f,
		Seq:       seq,
	}
	p.readHead()
	return p
}

// readHead takes from the head what requests are compared with.
func (p *Page) readHead() {
	_, rest, _ := bytes.Cut(p.Head, []byte("\r\n"))
	for len(rest) > 0 {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte("\r\n"))
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = trimSpace(value)
		switch {
		case equalFold(name, "content-type"):
			p.Type = view(value)
		case equalFold(name, "etag"):
			p.ETag = view(value)
		case equalFold(name, "last-modified"):
			// A year in two digits is read as of now, whenever now is.
			p.Modified, _ = parseDate(value, time.Now())
		}
	}
}
