package edge

import (
	"runtime/debug"
	"sync"

	"github.com/ssiedge/ssiedge/pagecache"
)

const (
	// sweepPaths bounds the paths that are swept one by one; beyond, every
	// file is looked at once.
	sweepPaths = 1000

	// sweepKeys bounds the keys that memcached is asked for after a purge.
	sweepKeys = 10_000
)

// sweeper removes purged pages from the tiers behind memory, in the background:
// nobody gets them any more, so all that it does is to free their room. One
// sweep of it runs at a time; what is purged meanwhile is for the next.
type sweeper struct {
	mu      sync.Mutex
	running bool
	next    sweep
}

// sweep is what is to be looked at.
type sweep struct {
	wanted bool
	paths  map[string]struct{} // on the disk
	keys   map[string]struct{} // that may be in memcached
}

// sweepLater has what a purge hit swept. A soft purge leaves all pages where
// they are: they are served while they are filled again.
func (e *Edge) sweepLater(p *purge) {
	s := p.state.store
	if p.call.Soft || s.disk == nil && s.tier == nil {
		return
	}
	all := p.call.All
	e.sweeper.want(e, e.sweepNamed, func(w *sweep) { all = !w.add(p) || all })
	if all {
		e.sweepAll()
	}
}

// sweepAll has every file on the disk looked at. That takes long, so it is a
// sweeper of its own: what is named later does not wait for it.
func (e *Edge) sweepAll() {
	if e.state.Load().store.disk != nil {
		e.allSweeper.want(e, e.sweepFiles, func(*sweep) {})
	}
}

// sweepLeft has what an earlier process was told to remove, and perhaps did not
// get to, looked for.
func (e *Edge) sweepLeft() {
	if e.state.Load().store.purges.Applied() > 0 {
		e.sweepAll()
	}
}

// want adds to the next sweep, and has it begin if none is running.
func (w *sweeper) want(e *Edge, do func(*sweep), add func(*sweep)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	add(&w.next)
	w.next.wanted = true
	if !w.running && e.living.Err() == nil {
		w.running = e.background.start(func() { w.run(e, do) })
	}
}

// run sweeps until nothing more is wanted, or the edge closes.
func (w *sweeper) run(e *Edge, do func(*sweep)) {
	for {
		w.mu.Lock()
		next := w.next
		w.next = sweep{}
		w.running = next.wanted && e.living.Err() == nil
		running := w.running
		w.mu.Unlock()
		if !running {
			return
		}
		e.swept(do, &next)
	}
}

func (e *Edge) swept(do func(*sweep), w *sweep) {
	defer func() {
		if p := recover(); p != nil {
			e.panicked("sweep", p, debug.Stack())
		}
	}()
	do(w)
}

// add adds what a purge named. false: that is too much to be looked for by name.
func (w *sweep) add(p *purge) bool {
	if w.paths == nil {
		w.paths, w.keys = map[string]struct{}{}, map[string]struct{}{}
	}
	for i := range p.urls {
		u := &p.urls[i]
		if len(w.paths) <= sweepPaths {
			w.paths[string(u.target.url.raw)] = struct{}{}
		}
		for _, key := range u.keys() {
			if len(w.keys) < sweepKeys {
				w.keys[string(key)] = struct{}{}
			}
		}
	}
	return len(w.paths) <= sweepPaths
}

// keys are those that a URL's pages have where nothing but the URL is in them.
// Others cannot be told: they hold what a request carried.
func (u *purgedURL) keys() (keys [][]byte) {
	t := &u.target
	if t.settings.keep.keyed() {
		return nil
	}
	hosts := [][]byte{u.host}
	if u.host == nil {
		hosts = nil
		for _, host := range t.site.options.Hosts {
			hosts = append(hosts, []byte(host)) // a wildcard is no host, and no page has it
		}
	}
	for _, host := range hosts {
		for _, scheme := range []string{"http", "https"} {
			keys = append(keys, t.appendURL(nil, host, scheme))
		}
	}
	return keys
}

// sweepNamed looks for what was named.
func (e *Edge) sweepNamed(w *sweep) {
	s := e.state.Load().store
	if s.tier != nil {
		e.sweepMemcache(s, w)
	}
	if s.disk == nil || len(w.paths) > sweepPaths {
		return
	}
	for path := range w.paths {
		s.disk.Sweep(e.living, []byte(path), s.goneFromDisk)
	}
}

// sweepFiles looks at every file.
func (e *Edge) sweepFiles(*sweep) {
	if s := e.state.Load().store; s.disk != nil {
		s.disk.Sweep(e.living, nil, s.goneFromDisk)
	}
}

// sweepMemcache removes what can be named: pages that are in memory too, and
// those whose key is the URL alone. What else there is expires.
func (e *Edge) sweepMemcache(s *store, w *sweep) {
	s.pulled.Each(func(key []byte, p *pagecache.Page) {
		if len(w.keys) < sweepKeys && s.verdict(key, p) == pagecache.Gone {
			w.keys[string(key)] = struct{}{}
		}
	})
	for key := range w.keys {
		if e.living.Err() != nil {
			return
		}
		pagecache.SweepKey(s.tier, []byte(key), func(p *pagecache.Page) pagecache.Verdict { return s.verdict([]byte(key), p) })
	}
}

// goneFromDisk says whether the purges leave nothing of a page on the disk.
func (s *store) goneFromDisk(p pagecache.DiskPage) bool {
	v, _ := s.purges.Check(p.Seq, nil, keyURL(p.Key))
	return v == pagecache.Gone
}

// verdict is what the purges leave of a page.
func (s *store) verdict(key []byte, p *pagecache.Page) pagecache.Verdict {
	v, _ := s.purges.Check(p.Seq, &p.Checked, keyURL(key))
	return v
}
