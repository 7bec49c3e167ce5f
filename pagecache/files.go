package pagecache

import (
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"sync/atomic"
	"time"
)

// DefaultMaxKeep is the size of the largest body that is kept where the
// options leave it open.
const DefaultMaxKeep = 16 << 20

// FilesOptions describes the published files of one site. The zero value but
// for Root works.
type FilesOptions struct {
	Root    string        // may be a link, or lead through one: it is resolved again every second
	Links   []string      // directories that links below root may lead into; those that are not there are passed over
	Try     []string      // patterns with {path}, in order; nil: DefaultTry
	Check   time.Duration // for how long a copy is used without a look at its file; 0: never
	MaxKeep int64         // bytes; larger files are handed out open; 0: DefaultMaxKeep
}

// Files finds the published files of one site: pages that somebody else wrote
// below a root. Its methods may be called from any goroutine.
//
// A copy in memory is used only after one look at its file (see Check), so a
// changed or removed file is seen by the very next request. What has no look
// of its own is seen within a second: a new file, one that goes before the one
// found, a root that is another directory.
type Files struct {
	root    *root
	try     *try
	check   int64 // milliseconds
	maxKeep int64
	memory  *Memory
	log     *slog.Logger
	clock   *clock

	pages    string // starts the keys of pages
	siblings string // starts the keys of precompressed copies
	absent   *absences
	once     hush
	minutely hush

	hits, misses, reads, errors atomic.Uint64
}

// Hit is a page that was found.
type Hit struct {
	Page   *Page
	File   *os.File // not nil: the body is too large to keep; it is Page.Length bytes from the start, and the caller closes it
	Memory bool     // the page came from memory, else it was read from disk now

	at stamp // when it was asked for
}

// FilesStats is what a Files counted.
type FilesStats struct {
	Hits   uint64 // pages out of memory
	Misses uint64 // paths without a page
	Reads  uint64 // files that were opened and became a page
	Errors uint64 // trouble with the disk or for want of descriptors: each was a miss too
}

// OpenFiles opens the root of a site. Pages are kept in m, which may be
// shared; log nil: nothing is logged. The error names the root that is missing
// or no directory, or the pattern that is wrong.
func OpenFiles(o FilesOptions, m *Memory, log *slog.Logger) (*Files, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	t, err := newTry(o.Try)
	if err != nil {
		return nil, fmt.Errorf("pagecache: %w", err)
	}
	r, err := openRoot(o.Root, o.Links, log)
	if err != nil {
		return nil, fmt.Errorf("pagecache: root %q: %w, want a directory", o.Root, cause(err))
	}
	if o.MaxKeep <= 0 {
		o.MaxKeep = DefaultMaxKeep
	}
	options := append([]string{r.path, strconv.FormatInt(o.MaxKeep, 10)}, r.links...)
	options = append(append(options, "try"), o.Try...)
	return &Files{
		root: r, try: t, check: o.Check.Milliseconds(), maxKeep: o.MaxKeep,
		memory: m, log: log, clock: systemClock(m.start),
		pages: keyPrefix("f", options...), siblings: keyPrefix("s", options...),
		absent: newAbsences(), minutely: hush{every: 60 * second},
	}, nil
}

// Get finds the page of a canonical, decoded path; path is not kept. exactOnly:
// only a file that is the path itself may answer, because a query is left. A
// hit from memory costs one newfstatat (none within Check) and no allocation.
func (f *Files) Get(path []byte, exactOnly bool) (Hit, bool) {
	millis := f.clock.millis(f.clock.now())
	h := f.root.current(millis)
	if h == nil {
		f.misses.Add(1)
		return Hit{}, false
	}
	at := h.stamp(millis)
	var space [keySpace]byte
	key := append(append(space[:0], f.pages...), path...)
	old, kept := f.memory.Get(key)
	if !kept {
		old = nil
	}
	if old != nil && f.holds(h, old, path, at) {
		return f.answer(Hit{Page: old, Memory: true, at: at}, exactOnly)
	}
	hit, found := f.find(h, path, key, old, at)
	if !found {
		f.misses.Add(1)
		return Hit{}, false
	}
	return f.answer(hit, exactOnly)
}

// Close ends the use of the root. Hits stay good; requests that come after it
// find nothing.
func (f *Files) Close() error { return f.root.close() }

// Stats returns what was counted so far.
func (f *Files) Stats() FilesStats {
	return FilesStats{
		Hits: f.hits.Load(), Misses: f.misses.Load(),
		Reads: f.reads.Load(), Errors: f.errors.Load(),
	}
}

