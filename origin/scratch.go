package origin

import (
	"bufio"
	"bytes"
	"fmt"
)

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
