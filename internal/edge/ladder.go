package edge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ssiedge/ssiedge/pagecache"
	"github.com/ssiedge/ssiedge/ssi"
)

// came is what came of an include: a page, a reply that is this visitor's
// alone, or an error. Exactly one of page, reply and err speaks.
type came struct {
	page  found
	reply *reply
	err   error
	cut   *cutOff // with err: the part of a body that broke off; nil: there is none
}

// cutOff is what came of a reply whose body broke off.
type cutOff struct {
	status int
	runs   bool // its directives are to be run
	body   []byte
}

// status is that of the answer; 0: there was none.
func (c *came) status() int {
	switch {
	case c.page.Page != nil:
		return c.page.Page.Status
	case c.reply != nil:
		return c.reply.status()
	}
	return 0
}

// settle is the ladder of an include: what came of it; a stale page for a
// timeout, an error, a 5xx and a body that broke off, within its window; else
// the failure is told to package ssi, where onerror, the stub or the error
// message stands for it. So exactly one appears, and never a part. Where the
// site pastes errors, what came counts, whatever its status, be it a part.
func (a *assembly) settle(in *inner, c came) ssi.Fragment {
	if c.reply != nil {
		defer c.reply.close()
		a.takeCookies(c.reply.header(), in.settings.keep.forwardCookies)
	}
	c.err = a.because(c.err)
	paste := a.site.options.SSI.PasteErrors
	status, err := c.status(), c.err
	if status >= 400 && !paste {
		err = fmt.Errorf("the origin answered %d", status)
	}
	var f ssi.Fragment
	if err == nil {
		if f, c.cut, err = a.fragment(in, &c); err == nil {
			return f
		}
		err = a.because(err)
	}
	switch {
	case errors.Is(err, ssi.ErrTooLarge): // the page as a whole fails, not the fragment
		return ssi.Fragment{Err: err}
	case paste && c.cut != nil:
		return a.pasted(in, c.cut, err)
	case refuses(status) && !paste || !in.mayServeOnError(time.Now()):
		return a.failed(in, err)
	}
	if f, _, stale := a.fragment(in, &came{page: in.stale}); stale == nil {
		return f
	}
	return a.failed(in, err)
}

// refuses says that the app answered, and that this is its answer: no page of
// an earlier day is put in the place of a 4xx.
func refuses(status int) bool { return status >= 400 && status < 500 }

// failed is the end of the ladder. A required fragment takes the page with it,
// unless the head has left.
func (a *assembly) failed(in *inner, err error) ssi.Fragment {
	a.edge.metrics.includes[includeFailed].Add(1)
	f := ssi.Fragment{Err: err}
	if in != nil {
		if in.settings.required {
			a.hold.fail(in.whole(), err)
		}
		f.Variables = a.inside(in, string(in.url.path)) // a stub speaks of the fragment
	}
	return f
}

// fragment makes what came a fragment. An error is a failure of the fragment;
// with one, cut is the part that came.
func (a *assembly) fragment(in *inner, c *came) (f ssi.Fragment, cut *cutOff, err error) {
	if c.page.Page != nil {
		f, err = a.pageFragment(in, c.page)
		return f, nil, err
	}
	return a.replyFragment(in, c.reply)
}

// pageFragment is a page as a fragment.
func (a *assembly) pageFragment(in *inner, f found) (ssi.Fragment, error) {
	f.close()
	if f.pulled() && f.Page.Field("content-encoding") != nil {
		return ssi.Fragment{}, errUnknownCoding
	}
	if f.File != nil || f.Page.Length > a.site.options.SSI.MaxFragment {
		return ssi.Fragment{}, fmt.Errorf("%s: %d bytes are more than max_fragment", in.url.raw, f.Page.Length)
	}
	path, outcome := f.Page.Name, includePublished
	if f.pulled() {
		path, outcome = string(in.url.path), includeKept
		if f.Page.Status >= 400 && !a.site.options.SSI.PasteErrors { // a stale one
			return ssi.Fragment{}, fmt.Errorf("the origin answered %d", f.Page.Status)
		}
		a.parts.addPage(f.Page, time.Now())
		if in.settings.keep.keyed() {
			a.parts.readPersonal()
		}
	}
	a.edge.metrics.includes[outcome].Add(1)
	frag := ssi.Fragment{Status: f.Page.Status, Body: f.Page.Body}
	if t := in.template(f.Page); t != nil {
		frag.Body, frag.Template = nil, t
	}
	if len(frag.Body) == 0 { // something will run: the template, or a stub
		frag.Variables = a.inside(in, path)
	}
	return frag, nil
}

