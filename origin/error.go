package origin

import (
	"errors"
	"fmt"
	"io"
	"net"
)

// Kind says what went wrong with an exchange.
type Kind uint8

const (
	Dial      Kind = iota + 1 // no connection to any server
	Timeout                   // no head, or no byte of a body, in time
	Reset                     // the connection ended before the answer, or before the answer's end
	Malformed                 // what came is not an answer of HTTP/1
	Canceled                  // the context ended
	TooLarge                  // the answer's head is over MaxHead
	Body                      // reading the visitor's body failed
	Invalid                   // the request cannot be written; nothing was sent
)

// String gives the word that metrics use.
func (k Kind) String() string {
	names := [...]string{"", "dial", "timeout", "reset", "malformed", "canceled", "too_large", "body", "invalid"}
	if int(k) >= len(names) {
		return fmt.Sprintf("kind(%d)", uint8(k))
	}
	return names[k]
}

// Error is what Do and the Answer's Read fail with (io.EOF apart).
type Error struct {
	Pool   string // its name
	Server string // the one asked last; "" if none was
	Kind   Kind
	Sent   bool  // at least a byte of the request has left: a server may have acted on it
	Err    error // what happened; never nil
}

func (e *Error) Error() string {
	s := fmt.Sprintf("origin: pool %q: ", e.Pool)
	switch {
	case e.Server == "":
	case e.Kind == Dial:
		s += "dial " + e.Server + ": "
	default:
		s += e.Server + ": "
	}
	return s + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// Timeout reports whether time ran out, be it in dialing (Dial), for the
// answer (Timeout), for the visitor's body (Body) or by the context's deadline
// (Canceled). An edge answers 504 then, and 502 else.
func (e *Error) Timeout() bool {
	return e.Kind == Timeout || isTimeout(e.Err)
}

var (
	errNoAnswer = errors.New("the connection was closed before an answer came")
	errEarly101 = errors.New("status 101 before the request was complete")
	errStray101 = errors.New("status 101 without a request for an upgrade")
	errInterims = fmt.Errorf("over %d interim answers", maxInterim)
)

// isTimeout reports whether err is a deadline that has passed.
func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}

// isCut reports whether err is the end of a connection rather than bytes that
// make no sense.
func isCut(err error) bool {
	var op *net.OpError
	return err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || errors.As(err, &op)
}

// cutError says that a connection ended too early. It is io.ErrUnexpectedEOF
// and, where there is more to say, also what the system said.
func cutError(err error) error {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return io.ErrUnexpectedEOF
	}
	return fmt.Errorf("%w: %w", io.ErrUnexpectedEOF, systemCause(err))
}

// systemCause drops from an error of net the addresses: Error names the server.
func systemCause(err error) error {
	if op, ok := err.(*net.OpError); ok {
		return op.Err
	}
	return err
}
