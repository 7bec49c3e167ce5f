package edge

import (
	"errors"
	"io"
	"runtime/debug"
	"sync"

	"github.com/ssiedge/ssiedge/pagecache"
	"github.com/ssiedge/ssiedge/ssi"
)

// streamBuffer is how much of a body is in our hands at once.
const streamBuffer = 32 << 10

// body is an answer's body that is written in pieces: each gets a write
// deadline of its own, so a stalled reader is cut and a steady one lives, and
// what the request still holds is given back at the end.
//
// fasthttp calls WriteTo and, when the answer is over or broken, Close. (A
// SetBodyStreamWriter would run on a goroutine whose panic ends the process.)
type body struct {
	request *request
	source  io.Reader
	slices  sliceReader // instead of source
	run     io.WriterTo // instead of source
	closer  io.Closer   // closed with the body; may be nil
	sent    int64
	failed  error // why the source broke off; nil when it did not
	once    sync.Once
}

var buffers = sync.Pool{New: func() any { return new([streamBuffer]byte) }}

// sliceReader is a source whose bytes are sent without a copy.
type sliceReader interface {
	// Next gives at most max bytes that stay as they are until the next call,
	// or io.EOF, or why there are no more.
	Next(max int) ([]byte, error)
}

var (
	_ sliceReader = (*pagecache.ArrivalReader)(nil)
	_ sliceReader = (*heldBody)(nil)
)

// heldBody is a body in memory.
type heldBody struct{ rest []byte }

// Next is that of sliceReader.
func (h *heldBody) Next(max int) ([]byte, error) {
	if len(h.rest) == 0 {
		return nil, io.EOF
	}
	b := h.rest[:min(len(h.rest), max)]
	h.rest = h.rest[len(b):]
	return b, nil
}

// streamSlices is stream for what need not be copied.
func (r *request) streamSlices(s sliceReader, size int64, closer io.Closer) {
	r.streamBody(&body{request: r, slices: s, closer: closer}, size)
}

// stream makes source the answer's body; size -1 is unknown. The request is
// finished when the body is closed.
func (r *request) stream(source io.Reader, size int64, closer io.Closer) {
	r.streamBody(&body{request: r, source: source, closer: closer}, size)
}

func (r *request) streamBody(b *body, size int64) {
	r.streaming = true
	if size < 0 && !r.ctx.Request.Header.IsHTTP11() {
		r.closeDelimited(b)
		return
	}
	// Who streams may pause before the first byte; the head does not wait for it.
	r.ctx.Response.ImmediateHeaderFlush = size < 0
	r.ctx.Response.SetBodyStream(b, int(size))
}

// SupportsBodyWriteTo makes fasthttp call WriteTo for chunked bodies too.
func (b *body) SupportsBodyWriteTo() bool { return true }

// Read is what fasthttp wants of a body; it calls WriteTo.
func (b *body) Read([]byte) (int, error) { panic("BUG: body is written by WriteTo") }

// WriteTo sends the body. A panic in it is reported here and breaks the answer
// off: its head has left, so there is no 500 to give.
func (b *body) WriteTo(w io.Writer) (n int64, err error) {
	defer func() {
		if v := recover(); v != nil {
			b.request.edge.panicked("answer", v, debug.Stack())
			n, err = b.sent, errPanicked
		}
	}()
	pw := &progressWriter{w: w, body: b}
	if b.run != nil {
		n, err = b.run.WriteTo(pw)
		if errors.Is(err, ssi.ErrTooLarge) {
			b.failed = err
		}
		return n, err
	}
	if b.slices != nil {
		err = b.copySlices(pw)
	} else {
		err = b.copy(pw)
	}
	return b.sent, err
}

var errPanicked = errors.New("edge: panic while the answer was written")

func (b *body) copy(pw *progressWriter) error {
	buf := buffers.Get().(*[streamBuffer]byte)
	defer buffers.Put(buf)
	for {
		n, err := b.source.Read(buf[:])
		if n > 0 {
			if _, werr := pw.Write(buf[:n]); werr != nil {
				return werr
			}
		}
		if err != nil {
			return b.over(err)
		}
	}
}

func (b *body) copySlices(pw *progressWriter) error {
	for {
		data, err := b.slices.Next(streamBuffer)
		if err != nil {
			return b.over(err)
		}
		if _, err := pw.Write(data); err != nil {
			return err
		}
	}
}

// over notes how the source ended.
func (b *body) over(err error) error {
	if err == io.EOF {
		return nil
	}
	b.failed = err
	return err
}

// Close gives back what the body held and ends the request: it is the last
// thing that happens to it. fasthttp may call it twice.
func (b *body) Close() error {
	b.once.Do(func() {
		if b.closer != nil {
			b.closer.Close()
		}
		if r := b.request; r.streaming { // not after a panic: that was finished as a 500
			r.ended(b.failed)
			r.finish(b.sent)
		}
	})
	return nil
}

// progressWriter renews the write deadline before each write and counts.
type progressWriter struct {
	w    io.Writer
	body *body
}

func (p *progressWriter) Write(data []byte) (int, error) {
	p.body.request.writeSoon()
	n, err := p.w.Write(data)
	p.body.sent += int64(n)
	return n, err
}

// ended notes why a body broke off.
func (r *request) ended(err error) {
	if err != nil {
		r.edge.metrics.broken.Add(1)
		r.edge.reports.add(report{site: r.site, path: r.url.raw, kind: "body", message: err.Error()})
	}
}