// replyFragment is a reply of the origin as a fragment. What it says of keeping
// counts for the page.
func (a *assembly) replyFragment(in *inner, p *reply) (ssi.Fragment, *cutOff, error) {
	body, cut, err := a.fragmentBody(in, p)
	if err != nil {
		return ssi.Fragment{}, cut, err
	}
	a.note(in, p)
	a.edge.metrics.includes[includeOrigin].Add(1)
	return a.text(in, p.status(), in.runs(p.header()), body), nil, nil
}

// pasted is the part that came of a body that broke off, as nginx pastes it.
// Nobody may keep the page.
func (a *assembly) pasted(in *inner, cut *cutOff, err error) ssi.Fragment {
	a.parts.forbid(noStore)
	a.trouble.add(ssi.KindInclude, fmt.Sprintf("include %q: only a part of it came: %v", in.url.raw, err))
	a.edge.metrics.includes[includeOrigin].Add(1)
	return a.text(in, cut.status, cut.runs, cut.body)
}

// text is a body that was asked of the origin, as a fragment.
func (a *assembly) text(in *inner, status int, runs bool, body []byte) ssi.Fragment {
	frag := ssi.Fragment{Status: status, Body: body, Variables: a.inside(in, string(in.url.path))}
	if runs && ssi.HasDirectives(body) {
		t := ssi.Compile(string(in.url.raw), body, in.site.compile)
		a.trouble.document(t, in.url.raw)
		if !t.Static() {
			frag.Body, frag.Template = nil, t
		}
	}
	return frag
}

// fragmentBody reads a reply's body whole. What broke off is in cut.
func (a *assembly) fragmentBody(in *inner, p *reply) (plain []byte, cut *cutOff, err error) {
	if p.bodiless(nil) {
		return nil, nil, nil
	}
	limit := a.site.options.SSI.MaxFragment
	body, err := p.collect(limit)
	if errors.Is(err, errTooLarge) {
		return nil, nil, fmt.Errorf("more than max_fragment (%d bytes)", limit)
	}
	if err != nil {
		return nil, in.cutOff(p, body), err
	}
	plain, err = decoded(p.header(), body, limit)
	return plain, nil, err
}

// cutOff keeps the part that came of a body. A part of a coded one is no text.
func (t *target) cutOff(p *reply, body []byte) *cutOff {
	h := p.header()
	if coding := h.Peek("Content-Encoding"); len(body) == 0 || len(coding) > 0 && !equalFold(coding, "identity") {
		return nil
	}
	return &cutOff{status: p.status(), runs: t.runs(h), body: body}
}

// filled is what came of a fill for an include. A reply that was made without
// the visitor's cookies, and may not be kept, is not his: he asks on his own.
func (a *assembly) filled(ctx context.Context, in *inner, f *fill, done *filled) ssi.Fragment {
	switch {
	case done.page != nil && !(done.forOne() && f.asked.Withheld):
		a.countCookies(cookiesIn(done.beside))
		return a.settle(in, came{page: found{Hit: pagecache.Hit{Page: done.page}, source: sourceStored}})
	case done.err != nil:
		return a.settle(in, came{err: done.err, cut: done.cut})
	case done.failed() && in.mayServeOnError(time.Now()) && !a.site.options.SSI.PasteErrors:
		return a.settle(in, came{reply: done.reply})
	case f.asked.Withheld:
		done.close()
		return a.fetch(ctx, in)
	case done.read != nil:
		done.close()
		return a.settle(in, came{err: errors.New("larger than max_fragment or limits.max_keep, or in a content coding that nobody here knows")})
	}
	return a.settle(in, came{reply: done.reply})
}
