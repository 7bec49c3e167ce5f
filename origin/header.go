package origin

import (
	"bufio"
	"bytes"
	"fmt"

	"github.com/valyala/fasthttp"
)

// head is what one head of an answer says about itself.
type head struct {
	status    int
	http10    bool
	length    int64 // Content-Length; -1: none
	chunked   bool
	close     bool // Connection: close
	keepAlive bool // Connection: keep-alive, which HTTP/1.0 needs
}

// keeps reports whether the connection outlives the answer, its length known.
func (h *head) keeps() bool {
	return !h.close && (!h.http10 || h.keepAlive)
}

// malformed is a head that is none of HTTP/1.
type malformed struct{ error }

func malformedf(format string, a ...any) error { return malformed{fmt.Errorf(format, a...)} }

// parse judges the head in s.raw and fills h with its fields. h must come from
// the Pool's blank.
func (s *scratch) parse(h *fasthttp.ResponseHeader) (head, error) {
	d := head{length: -1}
	s.named, s.coding = s.named[:0], s.coding[:0]
	line, rest := cutLine(s.raw)
	if err := s.statusLine(&d, line); err != nil {
		return d, err
	}
	if len(rest) > 0 && isOWS(rest[0]) {
		return d, malformedf("the first field begins with a space")
	}
	for {
		joinFolds(rest)
		if line, rest = cutLine(rest); len(line) == 0 {
			break
		}
		if err := s.field(&d, line); err != nil {
			return d, err
		}
	}
	if d.chunked && d.length >= 0 {
		return d, malformedf("both Transfer-Encoding and Content-Length")
	}
	s.clean = append(s.clean, "\r\n"...)
	return d, s.fill(h)
}

// statusLine reads "HTTP/1.x NNN reason" (RFC 9112 section 4).
func (s *scratch) statusLine(d *head, line []byte) error {
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.")) || line[8] != ' ' || len(line) > 12 && line[12] != ' ' {
		return malformedf("status line %q, want HTTP/1.1 200 OK", line)
	}
	d.http10 = line[7] == '0'
	for _, c := range [...]byte{line[7], line[9], line[10], line[11]} {
		if c < '0' || c > '9' {
			return malformedf("status line %q, want HTTP/1.1 200 OK", line)
		}
	}
	d.status = int(line[9]-'0')*100 + int(line[10]-'0')*10 + int(line[11]-'0')
	if d.status < 100 {
		return malformedf("status %q, want 100 or more", line[9:12])
	}
	if i := bytes.IndexFunc(line, isControl); i >= 0 {
		return malformedf("control character %q in the status line", line[i])
	}
	s.clean = append(append(s.clean[:0], "HTTP/1.1"...), line[8:]...)
	s.clean = append(s.clean, "\r\n"...)
	return nil
}

// field judges one field and, unless it is hop-by-hop, copies it to s.clean.
func (s *scratch) field(d *head, line []byte) error {
	name, value, ok := bytes.Cut(line, []byte(":"))
	if !ok {
		return malformedf("field %q has no colon", line)
	}
	// RFC 9112 section 5.1: a proxy removes spaces before the colon. Not where
	// others might see another length.
	trimmed := bytes.TrimRight(name, " \t")
	if !isToken(trimmed) {
		return malformedf("field name %q is no token", name)
	}
	if i := bytes.IndexFunc(value, isControl); i >= 0 {
		return malformedf("control character %q in field %q", value[i], name)
	}
	value = bytes.Trim(value, " \t")
	keep, err := s.special(d, trimmed, value)
	if err != nil {
		return err
	}
	if len(trimmed) < len(name) && (isField(trimmed, "content-length") || isField(trimmed, "transfer-encoding")) {
		return malformedf("space after field name %q", trimmed)
	}
	if keep {
		s.clean = append(append(s.clean, trimmed...), ": "...)
		s.clean = append(append(s.clean, value...), "\r\n"...)
	}
	return nil
}

