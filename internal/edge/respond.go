package edge

import (
	"bufio"
	"bytes"
	"io"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"
)

// Canonical field names, as fasthttp writes them.
var (
	fieldAge          = []byte("Age")
	fieldCacheControl = []byte("Cache-Control")
	fieldCacheStatus  = []byte("Cache-Status")
	fieldContentRange = []byte("Content-Range")
	fieldETag         = []byte("Etag")
	fieldExpires      = []byte("Expires")
	fieldVary         = []byte("Vary")
	fieldVia          = []byte("Via")
	via               = []byte("1.1 ssiedge")
	acceptEncoding    = []byte("Accept-Encoding")
)

// maxRanges bounds the parts of one answer; over it the whole page is sent.
const maxRanges = 32

// largeBody is from where on a body is written in pieces, each with a deadline
// of its own, so that a slow but steady reader is never cut off.
const largeBody = 256 << 10

// respondPage is the end of a hit: the page, assembled where it has
// directives, in the coding and the part that the visitor asks for.
func (r *request) respondPage(f found) {
	r.source, r.result.ttl = f.source, f.ttl
	if t := r.template(f.Page); t != nil {
		r.assemblePage(f, t)
		return
	}
	if f.File != nil && r.processed([]byte(f.Page.Type)) {
		r.tooLarge()
	}
	vary := false
	if f.source == sourceFile {
		f, vary = r.encoded(f)
	}
	r.pageHead(f)
	if vary {
		r.addVary(acceptEncoding)
	}
	v := validators{etag: f.Page.ETag, modified: f.Page.Modified}
	if f.pulled() && v.modified == 0 && has(&r.ctx.Request.Header, fieldIfModifiedSince) {
		v.made, _ = parseHTTPDate(f.Page.Field("date"))
	}
	if f.Page.Status == fasthttp.StatusOK { // conditions and ranges are of a 200
		if s := evaluate(&r.ctx.Request.Header, v); s != 0 {
			r.unmodified(f, s)
			return
		}
		if r.part(f, v) {
			return
		}
	}
	r.dress()
	r.body(f)
}

// head makes the stored head the answer's. A published page is ours, so the
// answer's Date is the clock's: Reset makes fasthttp write it.
func (r *request) head(head []byte) {
	h := &r.ctx.Response.Header
	h.Reset()
	h.SetNoDefaultContentType(true) // which Reset forgets
	r.readHead(head)
}

func (r *request) readHead(head []byte) {
	h := &r.ctx.Response.Header
	r.headBytes.Reset(head)
	if err := h.Read(r.headReader(len(head))); err != nil {
		panic("BUG: stored head of " + strconv.Quote(string(r.written)) + " does not parse: " + err.Error())
	}
	h.ResetConnectionClose() // fasthttp's guess, since a stored head states no length
}

// pageHead makes a page's head the answer's. A pulled page keeps its Date and
// has an Age; who asked for it gets the cookies that are not kept with it.
func (r *request) pageHead(f found) {
	if !f.pulled() {
		r.head(f.Page.Head)
		return
	}
	h := &r.ctx.Response.Header
	r.edge.dated.CopyTo(h)
	r.readHead(f.Page.Head)
	if age := f.Page.Age(time.Now()); age > 0 || f.source < sourceStored {
		r.scratch = strconv.AppendInt(r.scratch[:0], age, 10)
		h.SetCanonical(fieldAge, r.scratch)
	}
	for _, f := range r.result.beside {
		h.AddBytesKV(f.Name, f.Value)
	}
}

// headReader reads headBytes. It stays with the pooled request; a head that
// does not fit gets a reader of its own.
func (r *request) headReader(size int) *bufio.Reader {
	const common = 4096
	if size > common {
		return bufio.NewReaderSize(&r.headBytes, size)
	}
	if r.headBuffer == nil {
		r.headBuffer = bufio.NewReaderSize(&r.headBytes, common)
	} else {
		r.headBuffer.Reset(&r.headBytes)
	}
	return r.headBuffer
}

// dress adds what the edge says of an answer of its pages: where it came from,
// and the rule's expires and response_headers. The status is set already.
func (r *request) dress() {
	r.sign()
	r.expire()
	r.edit()
}

// sign says where a page came from, and who stands between. The head of a
// pulled page has the Via already.
func (r *request) sign() {
	h := &r.ctx.Response.Header
	r.member = r.appendStatus(r.member[:0])
	r.addListed(fieldCacheStatus, r.member)
	if r.source < sourceMemory {
		h.SetCanonical(fieldVia, via)
	}
}

// cacheStatus is the Cache-Status member (RFC 9211) of each source that has
// but one.
var cacheStatus = [sources][]byte{
	sourceFile:      []byte("ssiedge; hit; detail=file"),
	sourcePublished: []byte("ssiedge; hit; detail=published"),
	sourceMethod:    []byte("ssiedge; fwd=method"),
	sourceBypass:    []byte("ssiedge; fwd=bypass"),
}

// expire tells the visitor the rule's lifetime, for the statuses that nginx's
// expires speaks for. An answer of the app that says that it is not for
// everybody, or sets a cookie, keeps its own.
func (r *request) expire() {
	x := r.settings.expires
	if x == nil || r.source >= sourceMemory && restricted(&r.ctx.Response.Header) {
		return
	}
	switch s := r.ctx.Response.StatusCode(); {
	case s >= 200 && s < 300, s == 301, s == 304, s == 308:
		h := &r.ctx.Response.Header
		replaceField(h, fieldCacheControl, x.cacheControl)
		r.scratch = fasthttp.AppendHTTPDate(r.scratch[:0], r.began.Add(x.after))
		replaceField(h, fieldExpires, r.scratch)
	}
}

