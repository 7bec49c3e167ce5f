package edge

import (
	"time"

	"github.com/ssiedge/ssiedge/pagecache"
)

// found is a page that a look-up gave.
type found struct {
	pagecache.Hit
	arrives *pagecache.Arrival // the page's body, while it comes; nil: Page has it
	source  source
	ttl     int64 // seconds, of a pulled page; negative: stale
}

// pulled says that the edge keeps the page itself.
func (f found) pulled() bool { return f.source >= sourceMemory }

// source is what answered a request.
type source uint8

const (
	sourceNone      source = iota // an answer of the edge's own
	sourceFile                    // a published file
	sourcePublished               // a published memcached value
	sourceMemory                  // a pulled page, from memory
	sourceDisk                    // a pulled page, from the disk
	sourceMemcache                // a pulled page, from memcached
	sourceStale                   // a pulled page whose lifetime is over
	sourceStored                  // the origin: a page that is kept from now on
	sourceMiss                    // the origin: no page was there
	sourceMethod                  // the origin: the method is for the app
	sourceBypass                  // the origin: a rule says so
	sources
)

// lookup is step 6: a published file before a published memcached value.
func (t *target) lookup(host []byte, scheme string) (found, bool) {
	if f, ok := t.file(); ok {
		return f, true
	}
	if t.site.published == nil {
		return found{}, false
	}
	p, ok := t.site.published.Get(t.publishedKey(host, scheme))
	return found{Hit: pagecache.Hit{Page: p}, source: sourcePublished}, ok
}

// atHand is lookup as far as it asks nobody over a network. settled is false
// where memcached would have to be asked.
func (t *target) atHand(host []byte, scheme string) (f found, ok, settled bool) {
	if f, ok := t.file(); ok {
		return f, true, true
	}
	if t.site.published == nil {
		return found{}, false, true
	}
	p, known := t.site.published.Peek(t.publishedKey(host, scheme))
	return found{Hit: pagecache.Hit{Page: p}, source: sourcePublished}, p != nil, known
}

func (t *target) file() (found, bool) {
	if t.site.files == nil || t.url.encoded {
		return found{}, false
	}
	h, ok := t.site.files.Get(t.url.path, t.answersExactly())
	return found{Hit: h, source: sourceFile}, ok
}

func (t *target) publishedKey(host []byte, scheme string) pagecache.PublishedKey {
	return pagecache.PublishedKey{Path: t.url.path, RawPath: t.url.raw, Query: t.url.query, Host: host, Scheme: scheme}
}

// lookup is step 6 for a visitor: what is published outranks what was pulled.
// A stale page is remembered.
func (r *request) lookup() (found, bool) {
	if f, ok := r.target.lookup(r.host, r.client.scheme); ok {
		return f, true
	}
	r.wished = r.wishes()
	if !r.pulls() {
		return found{}, false
	}
	if r.takeKey(); r.unkeepable {
		// Not worth asking a tier over a network, but what memory has of an
		// earlier answer is good for validation, and for when the app fails.
		if f, fresh := r.keyed.peek(r.began); !fresh {
			r.stale = f
		}
		return found{}, false
	}
	f, fresh := r.keyed.get(r.began)
	if f.Page == nil || r.suits(f, fresh) {
		return f, f.Page != nil
	}
	r.stale, r.passedOver = f, fresh
	return f, false
}

// takeKey makes the key, and finds out whether it is known as not keepable.
func (r *request) takeKey() {
	r.keyed.take(&r.target, r, r.host, r.client.scheme)
	r.unkeepable = r.state.store.notKeepable.Has(r.keyed.key)
}

// keeps says whether pages are pulled for the target at all.
func (t *target) keeps() bool { return t.settings.origin != nil && !t.settings.keep.off }

// pulls says whether a pulled page may answer the request: not one that would
// leave HTTP, nor one with a condition that only the app may judge (RFC 9111,
// section 4.3.2).
func (r *request) pulls() bool {
	h := &r.ctx.Request.Header
	return r.keeps() && !has(h, fieldIfMatch) && !has(h, fieldIfUnmodifiedSince) && !r.upgrades()
}

// get finds the pulled page of a key. fresh is false for one that may be served
// only within a window.
func (k *keyed) get(now time.Time) (f found, fresh bool) {
	asked := k.at(now)
	p, tier := k.target.state.store.pulled.Get(&asked)
	return k.found(p, tier, now)
}

// peek is get in memory alone.
func (k *keyed) peek(now time.Time) (f found, fresh bool) {
	asked := k.at(now)
	p, tier := k.target.state.store.pulled.Peek(&asked)
	return k.found(p, tier, now)
}

func (k *keyed) found(p *pagecache.Page, tier string, now time.Time) (found, bool) {
	if p == nil {
		return found{}, false
	}
	f := found{Hit: pagecache.Hit{Page: p}, source: sourceMemory}
	switch tier {
	case pagecache.MemoryTier:
	case pagecache.DiskTier:
		f.source = sourceDisk
	default:
		f.source = sourceMemcache
	}
	freshness := k.freshness(p)
	f.ttl = freshness.TTL(now)
	if fresh := freshness.Fresh(now); fresh {
		return f, true
	}
	f.source = sourceStale
	return f, false
}

// freshness is the page's, with what a soft purge leaves of it.
func (k *keyed) freshness(p *pagecache.Page) pagecache.Freshness {
	if k.verdict(p) == pagecache.Expired {
		return p.Freshness.Expired(k.seen, k.target.site.options.Cache.SoftWindow)
	}
	return p.Freshness
}

// mayServeWhile says whether a stale page may be served while a fill in the
// background runs. That carries nothing of who asks, so it brings no other one
// for a page that is one visitor's.
func (k *keyed) mayServeWhile(p *pagecache.Page, now time.Time) bool {
	f := k.freshness(p)
	return k.verdict(p) != pagecache.Gone && f.ServeWhileRevalidating(now) && !k.isOwn(p)
}

// isOwn says whether a page is that of the cookies or the Authorization that a
// fill for the asker carries beside the key.
func (k *keyed) isOwn(p *pagecache.Page) bool {
	keep := &k.target.settings.keep
	if keep.mode() != CookiesAll {
		return false
	}
	for _, name := range [...]string{"Cookie", "Authorization"} {
		if !keep.lists([]byte(name)) && k.sends(name) != nil && p.VariesBy(name) {
			return true
		}
	}
	return false
}

func (k *keyed) mayServeOnError(p *pagecache.Page, now time.Time) bool {
	f := k.freshness(p)
	return k.verdict(p) != pagecache.Gone && f.ServeOnError(now)
}
