package origin

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"
	"testing"
	"time"
)

func TestError(t *testing.T) {
	for _, c := range []struct {
		e       Error
		want    string
		kind    string
		timeout bool
	}{
		{Error{Pool: "blog", Server: "10.0.0.7:80", Kind: Dial, Err: syscall.ECONNREFUSED}, `origin: pool "blog": dial 10.0.0.7:80: connection refused`, "dial", false},
		{Error{Pool: "blog", Server: "10.0.0.7:80", Kind: Dial, Err: os.ErrDeadlineExceeded}, `origin: pool "blog": dial 10.0.0.7:80: i/o timeout`, "dial", true},
		{Error{Pool: "blog", Server: "unix:/s", Kind: Reset, Err: io.ErrUnexpectedEOF}, `origin: pool "blog": unix:/s: unexpected EOF`, "reset", false},
		{Error{Pool: "blog", Server: "a:1", Kind: Timeout, Err: errors.New("no answer")}, `origin: pool "blog": a:1: no answer`, "timeout", true},
		{Error{Pool: "blog", Server: "a:1", Kind: Canceled, Err: context.Canceled}, `origin: pool "blog": a:1: context canceled`, "canceled", false},
		{Error{Pool: "blog", Server: "a:1", Kind: Canceled, Err: context.DeadlineExceeded}, `origin: pool "blog": a:1: context deadline exceeded`, "canceled", true},
		{Error{Pool: "blog", Kind: Invalid, Err: errors.New("no token")}, `origin: pool "blog": no token`, "invalid", false},
		{Error{Pool: "", Kind: TooLarge, Err: errHeadTooLarge(9)}, `origin: pool "": the head of the answer is over 9 bytes`, "too_large", false},
		{Error{Pool: "blog", Kind: 99, Err: io.EOF}, `origin: pool "blog": EOF`, "kind(99)", false},
	} {
		if c.e.Error() != c.want || c.e.Kind.String() != c.kind || c.e.Timeout() != c.timeout || !errors.Is(&c.e, c.e.Err) {
			t.Errorf("%q of kind %s, timeout %v; want %q, %s, %v", c.e.Error(), c.e.Kind, c.e.Timeout(), c.want, c.kind, c.timeout)
		}
	}
}

// lateContext is one whose deadline has passed before it has noticed.
type lateContext struct{ context.Context }

func (lateContext) Deadline() (time.Time, bool) { return time.Unix(1, 0), true }

func TestDeadlineOfContext(t *testing.T) {
	if err := over(lateContext{context.Background()}); err != context.DeadlineExceeded {
		t.Errorf("error %v", err)
	}
	if err := over(context.Background()); err != nil {
		t.Errorf("error %v", err)
	}
}
