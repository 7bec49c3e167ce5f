package pagecache

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	// sweepRate is the files a second that a sweep opens: a million in half
	// an hour, for a few hundredths of one core.
	sweepRate = 500

	// sweepGroup is that of a sweep of one group, which is small.
	sweepGroup = 10_000
)

// DiskPage is what a file says of its page.
type DiskPage struct {
	Key  []byte // the primary key
	Seq  uint64
	List bool // it is the list of a page's variants, and no page
}

// Sweep removes the files of pages that gone speaks of, so that their room is
// free; Get would not have given them to anybody. It opens every file, or those
// of a group, a few hundred a second, and returns when it is done or ctx ends.
// It waits until the files of an earlier process are counted. group is as
// DiskOptions.Group gives it; nil: all.
func (d *Disk) Sweep(ctx context.Context, group []byte, gone func(DiskPage) bool) {
	select {
	case <-d.scanned:
	case <-ctx.Done():
		return
	}
	rate := sweepRate
	if group != nil {
		rate = sweepGroup
	}
	pace := newPace(rate)
	d.visit(group, func(n *diskName) bool {
		d.look(n, gone)
		return pace.step(ctx)
	})
}

// Each calls f for the pages in files, or those of a group: not for those that
// wait to be written. ok is false where it would take more than most looks, or
// where the files of an earlier process are still being counted; f was not
// called then.
func (d *Disk) Each(group []byte, most int, f func(DiskPage)) (ok bool) {
	select {
	case <-d.scanned:
	default:
		return false
	}
	var names []diskName
	d.visit(group, func(n *diskName) bool {
		names = append(names, *n)
		return len(names) <= most
	})
	if len(names) > most {
		return false
	}
	for i := range names {
		d.look(&names[i], func(p DiskPage) bool {
			f(p)
			return false
		})
	}
	return true
}

// visit calls f for the names that the index has, until it says no. A file that
// comes meanwhile may be left out.
func (d *Disk) visit(group []byte, f func(*diskName) bool) {
	var of *[groupSize]byte
	if group != nil {
		g := d.group(group)
		of = &g
	}
	var names []diskName
	for chunk := 0; ; chunk++ {
		d.mu.Lock() // for so many only: who asks for a page waits
		end := chunk == len(d.index.chunks)
		if !end {
			names = d.index.names(names[:0], chunk, of)
		}
		d.mu.Unlock()
		if end {
			return
		}
		for i := range names {
			if !f(&names[i]) {
				return
			}
		}
	}
}

// look reads what a file says of its page, and removes the file if that is gone.
func (d *Disk) look(n *diskName, gone func(DiskPage) bool) {
	f, err := openPage(filepath.Join(d.folder, n.path()))
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			d.noteError(err)
		}
		return
	}
	defer f.Close()
	switch p, err := d.say(f, n); {
	case err == nil && gone(p):
		d.removeSame(n, f, &d.counts.swept)
	case isForeign(err): // it was no page
		d.counts.foreign.Add(1)
		d.removeSame(n, f, nil)
	case err != nil:
		d.noteError(err)
	}
}

// say reads the preamble of a file.
func (d *Disk) say(f *os.File, n *diskName) (p DiskPage, err error) {
	info, err := f.Stat()
	if err != nil {
		return p, err
	}
	if !info.Mode().IsRegular() {
		return p, errNoPage
	}
	buf := d.buffers.get()
	defer d.buffers.pool.Put(buf)
	start, err := readStart(f, info.Size(), *buf)
	if err != nil {
		return p, err
	}
	if _, ok := envelopeSum(start); !ok {
		return p, ErrEnvelope
	}
	m, _, ok := readPreamble(start[envelopeHead:])
	if !ok {
		return p, ErrEnvelope
	}
	key := []byte(m.key)
	primary, ok := primaryPart(key)
	if !ok || m.journal != d.options.Journal || d.name(key) != *n {
		return p, ErrForeignEnvelope
	}
	return DiskPage{Key: primary, Seq: m.seq, List: m.status == 0}, nil
}
