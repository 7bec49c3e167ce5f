package edge

import (
	"errors"
	"math"
	"sync/atomic"

	"github.com/ssiedge/ssiedge/pagecache"
)

// countedFiles is how many files of one path, and how many paths, a purge counts
// that did not ask for it: it is not in force before.
const countedFiles = 100

// PurgeCall says what to purge. What is named is purged together.
type PurgeCall struct {
	URLs   []string // http(s)://host/path, of both schemes, or /path of every host; with a query, only that one
	All    bool     // every page
	Site   string   // a host name: only pages of the site that answers it; "": of every site
	Soft   bool     // pages only count as expired
	DryRun bool     // change nothing
	Count  bool     // count what is hit; for URLs and dry runs that is done anyway
}

// PurgeResult says what was purged.
type PurgeResult struct {
	ID      string         // names the purge; "" after a dry run
	Seq     uint64         // number of its last record; after a dry run, of the newest one there is
	Matched map[string]int // pages that were hit, by tier; a tier is missing, or all of it nil, where it was not counted
	Left    []string       // what may still answer although it was purged, and why
}

// BadPurge is the error for a call that cannot be done as it is: what is wrong,
// and what would be right.
type BadPurge struct{ Reason, Cure string }

func (e *BadPurge) Error() string { return e.Reason + "; " + e.Cure }

// Purge purges. When it returns without an error the purge is recorded for
// good and in force: no request that comes later gets a page that it hit. An
// error is a *BadPurge, or else says why it cannot be recorded; after either
// nothing has changed. It may be called from any goroutine.
//
// What is published is removed only after the purge was recorded; that some of
// it is left is no error.
func (e *Edge) Purge(c PurgeCall) (PurgeResult, error) {
	p, err := newPurge(e.state.Load(), &c)
	if err != nil {
		return PurgeResult{}, err
	}
	purges := p.state.store.purges
	before := purges.Applied()
	res := PurgeResult{Seq: before}
	if len(c.URLs) > 0 || c.Count || c.DryRun {
		if res.Matched, err = p.count(); err != nil {
			return PurgeResult{}, badRecord(err)
		}
	}
	if !c.DryRun {
		if res.ID, res.Seq, err = purges.Add(p.records); err != nil {
			e.metrics.purgesFailed.Add(1)
			return PurgeResult{}, badRecord(err)
		}
		e.metrics.purges.Add(1)
		e.endFills(before)
		e.sweepLater(p)
	}
	res.Left = p.unpublish()
	return res, nil
}

// badRecord makes a *BadPurge of an error that is about what was asked for.
func badRecord(err error) error {
	if errors.Is(err, pagecache.ErrRecord) {
		return &BadPurge{err.Error(), "purge a shorter URL, or all of its site"}
	}
	return err
}

// endFills keeps those who come now from joining a fill that a record newer
// than before hits. Asking what the records leave of a page of that number
// costs the same for one record as for many. The state is the one of now: after
// a reload nobody else would find the new fills.
func (e *Edge) endFills(before uint64) {
	s := e.state.Load().store
	s.flights.Invalidate(func(key string) bool {
		v, _ := s.purges.Check(before, nil, keyURL([]byte(key)))
		return v != pagecache.Valid
	})
}

// count tells how many pages in memory and on the disk the purge hits that no
// other has hit before. Purges of its own, which know nothing but these records,
// tell that at the same cost whatever their number.
func (p *purge) count() (map[string]int, error) {
	probe, err := pagecache.NewPurges(pagecache.NewMemoryJournal())
	if err != nil {
		return nil, err
	}
	if _, _, err := probe.Add(p.records); err != nil {
		return nil, err
	}
	s, n := p.state.store, 0
	hits := func(key []byte, seq uint64, checked *atomic.Uint64) bool {
		u := keyURL(key)
		if v, _ := probe.Check(0, nil, u); v == pagecache.Valid {
			return false
		}
		v, _ := s.purges.Check(seq, checked, u)
		return v == pagecache.Valid || v == pagecache.Expired && !p.call.Soft
	}
	s.pulled.Each(func(key []byte, page *pagecache.Page) {
		if hits(key, page.Seq, &page.Checked) {
			n++
		}
	})
	matched := map[string]int{pagecache.MemoryTier: n}
	if files, ok := p.countFiles(hits); ok {
		matched[pagecache.DiskTier] = files
	}
	return matched, nil
}

// countFiles counts on the disk. ok is false where there is none, where it is
// not known yet what is on it, or where a purge would have to wait that did not
// ask for a count.
func (p *purge) countFiles(hits func(key []byte, seq uint64, checked *atomic.Uint64) bool) (n int, ok bool) {
	disk := p.state.store.disk
	if disk == nil {
		return 0, false
	}
	most := countedFiles
	if p.call.Count || p.call.DryRun {
		most = math.MaxInt
	}
	count := func(f pagecache.DiskPage) {
		if !f.List && hits(f.Key, f.Seq, nil) {
			n++
		}
	}
	if p.call.All {
		ok = disk.Each(nil, most, count)
		return n, ok
	}
	paths := map[string]bool{}
	for i := range p.urls {
		path := string(p.urls[i].target.url.raw)
		if paths[path] {
			continue
		}
		paths[path] = true
		if len(paths) > most || !disk.Each([]byte(path), most, count) {
			return 0, false
		}
	}
	return n, true
}
