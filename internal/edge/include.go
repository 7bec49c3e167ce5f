package edge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/valyala/fasthttp"

	"github.com/ssiedge/ssiedge/ssi"
)

// inner is an include on its way through the steps: a GET inside the edge for
// the page's visitor.
type inner struct {
	target
	visitor *visitor
	past    bool  // past every tier: a rule's bypass
	keyed   keyed // of pulled pages
	stale   found // a page that only a window may bring; Page nil: none
}

// pulls says whether the include may be answered by a pulled page, or fill one.
// An answer whose cookies go to the visitor is his alone.
func (in *inner) pulls() bool {
	return in.keeps() && !in.past && !in.settings.keep.forwardCookies
}

var _ ssi.Includer = (*assembly)(nil)

// resolve finds where an include leads.
func (a *assembly) resolve(inc *ssi.Include) (*inner, error) {
	in := &inner{target: target{state: a.state, site: a.site}, visitor: a.visitor}
	from, _ := inc.From.(*document)
	if err := in.target.resolveInclude(from, inc.URL); err != nil {
		return nil, err
	}
	in.past = in.settings.bypass.bypassesVisitor(a.visitor)
	return in, nil
}

// resolveInclude makes the URL of an include in from the target's: same site,
// path only. A site that redirects slashes does not redirect itself.
func (t *target) resolveInclude(from *document, written string) error {
	full := []byte(written)
	if len(full) == 0 || full[0] != '/' {
		full = append(from.directory(), full...)
	}
	slash := t.site.options.TrailingSlash
	if slash == RedirectSlash {
		slash = StripSlash
	}
	return t.resolve(escapeInclude(full), slash, true)
}

// escapeInclude escapes what may not stand in a target: "#", which in an
// include is a character like others as in nginx, and in the query blanks and
// controls. Every other byte of the query goes out as it was written; the path
// is made canonical anyway.
func escapeInclude(written []byte) []byte {
	const hex = "0123456789ABCDEF"
	clean := make([]byte, 0, len(written)+16)
	query := false
	for _, c := range written {
		query = query || c == '?'
		if c == '#' || query && (c <= ' ' || c == 0x7f) {
			clean = append(clean, '%', hex[c>>4], hex[c&15])
		} else {
			clean = append(clean, c)
		}
	}
	return clean
}

// Lookup answers an include by a page, as far as nobody has to be asked over a
// network.
func (a *assembly) Lookup(inc *ssi.Include) (ssi.Fragment, bool) {
	in, err := a.resolve(inc)
	if err != nil {
		return a.failed(err), true
	}
	inc.Memo = in
	if in.settings.redirect != "" { // an answer without a body
		return ssi.Fragment{Status: fasthttp.StatusPermanentRedirect}, true
	}
	settled := true
	if !in.past {
		var f found
		var ok bool
		if f, ok, settled = in.atHand(a.visitor.route, a.visitor.scheme); ok {
			return a.paged(in, f), true
		}
	}
	if in.pulls() {
		in.keyed.take(&in.target, a.visitor, a.visitor.route, a.visitor.scheme)
		if f, fresh := in.keyed.peek(a.visitor.began); settled && fresh {
			return a.paged(in, f), true
		}
	}
	if settled && in.settings.origin == nil {
		return a.failed(errors.New("no such page, and no origin to ask")), true
	}
	if in.settings.keep.forwardCookies {
		a.hold()
	}
	return ssi.Fragment{}, false
}

// Fetch answers an include that Lookup could not.
func (a *assembly) Fetch(ctx context.Context, inc *ssi.Include) ssi.Fragment {
	in := inc.Memo.(*inner)
	if in.settings.keep.forwardCookies {
		defer a.unhold()
	}
	if f, ok := a.find(in); ok {
		return a.paged(in, f)
	}
	if in.settings.origin == nil {
		return a.failed(errors.New("no such page, and no origin to ask"))
	}
	return a.pull(ctx, in)
}

// find looks in all tiers.
func (a *assembly) find(in *inner) (found, bool) {
	if in.past {
		return found{}, false
	}
	if f, ok := in.lookup(a.visitor.route, a.visitor.scheme); ok {
		return f, true
	}
	if !in.pulls() || a.state.store.notKeepable.Has(in.keyed.key) {
		return found{}, false
	}
	f, fresh := in.keyed.get(a.visitor.began)
	if !fresh {
		in.stale = f
	}
	return f, fresh
}

