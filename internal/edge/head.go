package edge

import (
	"context"

	"github.com/valyala/fasthttp"

	"github.com/ssiedge/ssiedge/pagecache"
)

// updates answers a HEAD where a page is there that may not be used as it is:
// the app is asked with HEAD, as for a fill, and an answer that is of the same
// body renews the page (RFC 9111, section 4.3.5). false: the HEAD goes to the
// app as the visitor sent it.
func (r *request) updates() bool {
	h := &r.ctx.Request.Header
	body := h.ContentLength() > 0 || h.ContentLength() == -1
	if r.stale.Page == nil || r.unkeepable || r.wished.noStore || body {
		return false
	}
	f := r.newFill(nil)
	f.head = true
	done := f.update(r.edge.living, r.interim())
	if f.asked.Withheld && !done.kept && !done.failed() {
		done.close() // made without the visitor's cookies: not his
		return false
	}
	switch {
	case done.page != nil:
		r.answerPage(&done)
	case done.failed() && r.serveOnError(done.status()):
		done.close()
	case done.err != nil:
		r.source = sourceMiss
		r.unanswered(done.err)
	default:
		r.source, r.result.whole = sourceMiss, true
		r.respondReply(done.reply)
	}
	return true
}

// update asks with HEAD for a page that is there. What comes of it is the page
// with the answer's fields, or the answer.
func (f *fill) update(ctx context.Context, interim func(*fasthttp.ResponseHeader)) filled {
	seq := f.begin()
	p, _, head, err := f.question(ctx, interim)
	switch {
	case err != nil:
		return filled{err: err}
	case f.keyed.verdict(f.stale) == pagecache.Gone:
		// A purge has come since the look-up. Perhaps it is one that the seq
		// knows: the page must not come back by that.
		return filled{reply: p, reason: pagecache.ReasonMethod}
	case !f.stale.DescribedBy(head):
		f.outdated(head)
		return filled{reply: p, reason: pagecache.ReasonMethod}
	}
	defer p.close()
	done := f.renew(f.stale, head, seq)
	f.settle(&done)
	return done
}

// outdated removes the page if the app has another one by now, and the page
// would be used for a while without asking.
func (f *fill) outdated(head *pagecache.Reply) {
	freshness := f.keyed.freshness(f.stale)
	if head.Status == fasthttp.StatusOK && freshness.Fresh(head.ResponseTime) {
		f.remove()
	}
}
