package edge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/ssiedge/ssiedge/ssi"
)

// assembly is step 8: a page whose directives are being run for one visitor.
type assembly struct {
	edge    *Edge
	state   *state
	site    *site
	visitor *visitor
	page    []byte // canonical path, for reports
	parts   parts
	hold    headHold
	room    room // for what is gathered of fragments
	trouble trouble
	lacking []byte // canonical URL of a required fragment that failed already
	// queryFiltered: the visitor's query holds more than the page's URL
	queryFiltered bool
	nobodyAsked   bool // a HEAD: only what is at hand
	run           *ssi.Run
	ctx           context.Context // of what is fetched: ends with the time for the assembly, and when the visitor leaves
	cancel        context.CancelCauseFunc
	deadline      time.Time // of the assembly
	timed         sync.Once
	timer         *time.Timer // of the deadline; nil: nobody was asked
	conn          net.Conn    // the visitor's, to be watched; nil: not to be
	watcher       *watch      // nil: he is not watched; for the answer's own goroutine
	departed      atomic.Bool
}

// assemblePage runs a published page.
func (r *request) assemblePage(f found, t *ssi.Template) {
	r.head(f.Page.Head)
	d := &document{path: f.Page.Name, modified: f.Page.Modified}
	if f.source == sourceFile {
		d.file = f.Page
	}
	if f.pulled() {
		r.pulledPart(f)
		d.path = string(r.url.path)
	}
	for _, name := range []string{"Etag", "Accept-Ranges"} {
		r.ctx.Response.Header.Del(name)
	}
	if !r.site.options.SSI.KeepLastModified {
		r.ctx.Response.Header.Del("Last-Modified")
	}
	r.sign()
	r.assemble(t, d, f.Page.Status)
}

// pulledPart states the Age of a pulled page for the parts to be counted, and
// gives who asked for it its cookies.
func (r *request) pulledPart(f found) {
	h := &r.ctx.Response.Header
	h.Set("Age", strconv.FormatInt(f.Page.Age(time.Now()), 10))
	for _, f := range r.result.beside {
		h.AddBytesKV(f.Name, f.Value)
	}
}

// assemble runs t and answers with what it prints. The answer's head stands in
// the response already, but for what the parts have a say in. d is the page,
// with what is known of it by itself.
func (r *request) assemble(t *ssi.Template, d *document, status int) {
	r.edge.metrics.assembled.Add(1)
	r.ctx.SetStatusCode(status)
	a := r.assembly()
	d.assembly, d.query, d.top = a, a.visitor.query, true
	a.start(t, d)
	defer func() {
		if !r.streaming { // else the body closes it
			a.close()
		}
	}()
	complete := a.awaitHead()
	lacks := a.hold.verdict(complete)
	switch {
	case a.left():
		r.abandon()
		return
	case lacks != nil:
		a.close()
		r.lacks(a, lacks)
		return
	case complete && a.run.Err() != nil:
		r.problem("page", a.run.Err().Error())
		r.ctx.Response.Reset()
		r.fail(fasthttp.StatusInternalServerError)
		return
	}
	a.giveCookies(&r.ctx.Response.Header)
	a.parts.write(&r.ctx.Response.Header, complete, complete && a.run.Failed(), r.settings.expires)
	r.edit()
	switch {
	case complete:
		r.whole(a)
	case r.ctx.IsHead():
		r.ctx.Response.SkipBody = true
	default:
		r.streamBody(&body{request: r, run: a.run, closer: a}, -1)
		r.ctx.Response.ImmediateHeaderFlush = !a.run.Ready() // else it leaves with the text
	}
}

func (r *request) assembly() *assembly {
	v := r.snapshot()
	a := &assembly{
		edge: r.edge, state: r.state, site: r.site, visitor: v,
		page:          bytes.Clone(r.url.raw),
		room:          room{most: r.site.options.SSI.MaxPage},
		lacking:       r.lacking,
		queryFiltered: !bytes.Equal(v.query, r.url.query),
		nobodyAsked:   r.ctx.IsHead(),
	}
	if n := r.ctx.Request.Header.ContentLength(); n == 0 || n < -1 { // else his body may still be read
		a.conn = r.ctx.Conn()
	}
	a.parts.add(&r.ctx.Response.Header, time.Now())
	if r.source >= sourceMemory && r.settings.keep.keyed() {
		a.parts.readPersonal()
	}
	return a
}

