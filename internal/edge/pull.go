package edge

import (
	"time"

	"github.com/valyala/fasthttp"

	"github.com/ssiedge/ssiedge/pagecache"
)

// fill is step 7 for a visitor: nobody has the page. One request a key asks
// the origin; the others wait for what comes of it, or go at once where it is
// known that nothing will be kept.
func (r *request) fill() {
	if !r.mayFill() {
		r.fillsNothing()
		return
	}
	if r.wished.noStore {
		r.result.reason = "request"
		r.forward()
		return
	}
	if r.unkeepable {
		r.fillUnkeepable()
		return
	}
	if r.asksAlone() {
		r.answer(r.newFill(nil))
		return
	}
	if r.state.store.resting.Has(r.keyed.key) && r.revalidating() {
		return
	}
	// A purge may come in between: then the question is asked anew.
	for range 3 {
		f, leader := r.state.store.flights.Join(r.keyed.key)
		if leader {
			r.lead(f)
			return
		}
		if r.revalidating() || r.follow(f) || r.lookAgain() {
			return
		}
	}
	r.forward()
}

// asksAlone says whether the request has to ask the origin itself, so that there
// is nothing to wait for: the visitor wants that, or the page wants each use to
// be validated.
func (r *request) asksAlone() bool {
	p := r.stale.Page
	return r.passedOver || r.wished.wantsOwn() || p != nil && p.NeverFresh() && p.HasValidator() && !r.mayServeWhile()
}

// mayFill says whether a page may be filled for the request.
func (r *request) mayFill() bool {
	h := &r.ctx.Request.Header
	body := h.ContentLength() > 0 || h.ContentLength() == -1
	return r.pulls() && h.IsGet() && !body
}

// fillsNothing answers what may be answered by a page and fills none: a HEAD,
// a request with a body, which must not shape a page. A page within its window
// will do for a HEAD.
func (r *request) fillsNothing() {
	if r.ctx.IsHead() && (r.revalidating() || r.updates()) {
		return
	}
	r.forward()
}

// fillUnkeepable is for a key whose last answer could not be kept: nobody
// waits. A request that is nobody's in particular still goes out as a fill
// would, so that the mark goes when the app changes its mind; but one for a
// part, or on a condition, gets from the app what it asks for and not a whole
// page that is kept for nobody.
func (r *request) fillUnkeepable() {
	if r.particular() {
		r.result.reason = "not-keepable"
		r.forward()
		return
	}
	r.answer(r.newFill(nil))
}

// particular says whether a request is somebody's own, or for something else
// than the page.
func (r *request) particular() bool {
	h := &r.ctx.Request.Header
	return r.snapshot().identified() || has(h, fieldIfNoneMatch) || has(h, fieldIfModifiedSince) || len(h.Peek(fasthttp.HeaderRange)) > 0
}

// lead asks for all who want the page. A page within its window for that is
// served at once, and the fill goes on in the background. Another fill may have
// ended between the look-up and the start of this one: then what came of it
// holds, and who has joined meanwhile finds it, too.
func (r *request) lead(flight *pagecache.Flight) {
	f, fresh := r.keyed.peek(time.Now())
	if fresh {
		flight.Finish(pagecache.FlightResult{Outcome: pagecache.FlightInvalidated})
		r.respondPage(f)
		return
	}
	if f.Page != nil {
		r.stale = f
	}
	if r.state.store.notKeepable.Has(r.keyed.key) {
		flight.Abandon()
		r.fillUnkeepable()
		return
	}
	if r.mayServeWhile() {
		r.edge.refresh(&r.target, r.snapshot(), r.stale.Page, flight)
		r.respondPage(r.stale)
		return
	}
	fill := r.newFill(flight)
	defer fill.abandon()
	r.answer(fill)
}

// lookAgain answers by a page that came into memory since the look-up.
func (r *request) lookAgain() bool {
	f, fresh := r.keyed.peek(time.Now())
	if fresh {
		r.respondPage(f)
	}
	return fresh
}

func (r *request) newFill(flight *pagecache.Flight) *fill {
	return &fill{edge: r.edge, target: &r.target, keyed: &r.keyed, visitor: r.snapshot(), streams: true, flight: flight, stale: r.stale.Page}
}

