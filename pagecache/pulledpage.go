package pagecache

import (
	"bytes"
	"iter"
	"slices"
	"time"
)

// validationTime is for how long after a page came it is worth keeping only to
// be validated. Memory and disk keep it for as long as there is room.
const validationTime = 24 * time.Hour

// NewPulledPage makes the page of an answer of the origin. head is as in
// Page.Head, with the answer's Date; head and body are kept. Type, ETag and
// Modified are those of the head, and share its bytes.
//
// A body of a length that was not known beforehand was gathered in room to grow,
// of which up to half may be left: that is not kept with the page.
func NewPulledPage(status int, head, body []byte, f Freshness, seq uint64) *Page {
	if spare := cap(body) - len(body); spare > 64+len(body)/16 {
		body = bytes.Clone(body)
	}
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
	for {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte("\r\n"))
		if len(line) == 0 {
			p.ForEdge = len(rest) > 0
			return
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = trimSpace(value)
		switch {
		case equalFold(name, "content-type"):
			p.Type = view(value)
		case equalFold(name, "etag"):
			p.ETag = view(value)
		case equalFold(name, "last-modified"):
			// A year in two digits is read as of now, whenever now is.
			p.Modified, _ = ParseDate(value, time.Now())
		}
	}
}

// Until is the time from which nobody needs the page any more: it may not be
// used, and its validators are of no use.
func (p *Page) Until() time.Time {
	until := p.Freshness.Until()
	if came := time.UnixMilli(p.Measured); p.HasValidator() && came.Add(validationTime).After(until) {
		return came.Add(validationTime)
	}
	return until
}

// HasValidator says whether the origin can be asked if the page is still good
// (RFC 9111, section 4.3.1).
func (p *Page) HasValidator() bool { return p.ETag != "" || p.Modified != 0 }

// Field gives the value of the first line of a field in the head, which shares
// its bytes; nil: there is none. name is lower case.
func (p *Page) Field(name string) []byte {
	for value := range p.Lines(name) {
		return value
	}
	return nil
}

// Lines gives the values of all lines of a field in the head, which share its
// bytes. name is lower case.
func (p *Page) Lines(name string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for f := range p.fields() {
			if equalFold(f.Name, name) && !yield(f.Value) {
				return
			}
		}
	}
}

// VariesBy says whether the page is only for requests with its own value of a
// field, by its canonical name.
func (p *Page) VariesBy(name string) bool {
	names, ok := readVary(slices.Collect(p.fields()))
	return !ok || slices.Contains(names, name)
}

// fields gives the fields of the head, and then those that speak to the edge
// alone. They share its bytes.
func (p *Page) fields() iter.Seq[Field] {
	return func(yield func(Field) bool) {
		_, rest, _ := bytes.Cut(p.Head, []byte("\r\n"))
		for len(rest) > 0 {
			var line []byte
			line, rest, _ = bytes.Cut(rest, []byte("\r\n"))
			name, value, ok := bytes.Cut(line, []byte(":"))
			if ok && !yield(Field{Name: name, Value: trimSpace(value)}) {
				return
			}
		}
	}
}
