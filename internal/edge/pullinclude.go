package edge

import (
	"context"
	"fmt"
	"time"

	"github.com/ssiedge/ssiedge/pagecache"
	"github.com/ssiedge/ssiedge/ssi"
)

// pull is fill for an include. Who else asks for the same fragment waits for
// it only where it cannot be anybody's own: a request that carries cookies or
// Authorization which the key does not know is never joined, nor joins, and no
// page stands or falls with what another asked for.
func (a *assembly) pull(ctx context.Context, in *inner) ssi.Fragment {
	if !in.pulls() {
		return a.fetch(ctx, in)
	}
	personal := in.settings.keep.mode() == CookiesAll && a.visitor.identified()
	switch unkeepable := a.state.store.notKeepable.Has(in.keyed.key); {
	case unkeepable && a.visitor.identified():
		return a.fetch(ctx, in)
	case in.mayServeWhile(time.Now()):
		a.refreshInclude(in)
		return a.settle(in, came{page: in.stale})
	case personal, unkeepable, in.settings.required, in.validatesAlone(time.Now()):
		return a.fill(ctx, in)
	}
	for range 3 { // a purge may come in between: then the question is asked anew
		f, leader := a.state.store.flights.Join(in.keyed.key)
		page, fresh := in.keyed.peek(time.Now())
		if fresh { // another fill has just ended
			if leader {
				f.Finish(pagecache.FlightResult{Outcome: pagecache.FlightInvalidated})
			}
			return a.settle(in, came{page: page})
		}
		if page.Page != nil {
			in.stale = page
		}
		if leader {
			return a.leadInclude(ctx, in, f)
		}
		if frag, ok := a.followInclude(ctx, in, f); ok {
			return frag
		}
	}
	return a.fetch(ctx, in)
}

// refreshInclude fills a fragment again while the stale one is used, unless
// somebody does so already.
func (a *assembly) refreshInclude(in *inner) {
	if a.state.store.resting.Has(in.keyed.key) {
		return
	}
	if f, leader := a.state.store.flights.Join(in.keyed.key); leader {
		a.edge.refresh(&in.target, a.visitor, in.stale.Page, f)
	}
}

// fill asks for a fragment that nobody waits for but this visitor.
func (a *assembly) fill(ctx context.Context, in *inner) ssi.Fragment {
	f := a.newFill(in, nil)
	done := f.run(ctx, nil)
	return a.filled(ctx, in, f, &done)
}

func (a *assembly) newFill(in *inner, flight *pagecache.Flight) *fill {
	return &fill{
		edge: a.edge, target: &in.target, keyed: &in.keyed, visitor: a.visitor,
		include: true, room: &a.room, flight: flight, stale: in.stale.Page,
	}
}

// leadInclude asks for all who want the fragment. The question is not this
// visitor's alone, so it goes on when he leaves, on a goroutine that has
// nothing of his request.
func (a *assembly) leadInclude(ctx context.Context, in *inner, flight *pagecache.Flight) ssi.Fragment {
	l := &lead{fill: a.newFill(in, flight).detached(), result: make(chan filled), left: make(chan struct{})}
	living, cancel := context.WithCancel(a.edge.living)
	if !a.edge.background.start(func() { l.run(living, cancel) }) {
		cancel()
		flight.Abandon()
		return a.settle(in, came{err: context.Canceled})
	}
	select {
	case done, ok := <-l.result:
		if !ok {
			cancel()
			return a.settle(in, came{err: errPanicked})
		}
		defer cancel()
		defer context.AfterFunc(ctx, cancel)() // what is left of the answer is his alone
		return a.filled(ctx, in, l.fill, &done)
	case <-ctx.Done():
		close(l.left)
		return a.settle(in, came{err: ctx.Err()})
	}
}

// lead is a fill that many may wait for, on its own goroutine.
type lead struct {
	fill   *fill
	result chan filled   // closed without one: it panicked
	left   chan struct{} // closed when nobody wants the result
}

func (l *lead) run(ctx context.Context, cancel context.CancelFunc) {
	defer close(l.result)
	defer l.fill.abandon()
	defer l.fill.edge.recovered("include")
	done := l.fill.run(ctx, nil)
	select {
	case l.result <- done: // and with it cancel
	case <-l.left:
		done.close()
		cancel()
	}
}

// followInclude waits for another's fill, as long as the page does. false: it
// was invalidated, and the include may join a new one.
func (a *assembly) followInclude(ctx context.Context, in *inner, f *pagecache.Flight) (ssi.Fragment, bool) {
	select {
	case <-f.Done():
	case <-ctx.Done():
		return a.settle(in, came{err: ctx.Err()}), true
	}
	res := f.Result()
	switch {
	case res.Outcome == pagecache.FlightInvalidated,
		res.Outcome == pagecache.FlightKept && in.keyed.verdict(res.Page) == pagecache.Gone:
		return ssi.Fragment{}, false
	case res.Outcome == pagecache.FlightKept && res.Fits(in.keyed.key, in.keyed.field):
		a.edge.metrics.collapsed.Add(1)
		return a.settle(in, came{page: found{Hit: pagecache.Hit{Page: res.Page}, source: sourceStored}}), true
	case res.Outcome == pagecache.FlightFailed && a.sharesFailure(in, &res):
		return a.settle(in, came{err: fmt.Errorf("the origin answered %d to another who asked", res.Status)}), true
	}
	return a.fetch(ctx, in), true
}

// sharesFailure says whether one who waited for a fill that failed takes that
// for his own answer: the stale page may stand for it, or the question was
// nobody's in particular. Where errors are pasted he needs what came.
func (a *assembly) sharesFailure(in *inner, r *pagecache.FlightResult) bool {
	if a.site.options.SSI.PasteErrors {
		return false
	}
	return in.mayServeOnError(time.Now()) || r.Status != 0 && !a.visitor.identified()
}

func (in *inner) mayServeWhile(now time.Time) bool {
	return in.stale.Page != nil && in.keyed.mayServeWhile(in.stale.Page, now)
}

// validatesAlone is as for a request.
func (in *inner) validatesAlone(now time.Time) bool {
	p := in.stale.Page
	return p != nil && p.NeverFresh() && p.HasValidator() && !in.mayServeWhile(now)
}

func (in *inner) mayServeOnError(now time.Time) bool {
	return in.stale.Page != nil && in.keyed.mayServeOnError(in.stale.Page, now)
}
