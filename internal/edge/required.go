package edge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/valyala/fasthttp"
)

// statusLeft is what the log says of a visitor who left before his answer began,
// as nginx does.
const statusLeft = 499

// abandon is the end of a request whose visitor has left.
func (r *request) abandon() {
	r.ctx.Response.Reset()
	r.ctx.SetStatusCode(statusLeft)
	r.ctx.SetConnectionClose()
}

// lacks answers for a page that lacks a required fragment: by the page that was
// kept before, where that may be served in place of a failure, else 504 where
// the fragment was too slow, else 502. A stale page that needs the same fragment
// fails at once, for it has just been asked for.
func (r *request) lacks(a *assembly, err error) {
	r.ctx.Response.Reset()
	if r.lacking == nil {
		if r.lacking = a.hold.lacking; r.lacking == nil {
			r.lacking = []byte{}
		}
		if r.serveOnError(0) {
			return
		}
	}
	status := fasthttp.StatusBadGateway
	if timedOut(err) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errNotThere) {
		status = fasthttp.StatusGatewayTimeout
	}
	r.problem("required", fmt.Sprintf("include %q is required, so the page is answered with %d: %v", a.hold.lacking, status, err))
	r.fail(status)
}

var errLacking = errors.New("it has just failed")

// whole is the include's canonical path with its query, which no filter has
// touched.
func (in *inner) whole() []byte {
	if len(in.url.query) == 0 {
		return in.url.raw
	}
	return slices.Concat(in.url.raw, []byte("?"), in.url.query)
}

// isLacking says whether an include is the required one that has failed this
// request's first page already.
func (a *assembly) isLacking(in *inner) bool {
	return in.settings.required && len(a.lacking) > 0 && bytes.Equal(in.whole(), a.lacking)
}
