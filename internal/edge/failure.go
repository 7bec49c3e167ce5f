package edge

import (
	"errors"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/ssiedge/ssiedge/pagecache"
)

// refused is a reply that may not be kept. A failure of the origin that is for
// all who wait is taken whole, as a page that is in no tier.
func (f *fill) refused(p *reply, d *pagecache.Decision, seq uint64) filled {
	done := filled{reply: p, reason: d.Reason}
	if !f.failsForAll(p, d) {
		return done
	}
	limit := f.target.state.options.Limits.MaxKeep
	body, err := p.collect(limit)
	switch {
	case errors.Is(err, errTooLarge):
		done.read = body
		return done
	case err != nil:
		p.close()
		return filled{err: err}
	}
	plain, err := f.decoded(p, body)
	if err != nil {
		done.read = body
		return done
	}
	own := &pagecache.Decision{StripPage: true} // cookies are for the visitor who asked
	fields := fieldList(p.header())
	done.beside, done.vary = beside(fields, own), d.Vary
	done.failure = pagecache.NewPulledPage(p.status(), storedHead(p.status(), fields, own, time.Now()), plain, d.Freshness, seq)
	p.close()
	done.reply = nil
	return done
}

// failsForAll says whether a reply is a failure that those who wait get too: the
// question was nobody's in particular, and the answer does not say that it
// differs from one to the next.
func (f *fill) failsForAll(p *reply, d *pagecache.Decision) bool {
	if f.flight == nil || f.include || p.status() < 500 || f.asked.Cookies || f.asked.Authorization ||
		f.target.settings.keep.variesByAsker(d.Vary) {
		return false
	}
	for _, line := range p.header().PeekAll(fasthttp.HeaderVary) {
		if listHas(line, "*") {
			return false
		}
	}
	return true
}

// respondFailure answers with a failure that was taken whole.
func (r *request) respondFailure(p *pagecache.Page) {
	r.respondPage(found{Hit: pagecache.Hit{Page: p}, source: sourceMiss})
}

// followFailure answers one who waited for a fill that failed.
func (r *request) followFailure(res *pagecache.FlightResult) {
	switch {
	case res.Page == nil: // there was no answer, or too large a one
		r.source = sourceMiss
		r.fail(res.Status)
	case !res.Fits(r.keyed.key, r.keyed.field):
		r.forward()
	default:
		r.result.collapsed, r.result.reason = true, pagecache.ReasonStatus.String()
		r.respondFailure(res.Page)
	}
}
