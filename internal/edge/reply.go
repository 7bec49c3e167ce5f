package edge

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/valyala/fasthttp"

	"github.com/ssiedge/ssiedge/origin"
	"github.com/ssiedge/ssiedge/pagecache"
	"github.com/ssiedge/ssiedge/ssi"
)

// reply is what the origin answered. close gives all of it back.
type reply struct {
	request  *fasthttp.Request
	response *fasthttp.Response
	exchange origin.Exchange
	upload   *upload // what the request sent; nil: nothing
	room     *room   // that a body taken whole takes up; nil: it is not counted

	holding *pagecache.Holding // of the edge's budget, likewise
}

// close gives back the connection and the memory. The reply's head and body
// must not be used after it.
func (p *reply) close() {
	if p.exchange.Answer != nil {
		p.exchange.Answer.Close()
	}
	if p.upload != nil {
		p.upload.end()
	}
	fasthttp.ReleaseRequest(p.request)
	fasthttp.ReleaseResponse(p.response)
}

// Close makes a reply the closer of a body that streams.
func (p *reply) Close() error {
	p.close()
	return nil
}

func (p *reply) header() *fasthttp.ResponseHeader { return &p.response.Header }
func (p *reply) status() int                      { return p.response.StatusCode() }

// bodiless says whether a reply to method has no body (RFC 9110, section 6.4.1).
func (p *reply) bodiless(method []byte) bool {
	s := p.status()
	return s == fasthttp.StatusNoContent || s == fasthttp.StatusNotModified || string(method) == fasthttp.MethodHead
}

var (
	errTooLarge = errors.New("edge: body over the limit")
	errBusy     = errors.New("edge: no room in the budget for a body")
)

// collect reads the body whole. Over limit bytes: errTooLarge, and what was
// read so far; so it is with errBusy, where there is no room in the budget, and
// where the body breaks off, with the error of Read.
func (p *reply) collect(limit int64) ([]byte, error) {
	size := p.exchange.Size
	if size > limit {
		return nil, errTooLarge
	}
	if err := p.room.take(max(size, 0)); err != nil {
		return nil, err
	}
	if !p.holding.Grow(size) {
		return nil, errBusy
	}
	for b := []byte(nil); ; {
		if len(b) == cap(b) {
			b = pagecache.GrowBody(b, size, limit)
			if size < 0 && !p.holding.Grow(int64(cap(b))) {
				return b, errBusy
			}
		}
		n, err := p.exchange.Answer.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if size < 0 && err == nil {
			err = p.room.take(int64(n))
		}
		if int64(len(b)) > limit {
			return b, errTooLarge
		}
		if err == io.EOF {
			return b, nil
		}
		if err != nil {
			return b, err
		}
	}
}

var errUnknownCoding = errors.New("edge: a content coding that nobody here knows")

func knownCoding(coding []byte) bool {
	for _, known := range [...]string{"identity", "gzip", "x-gzip", "br", "zstd", "deflate"} {
		if equalFold(coding, known) {
			return true
		}
	}
	return false
}

// decoded takes the content coding off a body that came with one although
// identity was asked for, and the field off its head h. An unknown coding is an
// error, errUnknownCoding, and so is a body that is not in its coding.
func decoded(h *fasthttp.ResponseHeader, body []byte, limit int64) ([]byte, error) {
	coding := h.Peek(fasthttp.HeaderContentEncoding)
	if len(coding) == 0 {
		return body, nil
	}
	var coded fasthttp.Response
	coded.Header.SetContentEncodingBytes(coding)
	if equalFold(coding, "x-gzip") {
		coded.Header.SetContentEncoding("gzip")
	}
	coded.SetBodyRaw(body)
	plain := body
	if !knownCoding(coding) {
		return nil, errUnknownCoding
	}
	if !equalFold(coding, "identity") {
		var err error
		if plain, err = coded.BodyUncompressedWithLimit(int(limit)); err != nil {
			return nil, fmt.Errorf("content coding %q: %w", coding, err)
		}
		for _, name := range []string{"Etag", "Accept-Ranges", "Content-Md5", "Digest", "Content-Digest", "Repr-Digest"} {
			h.Del(name) // it was about the coded bytes
		}
	}
	h.Del(fasthttp.HeaderContentEncoding)
	return plain, nil
}

