package ssi

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// Errors of a run.
var (
	// ErrTooLarge says that a run printed more than Env.MaxPage, or that an Includer gathered more than the page may hold.
	ErrTooLarge = errors.New("ssi: page is larger than the limit")
	// ErrPending is WriteTo's answer where an include is not at hand and Env.AtHand forbids asking for it.
	ErrPending = errors.New("ssi: an include is not at hand")
	// ErrClosed is WriteTo's answer when the run was closed before all was printed.
	ErrClosed = errors.New("ssi: run is closed")
)

var (
	errBudget   = errors.New("the run inserts and matches more than it may")
	errDeadline = errors.New("no answer before the deadline")
	errPanic    = errors.New("panic while it was answered")
	errNobody   = errors.New("nobody answers includes here")
)

// workPerByte is how many bytes a run may insert and match for each byte that it may print.
const workPerByte = 4

// Run is one run of a template. Wait, WriteTo and the methods that want a complete run are for one goroutine;
// Close may be called by any.
type Run struct {
	env   Env
	ctx   context.Context // of the caller
	fetch context.Context // given to Fetch; made with the first of them, as are cancel, timer and done

	cancel context.CancelFunc
	timer  *time.Timer
	done   chan struct{} // closed when complete

	includes, printed, work, reports     atomic.Int64
	stopped, tooLarge, failed, countTold atomic.Bool

	wg sync.WaitGroup // goroutines, and the timer while it is set

	mu       sync.Mutex
	changed  sync.Cond // something more is shown, or the run was closed
	complete bool
	expired  bool
	closed   bool
	calls    []*call

	page  document
	first [12]piece // of the page: spares the usual one an allocation
}

// Start runs text and directives up to what has to wait; includes go off in parallel. It returns without waiting.
// ctx ends the Fetches. The Run must be closed.
func (t *Template) Start(ctx context.Context, env *Env) *Run {
	r := &Run{env: *env, ctx: ctx}
	if r.env.MaxDepth <= 0 {
		r.env.MaxDepth = DefaultMaxDepth
	}
	if r.env.MaxIncludes <= 0 {
		r.env.MaxIncludes = DefaultMaxIncludes
	}
	if r.env.MaxPage <= 0 {
		r.env.MaxPage = DefaultMaxPage
	}
	if r.env.Location == nil {
		r.env.Location = time.Local
	}
	r.changed.L = &r.mu
	d := &r.page
	d.run, d.open, d.pieces = r, 1, r.first[:0]
	d.scope = &d.own
	d.begin(t, 0, len(t.code), r.env.Variables)
	d.exec()
	return r
}

// Wait waits until all is printed or d has passed; true: the run is complete. With d <= 0 it just asks; a run that
// waits for nothing but what is not at hand (Env.AtHand) is told at once.
func (r *Run) Wait(d time.Duration) bool {
	r.mu.Lock()
	complete := r.complete
	r.mu.Unlock()
	if complete || d <= 0 || r.done == nil {
		return complete
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-r.done:
		return true
	case <-timer.C:
		return false
	}
}

// Done is closed when all is printed. It is nil for a run that never had to wait, or that waits for what is not at
// hand: Wait tells which.
func (r *Run) Done() <-chan struct{} { return r.done }

// Err is ErrTooLarge when the limit was hit, else nil; known when complete.
func (r *Run) Err() error {
	if r.tooLarge.Load() {
		return ErrTooLarge
	}
	return nil
}

// Failed says that some include failed, so that its stub or the error message stands for it, or a variable kept its
// old value; known when complete.
func (r *Run) Failed() bool { return r.failed.Load() }

// Close cancels what is pending and waits for its goroutines. It must be called, and may be called again.
func (r *Run) Close() {
	r.stopped.Store(true)
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.changed.Broadcast()
	if r.done == nil {
		return
	}
	r.cancel()
	if r.timer != nil && r.timer.Stop() {
		r.wg.Done()
	}
	r.wg.Wait()
}

// spend takes n bytes of work from the budget.
func (r *Run) spend(n int) error {
	if r.work.Add(int64(n))/workPerByte > r.env.MaxPage {
		return errBudget
	}
	return nil
}

// overflow ends the run early; what is pending is given up.
func (r *Run) overflow() {
	r.tooLarge.Store(true)
	r.stopped.Store(true)
	if r.cancel != nil {
		r.cancel()
	}
}

// call is an include that Fetch is asked for.
type call struct {
	child   *document
	include Include
	settled bool // guarded by Run.mu: answered, or given up
}

// ask lets Fetch answer the include of c, on a goroutine of its own.
func (r *Run) ask(c *document, inc Include) {
	if err := r.ctx.Err(); err != nil {
		c.answer(Fragment{Err: err})
		return
	}
	if r.done == nil {
		r.prepare()
	}
	k := &call{child: c, include: inc}
	r.mu.Lock()
	expired := r.expired
	if !expired {
		r.calls = append(r.calls, k)
		r.wg.Add(1)
	}
	r.mu.Unlock()
	if expired {
		c.answer(Fragment{Err: errDeadline})
		return
	}
	go r.answer(k)
}

// prepare makes what only a run with pending includes needs. The first Fetch always goes off inside Start, so nobody
// else looks at these fields yet.
func (r *Run) prepare() {
	r.fetch, r.cancel = context.WithCancel(r.ctx)
	r.done = make(chan struct{})
	if r.env.Deadline.IsZero() {
		return
	}
	left := time.Until(r.env.Deadline)
	if left <= 0 {
		r.expired = true
		return
	}
	r.wg.Add(1)
	r.timer = time.AfterFunc(left, r.expire)
}

func (r *Run) answer(k *call) {
	defer r.wg.Done()
	f := r.fetchOne(k)
	r.mu.Lock()
	late := k.settled
	k.settled = true
	r.mu.Unlock()
	if !late {
		k.child.answer(f)
	}
}

func (r *Run) fetchOne(k *call) (f Fragment) {
	defer func() {
		if v := recover(); v != nil {
			r.panicked(v)
			f = Fragment{Err: errPanic}
		}
	}()
	return r.env.Includer.Fetch(r.fetch, &k.include)
}

// atHand asks Lookup.
func (r *Run) atHand(inc *Include) (f Fragment, ok bool) {
	if r.env.Includer == nil {
		return Fragment{Err: errNobody}, true
	}
	defer func() {
		if v := recover(); v != nil {
			r.panicked(v)
			f, ok = Fragment{Err: errPanic}, true
		}
	}()
	return r.env.Includer.Lookup(inc)
}

// expire fails what is pending at the deadline. The answers may still come; they are dropped.
func (r *Run) expire() {
	defer r.wg.Done()
	r.mu.Lock()
	r.expired = true
	var pending []*call
	for _, k := range r.calls {
		if !k.settled {
			k.settled = true
			pending = append(pending, k)
		}
	}
	r.mu.Unlock()
	r.cancel()
	for _, k := range pending {
		k.child.answer(Fragment{Err: errDeadline})
	}
}

func (r *Run) panicked(v any) {
	if r.env.Panicked != nil {
		r.env.Panicked(v, debug.Stack())
	}
}
