package pagecache

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Run does the tier's work beside requests: it writes pages, removes those that
// have to go, counts what an earlier process left. It blocks until ctx ends,
// and then writes what waits, for some seconds at most. From then on nothing is
// written. It is called once.
func (d *Disk) Run(ctx context.Context) {
	var wg sync.WaitGroup
	for range diskWriters {
		wg.Go(func() { d.writeJobs(ctx.Done()) })
	}
	wg.Go(func() { d.keepTidy(ctx) })
	wg.Go(func() { d.scan(ctx) })
	<-ctx.Done()
	d.mu.Lock()
	d.closed = true // a Put that was before the writers' last look is written
	d.mu.Unlock()
	wg.Wait()
	d.writeJobs(ctx.Done()) // and one that came between their look and ours
	bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.limits.flush)
	defer cancel()
	d.tidy(bound)
}

// keepTidy tidies whenever there is something to do. What could not be done is
// tried again after a pause.
func (d *Disk) keepTidy(ctx context.Context) {
	again := time.NewTimer(time.Hour)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.wake:
		case <-again.C:
		}
		if !d.tidy(ctx) {
			again.Reset(d.limits.pause)
		}
	}
}

// tidy removes files that must not be used any more, and the least recently
// used until the rest fits, and sets the times of those that were used. false:
// some of it has to be tried again.
func (d *Disk) tidy(ctx context.Context) bool {
	d.touch()
	all := d.removeDead(ctx)
	return d.makeRoom(ctx) && all // though what is dead may stay, the bound holds
}

// removeDead removes the files that must not be used any more, each of them
// tried once: one that cannot be removed does not keep the others.
func (d *Disk) removeDead(ctx context.Context) bool {
	d.mu.Lock()
	left := d.index.dead // what becomes dead from now on wakes us
	d.mu.Unlock()
	failed := 0
	for ; left > 0 && failed < diskTries && ctx.Err() == nil; left-- {
		n, found := d.oldest(deadList)
		if !found {
			break
		}
		if err := d.evict(&n, deadList); err != nil {
			d.health.say(err)
			failed++
		}
	}
	return failed == 0
}

// makeRoom removes the least recently used files until the rest fits.
func (d *Disk) makeRoom(ctx context.Context) bool {
	for ctx.Err() == nil && d.mustShrink() {
		n, found := d.oldest(liveList)
		if !found {
			return true
		}
		if err := d.evict(&n, liveList); err != nil {
			d.health.say(err)
			return false
		}
	}
	return true
}

// mustShrink says that pages have to go, and that it is known which.
func (d *Disk) mustShrink() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.complete && d.index.blocks*diskBlock > d.size.Load()
}

// oldest gives the file of a list that has to go before all others of it.
func (d *Disk) oldest(list uint32) (n diskName, found bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := d.index.oldest(list)
	if i == 0 {
		return n, false
	}
	return d.index.at(i).name, true
}

// evict removes a file, unless there is no reason for that any more.
func (d *Disk) evict(n *diskName, list uint32) error {
	s := d.stripe(n)
	s.Lock()
	defer s.Unlock()
	d.mu.Lock()
	i := d.index.find(n)
	reason := i != 0 && (d.index.isDead(i) || list == liveList && d.index.oldest(liveList) == i)
	d.mu.Unlock()
	if !reason {
		return nil
	}
	if list == liveList {
		return d.erase(n, &d.counts.evictions)
	}
	return d.erase(n, nil)
}

// touch sets the times of files that were used to that of now. It is called by
// one goroutine at a time.
func (d *Disk) touch() {
	d.mu.Lock()
	names, now := slices.Clone(d.touches), d.now()
	d.mu.Unlock()
	for i := range names {
		err := os.Chtimes(filepath.Join(d.folder, names[i].path()), time.Time{}, now)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			d.noteError(err) // the order of use is less exact then
			break
		}
	}
	d.mu.Lock()
	d.touches = slices.Delete(d.touches, 0, len(names)) // others came at the end
	d.mu.Unlock()
}
