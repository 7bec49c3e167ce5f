package pagecache

import (
	"sync"
	"sync/atomic"
)

// Page is a whole response kept for reuse. It is immutable once it was given
// to a caller or a tier: any number of goroutines may read it without a lock,
// and its slices may be sent without a copy but never written to.
type Page struct {
	Status   int    // 0: no response, but a list of the variants of one
	Head     []byte // status line and fields as bytes, CRLF lines, up to and with the empty one; without Content-Length, Age and Connection, and Date only where it is a pulled page's. Behind it may stand a pulled page's fields that speak to the edge alone, and an empty line
	Body     []byte // nil where Hit.File is to be read
	Type     string // as in Content-Type: "text/html; charset=utf-8"
	ETag     string // with its quotes; "": none
	Modified int64  // Last-Modified in Unix seconds; 0: none
	Name     string // of a file: below root, as found, with a leading slash ("/region/info/Hawaii.html"); of a memcached value: the canonical path; of a pulled page: ""
	Length   int64  // bytes of the body
	Kept     bool   // false: only for this one answer, no tier keeps it
	ForEdge  bool   // of a pulled page: behind the head stand fields that the origin said to the edge alone

	// Of pulled pages. Seq is the newest purge record that was applied when
	// the fill began; Checked is up to which record the page was found valid.
	Freshness
	Seq     uint64
	Checked atomic.Uint64

	*published // of files and memcached values; nil: a pulled page

	derived atomic.Pointer[derived]
	home    atomic.Pointer[entry] // of the memory tier, while it is there
}

// published is what a published page knows of its surroundings, which is not
// part of the response.
type published struct {
	// cname is Name without its slash and with the NUL that the kernel wants;
	// the two share their bytes. Empty: no file.
	cname string
	id    fileID
	rank  uint8 // place of Name in the order in which the path's names were tried
	exact bool  // Name is the path that was asked for

	// When the copy was last found good, and which precompressed copies lay
	// beside it.
	seen     atomic.Uint64
	siblings atomic.Uint64
}

// derived is what was built from a page, or the place where it is being built.
type derived struct {
	building sync.Mutex
	built    atomic.Bool // value and size do not change any more
	value    any
	size     int64
	counted  atomic.Pointer[entry] // by which the size is counted
}

// Derive returns what build made of the page: its memory-only slot, where the
// edge keeps the compiled template. It is built once a page: who asks while
// another builds waits for that. The size that build gives, in bytes, counts
// for the memory tier while the page is in it. A build that panics leaves the
// slot empty. build must not ask for the same page's slot.
func (p *Page) Derive(build func(*Page) (v any, size int)) any {
	d := p.derived.Load()
	if d == nil {
		p.derived.CompareAndSwap(nil, new(derived))
		d = p.derived.Load()
	}
	if d.built.Load() {
		return d.value
	}
	if e := d.build(p, build); e != nil {
		e.recount()
	}
	return d.value
}

// build fills the slot, if another did not, and returns where that has to be
// counted.
func (d *derived) build(p *Page, build func(*Page) (v any, size int)) *entry {
	d.building.Lock()
	defer d.building.Unlock()
	if d.built.Load() {
		return nil
	}
	v, size := build(p)
	d.value, d.size = v, int64(max(size, 0))
	d.built.Store(true)
	return p.home.Load()
}

// keepable says whether a tier may keep the page: all of it must be there.
func (p *Page) keepable() bool {
	return p.Kept && int64(len(p.Body)) == p.Length
}
