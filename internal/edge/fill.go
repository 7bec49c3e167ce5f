package edge

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/ssiedge/ssiedge/pagecache"
)

// fill asks the origin for a page, to keep it: step 7 for pages. It belongs to
// one goroutine.
type fill struct {
	edge     *Edge
	target   *target
	keyed    *keyed
	visitor  *visitor
	include  bool
	streams  bool              // what is kept may leave while it comes
	head     bool              // only the head is asked for
	room     *room             // of an include: that the page has for fragments
	flight   *pagecache.Flight // nil: nobody can join
	stale    *pagecache.Page   // nil: there is none
	offered  []*pagecache.Page // that the question is about
	variants bool              // there are pages of the key for other requests
	asked    pagecache.Asked
	epoch    *atomic.Uint32 // of the URL, and its count when the fill began
	count    uint32
}

// filled is what came of a fill: a page, a reply that may not be kept, or an
// error. A reply is the caller's to pass on and close.
type filled struct {
	page      *pagecache.Page
	arrives   *arrival          // the page's body still comes; page is not set
	failure   *pagecache.Page   // in place of a reply: the origin's failure, for all who wait
	beside    []pagecache.Field // of the page's or the failure's answer, for the visitor who asked
	kept      bool              // the page is kept; else it is for this visitor alone
	reason    pagecache.Reason  // why it is not
	validate  pagecache.Reason  // why each use of the kept page has to ask the origin
	forwarded int               // the status of the origin's answer, where that is not the page's
	vary      []string

	reply *reply
	read  []byte // of reply's body already

	err error   // no answer, or none that came whole
	cut *cutOff // of an include: the part that came
}

// run asks, keeps what may be kept, and tells those who wait. What still
// arrives does so at its end.
func (f *fill) run(ctx context.Context, interim func(*fasthttp.ResponseHeader)) filled {
	done := f.ask(ctx, interim)
	if done.arrives != nil {
		return done.arrives.begin()
	}
	f.settle(&done)
	return done
}

// ask asks, and keeps what may be kept.
func (f *fill) ask(ctx context.Context, interim func(*fasthttp.ResponseHeader)) filled {
	seq := f.begin()
	f.offered = f.offers()
	p, o, head, err := f.question(ctx, interim)
	if err == nil && p.status() == fasthttp.StatusNotModified && len(f.offered) > 0 {
		if old := pagecache.Validated(f.offered, head); old != nil {
			defer p.close()
			done := f.renew(old, head, seq)
			done.forwarded = fasthttp.StatusNotModified
			return done
		}
		// It is about none of them: whoever asked gets no 304 that he did not
		// ask for.
		p.close()
		f.offered = nil
		p, o, head, err = f.question(ctx, interim)
	}
	if err != nil {
		return filled{err: err}
	}
	return f.take(p, o, head, seq)
}

// begin notes what holds before the question: a purge or an unsafe method that
// comes later hits the page. It gives the page's Seq.
func (f *fill) begin() (seq uint64) {
	f.edge.metrics.fills.Add(1)
	s := f.target.state.store
	f.asked = f.target.settings.keep.asked(f.visitor)
	seq = s.purges.Applied()
	f.epoch = s.epochs.of(urlPart(f.keyed.key))
	f.count = f.epoch.Load()
	return seq
}

// question asks the origin. The head of the reply shares its bytes.
func (f *fill) question(ctx context.Context, interim func(*fasthttp.ResponseHeader)) (*reply, *outgoing, *pagecache.Reply, error) {
	began := time.Now()
	o := f.outgoing()
	p, err := f.target.askPage(ctx, o, interim)
	if err != nil {
		return nil, nil, nil, err
	}
	return p, o, headOf(p, began), nil
}

// take keeps a reply, if it may be kept.
func (f *fill) take(p *reply, o *outgoing, head *pagecache.Reply, seq uint64) filled {
	d := f.judge(head)
	if again, _ := f.target.slashRedirect(o, p); again {
		d.Keep, d.Reason = false, pagecache.ReasonStatus // it leads from here to here, for ever
	}
	if !d.Keep {
		return f.refused(p, &d, seq)
	}
	p.holding = f.holding(p)
	if f.arrives(p) {
		if !p.holding.Grow(p.exchange.Size) {
			return filled{reply: p, reason: pagecache.ReasonBusy}
		}
		return filled{arrives: f.arrival(p, &d, seq)}
	}
	defer p.holding.End()
	body, err := p.collect(f.largest())
	switch {
	case errors.Is(err, errTooLarge):
		return filled{reply: p, read: body, reason: pagecache.ReasonTooLarge}
	case errors.Is(err, errBusy):
		return filled{reply: p, read: body, reason: pagecache.ReasonBusy}
	case err != nil:
		done := filled{err: err}
		if f.include {
			done.cut = f.target.cutOff(p, body)
		}
		p.close()
		return done
	}
	return f.keep(p, body, &d, seq)
}

