package edge

import (
	"bytes"
	"errors"
	"io"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/ssiedge/ssiedge/pagecache"
)

const (
	// arriveFrom is from where on the head of a page that is being kept does
	// not wait for its body.
	arriveFrom = 64 << 10

	// arriveWait is how long it waits where the length is unknown: most such
	// bodies are small, and with them come a length and ranges.
	arriveWait = time.Millisecond
)

// arrival is a page that is kept while it comes: its body is read on a
// goroutine of its own, at the origin's speed, and everybody who wants the page
// reads what is there at his own. So no visitor holds up the fill or another
// one, and the fill goes on when they leave.
type arrival struct {
	fill     *fill // owns its bytes, and has the flight
	reply    *reply
	decision pagecache.Decision
	page     *pagecache.Page // as it will be, without its body; Length -1: unknown
	body     *pagecache.Arrival
	beside   []pagecache.Field // for the visitor who asked
	done     chan struct{}
	came     filled // once done is closed
}

// arrives says whether a reply that is to be kept may go to the visitors while
// it comes. What may hold directives is looked at whole first, since they
// decide the head, and so is what has to be decoded.
func (f *fill) arrives(p *reply) bool {
	size := p.exchange.Size
	return f.streams && (size < 0 || size > arriveFrom && size <= f.target.state.options.Limits.MaxKeep) &&
		!f.target.runs(p.header()) && len(p.header().Peek(fasthttp.HeaderContentEncoding)) == 0
}

// arrival begins to keep a reply while it comes. The flight is the arrival's
// from here on.
func (f *fill) arrival(p *reply, d *pagecache.Decision, seq uint64) *arrival {
	size, fields := p.exchange.Size, fieldList(p.header())
	a := &arrival{
		fill: f.detached(), reply: p, decision: *d, beside: beside(fields, d),
		page: pagecache.NewPulledPage(p.status(), storedHead(p.status(), fields, d, time.Now()), nil, d.Freshness, seq),
		body: pagecache.NewArrival(size, f.target.state.options.Limits.MaxKeep, p.holding),
		done: make(chan struct{}),
	}
	a.page.Length = size
	f.flight = nil
	return a
}

// detached gives a fill that outlives its request.
func (f *fill) detached() *fill {
	g := *f
	g.target = f.target.clone()
	g.visitor = f.visitor.cloneWith(func(*field) bool { return true })
	g.keyed = f.keyed.detached(g.target, g.visitor)
	return &g
}

// detached gives the same key with bytes of its own, for a target and an asker
// that live longer.
func (k *keyed) detached(t *target, a asker) *keyed {
	c := &keyed{target: t, asker: a, key: bytes.Clone(k.key)}
	c.url = keyURL(c.key)
	c.field, c.check = c.sends, c.verdict
	return c
}

// begin lets the body come. Only with a length that is known can the others
// have it at once: one that turned out to be larger than may be kept would
// leave them in its middle. What is there before long is what came of the fill.
func (a *arrival) begin() filled {
	known := a.page.Length >= 0
	if f := a.fill; known && f.flight != nil && a.decision.Validate == pagecache.ReasonNone {
		f.flight.Arrive(f.varied(pagecache.FlightResult{Page: a.page, Body: a.body, Vary: a.decision.Vary}))
	}
	if !a.fill.edge.background.start(a.run) {
		a.run() // it ends soon: the question is given up
	}
	if known {
		return filled{arrives: a}
	}
	timer := time.NewTimer(arriveWait)
	defer timer.Stop()
	select {
	case <-a.done:
		return a.came
	case <-timer.C:
		return filled{arrives: a}
	}
}

// run gathers the body, keeps the page and tells those who wait. Whatever
// happens, a panic too, they and the readers are woken.
func (a *arrival) run() {
	a.came.err = errFillPanicked
	defer a.end()
	defer a.fill.abandon()
	defer a.fill.edge.recovered("fill")
	body, err := a.body.Gather(a.reply.exchange.Answer)
	switch {
	case errors.Is(err, pagecache.ErrOverLimit):
		a.came = filled{arrives: a, reply: a.reply, reason: pagecache.ReasonTooLarge}
	case errors.Is(err, pagecache.ErrOverBudget):
		a.came = filled{arrives: a, reply: a.reply, reason: pagecache.ReasonBusy}
	case err != nil:
		a.came = filled{err: err}
	default:
		p := a.page
		page := pagecache.NewPulledPage(p.Status, p.Head, body, p.Freshness, p.Seq)
		a.came = a.fill.put(page, a.beside, &a.decision)
	}
	a.fill.settle(&a.came)
}

// end wakes the readers. It comes after the page was kept, so who has all of
// the body finds it.
func (a *arrival) end() {
	switch {
	case a.came.page != nil:
		a.reply.close()
		a.body.End(a.came.page.Body, nil)
	case a.came.reply != nil:
		a.body.EndOver(restOf{a.reply.exchange.Answer, a.reply})
	default:
		a.reply.close()
		a.body.End(nil, a.came.err)
	}
	close(a.done)
}

// restOf is what is left of a reply's body.
type restOf struct {
	io.Reader
	io.Closer
}

// answerArriving answers the visitor who asked with a page that comes. It says
// that the page is kept: whether that is so will be known when the head has
// left. Where the last one was not, and this one states no length, it does not.
func (r *request) answerArriving(done *filled) {
	a := done.arrives
	switch {
	case done.reason != pagecache.ReasonNone:
		r.result.reason = done.reason.String()
	case r.unkeepable && a.page.Length < 0:
		r.result.reason = "not-keepable"
	default:
		r.result.kept, r.result.validate = true, a.decision.Validate
	}
	r.result.beside = a.beside
	r.respondPage(found{Hit: pagecache.Hit{Page: a.page}, arrives: a.body, source: sourceStored, ttl: a.page.TTL(r.began)})
}

var errFillPanicked = errors.New("edge: panic in a fill")