// answer asks the origin, tells those who wait, and answers the visitor.
func (r *request) answer(f *fill) {
	done := f.run(r.edge.living, r.interim())
	r.result.variants = f.variants
	switch {
	case done.arrives != nil:
		r.answerArriving(&done)
	case done.page != nil && !(done.forOne() && f.asked.Withheld):
		r.answerPage(&done)
	case done.failed() && r.serveOnError(done.status()):
		done.close()
	case done.err != nil:
		r.source = sourceMiss
		r.unanswered(done.err)
	case f.asked.Withheld:
		// The reply was made without the visitor's cookies, and is not for
		// everybody: perhaps it signs him out, or in as nobody.
		done.close()
		r.result.reason = done.reason.String()
		r.forward()
	case done.failure != nil:
		r.result.reason, r.result.beside = done.reason.String(), done.beside
		r.respondFailure(done.failure)
	default:
		r.source, r.result.reason, r.result.whole = sourceMiss, done.reason.String(), true
		r.respondRead(done.reply, done.read)
	}
}

func (d *filled) close() {
	if d.reply != nil {
		d.reply.close()
	}
}

// answerPage answers with the page that was just filled.
func (r *request) answerPage(done *filled) {
	r.result.kept = done.kept
	if !done.kept {
		r.result.reason = done.reason.String()
	}
	r.result.beside, r.result.validate = done.beside, done.validate
	r.result.forwarded = done.forwarded
	r.respondPage(found{Hit: pagecache.Hit{Page: done.page}, source: sourceStored, ttl: done.page.TTL(r.began)})
}

// follow waits for another's fill. false: it was invalidated, or its page was
// purged, and the request may join a new one.
func (r *request) follow(f *pagecache.Flight) bool {
	timer := time.NewTimer(r.site.options.Cache.FillWait)
	defer timer.Stop()
	select {
	case <-f.Done():
	case <-f.Arriving():
	case <-timer.C:
		r.result.reason = "fill-wait"
		r.forward()
		return true
	}
	res := f.Result()
	switch {
	case res.Outcome == pagecache.FlightInvalidated,
		res.Keeps() && r.keyed.verdict(res.Page) == pagecache.Gone:
		return false
	case res.Keeps() && res.Fits(r.keyed.key, r.keyed.field):
		r.edge.metrics.collapsed.Add(1)
		r.result.kept, r.result.collapsed = true, true
		r.respondPage(found{Hit: pagecache.Hit{Page: res.Page}, arrives: res.Body, source: sourceStored, ttl: res.Page.TTL(r.began)})
	case res.Outcome == pagecache.FlightFailed && r.serveForFlight(&res):
	case res.Outcome == pagecache.FlightFailed && res.Status != 0 && !r.snapshot().identified():
		r.followFailure(&res)
	default:
		if res.Outcome == pagecache.FlightNotKept {
			r.result.reason = res.Reason.String()
		}
		r.forward()
	}
	return true
}

// mayServeWhile says whether the stale page may be served while a fill runs.
func (r *request) mayServeWhile() bool {
	return r.stale.Page != nil && r.wished.takesWhile() && r.keyed.mayServeWhile(r.stale.Page, r.began)
}

// revalidating serves the stale page while another's fill runs, if it may.
func (r *request) revalidating() bool {
	if !r.mayServeWhile() {
		return false
	}
	r.respondPage(r.stale)
	return true
}

// serveOnError serves the stale page in place of a failure, if it may. status is
// the origin's; 0: there was no answer.
func (r *request) serveOnError(status int) bool {
	if r.stale.Page == nil || !r.mayServeOnError(r.stale.Page, time.Now()) {
		return false
	}
	r.result.failed, r.result.forwarded = true, status
	r.respondPage(r.stale)
	return true
}

// serveForFlight is serveOnError after another's fill.
func (r *request) serveForFlight(res *pagecache.FlightResult) bool {
	r.result.collapsed = true
	if res.Page != nil && r.serveOnError(res.Page.Status) || r.serveOnError(0) {
		return true
	}
	r.result.collapsed = false
	return false
}

// mayServeOnError says whether a page may stand in for an answer, by its own
// word, or by the visitor's (RFC 5861, section 4).
func (r *request) mayServeOnError(p *pagecache.Page, now time.Time) bool {
	if r.keyed.mayServeOnError(p, now) {
		return true
	}
	f := r.keyed.freshness(p)
	wished := r.wished.staleIfError
	return wished > 0 && r.keyed.verdict(p) != pagecache.Gone && f.ServeStale(uint32(wished-1), now)
}

// identified says whether the visitor's request shows who he is.
func (v *visitor) identified() bool {
	return v.get(fasthttp.HeaderCookie) != nil || v.get(fasthttp.HeaderAuthorization) != nil
}
