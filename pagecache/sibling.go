package pagecache

import "time"

// codings are those that a file may have a precompressed copy in, by the
// suffix of its name.
var codings = [...]struct{ name, suffix string }{
	{"br", ".br"},
	{"zstd", ".zst"},
	{"gzip", ".gz"},
}

// codingSuffix returns the suffix of a coding; "" if there is none.
func codingSuffix(coding string) string {
	for _, c := range codings {
		if c.name == coding {
			return c.suffix
		}
	}
	return ""
}

// Sibling finds the precompressed copy of a page that Get gave: the file of
// its name and ".br", ".zst" or ".gz", for the coding "br", "zstd" or "gzip".
// One that is older than the page by more than a second (file systems round)
// is a leftover and is not found. Its head says Content-Encoding and Vary, the
// page's Content-Type, and an ETag of its own.
func (f *Files) Sibling(h Hit, coding string) (Hit, bool) {
	suffix := codingSuffix(coding)
	dir, at := f.surroundings(&h)
	if suffix == "" || dir == nil || !f.hasSibling(dir, h.Page, at, suffix) {
		return Hit{}, false
	}
	var space [keySpace]byte
	key := append(append(append(space[:0], f.siblings...), h.Page.Name...), suffix...)
	old, kept := f.memory.Get(key)
	if kept && f.holds(dir, old, nil, at) && !older(&old.id, &h.Page.id) {
		f.hits.Add(1)
		return Hit{Page: old, Memory: true, at: at}, true
	}
	hit, out := f.load(dir, h.Page.Name+suffix+"\x00", coding)
	hit.at = at
	switch {
	case out == found && older(&hit.Page.id, &h.Page.id):
		if hit.File != nil {
			hit.File.Close()
		}
		return Hit{}, false
	case out == found && hit.File == nil && hit.Page.Kept:
		hit.Page.seen.Store(uint64(at))
		f.memory.Put(key, hit.Page)
	case kept:
		f.memory.Delete(key)
	}
	return hit, out == found
}

// HasSiblings says whether a page has a precompressed copy: its own form then
// says Vary: Accept-Encoding too. The answer is remembered for a second.
func (f *Files) HasSiblings(h Hit) bool {
	dir, at := f.surroundings(&h)
	return dir != nil && f.siblingBits(dir, h.Page, at) != 0
}

// surroundings returns where and when to look for what lies beside a page; nil
// where the page is no file, or there is no root now.
func (f *Files) surroundings(h *Hit) (*handle, stamp) {
	if h.Page == nil || h.Page.published == nil || h.Page.cname == "" {
		return nil, 0
	}
	dir := f.root.now.Load()
	if dir == nil {
		return nil, 0
	}
	if h.at != 0 {
		return dir, dir.stamp(h.at.millis())
	}
	return dir, dir.stamp(f.clock.millis(f.clock.now()))
}

func (f *Files) hasSibling(dir *handle, p *Page, at stamp, suffix string) bool {
	bits := f.siblingBits(dir, p, at)
	for i, c := range codings {
		if c.suffix == suffix {
			return bits&(1<<i) != 0
		}
	}
	return false
}

// siblingBits tells which codings lie beside the page, one bit each. Three
// looks a second are enough: a copy that goes is noticed when it is asked for.
func (f *Files) siblingBits(dir *handle, p *Page, at stamp) uint64 {
	if seen := stamp(p.siblings.Load()); seen.within(second, at) {
		return seen.bits()
	}
	var bits uint64
	var space [keySpace]byte
	for i, c := range codings {
		cname := append(append(append(space[:0], p.Name[1:]...), c.suffix...), 0)
		st, errno := dir.stat(view(cname))
		if errno == 0 && st.regular() && st.id.size > 0 && !older(&st.id, &p.id) {
			bits |= 1 << i
		}
	}
	p.siblings.Store(uint64(at) | bits)
	return bits
}

// older says whether a copy was written before the page: whole seconds are
// compared, and one of them is allowed.
func older(sibling, page *fileID) bool {
	return time.Unix(0, sibling.mtime).Unix()+1 < time.Unix(0, page.mtime).Unix()
}