// answer hands out what was found, if it may answer this request: the page of
// a path is the first of its names that exists, and only then is it asked
// whether that one may answer.
func (f *Files) answer(hit Hit, exactOnly bool) (Hit, bool) {
	if exactOnly && !hit.Page.exact {
		if hit.File != nil {
			hit.File.Close()
		}
		f.misses.Add(1)
		return Hit{}, false
	}
	if hit.Memory {
		f.hits.Add(1)
	}
	return hit, true
}

// holds says whether a copy is still what is published: its name means the
// very file that was opened safely, and no name that goes before it means one.
func (f *Files) holds(h *handle, p *Page, path []byte, at stamp) bool {
	seen := stamp(p.seen.Load())
	if f.check > 0 && seen.within(f.check, at) {
		return true
	}
	st, errno := h.stat(p.cname)
	if errno != 0 || st.id != p.id {
		return false
	}
	if p.rank > 0 && !seen.within(second, at) {
		if f.outranked(h, path, int(p.rank)) {
			return false
		}
		p.seen.Store(uint64(at))
	}
	if f.check > 0 {
		p.seen.Store(uint64(at))
	}
	return true
}

// outranked says whether a file has one of the path's names before rank.
func (f *Files) outranked(h *handle, path []byte, rank int) bool {
	var space [keySpace]byte
	for _, p := range f.try.order(path)[:rank] {
		cname := p.appendName(space[:0], path)[1:]
		if st, errno := h.stat(view(cname)); errno == 0 && st.regular() {
			return true
		}
	}
	return false
}

// find looks for the page of a path on disk, and keeps what it finds.
func (f *Files) find(h *handle, path, key []byte, old *Page, at stamp) (Hit, bool) {
	if !validPath(path) || f.absent.has(key, at) {
		return Hit{}, false
	}
	hit, out := f.search(h, path, old, at)
	hit.at = at
	switch {
	case out == found && hit.Memory:
		return hit, true
	case out == found && hit.File == nil && hit.Page.Kept:
		f.memory.Put(key, hit.Page)
		return hit, true
	case out == missing:
		f.absent.add(key, at)
	}
	if old != nil {
		f.memory.Delete(key)
	}
	return hit, out == found
}

// outcome is how a look for a file ended.
type outcome uint8

const (
	found     outcome = iota
	missing           // there is none
	unsettled         // it is being written: none for this request
	trouble           // nobody knows: none for this request
)

// search looks for the path's names in order. The first that means a file
// which may be served is the page.
func (f *Files) search(h *handle, path []byte, old *Page, at stamp) (Hit, outcome) {
	var space [keySpace]byte
	end := missing
	for rank, p := range f.try.order(path) {
		cname := p.appendName(space[:0], path)[1:]
		st, errno := h.stat(view(cname))
		if errno == 0 && !st.regular() {
			continue
		}
		if errno == 0 && old != nil && old.id == st.id && old.cname == view(cname) {
			old.seen.Store(uint64(at))
			return Hit{Page: old, Memory: true}, found
		}
		if errno != 0 {
			if f.failed(errno, cname) == trouble {
				return Hit{}, trouble
			}
			continue
		}
		hit, out := f.load(h, "/"+string(cname), "")
		switch out {
		case found:
			hit.Page.rank, hit.Page.exact = uint8(rank), p.exact()
			hit.Page.seen.Store(uint64(at))
			return hit, found
		case trouble:
			return Hit{}, trouble
		case unsettled:
			end = unsettled
		}
	}
	return Hit{}, end
}

// failed judges an error of a file and says what has to be said about it.
// cname is the name without its slash, with its NUL.
func (f *Files) failed(err error, cname []byte) outcome {
	if isNoFile(err) {
		return missing
	}
	name := "/" + string(cname[:len(cname)-1])
	now := f.clock.millis(f.clock.now())
	if isRefused(err) {
		if f.once.let(name, now) {
			f.log.Warn("published file is refused", "root", f.root.path, "name", name, "error", cause(err))
		}
		return missing
	}
	f.errors.Add(1)
	if f.minutely.let(cause(err).Error(), now) {
		f.log.Error("published file cannot be read", "root", f.root.path, "name", name, "error", cause(err))
	}
	return trouble
}

// cause strips an error of the path that the caller names in its own words.
func cause(err error) error {
	if p, ok := err.(*os.PathError); ok {
		return p.Err
	}
	return err
}
