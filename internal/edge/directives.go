package edge

import (
	"github.com/valyala/fasthttp"
)

// directives are what a visitor's Cache-Control asks of a cache (RFC 9111,
// section 5.2.1), where the site honours that. The zero value asks nothing.
// Seconds are one more than what was said; 0: nothing was.
type directives struct {
	noCache, noStore, onlyIfCached bool

	maxAge, minFresh, maxStale, staleIfError int64
}

// anyStaleness is max-stale without an argument.
const anyStaleness = 1<<31 + 1

// wishes reads the request's directives. Pragma counts only where there is no
// Cache-Control at all (section 5.4).
func (r *request) wishes() (d directives) {
	if !r.site.options.Cache.RequestDirectives {
		return d
	}
	h := &r.ctx.Request.Header
	lines := h.PeekAll(fasthttp.HeaderCacheControl)
	if len(lines) == 0 {
		for _, line := range h.PeekAll(fasthttp.HeaderPragma) {
			d.noCache = d.noCache || listHas(line, "no-cache")
		}
		return d
	}
	for _, line := range lines {
		for len(line) > 0 {
			var name, value []byte
			name, value, line = nextDirective(line)
			d.add(name, value)
		}
	}
	return d
}

// add counts one directive in. A number that is none counts as 0, which is the
// strict side, but for those that permit something. The first of a name counts.
func (d *directives) add(name, value []byte) {
	switch {
	case equalFold(name, "no-cache"):
		d.noCache = true
	case equalFold(name, "no-store"):
		d.noStore = true
	case equalFold(name, "only-if-cached"):
		d.onlyIfCached = true
	case equalFold(name, "max-age"):
		first(&d.maxAge, value)
	case equalFold(name, "min-fresh"):
		first(&d.minFresh, value)
	case equalFold(name, "stale-if-error"):
		first(&d.staleIfError, value)
	case equalFold(name, "max-stale") && len(value) == 0 && d.maxStale == 0:
		d.maxStale = anyStaleness
	case equalFold(name, "max-stale"):
		first(&d.maxStale, value)
	}
}

func first(to *int64, value []byte) {
	if *to == 0 {
		*to = deltaSeconds(value) + 1
	}
}

// suits says whether a pulled page that may answer the request is also what the
// visitor wishes: one that need not be asked for, young enough and fresh for
// long enough, or stale as far as he takes it so. fresh is what holds without
// his wishes.
func (r *request) suits(f found, fresh bool) bool {
	d := &r.wished
	switch {
	case *d == (directives{}):
		return fresh
	case d.noCache, d.minFresh > 0 && f.ttl < d.minFresh-1,
		d.wantsYounger(f.Page.Age(r.began)) && !(fresh && immutable(f)):
		return false
	case fresh:
		return true
	}
	stale := r.keyed.freshness(f.Page)
	return d.maxStale > 0 && stale.ServeStale(uint32(d.maxStale-1), r.began)
}

// wantsYounger says whether a page of an age is too old. max-age=0 has the
// origin asked, however young the page is.
func (d *directives) wantsYounger(age int64) bool {
	return d.maxAge == 1 || d.maxAge > 0 && age > d.maxAge-1
}

// immutable says whether a page will not change while it is fresh (RFC 8246): a
// reload, which is max-age=0, need not ask then.
func immutable(f found) bool {
	for rest := range f.Page.Lines("cache-control") {
		for len(rest) > 0 {
			var name []byte
			name, _, rest = nextDirective(rest)
			if equalFold(name, "immutable") {
				return true
			}
		}
	}
	return false
}

// wantsOwn says whether the visitor wants the origin asked for him: what was
// asked for another, before he came, will not do.
func (d *directives) wantsOwn() bool { return d.noCache || d.maxAge == 1 }

// takesWhile says whether he takes a stale page while somebody asks.
func (d *directives) takesWhile() bool { return !d.noCache && d.maxAge == 0 && d.minFresh == 0 }
