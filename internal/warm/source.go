package warm

import (
	"context"
	"fmt"
	"hash/maphash"
	"strings"
	"sync/atomic"
)

// Source lists what to ask for: List, SitemapFile or SitemapURL makes one. It
// can be used once.
type Source interface {
	// each hands over the entries in order, until there are no more or yield
	// returns false.
	each(ctx context.Context, f *fetcher, yield func(entry) bool)
}

// entry is one thing that a source names.
type entry struct {
	place  string // file:line; empty: the source itself
	url    string // as it is written
	target target
	err    error  // not nil: it cannot be asked for
	reason string // of err
}

// badEntry is an entry that is no URL.
func badEntry(place, url string, err error) entry {
	return entry{place: place, url: url, err: err, reason: reasonEntry}
}

// limits bound what a source may hold.
type limits struct {
	urls     int64 // entries of a run
	sitemaps int   // of a run, indexes included
	depth    int   // of indexes that name indexes
	bytes    int64 // of one sitemap, decompressed, and as it is sent
}

// The protocol (sitemaps.org) has 50 MiB and 50,000 entries for one file. An
// index of indexes is not in it, and is found all the same.
var defaultLimits = limits{urls: 10_000_000, sitemaps: 50_000, depth: 4, bytes: 50 << 20}

// lister is what a run reads its source with.
type lister struct {
	host    string // that replaces all others
	edge    string // the host of paths
	exclude patterns
	limit   int64
	fetcher *fetcher

	seed  maphash.Seed
	asked map[uint64]struct{}

	listed, excluded, duplicates atomic.Int64
	ended                        atomic.Bool
}

func newLister(w *Warmer) *lister {
	return &lister{
		host: w.host, edge: w.edge.Host, exclude: w.exclude, limit: w.limits.urls, fetcher: newFetcher(w),
		seed: maphash.MakeSeed(), asked: map[uint64]struct{}{},
	}
}

// list puts what is to be asked for into queue, until ctx ends.
func (l *lister) list(ctx context.Context, s Source, queue chan<- entry) {
	defer l.fetcher.close()
	s.each(ctx, l.fetcher, func(e entry) bool { return l.offer(ctx, e, queue) })
	l.ended.Store(true)
}

// offer puts an entry into queue, unless it is excluded or was there before. It
// reports whether there may be more.
func (l *lister) offer(ctx context.Context, e entry, queue chan<- entry) bool {
	if ctx.Err() != nil {
		return false
	}
	if e.err == nil && !l.wanted(&e) {
		return true
	}
	over := l.listed.Load() == l.limit
	if over {
		e = badEntry(e.place, e.url, fmt.Errorf("more than %d URLs: the rest is left out", l.limit))
	}
	l.listed.Add(1)
	select {
	case queue <- e:
		return !over
	case <-ctx.Done():
		return false
	}
}

// wanted completes an entry's target and reports whether to ask for it.
func (l *lister) wanted(e *entry) bool {
	switch {
	case l.host != "":
		e.target.host = l.host
	case e.target.host == "":
		e.target.host = l.edge
	}
	if l.exclude.match(e.target.path) {
		l.excluded.Add(1)
		return false
	}
	key := maphash.String(l.seed, strings.ToLower(e.target.host)+e.target.path)
	if _, asked := l.asked[key]; asked {
		l.duplicates.Add(1)
		return false
	}
	l.asked[key] = struct{}{}
	return true
}
