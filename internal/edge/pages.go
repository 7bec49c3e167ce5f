package edge

import (
	"html"
	"strconv"

	"github.com/valyala/fasthttp"
)

// refuse answers a request that is wrong in itself: the reason as text.
func (r *request) refuse(status int, reason string) {
	r.ctx.SetStatusCode(status)
	r.ctx.SetContentType("text/plain; charset=utf-8")
	r.ctx.Response.Header.SetCanonical(fieldCacheControl, []byte("no-store"))
	r.ctx.SetBodyString(strconv.Itoa(status) + " " + fasthttp.StatusMessage(status) + ": " + reason + "\n")
}

// notFound answers for a page that neither the site nor an origin has.
func (r *request) notFound() { r.fail(fasthttp.StatusNotFound) }

// fail answers with an error page: the site's own, /404.html and so on under
// root as Rails has them, else a small one of ours. It is nobody's to keep.
func (r *request) fail(status int) {
	if r.site != nil && r.site.files != nil {
		if body, ok := r.errorFile(status); ok {
			r.sendError(status, body)
			return
		}
	}
	r.failPlainly(status)
}

// failPlainly answers with an error page of ours.
func (r *request) failPlainly(status int) {
	r.ctx.SetContentType("text/html; charset=utf-8")
	r.sendError(status, ownPage(status))
}

// errorFile takes a page such as /502.html for an answer. One with directives
// is not taken: what it includes may be what has just failed.
func (r *request) errorFile(status int) ([]byte, bool) {
	name := append(strconv.AppendInt([]byte("/"), int64(status), 10), ".html"...)
	h, ok := r.site.files.Get(name, true)
	if !ok {
		return nil, false
	}
	if h.File != nil {
		h.File.Close()
		return nil, false
	}
	if r.template(h.Page) != nil {
		return nil, false
	}
	r.head(h.Page.Head)
	for _, name := range []string{"Etag", "Last-Modified", "Accept-Ranges"} {
		r.ctx.Response.Header.Del(name)
	}
	return h.Page.Body, true
}

func (r *request) sendError(status int, body []byte) {
	r.ctx.SetStatusCode(status)
	r.ctx.Response.Header.SetCanonical(fieldCacheControl, []byte("no-store"))
	r.ctx.Response.SetBodyRaw(body)
}

// errorTexts is what our own pages say, beside the name of the status.
var errorTexts = map[int]string{
	fasthttp.StatusNotFound:            "There is no such page here.",
	fasthttp.StatusInternalServerError: "Something went wrong on this server.",
	fasthttp.StatusBadGateway:          "The application behind this site does not answer. Please try again in a moment.",
	fasthttp.StatusGatewayTimeout:      "The application behind this site takes too long to answer. Please try again in a moment.",
}

func ownPage(status int) []byte {
	title := html.EscapeString(strconv.Itoa(status) + " " + fasthttp.StatusMessage(status))
	return []byte(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>` + title + `</title>
<style>body{font:1rem/1.5 system-ui,sans-serif;max-width:36rem;margin:20vh auto;padding:0 1rem;color-scheme:light dark}</style></head>
<body><h1>` + title + `</h1><p>` + html.EscapeString(errorTexts[status]) + `</p></body></html>
`)
}
