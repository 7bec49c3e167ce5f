package edge

import "github.com/ssiedge/ssiedge/pagecache"

// found is a page that a look-up gave.
type found struct {
	pagecache.Hit
	source source
}

// source is what answered a request.
type source uint8

const (
	sourceNone      source = iota // an answer of the edge's own
	sourceFile                    // a published file
	sourcePublished               // a published memcached value
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

// lookup is step 6 for a visitor.
func (r *request) lookup() (found, bool) {
	return r.target.lookup(r.host, r.client.scheme)
}
