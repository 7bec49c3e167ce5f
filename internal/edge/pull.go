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
	if r.unkeepable {
		r.fillUnkeepable()
		return
	}
	if r.validatesAlone() {
		r.answer(r.newFill(nil))
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

// validatesAlone says whether the request has to ask the origin itself: the page
// wants each use to be validated, so there is nothing to wait for.
func (r *request) validatesAlone() bool {
	p := r.stale.Page
	return p != nil && p.NeverFresh() && p.HasValidator() && !r.mayServeWhile()
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
	if r.ctx.IsHead() && r.revalidating() {
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
	switch {
	case done.arrives != nil:
		r.answerArriving(&done)
	case done.page != nil && !(done.forOne() && f.asked.Withheld):
		r.answerPage(&done)
	case done.failed() && r.serveOnError():
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
	if done.validated {
		r.result.forwarded = fasthttp.StatusNotModified
	}
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
	case res.Outcome == pagecache.FlightFailed && r.serveOnError():
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
	return r.stale.Page != nil && r.keyed.mayServeWhile(r.stale.Page, r.began)
}

// revalidating serves the stale page while another's fill runs, if it may.
func (r *request) revalidating() bool {
	if !r.mayServeWhile() {
		return false
	}
	r.respondPage(r.stale)
	return true
}

// serveOnError serves the stale page in place of a failure, if it may.
func (r *request) serveOnError() bool {
	if r.stale.Page == nil || !r.keyed.mayServeOnError(r.stale.Page, time.Now()) {
		return false
	}
	r.respondPage(r.stale)
	return true
}

// invalidates removes the pulled pages of the URL after an unsafe method that
// the app took (RFC 9111, section 4.4). What is published is not touched: its
// publisher knows.
func (r *request) invalidates(status int) {
	h := &r.ctx.Request.Header
	if h.IsGet() || h.IsHead() || h.IsOptions() || status < 200 || status > 399 || !r.keeps() || !r.settings.keep.invalidate {
		return
	}
	s := r.state.store
	url := r.target.appendURL(nil, r.host, r.client.scheme)
	s.epochs.of(url).Add(1)
	s.flights.Invalidate(func(key string) bool { return len(key) >= len(url) && key[:len(url)] == string(url) })
	r.keyed.take(&r.target, r, r.host, r.client.scheme)
	if err := s.pulled.Delete(r.keyed.key); err != nil {
		r.problem("invalidate", "a page may be left on the disk or in memcached: "+err.Error())
	}
}

// identified says whether the visitor's request shows who he is.
func (v *visitor) identified() bool {
	return v.get(fasthttp.HeaderCookie) != nil || v.get(fasthttp.HeaderAuthorization) != nil
}