// backstop is how long after the time for the assembly package ssi waits for
// those that it asked: they end at that time by themselves, and then know of
// stale pages.
const backstop = time.Second

// start begins the run. For a HEAD nothing is asked for.
func (a *assembly) start(t *ssi.Template, d *document) {
	o := &a.site.options.SSI
	a.deadline = time.Now().Add(o.Timeout)
	a.ctx, a.cancel = context.WithCancelCause(context.Background())
	a.run = t.Start(a.ctx, &ssi.Env{
		Includer: a, Variables: d,
		Now: a.visitor.began, Location: o.Timezone,
		MaxDepth: o.MaxDepth, MaxIncludes: o.MaxIncludes, MaxPage: o.MaxPage,
		Deadline: a.deadline.Add(backstop),
		AtHand:   a.nobodyAsked,
		Report:   a.report,
		Panicked: func(v any, stack []byte) { a.edge.panicked("include", v, stack) },
	})
}

// errLate is why what is pending ends when the time for the assembly is over.
var errLate = fmt.Errorf("no answer within site.ssi.timeout: %w", context.DeadlineExceeded)

// limit bounds the assembly in time. Only a page that has to ask somebody needs
// a timer for that.
func (a *assembly) limit() {
	a.timed.Do(func() {
		a.timer = time.AfterFunc(time.Until(a.deadline), func() { a.cancel(errLate) })
	})
}

// because is err, or where what was under way was ended for being late, that.
func (a *assembly) because(err error) error {
	if cause := context.Cause(a.ctx); cause == errLate && errors.Is(err, context.Canceled) {
		return cause
	}
	return err
}

// Close is the end of an answer that streams: it cancels what is pending and
// waits for its goroutines. If something is, the answer has broken off, which
// for the visitor is to have left, and otherwise is told by itself.
func (a *assembly) Close() error {
	if !a.run.Wait(0) {
		a.departed.Store(true)
	}
	a.close()
	return nil
}

func (a *assembly) close() {
	a.watcher.stop()
	a.cancel(nil)
	a.run.Close()
	if a.timer != nil {
		a.timer.Stop()
	}
	a.trouble.tell(a.site, a.page)
}

// watch watches the visitor from now on: his answer has to wait.
func (a *assembly) watch() {
	if a.conn != nil {
		a.watcher = newWatch(a.conn, func() {
			a.departed.Store(true) // what fails from now on is nobody's mistake
			a.cancel(nil)
			a.run.Close()
		})
	}
}

// visitorLeft is closed when the visitor has left; nil: nobody can tell.
func (a *assembly) visitorLeft() <-chan struct{} {
	if a.watcher == nil {
		return nil
	}
	return a.watcher.left
}

func (a *assembly) left() bool {
	select {
	case <-a.visitorLeft():
		return true
	default:
		return false
	}
}

// whole answers with a page that is complete: joined and written once, with
// its length, or a 304 where the visitor has the same already.
func (r *request) whole(a *assembly) {
	out := a.run.AppendTo(r.ctx.Response.SwapBody(nil)[:0])
	r.ctx.Response.SwapBody(out)
	tagged := r.site.options.SSI.ETag && r.ctx.Response.StatusCode() == fasthttp.StatusOK && a.parts.mayTag(a.run.Failed())
	if tagged && r.unchanged(out) {
		r.ctx.SetStatusCode(fasthttp.StatusNotModified)
		r.ctx.Response.ResetBody()
		return
	}
	if len(out) > largeBody && !r.ctx.IsHead() {
		r.ctx.Response.SwapBody(nil) // it outlives the response's own buffer
		r.streamSlices(&heldBody{out}, int64(len(out)), a)
	}
}

// unchanged gives the answer its entity-tag and says whether the visitor has
// that already. Of the preconditions only those of a 304 are looked at: a weak
// tag never fulfils If-Match.
func (r *request) unchanged(out []byte) bool {
	h := &r.ctx.Response.Header
	v := validators{etag: weakTag(out)}
	h.SetCanonical(fieldETag, []byte(v.etag))
	if r.site.options.SSI.KeepLastModified {
		v.modified, _ = parseHTTPDate(h.Peek(fasthttp.HeaderLastModified))
	}
	asked := &r.ctx.Request.Header
	return (asked.IsGet() || asked.IsHead()) && evaluate(asked, v) == fasthttp.StatusNotModified
}

var _ io.Closer = (*assembly)(nil)
