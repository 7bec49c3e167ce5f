package edge

import (
	"runtime/debug"
	"sync"

	"github.com/ssiedge/ssiedge/pagecache"
)

const (
	// sweepGroups bounds the paths that are swept one by one; beyond, all
	// files are looked at once.
	sweepGroups = 1000

	// sweepKeys bounds the keys that memcached is asked for after a purge.
	sweepKeys = 10_000
)

// sweeper removes purged pages from the tiers behind memory, in the background:
// nobody gets them any more, so all that it does is to free their room. One
// sweep runs at a time; what is purged meanwhile is for the next.
type sweeper struct {
	mu      sync.Mutex
	running bool
	next    sweep
}

// sweep is what is to be looked at.
type sweep struct {
	memory bool // there was a purge: pages in memory tell keys that memcached may have
	files  bool // all of the disk
	paths  map[string]struct{}
	keys   map[string]struct{} // that may be in memcached
}

// sweepLater has what a purge hit swept. A soft purge leaves all pages where
// they are: they are served while they are filled again.
func (e *Edge) sweepLater(p *purge) {
	s := p.state.store
	if p.call.Soft || s.disk == nil && s.tier == nil || e.living.Err() != nil {
		return
	}
	w := &e.sweeper
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next.add(p)
	if !w.running {
		w.running = true
		e.background.Go(e.sweepAll)
	}
}

// add adds what a purge may have hit.
func (w *sweep) add(p *purge) {
	if w.paths == nil {
		w.paths, w.keys = map[string]struct{}{}, map[string]struct{}{}
	}
	w.memory = true
	w.files = w.files || p.call.All || len(w.paths)+len(p.urls) > sweepGroups
	if w.files {
		clear(w.paths)
	}
	for i := range p.urls {
		u := &p.urls[i]
		if !w.files {
			w.paths[string(u.target.url.raw)] = struct{}{}
		}
		for _, key := range u.keys() {
			if len(w.keys) < sweepKeys {
				w.keys[string(key)] = struct{}{}
			}
		}
	}
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

// sweepAll sweeps until nothing is left to be looked at, or the edge closes.
func (e *Edge) sweepAll() {
	for {
		w := &e.sweeper
		w.mu.Lock()
		next := w.next
		w.next = sweep{}
		w.running = next.memory && e.living.Err() == nil
		running := w.running
		w.mu.Unlock()
		if !running {
			return
		}
		e.sweepOnce(&next)
	}
}

func (e *Edge) sweepOnce(w *sweep) {
	defer func() {
		if p := recover(); p != nil {
			e.panicked("sweep", p, debug.Stack())
		}
	}()
	s := e.state.Load().store
	if s.tier != nil {
		e.sweepMemcache(s, w)
	}
	if s.disk != nil {
		e.sweepDisk(s, w)
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

func (e *Edge) sweepDisk(s *store, w *sweep) {
	gone := func(p pagecache.DiskPage) bool {
		v, _ := s.purges.Check(p.Seq, nil, keyURL(p.Key))
		return v == pagecache.Gone
	}
	if w.files {
		s.disk.Sweep(e.living, nil, gone)
		return
	}
	for path := range w.paths {
		s.disk.Sweep(e.living, []byte(path), gone)
	}
}

// verdict is what the purges leave of a page.
func (s *store) verdict(key []byte, p *pagecache.Page) pagecache.Verdict {
	v, _ := s.purges.Check(p.Seq, &p.Checked, keyURL(key))
	return v
}
