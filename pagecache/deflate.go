package pagecache

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
)

// mostInflated is the most bytes that a byte of deflate can stand for.
const mostInflated = 1032

// errFull is the error of a write over a bound.
var errFull = errors.New("pagecache: no room for so many bytes")

// EncodeWithin is Encode into a new slice of at most limit bytes: where the
// envelope would have more, its body is compressed, which the envelope says.
// nil: that is too large too, or cannot be. It costs processor time, so it is
// for tiers that could not keep the page otherwise.
func EncodeWithin(key []byte, journal string, p *Page, limit int) []byte {
	size := EnvelopeSize(key, journal, p)
	if size <= limit {
		return Encode(make([]byte, 0, size), key, journal, p)
	}
	if len(p.Body) == 0 {
		return nil // it is the head that is large, or a list of variants
	}
	m := preambleOf(key, journal, p, 0)
	m.inflated = uint32(len(p.Body))
	body := deflate(p.Body, limit-len(p.Head))
	if body == nil {
		return nil
	}
	m.body = uint32(len(body))
	envelope := append(m.start(nil, p.Head, body), body...)
	if len(envelope) > limit {
		return nil
	}
	return envelope
}

// deflate compresses, fast rather than small; nil: the result would have more
// than most bytes. It gives up as soon as that is sure.
func deflate(b []byte, most int) []byte {
	to := &boundedBuffer{most: most}
	w, err := flate.NewWriter(to, flate.BestSpeed)
	if err != nil {
		panic("BUG: pagecache: " + err.Error())
	}
	if _, err := w.Write(b); err != nil {
		return nil
	}
	if w.Close() != nil {
		return nil
	}
	return to.Bytes()
}

// inflate undoes deflate; n is the bytes there were before it.
func inflate(b []byte, n uint32) ([]byte, error) {
	if uint64(n) > mostInflated*uint64(len(b)) {
		return nil, fmt.Errorf("%w: %d bytes of deflate cannot be %d", ErrEnvelope, len(b), n)
	}
	from := bytes.NewReader(b)
	r := flate.NewReader(from)
	body := make([]byte, n)
	_, err := io.ReadFull(r, body)
	if more, end := io.ReadFull(r, make([]byte, 1)); err != nil || more > 0 || end != io.EOF || from.Len() > 0 {
		return nil, fmt.Errorf("%w: its body is no deflate of %d bytes", ErrEnvelope, n)
	}
	return body, nil
}

// boundedBuffer is a buffer that takes no write over its bound.
type boundedBuffer struct {
	bytes.Buffer
	most int
}

func (b *boundedBuffer) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.most {
		return 0, errFull
	}
	return b.Buffer.Write(p)
}
