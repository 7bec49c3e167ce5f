package origin

import (
	"errors"
	"fmt"
	"io"
	"net/http/httputil"
	"os"
	"time"

	"github.com/valyala/fasthttp"
)

// maxInterim is how many 1xx answers one request may get.
const maxInterim = 32

// attempt sends the request to t.server once and reads the head of the answer.
// candidates is the number of servers that could still be tried: each may take
// its share of the time for a connection, so that one that is silent leaves
// some to the others.
func (t *trip) attempt(candidates int, fresh bool) *Error {
	t.server.counters.requests.Add(1)
	t.up, t.stop, t.stale, t.early, t.keep = nil, nil, false, false, false
	t.mem.raw = t.mem.raw[:0]
	now := time.Now()
	dialBy := now.Add(t.deadline.Sub(now) / time.Duration(candidates))
	c, reused, err := t.server.acquire(t.ctx, t.deadline, dialBy, fresh)
	if err != nil {
		return t.fail(Dial, systemCause(err))
	}
	t.conn, t.reused = c, reused
	t.watch()
	t.br = t.server.client.AcquireReader(c)

	n, werr := c.Write(t.mem.request)
	t.sent = t.sent || n > 0
	if werr == nil {
		t.startUpload()
	}
	h, err := t.readHeads()
	if err != nil {
		if werr != nil && !isTimeout(err) {
			err = werr // it came first
		}
		return t.fail(t.judge(err))
	}
	t.keep = h.keeps() && werr == nil && !t.early
	if h.status == fasthttp.StatusSwitchingProtocols {
		return t.upgrade()
	}
	t.begin(h)
	return nil
}

// startUpload begins to send the body, if there is one, beside the reading of
// the answer: an answer may come before the body has been sent.
func (t *trip) startUpload() {
	if t.x.Body == nil || t.x.BodySize == 0 {
		return
	}
	t.up = newUpload(t.conn.Conn, t.x, t.pool.options.Idle, t.timeout)
	t.up.progress(false)
	go t.up.run(&t.pool.chunks)
}

// readHeads reads heads up to and with the final one, or a 101. Those before
// it go to Interim.
func (t *trip) readHeads() (head, error) {
	fields := &t.x.Response.Header
	for n := 0; ; n++ {
		if _, err := t.br.Peek(1); err != nil {
			t.stale = n == 0 && t.reused && !isTimeout(err)
			return head{}, err
		}
		t.early = t.up != nil && !t.up.last.Load()
		if err := checkProtocol(t.br); err != nil {
			return head{}, err
		}
		if err := t.mem.gather(t.br, t.pool.options.MaxHead); err != nil {
			return head{}, err
		}
		t.pool.blank.CopyTo(fields)
		h, err := t.mem.parse(fields)
		if err != nil || h.status >= 200 || h.status == fasthttp.StatusSwitchingProtocols {
			return h, err
		}
		if n == maxInterim {
			return h, malformed{errInterims}
		}
		if t.x.Interim != nil {
			t.x.Interim(fields)
		}
	}
}

// begin hands out the answer whose head has come.
func (t *trip) begin(h head) {
	if t.up != nil {
		t.up.answered(h.status)
	}
	t.conn.idle = t.pool.options.Idle
	switch {
	case h.status == fasthttp.StatusNoContent, h.status == fasthttp.StatusNotModified, t.x.Request.Header.IsHead():
		t.left = 0
	case h.chunked:
		t.left, t.chunks = -1, httputil.NewChunkedReader(t.br)
	case h.length >= 0:
		t.left = h.length
	default:
		t.left, t.keep = -1, false
	}
	t.x.Answer, t.x.Size, t.x.Server = t, t.left, t.server.name
	if t.left == 0 {
		t.end()
	}
}

// judge tells the kind of an error met while the head was awaited, and says it
// in our words.
func (t *trip) judge(err error) (Kind, error) {
	var bad malformed
	var large errHeadTooLarge
	switch {
	case errors.As(err, &bad):
		return Malformed, err
	case errors.As(err, &large):
		return TooLarge, err
	case isTimeout(err) && t.up != nil && t.up.failure() == nil && !t.up.ended():
		return t.up.stalled()
	case isTimeout(err):
		return Timeout, fmt.Errorf("no answer within %s: %w", t.timeout, os.ErrDeadlineExceeded)
	case err == io.EOF && len(t.mem.raw) == 0:
		return Reset, errNoAnswer
	}
	return Reset, cutError(err)
}
