package pagecache

import (
	"sync"
	"sync/atomic"
)

// Page is a whole response kept for reuse. It is immutable once it was given
// to a caller or a tier: any number of goroutines may read it without a lock,
// and its slices may be sent without a copy but never written to.
type Page struct {
	Status   int
	Head     []byte // status line and fields as bytes, CRLF lines, up to and with the empty one; without Content-Length, Date, Age and Connection
	Body     []byte // nil where Hit.File is to be read
	Type     string // as in Content-Type: "text/html; charset=utf-8"
	ETag     string // with its quotes; "": none
	Modified int64  // Last-Modified in Unix seconds; 0: none
	Name     string // of a file: below root, as found, with a leading slash ("/region/info/Hawaii.html"); of a memcached value: the canonical path
	Length   int64  // bytes of the body
	Kept     bool   // false: only for this one answer, no tier keeps it

	// cname is Name without its slash and with the NUL that the kernel wants;
	// the two share their bytes. Empty: no file.
	cname string
	id    fileID
	rank  uint8 // place of Name in the order in which the path's names were tried
	exact bool  // Name is the path that was asked for

	// seen and siblings are the page's memory of its surroundings, not part of
	// the response: when the copy was last found good, and which precompressed
	// copies lay beside it.
	seen     atomic.Uint64
	siblings atomic.Uint64

	building sync.Mutex
	derived  atomic.Pointer[derived]
	home     atomic.Pointer[entry] // of the memory tier, while it is there
}

// derived is what was built from a page.
type derived struct {
	value any
	size  int64
}

// Derive returns what build made of the page: its memory-only slot, where the
// edge keeps the compiled template. It is built once a page: who asks while
// another builds waits for that. The size that build gives, in bytes, counts
// for the memory tier while the page is in it. A build that panics leaves the
// slot empty. build must not ask for the same page's slot.
func (p *Page) Derive(build func(*Page) (v any, size int)) any {
	if d := p.derived.Load(); d != nil {
		return d.value
	}
	v, built := p.derive(build)
	if e := p.home.Load(); built && e != nil {
		e.recount()
	}
	return v
}

func (p *Page) derive(build func(*Page) (v any, size int)) (v any, built bool) {
	p.building.Lock()
	defer p.building.Unlock()
	if d := p.derived.Load(); d != nil {
		return d.value, false
	}
	v, size := build(p)
	p.derived.Store(&derived{v, int64(max(size, 0))})
	return v, true
}

// derivedSize returns the bytes of what was built from the page so far.
func (p *Page) derivedSize() int64 {
	if d := p.derived.Load(); d != nil {
		return d.size
	}
	return 0
}

// keepable says whether a tier may keep the page: all of it must be there.
func (p *Page) keepable() bool {
	return p.Kept && int64(len(p.Body)) == p.Length
}