// respondReply is the end of a request that the origin answered: assembled
// where the answer has directives, else passed on as it comes.
func (r *request) respondReply(p *reply) { r.respondRead(p, nil) }

// respondRead is respondReply where a first part of the body was read already:
// more than is kept or assembled, or all of it.
func (r *request) respondRead(p *reply, read []byte) {
	r.invalidates(p)
	r.replyHead(p)
	processed := r.runs(p.header())
	switch {
	case r.ctx.IsHead() && !processed && r.hasAlready(p.status()):
		p.close()
		r.sayUnmodified()
	case p.bodiless(r.ctx.Method()):
		if processed && r.ctx.IsHead() {
			// Only a body would tell whether there is something to assemble.
			r.unvalidated()
		}
		r.ctx.Response.SkipBody = true
		p.close()
		r.finalize()
	case processed && read == nil:
		r.respondDocument(p)
	case processed && int64(len(read)) <= r.state.options.Limits.MaxKeep:
		r.respondWhole(p, read) // it was not kept for its coding
	case processed:
		r.passTooLarge(p, read)
	case read != nil:
		r.pass(p, io.MultiReader(bytes.NewReader(read), p.exchange.Answer))
	case r.hasAlready(p.status()):
		p.close()
		r.sayUnmodified()
	default:
		r.pass(p, p.exchange.Answer)
	}
}

// hasAlready says whether the visitor has the reply that stands in the answer:
// his conditions were kept from the app, which was asked for a page that turned
// out not to be one to keep.
func (r *request) hasAlready(status int) bool {
	if !r.result.whole || status != fasthttp.StatusOK {
		return false
	}
	h := &r.ctx.Response.Header
	v := validators{etag: string(h.Peek(fasthttp.HeaderETag))}
	v.modified, _ = parseHTTPDate(h.Peek(fasthttp.HeaderLastModified))
	return evaluate(&r.ctx.Request.Header, v) == fasthttp.StatusNotModified
}

func (r *request) sayUnmodified() {
	r.ctx.SetStatusCode(fasthttp.StatusNotModified)
	r.ctx.Response.Header.Del(fasthttp.HeaderContentLength)
	r.finalize()
}

// passTooLarge passes on a document that may have directives, unrun.
func (r *request) passTooLarge(p *reply, read []byte) {
	r.tooLarge()
	r.pass(p, io.MultiReader(bytes.NewReader(read), p.exchange.Answer))
}

// respondDocument answers with a reply of a media type that may hold
// directives.
func (r *request) respondDocument(p *reply) {
	body, err := p.collect(r.state.options.Limits.MaxKeep)
	switch {
	case errors.Is(err, errTooLarge):
		r.passTooLarge(p, body)
	case err != nil:
		p.close()
		r.ctx.Response.Reset()
		r.unanswered(err)
	default:
		r.respondWhole(p, body)
	}
}

// respondWhole answers with a document whose body is in memory. One in a
// coding that nobody here knows goes on as it is: the visitor may read it.
func (r *request) respondWhole(p *reply, body []byte) {
	defer p.close()
	h := &r.ctx.Response.Header
	plain, err := decoded(h, body, r.state.options.Limits.MaxKeep)
	if err != nil {
		r.problem("coding", err.Error())
		plain = body
	} else if ssi.HasDirectives(plain) {
		t := ssi.Compile(string(r.url.raw), plain, r.site.compile)
		r.report(t)
		if !t.Static() {
			d := &document{path: string(r.url.path)}
			d.modified, _ = parseHTTPDate(h.Peek(fasthttp.HeaderLastModified))
			r.unvalidated()
			r.redate()
			r.assemble(t, d, p.status())
			return
		}
	}
	if r.hasAlready(p.status()) {
		r.sayUnmodified()
		return
	}
	r.finalize()
	if len(plain) > largeBody {
		r.streamSlices(&heldBody{plain}, int64(len(plain)), nil)
		return
	}
	r.ctx.Response.SetBodyRaw(plain)
}

