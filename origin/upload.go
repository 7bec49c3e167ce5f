package origin

import (
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// upload sends the body of a request, on a goroutine of its own. While it does
// so, and no answer has begun, it also moves the connection's read deadline:
// no progress for a while, and the answer's reader wakes up and gives up.
type upload struct {
	conn    net.Conn
	body    io.Reader
	left    int64 // bytes to send; -1: until the body ends, chunked
	idle    time.Duration
	timeout time.Duration // from the body sent to the head of the answer

	last    atomic.Bool   // the last write has begun; an answer from here on is not early
	reading atomic.Bool   // in a Read of body
	done    chan struct{} // closed at the end of run

	mu       sync.Mutex
	hasHead  bool  // the read deadline is the answer's
	whole    bool  // the answer is there: a write that has begun has lastWait
	stopped  bool  // nothing more is to be sent
	bodyErr  error // reading body failed
	writeErr error
}

func newUpload(conn net.Conn, x *Exchange, idle, timeout time.Duration) *upload {
	return &upload{
		conn: conn, body: x.Body, left: max(x.BodySize, -1),
		idle: idle, timeout: timeout, done: make(chan struct{}),
	}
}

// run sends the body; pool has *chunk.
func (u *upload) run(pool *sync.Pool) {
	defer close(u.done)
	defer func() {
		if v := recover(); v != nil {
			u.fail(fmt.Errorf("panic in reading the body: %v", v))
		}
	}()
	c := pool.Get().(*chunk)
	defer pool.Put(c)
	for {
		n, last, err := u.read(c)
		if u.isStopped() {
			return
		}
		if err != nil {
			u.fail(err)
			return
		}
		if last {
			u.last.Store(true)
		}
		if err := u.write(c.frame(n, u.left < 0, last)); err != nil {
			u.broken(err)
			return
		}
		u.progress(last)
		if last {
			return
		}
	}
}

// maxEmptyReads is how often a body may give nothing and no error.
const maxEmptyReads = 100

// read fills c with the next bytes of the body. A body with a length is not
// asked for more than that.
func (u *upload) read(c *chunk) (n int, last bool, err error) {
	u.reading.Store(true)
	defer u.reading.Store(false)
	p := c.data()
	if u.left >= 0 {
		p = p[:min(u.left, int64(len(p)))]
	}
	for range maxEmptyReads {
		n, err = u.body.Read(p)
		if u.left >= 0 {
			u.left -= int64(n)
		}
		switch {
		case u.left == 0:
			return n, true, nil
		case err == io.EOF && u.left > 0:
			return n, false, fmt.Errorf("the body ended %d bytes early: %w", u.left, io.ErrUnexpectedEOF)
		case err == io.EOF:
			return n, true, nil
		case err != nil || n > 0:
			return n, false, err
		}
	}
	return 0, false, io.ErrNoProgress
}

func (u *upload) write(p []byte) error {
	if err := u.limitWrite(false); err != nil {
		return err
	}
	_, err := u.conn.Write(p)
	return err
}

// limitWrite sets the time that a write has. Once the answer is whole that is
// little, also for the write that was just about to begin.
func (u *upload) limitWrite(whole bool) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	wait := u.idle
	if u.whole = u.whole || whole; u.whole {
		wait = lastWait
	}
	return u.conn.SetWriteDeadline(time.Now().Add(wait))
}

// progress renews the time that the answer's reader waits: for more progress,
// or, once all is sent, for the answer.
func (u *upload) progress(sent bool) {
	wait := u.idle
	if sent {
		wait = u.timeout
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.hasHead {
		// It fails on a closed connection only, which the reader sees too.
		_ = u.conn.SetReadDeadline(time.Now().Add(wait))
	}
}

// broken notes that the server takes no more. It may have answered, so the
// answer's reader goes on; after a timeout it is woken.
func (u *upload) broken(err error) {
	u.mu.Lock()
	u.writeErr = err
	hasHead := u.hasHead
	u.mu.Unlock()
	switch {
	case hasHead:
	case isTimeout(err):
		_ = u.conn.SetReadDeadline(time.Unix(1, 0))
	default:
		u.progress(true)
	}
}

// fail notes that the body failed, and ends the exchange: the server must not
// take what it got for the whole.
func (u *upload) fail(err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.stopped {
		return // nobody waits for it any more
	}
	u.bodyErr = err
	u.conn.Close()
}

// failure gives the error of reading the body, nil if there was none yet.
func (u *upload) failure() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.bodyErr
}

// stalled says who held up the body when no progress was made in time.
func (u *upload) stalled() (Kind, error) {
	if u.reading.Load() {
		return Body, fmt.Errorf("no byte of the request's body for %s: %w", u.idle, os.ErrDeadlineExceeded)
	}
	return Timeout, fmt.Errorf("no byte of the request's body taken for %s: %w", u.idle, os.ErrDeadlineExceeded)
}

// ended reports whether all was sent, or all that the server would take.
func (u *upload) ended() bool {
	select {
	case <-u.done:
	default:
		return false
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return !isTimeout(u.writeErr)
}

// complete reports whether all was sent. It is asked after done.
func (u *upload) complete() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.last.Load() && u.writeErr == nil && u.bodyErr == nil
}

func (u *upload) isStopped() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.stopped
}

// answered notes that the final head has come. A refusal ends the sending
// (RFC 9112 section 9.5): bytes that nobody reads make the server's system
// reset the connection, and the answer may be lost with it. Else it goes on
// until the answer is closed: some servers answer while they read.
func (u *upload) answered(status int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.hasHead = true
	u.stopped = u.stopped || status >= 400
}

// lastWait is how long a last write that has begun may take to return once the
// whole answer is there. It returns at once, unless the server never read.
const lastWait = 10 * time.Millisecond

// end stops the goroutine and waits for it. It reports whether the connection
// can be kept: all was sent. keep: so it seems.
func (u *upload) end(keep bool) bool {
	if keep {
		_ = u.limitWrite(true) // it fails on a closed connection only, and so does the write
		<-u.done
		return u.complete()
	}
	u.mu.Lock()
	u.stopped = true
	u.mu.Unlock()
	u.conn.Close()
	select {
	case <-u.done:
		return false
	default:
	}
	if b, ok := u.body.(Interrupter); ok {
		b.Interrupt()
	}
	<-u.done
	return false
}

const (
	chunkPrefix = len("8000\r\n")
	chunkData   = 32 << 10
	chunkSuffix = len("\r\n0\r\n\r\n")
)

// chunk is a buffer with room for what chunked framing puts around the data,
// so that each chunk is one write.
type chunk struct {
	buf [chunkPrefix + chunkData + chunkSuffix]byte
}

func (c *chunk) data() []byte { return c.buf[chunkPrefix : chunkPrefix+chunkData] }

// frame gives the bytes to write for n bytes of data.
func (c *chunk) frame(n int, chunked, last bool) []byte {
	start, end := chunkPrefix, chunkPrefix+n
	if !chunked {
		return c.buf[start:end]
	}
	if n > 0 {
		var size [8]byte
		hex := strconv.AppendInt(size[:0], int64(n), 16)
		start -= len(hex) + len("\r\n")
		copy(c.buf[start:], hex)
		copy(c.buf[chunkPrefix-2:], "\r\n")
		end += copy(c.buf[end:], "\r\n")
	}
	if last {
		end += copy(c.buf[end:], "0\r\n\r\n")
	}
	return c.buf[start:end]
}
