package edge

import "github.com/valyala/fasthttp"

// allowed is step 4: the methods that no app gets to see, and those that
// nobody here can answer.
func (r *request) allowed() bool {
	h := &r.ctx.Request.Header
	switch {
	case h.IsConnect() || h.IsTrace():
		// CONNECT would make a proxy of us; TRACE shows a page's script
		// the cookies it must not see.
		r.refuseMethod("GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
	case r.settings.origin == nil && !h.IsGet() && !h.IsHead():
		r.refuseMethod("GET, HEAD")
	default:
		return true
	}
	return false
}

func (r *request) refuseMethod(allow string) {
	r.refuse(fasthttp.StatusMethodNotAllowed, "this method is not answered here")
	r.ctx.Response.Header.Set("Allow", allow)
}

// fromCache says whether a page may answer.
func (r *request) fromCache() bool {
	h := &r.ctx.Request.Header
	return (h.IsGet() || h.IsHead()) && !r.settings.bypass.bypasses(h)
}