// tooLarge reports a page that is sent as it is.
func (r *request) tooLarge() {
	r.problem("too-large", "the page is over limits.max_keep: passed on as it is, its directives not run")
}

// problem reports what is wrong with the page.
func (r *request) problem(kind, message string) {
	r.edge.reports.add(report{site: r.site, path: r.url.raw, kind: kind, message: message})
}

// pass streams a reply to the visitor.
func (r *request) pass(p *reply, body io.Reader) {
	r.finalize()
	r.stream(body, p.exchange.Size, p)
}

// replyHead makes the reply's head the answer's. Its Date stays: CopyTo takes
// along the mark that origin set for that. Answers without the mark get the
// clock's, and so does a reply that has none (RFC 9110, section 6.6.1).
func (r *request) replyHead(p *reply) {
	h := &r.ctx.Response.Header
	p.header().CopyTo(h)
	if len(h.Peek(fasthttp.HeaderDate)) == 0 {
		r.redate()
	}
	stripPrivate(h)
	r.member = r.appendStatus(r.member[:0])
	r.addListed(fieldCacheStatus, r.member)
	r.addListed(fieldVia, via)
}

// finalize adds what the rules say to an answer of the app.
func (r *request) finalize() {
	r.expire()
	r.edit()
}

// unvalidated takes off what describes a body before its directives are run.
func (r *request) unvalidated() {
	h := &r.ctx.Response.Header
	h.Del("Etag")
	h.Del("Accept-Ranges")
	h.Del("Content-Length")
	if !r.site.options.SSI.KeepLastModified {
		h.Del("Last-Modified")
	}
}

// redate makes the clock's Date that of the answer. An assembled one is made
// now: its lifetime is what remains of that of its parts, and would be over too
// early if it were counted from when one of them was made.
func (r *request) redate() {
	r.head(append([]byte(nil), r.ctx.Response.Header.Header()...)) // Reset forgets the mark
}

// privateFields speak to the edge alone, and end here.
var privateFields = [...]string{
	"Ssiedge-Cache-Control", "Surrogate-Control", "X-Accel-Expires", "X-Accel-Redirect",
	"X-Accel-Buffering", "X-Accel-Charset", "X-Accel-Limit-Rate",
}

func stripPrivate(h *fasthttp.ResponseHeader) {
	for _, name := range privateFields {
		h.Del(name)
	}
}

func isPrivate(name []byte) bool {
	for _, p := range privateFields {
		if equalFold(name, p) {
			return true
		}
	}
	return false
}

// restricted says whether an answer of the app must not be given a lifetime by
// a rule's expires: it says itself that it is not for everybody, or sets a
// cookie.
func restricted(h *fasthttp.ResponseHeader) bool {
	c := parseCacheControl(h.PeekAll(fasthttp.HeaderCacheControl))
	if c.limits&(private|noStore|noCache) != 0 {
		return true
	}
	for range h.Cookies() {
		return true
	}
	return false
}

// addListed appends a member to a list field that the origin may have sent.
func (r *request) addListed(name, member []byte) {
	h := &r.ctx.Response.Header
	r.scratch = r.scratch[:0]
	for _, line := range h.PeekAll(string(name)) {
		r.scratch = append(append(r.scratch, line...), ", "...)
	}
	r.scratch = append(r.scratch, member...)
	replaceField(h, name, r.scratch)
}

// replaceField makes value the only one of a field: fasthttp's Set leaves the
// second line of a field that came in several.
func replaceField(h *fasthttp.ResponseHeader, name, value []byte) {
	h.DelBytes(name)
	h.SetCanonical(name, value)
}
