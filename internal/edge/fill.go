package edge

import (
	"bytes"
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
	edge    *Edge
	target  *target
	keyed   *keyed
	visitor *visitor
	include bool
	streams bool              // what is kept may leave while it comes
	flight  *pagecache.Flight // nil: nobody can join
	asked   pagecache.Asked
	epoch   *atomic.Uint32 // of the URL, and its count when the fill began
	count   uint32
}

// filled is what came of a fill: a page, a reply that may not be kept, or an
// error. A reply is the caller's to pass on and close.
type filled struct {
	page    *pagecache.Page
	arrives *arrival        // the page's body still comes; page is not set
	failure *pagecache.Page // in place of a reply: the origin's failure, for all who wait
	cookies [][]byte        // Set-Cookie lines of the page's or the failure's answer, for the visitor who asked
	kept    bool            // the page is kept; else it is for this visitor alone
	reason  pagecache.Reason
	vary    []string

	reply *reply
	read  []byte // of reply's body already

	err error // no answer, or none that came whole
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
	f.edge.metrics.fills.Add(1)
	t := f.target
	keep := &t.settings.keep
	f.asked = keep.asked(f.visitor)
	// Before the question: a purge or an unsafe method that comes later hits
	// the page.
	seq := t.state.store.purges.Applied()
	f.epoch = t.state.store.epochs.of(urlPart(f.keyed.key))
	f.count = f.epoch.Load()
	began := time.Now()
	o := f.outgoing()
	p, err := t.askPage(ctx, o, interim)
	if err != nil {
		return filled{err: err}
	}
	d := pagecache.Decide(headOf(p, began), f.asked, &keep.policy)
	if again, _ := t.slashRedirect(o, p); again {
		d.Keep, d.Reason = false, pagecache.ReasonStatus // it leads from here to here, for ever
	} else if d.Keep && keep.variesByAsker(d.Vary) {
		d.Keep, d.Reason = false, pagecache.ReasonVary
	}
	if !d.Keep {
		return f.refused(p, &d, seq)
	}
	if f.arrives(p) {
		return filled{arrives: f.arrival(p, &d, seq)}
	}
	body, err := p.collect(t.state.options.Limits.MaxKeep)
	switch {
	case errors.Is(err, errTooLarge):
		return filled{reply: p, read: body, reason: pagecache.ReasonTooLarge}
	case err != nil:
		p.close()
		return filled{err: err}
	}
	return f.keep(p, body, &d, seq)
}

// outgoing is the request as the origin gets it.
func (f *fill) outgoing() *outgoing {
	return &outgoing{
		visitor: f.visitor, method: []byte(fasthttp.MethodGet), target: f.target.originTarget(),
		include: f.include, identity: true, fill: &f.target.settings.keep,
	}
}

// keep puts a whole reply into the tiers. A coding that nobody here knows
// cannot be taken off for those who do not know it either.
func (f *fill) keep(p *reply, body []byte, d *pagecache.Decision, seq uint64) filled {
	plain, err := decoded(p.header(), body, f.target.state.options.Limits.MaxKeep)
	if err != nil {
		return filled{reply: p, read: body, reason: pagecache.ReasonVary}
	}
	cookies := cookiesBeside(p, d)
	page := pagecache.NewPulledPage(p.status(), storedHead(p.header(), d.StripPage, time.Now()), plain, d.Freshness, seq)
	p.close()
	return f.put(page, cookies, d)
}

// put keeps a page in the tiers.
func (f *fill) put(page *pagecache.Page, cookies [][]byte, d *pagecache.Decision) filled {
	done := filled{page: page, cookies: cookies, vary: d.Vary}
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

// settle is the end of a fill: what is known of the key from now on, and those
// who wait are told.
func (f *fill) settle(done *filled) {
	if done.reply != nil && !done.failed() {
		f.mark(done.reason)
	}
	f.finish(done)
}

// mark remembers that the key is not keepable. A page that is not for everybody
// any more takes the old one with it (RFC 9111, section 4.3.3); that a visitor
// showed who he is says nothing against it.
func (f *fill) mark(reason pagecache.Reason) {
	s, site := f.target.state.store, f.target.site
	known := s.notKeepable.Has(f.keyed.key)
	s.notKeepable.Add(f.keyed.key, site.options.Cache.NotKeepable)
	if known || reason == pagecache.ReasonCookies || reason == pagecache.ReasonAuthorization {
		return
	}
	if err := s.pulled.Delete(f.keyed.key); err != nil {
		f.edge.reports.add(report{site: site, path: f.target.url.raw, kind: "memcache", message: "a page may be left in memcached: " + err.Error()})
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
	case done.page != nil && !done.kept:
		r.Outcome = pagecache.FlightInvalidated
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

// failureStatus is what is answered for a failure that has no page of its own.
func (f *filled) failureStatus() int {
	switch {
	case f.failure != nil:
		return f.failure.Status
	case f.reply != nil:
		return f.reply.status()
	}
	if timedOut(f.err) {
		return fasthttp.StatusGatewayTimeout
	}
	return fasthttp.StatusBadGateway
}

// headOf is the head of a reply as package pagecache reads it.
func headOf(p *reply, began time.Time) *pagecache.Reply {
	r := &pagecache.Reply{Status: p.status(), RequestTime: began, ResponseTime: time.Now()}
	for name, value := range p.header().All() {
		r.Fields = append(r.Fields, pagecache.Field{Name: name, Value: value})
	}
	return r
}

// storedHead is the head of a page as it is kept: what describes the message
// and not the page is left out, and so is what speaks to the edge alone. Our
// Via stands in it already, so a hit need not join lists.
func storedHead(h *fasthttp.ResponseHeader, stripCookies bool, now time.Time) []byte {
	b := fasthttp.AppendUint([]byte("HTTP/1.1 "), h.StatusCode())
	b = append(append(append(b, ' '), fasthttp.StatusMessage(h.StatusCode())...), "\r\n"...)
	vias, dated := []byte(nil), false
	for name, value := range h.All() {
		switch {
		case equalFold(name, "Content-Length"), equalFold(name, "Age"), equalFold(name, "Connection"),
			equalFold(name, "Transfer-Encoding"), isPrivate(name), stripCookies && equalFold(name, "Set-Cookie"):
			continue
		case equalFold(name, "Via"):
			vias = append(append(vias, value...), ", "...)
			continue
		case equalFold(name, "Date"):
			dated = true
		}
		b = append(append(append(append(b, name...), ": "...), value...), "\r\n"...)
	}
	if !dated {
		b = append(fasthttp.AppendHTTPDate(append(b, "Date: "...), now), "\r\n"...)
	}
	return append(appendField(b, "Via", append(vias, via...)), "\r\n"...)
}

// cookiesBeside are the Set-Cookie lines that are not part of the page, for the
// visitor who asked: a page that is kept with them has them in its head.
func cookiesBeside(p *reply, d *pagecache.Decision) [][]byte {
	if !d.StripPage || d.StripAnswer {
		return nil
	}
	return cookieLines(p.header())
}

func cookieLines(h *fasthttp.ResponseHeader) [][]byte {
	var lines [][]byte
	for _, value := range h.Cookies() {
		lines = append(lines, bytes.Clone(value))
	}
	return lines
}
