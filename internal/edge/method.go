package edge

import "github.com/valyala/fasthttp"

// methods is Allow where nothing is known of the page.
const methods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"

// known is step 4 as far as it needs no URL, since these need not have one:
// the methods that no app gets to see, and OPTIONS that is for us.
func (r *request) known() bool {
	h := &r.ctx.Request.Header
	switch {
	case h.IsConnect() || h.IsTrace():
		// CONNECT would make a proxy of us; TRACE shows a page's script
		// the cookies it must not see.
		r.refuseMethod(methods)
	case h.IsOptions() && optionsEndHere(h, r.written):
		r.ctx.Response.Header.Set("Allow", methods)
		r.ctx.SetStatusCode(fasthttp.StatusNoContent)
	default:
		return true
	}
	return false
}

// allowed is step 4: where there is no app, nobody answers the other methods.
func (r *request) allowed() bool {
	h := &r.ctx.Request.Header
	if r.settings.origin == nil && !h.IsGet() && !h.IsHead() {
		r.refuseMethod("GET, HEAD")
		return false
	}
	return true
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