// edit applies the rule's response_headers.
func (r *request) edit() {
	e := r.settings.headers
	if e == nil {
		return
	}
	h := &r.ctx.Response.Header
	for _, name := range e.Remove {
		h.Del(name)
	}
	for _, f := range e.Set {
		h.Del(f.Name)
		h.Set(f.Name, f.Value)
	}
}

func (r *request) addVary(name []byte) {
	h := &r.ctx.Response.Header
	if old := h.PeekBytes(fieldVary); len(old) > 0 {
		if listHas(old, string(name)) {
			return
		}
		r.scratch = append(append(append(r.scratch[:0], old...), ", "...), name...)
		name = r.scratch
	}
	h.SetCanonical(fieldVary, name)
}

// unmodified answers 304 or 412 (RFC 9110, section 13).
func (r *request) unmodified(f found, status int) {
	f.close()
	r.ctx.SetStatusCode(status)
	if status == fasthttp.StatusPreconditionFailed {
		r.forgetLifetime()
	}
	r.dress()
}

// forgetLifetime takes out of a page's head what an answer that refuses this
// request's condition or Range may not say: a cache between the visitor and
// the edge could keep it for everybody who wants the page.
func (r *request) forgetLifetime() {
	for _, name := range [...]string{"Cache-Control", "Cdn-Cache-Control", "Expires", "Etag", "Last-Modified"} {
		r.ctx.Response.Header.Del(name)
	}
}

// close gives back what the body is read from.
func (f found) close() {
	if c := f.closer(); c != nil {
		c.Close()
	}
}

// body sends the whole page.
func (r *request) body(f found) {
	p := f.Page
	switch {
	case r.ctx.Request.Header.IsHead():
		f.close()
		r.ctx.Response.SkipBody = true
		r.ctx.Response.Header.SetContentLength(int(p.Length))
	case f.File != nil:
		r.stream(io.NewSectionReader(f.File, 0, p.Length), p.Length, f.File)
	case f.arrives != nil:
		body := f.arrives.Reader()
		r.streamSlices(body, p.Length, body)
		r.ctx.Response.ImmediateHeaderFlush = true
	case len(p.Body) > largeBody:
		r.streamSlices(&heldBody{p.Body}, p.Length, nil)
	default:
		r.ctx.Response.SetBodyRaw(p.Body)
	}
}

// part answers a Range request (RFC 9110, section 14). false: the whole page
// is the answer.
func (r *request) part(f found, v validators) bool {
	h := &r.ctx.Request.Header
	spec := h.Peek(fasthttp.HeaderRange)
	if len(spec) == 0 || !h.IsGet() || f.Page.Length < 0 || !ifRange(h, v) {
		return false
	}
	ranges, res := parseRanges(r.ranges[:0], spec, f.Page.Length, maxRanges)
	r.ranges = ranges
	switch {
	case res == rangeIgnored:
		return false
	case res == rangeUnsatisfiable:
		r.unsatisfiable(f)
	case len(ranges) > 1:
		r.parts(f, ranges)
	default:
		r.onePart(f, ranges[0])
	}
	return true
}

// unsatisfiable answers for ranges that are all beyond the page.
func (r *request) unsatisfiable(f found) {
	f.close()
	r.ctx.SetStatusCode(fasthttp.StatusRequestedRangeNotSatisfiable)
	r.forgetLifetime()
	r.dress()
	r.scratch = strconv.AppendInt(append(r.scratch[:0], "bytes */"...), f.Page.Length, 10)
	r.ctx.Response.Header.SetCanonical(fieldContentRange, r.scratch)
}

// onePart answers one range.
func (r *request) onePart(f found, one byteRange) {
	r.ctx.SetStatusCode(fasthttp.StatusPartialContent)
	r.dress()
	r.scratch = appendContentRange(r.scratch[:0], one, f.Page.Length)
	r.ctx.Response.Header.SetCanonical(fieldContentRange, r.scratch)
	if f.File == nil && f.arrives == nil && one.length <= largeBody {
		r.ctx.Response.SetBodyRaw(f.Page.Body[one.start : one.start+one.length])
		return
	}
	r.stream(io.NewSectionReader(f.readerAt(), one.start, one.length), one.length, f.closer())
}

// parts answers several ranges as multipart/byteranges.
func (r *request) parts(f found, ranges []byteRange) {
	m := newMultipart(f.readerAt(), append([]byteRange(nil), ranges...), f.Page.Length, f.Page.Type)
	r.ctx.SetStatusCode(fasthttp.StatusPartialContent)
	r.dress()
	r.ctx.Response.Header.SetContentType(m.contentType())
	r.stream(m, m.size(), f.closer())
}

// readerAt reads the page's body, wherever it is.
func (f found) readerAt() io.ReaderAt {
	switch {
	case f.File != nil:
		return f.File
	case f.arrives != nil:
		return f.arrives
	}
	return bytes.NewReader(f.Page.Body)
}

// closer closes what the page's body is read from; nil: it is in memory.
func (f found) closer() io.Closer {
	switch {
	case f.File != nil:
		return f.File
	case f.arrives != nil:
		return f.arrives.Reader()
	}
	return nil
}