// holding is what a reply's body takes of the edge's budget. What is not in it
// need not be kept, and streams. What may hold directives is needed whole either
// way, and a fragment is in its page's room.
func (f *fill) holding(p *reply) *pagecache.Holding {
	if f.include || f.target.runs(p.header()) {
		return nil
	}
	return f.edge.bodies.Hold()
}

// judge says whether an answer may be kept.
func (f *fill) judge(head *pagecache.Reply) pagecache.Decision {
	keep := &f.target.settings.keep
	d := pagecache.Decide(head, f.asked, &keep.policy)
	if d.Keep && keep.variesByAsker(d.Vary) {
		d.Keep, d.Reason = false, pagecache.ReasonVary
	}
	if d.Keep && f.mayBeAboutSize(head.Status) {
		d.Keep, d.Reason = false, pagecache.ReasonStatus
	}
	return d
}

// largest is how much of a body is of use.
func (f *fill) largest() int64 {
	limit := f.target.state.options.Limits.MaxKeep
	if f.include {
		limit = min(limit, f.target.site.options.SSI.MaxFragment)
	}
	return limit
}

// largeHead is the bytes of a visitor's head from which on an app may refuse
// it; the edge takes more than most.
const largeHead = 4 << 10

// mayBeAboutSize says whether an answer may be one to the size of the visitor's
// head, and not to his question: not all apps have a status of its own for that.
func (f *fill) mayBeAboutSize(status int) bool {
	return len(f.visitor.bytes) > largeHead && (status == fasthttp.StatusBadRequest || status == fasthttp.StatusForbidden)
}

// outgoing is the request as the origin gets it.
func (f *fill) outgoing() *outgoing {
	method := fasthttp.MethodGet
	if f.head {
		method = fasthttp.MethodHead
	}
	return &outgoing{
		visitor: f.visitor, method: []byte(method), target: f.target.originTarget(),
		include: f.include, identity: true, runs: f.target.settings.ssi, room: f.room, fill: &f.target.settings.keep, offered: f.offered,
	}
}

// keep puts a whole reply into the tiers. One in a coding that nobody here
// knows stays in it, since the origin was asked for none: nothing else is to be
// had there.
func (f *fill) keep(p *reply, body []byte, d *pagecache.Decision, seq uint64) filled {
	plain, err := f.decoded(p, body)
	switch {
	case errors.Is(err, errUnknownCoding):
		plain = body
	case err != nil:
		return filled{reply: p, read: body, reason: pagecache.ReasonVary}
	}
	fields := fieldList(p.header())
	his := beside(fields, d)
	page := pagecache.NewPulledPage(p.status(), storedHead(p.status(), fields, d, time.Now()), plain, d.Freshness, seq)
	p.close()
	return f.put(page, his, d)
}

// decoded takes the content coding off a page's body, unless the origin says that
// nobody may touch it (RFC 9111, section 5.2.2.6). A body that may be assembled is
// touched all the same: the site has made that the origin's own doing.
func (f *fill) decoded(p *reply, body []byte) ([]byte, error) {
	h := p.header()
	if !f.include && !f.target.processed(h.ContentType()) && len(h.Peek(fasthttp.HeaderContentEncoding)) > 0 &&
		parseCacheControl(h.PeekAll(fasthttp.HeaderCacheControl)).limits&noTransform != 0 {
		return nil, errUnknownCoding
	}
	return decoded(h, body, f.target.state.options.Limits.MaxKeep)
}

// put keeps a page in the tiers.
func (f *fill) put(page *pagecache.Page, his []pagecache.Field, d *pagecache.Decision) filled {
	done := filled{page: page, beside: his, validate: d.Validate, vary: d.Vary}
	k := f.keyed.at(time.Now())
	n := pagecache.NewPage{Page: page, Vary: d.Vary, MaxVariants: f.target.settings.keep.policy.MaxVariants, Valid: f.valid}
	if done.kept = f.target.state.store.pulled.Put(&k, n); !done.kept {
		done.reason = pagecache.ReasonInvalidated
	} else {
		f.target.state.store.notKeepable.Remove(f.keyed.key)
	}
	return done
}

