package origin

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"

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

// scratch is memory for one exchange, from the Pool's pool. The head of an
// answer is gathered in raw, judged, and written anew into clean, which
// fasthttp then parses: it would take "Content-Length : 2", status 99 and
// chunks in HTTP/1.0, and would mark an answer of unknown length as one after
// which the visitor's connection must be closed.
type scratch struct {
	request []byte // the request's head
	raw     []byte // the answer's, as it came
	clean   []byte // the same without hop-by-hop fields, as HTTP/1.1
	named   []byte // what Connection names, separated by commas
	coding  []byte // the values of Content-Encoding, joined

	src    bytes.Reader
	reader *bufio.Reader // over src
}

// maxScratch is how much of a buffer is kept from one exchange to the next.
const maxScratch = 16 << 10

func newScratch() *scratch {
	s := new(scratch)
	s.reader = bufio.NewReaderSize(&s.src, 4<<10)
	return s
}

// trim lets go of what a rare large head made large.
func (s *scratch) trim() {
	for _, b := range []*[]byte{&s.request, &s.raw, &s.clean, &s.named, &s.coding} {
		if cap(*b) > maxScratch {
			*b = nil
		}
	}
	s.src.Reset(nil)
}

// errHeadTooLarge is a head over MaxHead bytes.
type errHeadTooLarge int

func (e errHeadTooLarge) Error() string {
	return fmt.Sprintf("the head of the answer is over %d bytes", int(e))
}

// malformed is a head that is none of HTTP/1.
type malformed struct{ error }

func malformedf(format string, a ...any) error { return malformed{fmt.Errorf(format, a...)} }

// gather reads the bytes of one head into s.raw, up to and with its empty
// line. It takes what has come and does not wait for the ends of lines: a head
// that is too large is refused as soon as it is.
func (s *scratch) gather(br *bufio.Reader, limit int) error {
	s.raw = s.raw[:0]
	start := 0 // of the last line
	for {
		if _, err := br.Peek(1); err != nil {
			return err
		}
		piece, _ := br.Peek(br.Buffered())
		n := bytes.IndexByte(piece, '\n') + 1
		whole := n > 0
		if whole {
			piece = piece[:n]
		}
		s.raw = append(s.raw, piece...)
		br.Discard(len(piece))
		if len(s.raw) > limit {
			return errHeadTooLarge(limit)
		}
		if !whole {
			continue
		}
		if line := s.raw[start:]; len(line) == 1 || len(line) == 2 && line[0] == '\r' {
			return nil
		}
		start = len(s.raw)
	}
}

// checkProtocol refuses what does not begin as an answer of HTTP/1 does, so
// that nobody waits for the end of a line of it. Something is buffered.
func checkProtocol(br *bufio.Reader) error {
	const want = "HTTP/1."
	b, _ := br.Peek(min(br.Buffered(), len(want)))
	if !bytes.HasPrefix([]byte(want), b) {
		return malformedf("the answer begins with %q, want %q", b, want)
	}
	return nil
}

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

// cutLine splits b after its first line, which is given without its end.
// Single line feeds end lines too (RFC 9112 section 2.2).
func cutLine(b []byte) (line, rest []byte) {
	i := bytes.IndexByte(b, '\n')
	if i < 0 {
		return nil, nil
	}
	line, rest = b[:i], b[i+1:]
	if i > 0 && b[i-1] == '\r' {
		line = b[:i-1]
	}
	return line, rest
}

// joinFolds makes the first line of b one with the lines that begin with a
// space, by putting spaces in place of the line ends (RFC 9112 section 5.2).
func joinFolds(b []byte) {
	if len(b) <= 2 {
		return // the empty line
	}
	for i := bytes.IndexByte(b, '\n'); i >= 0 && i+1 < len(b) && isOWS(b[i+1]); {
		b[i] = ' '
		if i > 0 && b[i-1] == '\r' {
			b[i-1] = ' '
		}
		n := bytes.IndexByte(b[i:], '\n')
		if n < 0 {
			return
		}
		i += n
	}
}

func isOWS(c byte) bool { return c == ' ' || c == '\t' }

// isControl reports whether r has no place in a line of a head.
func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

// isField compares a name with one in lower case.
func isField(name []byte, lower string) bool {
	if len(name) != len(lower) {
		return false
	}
	for i, c := range name {
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// isToken reports whether b is a token of RFC 9110 section 5.6.2.
func isToken(b []byte) bool {
	for _, c := range b {
		if c >= 0x80 || !tokenBytes[c] {
			return false
		}
	}
	return len(b) > 0
}

var tokenBytes = [128]bool{
	'!': true, '#': true, '$': true, '%': true, '&': true, '\'': true, '*': true, '+': true, '-': true, '.': true,
	'^': true, '_': true, '`': true, '|': true, '~': true,
	'0': true, '1': true, '2': true, '3': true, '4': true, '5': true, '6': true, '7': true, '8': true, '9': true,
	'A': true, 'B': true, 'C': true, 'D': true, 'E': true, 'F': true, 'G': true, 'H': true, 'I': true, 'J': true,
	'K': true, 'L': true, 'M': true, 'N': true, 'O': true, 'P': true, 'Q': true, 'R': true, 'S': true, 'T': true,
	'U': true, 'V': true, 'W': true, 'X': true, 'Y': true, 'Z': true,
	'a': true, 'b': true, 'c': true, 'd': true, 'e': true, 'f': true, 'g': true, 'h': true, 'i': true, 'j': true,
	'k': true, 'l': true, 'm': true, 'n': true, 'o': true, 'p': true, 'q': true, 'r': true, 's': true, 't': true,
	'u': true, 'v': true, 'w': true, 'x': true, 'y': true, 'z': true,
}

// blankHeader makes the head that answers are parsed into: one that keeps the
// Date it is given and adds nothing. fasthttp sets the bits for that only on
// the answers of a Server with such settings, hence a server for one request.
func blankHeader() (*fasthttp.ResponseHeader, error) {
	blank := new(fasthttp.ResponseHeader)
	server := fasthttp.Server{
		NoDefaultDate: true, NoDefaultContentType: true, NoDefaultServerHeader: true,
		Handler: func(ctx *fasthttp.RequestCtx) { ctx.Response.Header.CopyTo(blank) },
	}
	near, far := net.Pipe()
	done := make(chan error, 1)
	go func() { done <- server.ServeConn(far) }()
	_, err := io.WriteString(near, "HEAD / HTTP/1.1\r\nHost: blank\r\nConnection: close\r\n\r\n")
	if err == nil {
		_, err = io.Copy(io.Discard, near)
	}
	near.Close()
	return blank, errors.Join(err, <-done)
}
