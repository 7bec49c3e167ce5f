package origin

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
)

var (
	errClosed   = errors.New("origin: read of a closed answer")
	errTrailers = errors.New("the trailers are over the limit of a head")
)

// Read reads the answer's body. A trip is the io.ReadCloser of its own answer:
// one allocation for both, and no answer is ever used by the next exchange.
func (t *trip) Read(p []byte) (int, error) {
	if t.err != nil {
		return 0, t.err
	}
	if len(p) == 0 {
		return 0, nil
	}
	n, err := t.readBody(p)
	switch {
	case err == io.EOF || err == nil && t.left == 0:
		t.end()
		if n == 0 {
			return 0, t.err
		}
		return n, nil
	case err != nil:
		t.err = t.fail(t.judgeBody(err))
	}
	return n, t.err
}

// readBody reads some of the body. io.EOF: it is whole.
func (t *trip) readBody(p []byte) (int, error) {
	if t.chunks != nil {
		n, err := t.chunks.Read(p)
		if err == io.EOF {
			err = t.skipTrailers()
		}
		return n, err
	}
	if t.left < 0 {
		return t.br.Read(p)
	}
	n, err := t.br.Read(p[:min(int64(len(p)), t.left)])
	t.left -= int64(n)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// skipTrailers reads what follows the last chunk, up to and with the empty
// line, and drops it. It gives io.EOF if that is there.
func (t *trip) skipTrailers() error {
	begun := false // the line, by a piece that filled the buffer
	for total := 0; ; {
		line, err := t.br.ReadSlice('\n')
		if total += len(line); total > t.pool.options.MaxHead {
			return errTrailers
		}
		switch {
		case err == io.EOF:
			return io.ErrUnexpectedEOF
		case err != nil && err != bufio.ErrBufferFull:
			return err
		case err == nil && !begun && (string(line) == "\r\n" || string(line) == "\n"):
			return io.EOF
		}
		begun = err != nil
	}
}

// end notes that the body is whole, and lets go of the connection. While the
// request's body is still being sent, that waits for Close.
func (t *trip) end() {
	t.err = io.EOF
	if !t.early {
		t.finish(true)
	}
}

// Close lets go of the connection: it is kept if the body was read to its end.
// It waits until the request's body is no longer read. It always gives nil.
func (t *trip) Close() error {
	t.finish(t.err == io.EOF)
	t.err = errClosed
	return nil
}

// judgeBody tells the kind of an error met in the body, and says it in our
// words.
func (t *trip) judgeBody(err error) (Kind, error) {
	switch {
	case isTimeout(err):
		return Timeout, fmt.Errorf("no byte of the answer's body for %s: %w", t.pool.options.Idle, os.ErrDeadlineExceeded)
	case isCut(err):
		return Reset, cutError(err)
	}
	return Malformed, err
}
