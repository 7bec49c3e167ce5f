package edge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ssiedge/ssiedge/pagecache"
	"github.com/ssiedge/ssiedge/ssi"
)

// pull is fill for an include. Who else asks for the same fragment waits for
// it only where it cannot be anybody's own: a request that carries cookies or
// Authorization which the key does not know is never joined, nor joins.
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
		return a.paged(in, in.stale)
	case personal, unkeepable, in.validatesAlone(time.Now()):
		return a.filled(ctx, in, nil)
	}
	for range 3 { // a purge may come in between: then the question is asked anew
		f, leader := a.state.store.flights.Join(in.keyed.key)
		page, fresh := in.keyed.peek(time.Now())
		if fresh { // another fill has just ended
			if leader {
				f.Finish(pagecache.FlightResult{Outcome: pagecache.FlightInvalidated})
			}
			return a.paged(in, page)
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
	if f, leader := a.state.store.flights.Join(in.keyed.key); leader {
		a.edge.refresh(&in.target, a.visitor, in.stale.Page, f)
	}
}

// leadInclude asks for all who want the fragment.
func (a *assembly) leadInclude(ctx context.Context, in *inner, flight *pagecache.Flight) ssi.Fragment {
	defer flight.Abandon()
	return a.filled(ctx, in, flight)
}

// filled asks the origin, tells those who wait, and gives the fragment.
func (a *assembly) filled(ctx context.Context, in *inner, flight *pagecache.Flight) ssi.Fragment {
	f := &fill{edge: a.edge, target: &in.target, keyed: &in.keyed, visitor: a.visitor, include: true, flight: flight, stale: in.stale.Page}
	done := f.run(ctx, nil)
	switch {
	case done.page != nil && !(done.forOne() && f.asked.Withheld):
		a.countCookies(cookiesIn(done.beside))
		return a.paged(in, found{Hit: pagecache.Hit{Page: done.page}, source: sourceStored})
	case done.failed() && in.mayServeOnError(time.Now()):
		done.close()
		return a.paged(in, in.stale)
	case done.err != nil:
		return a.failed(done.err)
	case f.asked.Withheld:
		done.close()
		return a.fetch(ctx, in)
	case done.read != nil:
		done.close()
		return a.failed(errors.New("larger than limits.max_keep, or in a content coding that nobody here knows"))
	}
	return a.replied(in, done.reply)
}

// followInclude waits for another's fill. false: it was invalidated, and the
// include may join a new one.
func (a *assembly) followInclude(ctx context.Context, in *inner, f *pagecache.Flight) (ssi.Fragment, bool) {
	select {
	case <-f.Done():
	case <-ctx.Done():
		return a.failed(ctx.Err()), true
	}
	res := f.Result()
	switch {
	case res.Outcome == pagecache.FlightInvalidated,
		res.Outcome == pagecache.FlightKept && in.keyed.verdict(res.Page) == pagecache.Gone:
		return ssi.Fragment{}, false
	case res.Outcome == pagecache.FlightKept && res.Fits(in.keyed.key, in.keyed.field):
		a.edge.metrics.collapsed.Add(1)
		return a.paged(in, found{Hit: pagecache.Hit{Page: res.Page}, source: sourceStored}), true
	case res.Outcome == pagecache.FlightFailed && in.mayServeOnError(time.Now()):
		return a.paged(in, in.stale), true
	case res.Outcome == pagecache.FlightFailed && res.Status != 0 && !a.visitor.identified() && !a.site.options.SSI.PasteErrors:
		return a.failed(fmt.Errorf("the origin answered %d", res.Status)), true
	}
	return a.fetch(ctx, in), true
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
