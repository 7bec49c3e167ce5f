package edge

import (
	"time"

	"github.com/ssiedge/ssiedge/internal/accesslog"
)

// finish is the end of a request: it is counted and logged, and its memory is
// given back. sent is the length of the body as sent. Nothing of r may be used
// after it.
func (r *request) finish(sent int64) {
	took := time.Since(r.began)
	status := r.ctx.Response.StatusCode()
	if r.ctx.IsHead() {
		sent = 0
	}
	e := r.edge
	e.metrics.observe(r.source, status, took)
	if e.access != nil {
		r.logAccess(status, sent, took)
	}
	if v := r.visitor; v != nil {
		r.visitor = nil
		visitors.Put(v)
	}
	r.ctx, r.state, r.site, r.written = nil, nil, nil, nil
	r.stale, r.result = found{}, outcome{}
	r.headBytes.Reset(nil)
	e.pool.Put(r)
}

func (r *request) logAccess(status int, sent int64, took time.Duration) {
	h := &r.ctx.Request.Header
	record := accesslog.Record{
		Time: r.began.Add(took), Duration: took,
		Client: r.client.addr, Host: h.Host(),
		Status: status, Bytes: sent,
		Referer: h.Referer(), UserAgent: h.UserAgent(),
		Cache: r.member,
	}
	if !r.unread {
		record.Method, record.Target, record.Protocol = h.Method(), h.RequestURI(), protocol(h)
	}
	if r.visitor != nil {
		record.RequestID = r.visitor.id
	} else {
		record.RequestID = h.Peek("X-Request-Id")
	}
	r.edge.access.Log(&record)
}
