package edge

import (
	"bytes"

	"github.com/valyala/fasthttp"
)

// redirected answers where the site or a rule sends the visitor elsewhere: 308
// to the URL without its slash, for GET and HEAD only, and a rule's redirect.
// A path with empty or dot segments goes the way of one with a slash.
// The visitor's query goes along, whole.
func (r *request) redirected(slash TrailingSlash) bool {
	h := &r.ctx.Request.Header
	if r.settings.redirect != "" {
		r.moved(bytes.ReplaceAll([]byte(r.settings.redirect), []byte("{uri}"), r.uri()))
		return true
	}
	if slash != RedirectSlash || !r.url.slash && !r.url.tidied || !h.IsGet() && !h.IsHead() {
		return false
	}
	r.moved(r.uri())
	return true
}

// uri is the canonical path with the visitor's query. The path never starts
// with two slashes, so as a Location it stays on the site.
func (r *request) uri() []byte {
	r.scratch = append(r.scratch[:0], r.url.raw...)
	if _, query, ok := bytes.Cut(r.written, []byte("?")); ok {
		r.scratch = append(append(r.scratch, '?'), query...)
	}
	return r.scratch
}

func (r *request) moved(location []byte) {
	r.ctx.SetStatusCode(fasthttp.StatusPermanentRedirect)
	r.ctx.Response.Header.SetBytesV(fasthttp.HeaderLocation, location)
	r.expire()
	r.edit()
}
