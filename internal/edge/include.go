package edge

import (
	"bytes"
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/ssiedge/ssiedge/pagecache"
	"github.com/ssiedge/ssiedge/ssi"
)

// inner is an include on its way through the steps: a GET inside the edge for
// the page's visitor.
type inner struct {
	target
	visitor *visitor
	from    *document // that holds the directive
	past    bool      // past every tier: a rule's bypass
	held    bool      // the page's head waits for it
	keyed   keyed     // of pulled pages
	stale   found     // a page that only a window may bring; Page nil: none
	space   [256]byte // where the canonical path and the key of a usual include are
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
	half := len(in.space) / 2
	in.url.raw, in.keyed.key = in.space[:0:half], in.space[half:half]
	in.from, _ = inc.From.(*document)
	if err := in.target.resolveInclude(in.from, inc.URL); err != nil {
		return nil, err
	}
	in.past = in.settings.bypass.bypassesVisitor(a.visitor)
	return in, nil
}

// resolveInclude makes the URL of an include in from the target's: same site,
// path only. A site that redirects slashes does not redirect itself.
func (t *target) resolveInclude(from *document, written string) error {
	var space [256]byte
	full := space[:0]
	if written == "" || written[0] != '/' {
		full = append(full, from.directory()...)
	}
	slash := t.site.options.TrailingSlash
	if slash == RedirectSlash {
		slash = StripSlash
	}
	return t.resolve(appendInclude(full, written), slash, true)
}

// appendInclude escapes what may not stand in a target: "#", which in an
// include is a character like others as in nginx, and in the query blanks and
// controls. Every other byte of the query goes out as it was written; the path
// is made canonical anyway.
func appendInclude(dst []byte, written string) []byte {
	const hex = "0123456789ABCDEF"
	query := false
	for i := range len(written) {
		c := written[i]
		query = query || c == '?'
		if c == '#' || query && (c <= ' ' || c == 0x7f) {
			dst = append(dst, '%', hex[c>>4], hex[c&15])
		} else {
			dst = append(dst, c)
		}
	}
	return dst
}

var errNoPage = errors.New("no such page, and no origin to ask")

// Lookup answers an include by a page, as far as nobody has to be asked over a
// network.
func (a *assembly) Lookup(inc *ssi.Include) (ssi.Fragment, bool) {
	in, err := a.resolve(inc)
	if err != nil {
		return a.failed(nil, err), true
	}
	inc.Memo = in
	if in.settings.required {
		a.parts.alone()
	}
	if in.settings.redirect != "" { // an answer without a body
		return ssi.Fragment{Status: fasthttp.StatusPermanentRedirect, Variables: a.inside(in, string(in.url.path))}, true
	}
	f, ok, settled := a.atHand(in)
	switch {
	case ok:
		return a.settle(in, came{page: f}), true
	case a.isLacking(in):
		return a.failed(in, errLacking), true
	case a.ctx.Err() != nil: // too late to ask
		return a.settle(in, came{err: a.ctx.Err()}), true
	case settled && in.settings.origin == nil:
		return a.failed(in, errNoPage), true
	}
	if in.settings.keep.forwardCookies {
		a.parts.alone()
	}
	if in.held = in.settings.required || in.settings.keep.forwardCookies; in.held {
		a.hold.add(in.settings.required)
	}
	a.limit()
	return ssi.Fragment{}, false
}

// atHand finds the page of an include in memory and among files: a fresh one,
// or a stale one that may be used while a fill runs. settled is false where a
// published value may be in memcached.
func (a *assembly) atHand(in *inner) (f found, ok, settled bool) {
	settled = true
	if !in.past {
		if f, ok, settled = in.atHand(a.visitor.route, a.visitor.scheme); ok {
			return f, true, true
		}
	}
	if !in.pulls() {
		return found{}, false, settled
	}
	in.keyed.take(&in.target, a.visitor, a.visitor.route, a.visitor.scheme)
	f, fresh := in.keyed.peek(a.visitor.began)
	if !settled || fresh || f.Page == nil || a.state.store.notKeepable.Has(in.keyed.key) {
		return f, fresh && settled, settled
	}
	in.stale = f
	if !in.mayServeWhile(time.Now()) {
		return found{}, false, true
	}
	if !a.nobodyAsked {
		a.refreshInclude(in)
	}
	return f, true, true
}

// Fetch answers an include that Lookup could not.
func (a *assembly) Fetch(ctx context.Context, inc *ssi.Include) ssi.Fragment {
	in := inc.Memo.(*inner)
	if in.held {
		defer a.hold.done(in.settings.required)
	}
	if f, ok := a.find(in); ok {
		return a.settle(in, came{page: f})
	}
	if in.settings.origin == nil {
		return a.failed(in, errNoPage)
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
	if !fresh && f.Page != nil {
		in.stale = f
	}
	return f, fresh
}

// fetch asks the origin for a fragment that nobody else may have.
func (a *assembly) fetch(ctx context.Context, in *inner) ssi.Fragment {
	o := &outgoing{
		visitor: a.visitor, method: []byte(fasthttp.MethodGet), target: in.originTarget(),
		include: true, identity: true, runs: in.settings.ssi, room: &a.room,
	}
	p, err := in.askPage(ctx, o, nil)
	return a.settle(in, came{reply: p, err: err})
}

// note counts a fragment's answer into what the page may say of itself. An
// answer to a request with cookies or Authorization is for that visitor alone
// unless it says that it is for everybody; one whose key holds something of the
// visitor is so in any case.
func (a *assembly) note(in *inner, p *reply) {
	h := p.header()
	a.parts.add(h, time.Now())
	if in.settings.keep.keyed() || a.visitor.identified() && !parseCacheControl(h.PeekAll(fasthttp.HeaderCacheControl)).shared {
		a.parts.readPersonal()
	}
}

// document is what a page or a fragment knows of itself: ssi's Variables.
type document struct {
	assembly *assembly
	path     string // decoded; of the file found, else of the URL asked for
	query    []byte
	top      bool      // the page itself
	up       *document // that includes it; nil: none does

	// Of the page itself.
	modified int64           // when it was changed last, in Unix seconds; 0: unknown
	file     *pagecache.Page // whose body is a file's; nil: it is none
}

// inside is the document of an include, for what runs in it. path is where its
// relative includes start.
func (a *assembly) inside(in *inner, path string) *document {
	return &document{assembly: a, path: path, query: in.url.query, up: in.from}
}

// directory is the escaped path up to its last slash: where relative includes
// start.
func (d *document) directory() []byte {
	dir := d.path[:bytes.LastIndexByte([]byte(d.path), '/')+1]
	return []byte((&url.URL{Path: dir}).EscapedPath())
}