func (a *assembly) failed(err error) ssi.Fragment {
	a.edge.metrics.includes[includeFailed].Add(1)
	return ssi.Fragment{Err: err}
}

// paged is a page as a fragment.
func (a *assembly) paged(in *inner, f found) ssi.Fragment {
	f.close()
	if f.pulled() && f.Page.Field("content-encoding") != nil {
		return a.failed(errUnknownCoding)
	}
	if f.File != nil || f.Page.Length > a.site.options.SSI.MaxFragment {
		return a.failed(fmt.Errorf("%s: %d bytes are more than max_fragment", in.url.raw, f.Page.Length))
	}
	path := f.Page.Name
	if f.pulled() {
		path = string(in.url.path)
		a.parts.addPage(f.Page)
		if in.settings.keep.keyed() {
			a.parts.readPersonal()
		}
		if s := f.Page.Status; s >= 400 && !a.site.options.SSI.PasteErrors {
			return a.failed(fmt.Errorf("the origin answered %d", s))
		}
		a.edge.metrics.includes[includeKept].Add(1)
	} else {
		a.edge.metrics.includes[includePublished].Add(1)
	}
	frag := ssi.Fragment{Status: f.Page.Status, Body: f.Page.Body}
	if t := in.template(f.Page); t != nil {
		frag.Body, frag.Template = nil, t
		frag.Variables = &document{assembly: a, path: path, query: in.url.query}
	}
	return frag
}

// fetch asks the origin for a fragment that nobody else may have.
func (a *assembly) fetch(ctx context.Context, in *inner) ssi.Fragment {
	o := &outgoing{
		visitor: a.visitor, method: []byte(fasthttp.MethodGet), target: in.originTarget(),
		include: true, identity: true,
	}
	p, err := in.askPage(ctx, o, nil)
	if err != nil {
		return a.failed(err)
	}
	return a.replied(in, p)
}

// replied is a reply of the origin as a fragment. What it says of keeping
// counts for the page; its cookies do not leave the edge, but by a rule.
func (a *assembly) replied(in *inner, p *reply) ssi.Fragment {
	defer p.close()
	a.note(in, p)
	if s := p.status(); s >= 400 && !a.site.options.SSI.PasteErrors {
		return a.failed(fmt.Errorf("the origin answered %d", s))
	}
	body, err := a.fragmentBody(p)
	if err != nil {
		return a.failed(err)
	}
	a.edge.metrics.includes[includeOrigin].Add(1)
	frag := ssi.Fragment{Status: p.status(), Body: body}
	if in.processed(p.header().ContentType()) && ssi.HasDirectives(body) {
		if t := ssi.Compile(string(in.url.raw), body, in.site.compile); !t.Static() {
			frag.Body, frag.Template = nil, t
			frag.Variables = &document{assembly: a, path: string(in.url.path), query: in.url.query}
		}
	}
	return frag
}

func (a *assembly) fragmentBody(p *reply) ([]byte, error) {
	if p.bodiless(nil) {
		return nil, nil
	}
	limit := a.site.options.SSI.MaxFragment
	body, err := p.collect(limit)
	if errors.Is(err, errTooLarge) {
		return nil, fmt.Errorf("more than max_fragment (%d bytes)", limit)
	}
	if err != nil {
		return nil, err
	}
	return decoded(p.header(), body, limit)
}

// note counts a fragment's answer into what the page may say of itself. An
// answer to a request with cookies or Authorization is for that visitor alone
// unless it says that it is for everybody; one whose key holds something of the
// visitor is so in any case.
func (a *assembly) note(in *inner, p *reply) {
	h := p.header()
	a.takeCookies(h, in.settings.keep.forwardCookies)
	a.parts.add(h)
	if in.settings.keep.keyed() || a.visitor.identified() && !parseCacheControl(h.PeekAll(fasthttp.HeaderCacheControl)).shared {
		a.parts.readPersonal()
	}
}

// document is what a page or a fragment knows of itself: ssi's Variables.
type document struct {
	assembly *assembly
	path     string // decoded; of the file found, else of the URL asked for
	query    []byte
	top      bool // the page itself
}

// directory is the escaped path up to its last slash: where relative includes
// start.
func (d *document) directory() []byte {
	dir := d.path[:bytes.LastIndexByte([]byte(d.path), '/')+1]
	return []byte((&url.URL{Path: dir}).EscapedPath())
}
