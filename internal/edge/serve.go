package edge

import (
	"bufio"
	"bytes"
	"runtime/debug"
	"time"

	"github.com/valyala/fasthttp"
)

// request is a visitor's request on its way through the steps. It is pooled:
// what outlives the answer is copied first.
type request struct {
	edge    *Edge
	ctx     *fasthttp.RequestCtx
	began   time.Time
	client  client
	host    []byte // in the form of requestHost; to route by
	written []byte // path and query as the visitor sent them
	target
	keyed      keyed  // of pulled pages; taken by lookup
	unkeepable bool   // the key is known as not keepable
	lacking    []byte // canonical URL of a required fragment that failed: the stale page is tried without it
	stale      found  // a page that only a window may bring, or validation; Page nil: none
	wished     directives
	passedOver bool // stale is fresh, and not what the visitor wishes
	result     outcome
	unread     bool     // no head came that could be read; fasthttp's says "GET /" all the same
	visitor    *visitor // nil until something needs the snapshot
	source     source   // what answered, for Cache-Status, log and metrics
	streaming  bool     // the answer's body finishes the request
	ranges     []byteRange
	scratch    []byte
	member     []byte        // of Cache-Status; empty: cacheStatus has it
	headBytes  bytes.Reader  // over a stored head
	headBuffer *bufio.Reader // over headBytes
}

// serve is the path of a request: each step may answer, and then it is the
// last.
func (r *request) serve() {
	if !r.admitted() || !r.hasSite() || !r.known() || !r.hasURL() || !r.allowed() {
		return
	}
	if r.fromCache() {
		if f, ok := r.lookup(); ok {
			r.respondPage(f)
			return
		}
		if r.wished.onlyIfCached {
			r.fail(fasthttp.StatusGatewayTimeout)
			return
		}
		r.fill()
		return
	}
	r.forward()
}

// writeSoon gives the visitor the time that one write may take, from now on:
// the origin may have taken longer than that. It is called for every answer;
// fasthttp then flushes each before it takes up the next request, so that
// nothing of an earlier answer is overtaken by a 1xx.
func (r *request) writeSoon() {
	r.ctx.SetWriteDeadline(time.Now().Add(r.state.options.Limits.WriteTimeout))
}

// begin takes up a request.
func (r *request) begin(e *Edge, ctx *fasthttp.RequestCtx) {
	r.edge, r.ctx, r.began = e, ctx, time.Now()
	r.state = e.state.Load()
	r.source, r.streaming, r.unread = sourceNone, false, false
	r.lacking = nil
	r.stale, r.unkeepable, r.result, r.member = found{}, false, outcome{}, r.member[:0]
	r.wished, r.passedOver = directives{}, false
	r.client.addr, _ = peerAddr(ctx.RemoteAddr()) // until the head has been read
}

// recovered is the one place where a panic on a request's goroutine ends: the
// visitor gets a 500, the log the stack. fasthttp would let the process die.
func (r *request) recovered() {
	v := recover()
	if v == nil {
		return
	}
	r.edge.panicked("request", v, debug.Stack())
	r.streaming = false // before Reset closes the body
	r.ctx.Hijack(nil)
	r.ctx.Response.Reset()
	r.source = sourceNone
	r.failAfterPanic()
	r.ctx.SetConnectionClose()
	r.writeSoon()
	r.finish(int64(len(r.ctx.Response.Body())))
}

// failAfterPanic answers 500. The site's own page is looked for where what
// panicked may well do so again, and then ours will do.
func (r *request) failAfterPanic() {
	defer func() {
		if v := recover(); v != nil {
			r.ctx.Response.Reset()
			r.failPlainly(fasthttp.StatusInternalServerError)
		}
	}()
	r.fail(fasthttp.StatusInternalServerError)
}

// panicked reports a panic: whose goroutine it was, and its stack.
func (e *Edge) panicked(where string, v any, stack []byte) {
	e.metrics.panics.Add(1)
	e.log.Error("panic", "in", where, "panic", v, "stack", string(stack))
}

// admitted is the gate, and finds out who asks.
func (r *request) admitted() bool {
	h := &r.ctx.Request.Header
	if status, reason := gate(h); status != 0 {
		r.refuse(status, reason)
		r.ctx.SetConnectionClose()
		return false
	}
	r.client.identify(h, r.ctx.RemoteAddr(), r.ctx.IsTLS(), r.state.options.TrustedProxies)
	r.written = originForm(h)
	if r.isHealthCheck() {
		r.ctx.SetContentType("text/plain; charset=utf-8")
		r.ctx.Response.Header.Set("Cache-Control", "no-store")
		r.ctx.SetBodyString("ok\n")
		return false
	}
	return true
}

func (r *request) isHealthCheck() bool {
	p := r.state.options.HealthPath
	return p != "" && string(r.written) == p
}

// hasSite is step 1.
func (r *request) hasSite() bool {
	if r.client.host != nil {
		r.host = append(r.host[:0], r.client.host...)
	} else {
		r.host = requestHost(&r.ctx.Request.Header, r.client.scheme, r.host[:0])
	}
	if r.site = r.state.router.find(r.host); r.site == nil {
		r.refuse(fasthttp.StatusMisdirectedRequest, "no site here has this host name")
		return false
	}
	return true
}

// hasURL is steps 2 and 3: the canonical URL and its settings. Where a site or
// a rule redirects, that is the answer.
func (r *request) hasURL() bool {
	slash := r.site.options.TrailingSlash
	if err := r.resolve(r.written, slash, false); err != nil {
		r.refuse(fasthttp.StatusBadRequest, err.Error())
		return false
	}
	if r.settings.internal {
		r.notFound()
		return false
	}
	return !r.redirected(slash)
}