// valid says that nothing has hit the URL since the question: a fill that
// nobody can join has no flight that could tell.
func (f *fill) valid() bool {
	return f.epoch.Load() == f.count && (f.flight == nil || f.flight.Valid())
}

// failed says that the origin failed: no answer, or a 5xx without a lifetime.
func (f *filled) failed() bool {
	return f.err != nil || f.failure != nil || f.reply != nil && f.reply.status() >= 500
}

// forOne says that there is a page, and that it may not be kept: the origin said
// so when it was asked if it is still good.
func (f *filled) forOne() bool {
	return f.page != nil && !f.kept && f.reason != pagecache.ReasonInvalidated
}

// settle is the end of a fill: what is known of the key from now on, and those
// who wait are told.
func (f *fill) settle(done *filled) {
	// That a page is too large for a fragment says nothing of the page, nor does
	// what else comes in.
	unsaid := f.include && done.reason == pagecache.ReasonTooLarge || done.reason == pagecache.ReasonBusy
	if done.reply != nil && !done.failed() && !unsaid || done.forOne() {
		f.mark(done.reason)
	}
	f.finish(done)
}

// mark remembers that the key is not keepable. A page that is not for everybody
// any more takes the old one with it (RFC 9111, section 4.3.3); that a visitor
// showed who he is says nothing against it, so that it may be there although
// the key is known.
func (f *fill) mark(reason pagecache.Reason) {
	s, site := f.target.state.store, f.target.site
	known := s.notKeepable.Has(f.keyed.key)
	s.notKeepable.Add(f.keyed.key, site.options.Cache.NotKeepable)
	if (!known || f.stale != nil) && reason != pagecache.ReasonCookies && reason != pagecache.ReasonAuthorization {
		f.remove()
	}
}

// remove removes the key's pages.
func (f *fill) remove() {
	if err := f.target.state.store.pulled.Delete(f.keyed.key); err != nil {
		f.edge.reports.add(report{site: f.target.site, path: f.target.url.raw, kind: "memcache", message: "a page may be left on the disk or in memcached: " + err.Error()})
	}
}

// finish tells the flight. Waiters get a failure only where the question was
// nobody's in particular.
func (f *fill) finish(done *filled) {
	if f.flight == nil {
		return
	}
	var r pagecache.FlightResult
	switch {
	case errors.Is(done.err, errNoRoom): // the asker's own trouble
		f.flight.Abandon()
		return
	case done.forOne():
		r = pagecache.FlightResult{Outcome: pagecache.FlightNotKept, Reason: done.reason}
	case done.page != nil && !done.kept:
		r.Outcome = pagecache.FlightInvalidated
	case done.page != nil && done.validate != pagecache.ReasonNone:
		r = pagecache.FlightResult{Outcome: pagecache.FlightNotKept, Reason: done.validate}
	case done.page != nil:
		r = pagecache.FlightResult{Outcome: pagecache.FlightKept, Page: done.page, Vary: done.vary}
	case done.failed():
		r = pagecache.FlightResult{Outcome: pagecache.FlightFailed, Page: done.failure, Vary: done.vary}
		if !f.asked.Cookies && !f.asked.Authorization {
			r.Status = done.failureStatus()
		}
	default:
		r = pagecache.FlightResult{Outcome: pagecache.FlightNotKept, Reason: done.reason}
	}
	f.flight.Finish(f.varied(r))
}

// varied says for which requests a result is.
func (f *fill) varied(r pagecache.FlightResult) pagecache.FlightResult {
	if len(r.Vary) > 0 {
		r.Variant = string(pagecache.VariantKey(nil, f.keyed.key, r.Vary, f.keyed.field))
	}
	return r
}

// abandon ends the flight of a fill that came to nothing.
func (f *fill) abandon() {
	if f.flight != nil {
		f.flight.Abandon()
	}
}

// status is that of the origin's failure; 0: there was no answer.
func (f *filled) status() int {
	switch {
	case f.failure != nil:
		return f.failure.Status
	case f.reply != nil:
		return f.reply.status()
	}
	return 0
}

// failureStatus is what is answered for a failure that has no page of its own.
func (f *filled) failureStatus() int {
	switch s := f.status(); {
	case s != 0:
		return s
	case timedOut(f.err):
		return fasthttp.StatusGatewayTimeout
	}
	return fasthttp.StatusBadGateway
}
