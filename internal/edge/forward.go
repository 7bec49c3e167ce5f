package edge

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/ssiedge/ssiedge/origin"
	"github.com/ssiedge/ssiedge/pagecache"
)

// ask sends a request to the origin of a target. The reply's head is there on
// return, its body yet to be read.
func (t *target) ask(ctx context.Context, o *outgoing, body *upload, interim func(*fasthttp.ResponseHeader)) (*reply, error) {
	p := &reply{request: fasthttp.AcquireRequest(), response: fasthttp.AcquireResponse(), room: o.room}
	if err := o.write(p.request); err != nil {
		p.close()
		return nil, err
	}
	p.exchange = origin.Exchange{
		Request: p.request, Response: p.response, Timeout: t.settings.timeout,
		Interim: interim, Upgrade: o.upgrade != nil,
	}
	if body != nil {
		p.upload = body
		p.exchange.Body, p.exchange.BodySize = body, body.size
	}
	if err := t.settings.origin.Do(ctx, &p.exchange); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// forward is step 7 for a visitor: nobody has the page, or nobody may have it.
func (r *request) forward() {
	if r.settings.origin == nil {
		r.notFound()
		return
	}
	body, ok := r.upload()
	if !ok {
		return
	}
	r.source = r.forwardSource()
	o := r.outgoing()
	p, err := r.askOrigin(o, body)
	if err != nil {
		if !r.serveOnError(0) {
			r.unanswered(err)
		}
		return
	}
	if p.exchange.Conn != nil {
		r.tunnel(p)
		return
	}
	r.respondReply(p)
}

// forwardSource says why the origin is asked.
func (r *request) forwardSource() source {
	h := &r.ctx.Request.Header
	switch {
	case !h.IsGet() && !h.IsHead():
		return sourceMethod
	case r.settings.bypass.bypasses(h):
		return sourceBypass
	}
	return sourceMiss
}

// outgoing is the request as the origin gets it: as the visitor wrote it, but
// that the URL of what could have been a page is canonical, as on a fill: the
// app must not be asked for one page in two ways.
func (r *request) outgoing() *outgoing {
	v := r.snapshot()
	o := &outgoing{visitor: v, method: v.method, target: v.target, identity: r.settings.ssi, runs: r.settings.ssi}
	if r.source == sourceMiss {
		o.target = r.target.originTarget()
	}
	if r.upgrades() {
		o.upgrade = v.get("Upgrade")
	}
	return o
}

// upgrades says whether the request asks for another protocol that may be had
// through us. h2c would turn the connection into one that we cannot read.
func (r *request) upgrades() bool {
	h := &r.ctx.Request.Header
	if !h.ConnectionUpgrade() || !h.IsGet() || !h.IsHTTP11() {
		return false
	}
	up := h.Peek(fasthttp.HeaderUpgrade)
	return len(up) > 0 && !equalFold(up, "h2c")
}

// originTarget is the canonical URL as the origin is asked for it: with the
// slash at its end where the app has shown that it wants one.
func (t *target) originTarget() []byte {
	b := append([]byte(nil), t.url.raw...)
	if t.site.slashes.wants(t.url.raw) {
		b = append(b, '/')
	}
	if len(t.url.query) > 0 {
		b = append(append(b, '?'), t.url.query...)
	}
	return b
}

// askPage asks for what could be a page, and once more where the app redirects
// to the same page with another slash.
func (t *target) askPage(ctx context.Context, o *outgoing, interim func(*fasthttp.ResponseHeader)) (*reply, error) {
	p, err := t.ask(ctx, o, nil, interim)
	if err != nil {
		return nil, err
	}
	again, wants := t.slashRedirect(o, p)
	if !again {
		return p, nil
	}
	p.close()
	t.site.slashes.set(t.url.raw, wants)
	o.target = t.originTarget()
	return t.ask(ctx, o, nil, interim)
}

// askOrigin asks for the visitor. A part of a body whose directives have to be
// run is of no use, so then the whole of it is asked for.
func (r *request) askOrigin(o *outgoing, body *upload) (*reply, error) {
	ctx := context.Background()
	if r.source != sourceMiss || body != nil || o.upgrade != nil {
		return r.ask(ctx, o, body, r.interim())
	}
	p, err := r.askPage(ctx, o, r.interim())
	if err == nil && p.status() == fasthttp.StatusPartialContent && r.runs(p.header()) {
		p.close()
		o.noRange = true
		return r.ask(ctx, o, nil, r.interim())
	}
	return p, err
}

// interim passes 1xx answers on to visitors who can read them. They go to the
// connection itself: every earlier answer has left, since the handler sets
// write deadlines, which make fasthttp flush.
func (r *request) interim() func(*fasthttp.ResponseHeader) {
	if !r.ctx.Request.Header.IsHTTP11() || r.ctx.Conn() == nil {
		return nil
	}
	conn := r.ctx.Conn()
	return func(h *fasthttp.ResponseHeader) {
		if h.StatusCode() == fasthttp.StatusContinue {
			return // the visitor has had his, before the body was asked for
		}
		r.writeSoon()
		conn.Write(interimHead(h)) // a visitor who is gone is found out when the answer is written
	}
}

// interimHead is the head of a 1xx answer: it has neither a body nor a length.
func interimHead(h *fasthttp.ResponseHeader) []byte {
	head := h.Header()
	var b []byte
	for line := range bytes.Lines(head) {
		if name, _, ok := bytes.Cut(line, []byte(":")); ok && (equalFold(name, "Content-Length") || equalFold(name, "Transfer-Encoding") ||
			equalFold(name, "Content-Type") || equalFold(name, "Date") || equalFold(name, "Server") || equalFold(name, "Connection")) {
			continue
		}
		b = append(b, line...)
	}
	return b
}

// unanswered answers for an origin that did not: 504 where it was too slow,
// else 502; 413 and 400 where it was the visitor's body that failed.
func (r *request) unanswered(err error) {
	var oe *origin.Error
	switch {
	case errors.Is(err, errBodyTooLarge):
		r.refuse(fasthttp.StatusRequestEntityTooLarge, bodyOverLimit)
		r.ctx.SetConnectionClose()
	case errors.As(err, &oe) && oe.Kind == origin.Body:
		r.refuse(fasthttp.StatusBadRequest, "the body ended early")
		r.ctx.SetConnectionClose()
	case errors.As(err, &oe) && oe.Timeout():
		r.blame(err)
		r.fail(fasthttp.StatusGatewayTimeout)
	case r.stale.Page != nil && r.stale.Page.Flags()&pagecache.MustRevalidate != 0:
		r.blame(err)
		r.fail(fasthttp.StatusGatewayTimeout) // RFC 9111, section 5.2.2.2
	default:
		r.blame(err)
		r.fail(fasthttp.StatusBadGateway)
	}
}

func (r *request) blame(err error) {
	r.edge.reports.add(report{site: r.site, path: r.url.raw, kind: "origin", message: err.Error()})
}

var _ origin.Interrupter = (*upload)(nil)

// upload is a visitor's body on its way to the origin. It counts, since
// fasthttp limits no streamed body, and takes a body with a length that ended
// early for a clean end.
type upload struct {
	request *request
	source  io.Reader
	size    int64 // -1: unknown
	read    int64
	limit   int64 // 0: none

	interrupted atomic.Bool
}

var errInterrupted = errors.New("edge: the rest of the body is not wanted")

var errBodyTooLarge = errors.New("edge: request body over limits.body")

// bodyOverLimit is what a visitor is told of errBodyTooLarge.
const bodyOverLimit = "the body is over the limit"

// upload gives the request's body, nil where there is none. false: it is over
// the limit, and answered.
func (r *request) upload() (*upload, bool) {
	size := int64(r.ctx.Request.Header.ContentLength())
	if size == 0 || size < -1 {
		return nil, true
	}
	u := &upload{request: r, source: r.ctx.RequestBodyStream(), size: size, limit: r.state.options.Limits.Body}
	if u.limit > 0 && size > u.limit {
		r.refuse(fasthttp.StatusRequestEntityTooLarge, bodyOverLimit)
		r.ctx.SetConnectionClose()
		return nil, false
	}
	if u.source == nil {
		return nil, true
	}
	return u, true
}

// Read reads on while the visitor sends: a pause longer than the idle timeout
// ends it.
func (u *upload) Read(p []byte) (int, error) {
	u.wait(u.request.state.options.Limits.IdleTimeout)
	if u.interrupted.Load() {
		return 0, errInterrupted
	}
	n, err := u.source.Read(p)
	u.read += int64(n)
	if u.limit > 0 && u.read > u.limit {
		return n, errBodyTooLarge
	}
	if err == io.EOF && u.size >= 0 && u.read < u.size {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func (u *upload) wait(d time.Duration) { u.request.ctx.SetReadDeadline(time.Now().Add(d)) }

// Interrupt ends a Read that waits for the visitor: nobody wants the rest of
// the body any more.
func (u *upload) Interrupt() {
	u.interrupted.Store(true)
	u.wait(-time.Hour)
}

// end follows the last Read. What the visitor still sends of an unwanted body
// is for fasthttp to read away, so that his next request is found behind it; it
// needs a deadline that has not passed.
func (u *upload) end() {
	if u.interrupted.Load() {
		u.wait(u.request.state.options.Limits.IdleTimeout)
	}
}

// timedOut says whether an origin was too slow, and not just gone.
func timedOut(err error) bool {
	var oe *origin.Error
	return errors.As(err, &oe) && oe.Timeout()
}