// special notes what a field says about the message itself. keep: the field is
// the visitor's too.
func (s *scratch) special(d *head, name, value []byte) (keep bool, err error) {
	switch len(name) {
	case 2:
		return !isField(name, "te"), nil
	case 7:
		if isField(name, "upgrade") {
			return d.status == fasthttp.StatusSwitchingProtocols, nil
		}
		return !isField(name, "trailer"), nil // trailers are dropped
	case 10:
		if isField(name, "connection") {
			s.connection(d, value)
			return d.status == fasthttp.StatusSwitchingProtocols, nil
		}
		return !isField(name, "keep-alive"), nil
	case 14:
		if isField(name, "content-length") {
			return d.contentLength(value)
		}
	case 16:
		if isField(name, "content-encoding") {
			return s.contentEncoding(value), nil
		}
		return !isField(name, "proxy-connection"), nil
	case 17:
		if isField(name, "transfer-encoding") {
			return false, d.transferEncoding(value)
		}
	}
	return true, nil
}

// contentLength takes one Content-Length. The same length said twice counts
// once (RFC 9110 section 8.6).
func (d *head) contentLength(value []byte) (keep bool, err error) {
	n := int64(0)
	for _, c := range value {
		if c < '0' || c > '9' {
			n = -1
			break
		}
		n = n*10 + int64(c-'0')
	}
	if n < 0 || len(value) == 0 || len(value) > 18 {
		return false, malformedf("Content-Length %q, want a number", value)
	}
	if d.length >= 0 && d.length != n {
		return false, malformedf("Content-Length %d and %d", d.length, n)
	}
	first := d.length < 0
	d.length = n
	return first, nil
}

// transferEncoding takes one Transfer-Encoding: only chunked, only once, and
// not in HTTP/1.0, whose clients would see the chunks (RFC 9112 section 6.1).
func (d *head) transferEncoding(value []byte) error {
	switch {
	case d.http10:
		return malformedf("Transfer-Encoding %q in HTTP/1.0", value)
	case d.chunked || !isField(value, "chunked"):
		return malformedf("Transfer-Encoding %q, want chunked once", value)
	}
	d.chunked = true
	return nil
}

// contentEncoding gathers the codings: of several fields fasthttp would keep
// the last one only. first: this is the first one.
func (s *scratch) contentEncoding(value []byte) (first bool) {
	if len(s.coding) == 0 {
		s.coding = append(s.coding, value...)
		return true
	}
	s.coding = append(append(s.coding, ", "...), value...)
	return false
}

// connection notes the options of one Connection field.
func (s *scratch) connection(d *head, value []byte) {
	for option := range bytes.SplitSeq(value, []byte(",")) {
		option = bytes.Trim(option, " \t")
		switch {
		case isField(option, "close"):
			d.close = true
		case isField(option, "keep-alive"):
			d.keepAlive = true
		case d.status != fasthttp.StatusSwitchingProtocols && isToken(option) && !endToEnd(option):
			s.named = append(append(s.named, option...), ',')
		}
	}
}

// endToEnd reports whether a field is never hop-by-hop, whatever Connection
// says (RFC 9110 section 7.6.1 has Cache-Control as its example): without it
// an answer would look less private than it is, or its length would be gone.
func endToEnd(name []byte) bool {
	for _, f := range [...]string{"cache-control", "vary", "set-cookie", "content-length", "content-encoding"} {
		if isField(name, f) {
			return true
		}
	}
	return false
}

// fill parses s.clean into h.
func (s *scratch) fill(h *fasthttp.ResponseHeader) error {
	s.src.Reset(s.clean)
	br := s.reader
	if len(s.clean) > br.Size() {
		br = bufio.NewReaderSize(&s.src, len(s.clean))
	}
	br.Reset(&s.src)
	if err := h.Read(br); err != nil {
		return malformed{err}
	}
	h.ResetConnectionClose() // fasthttp's guess where no length is stated
	for name := range bytes.SplitSeq(s.named, []byte(",")) {
		if len(name) > 0 {
			h.DelBytes(name)
		}
	}
	if bytes.Contains(s.coding, []byte(", ")) {
		h.SetContentEncodingBytes(s.coding)
	}
	return nil
}
