package pagecache

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// diskScanRate is the files a second that the scan looks at: a million in
	// 20 s, for a tenth of one core.
	diskScanRate = 50_000

	// diskAside ends the names of files that are being written.
	diskAside = ".new"

	scanBatch = 256 // files between two pauses
)

// scan makes the index complete: it counts the files that an earlier process
// left. Until then pages are found by their paths. A folder that cannot be read
// is as good as empty: it is said in the log. Then the pages of other journals
// are removed.
func (d *Disk) scan(ctx context.Context) {
	pace := newPace(d.limits.rate)
	for sub := range 256 {
		folder := filepath.Join(d.folder, subfolder(sub))
		err := eachName(folder, func(name string) bool {
			d.find(folder, name)
			return pace.step(ctx)
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			d.noteError(err)
		}
		if ctx.Err() != nil {
			return
		}
	}
	d.adopt()
	d.removeOthers(ctx)
}

func subfolder(n int) string { return string([]byte{hexDigits[n>>4], hexDigits[n&15]}) }

const hexDigits = "0123456789abcdef"

// eachName calls f for the names in a folder, until it says no.
func eachName(folder string, f func(name string) bool) error {
	dir, err := os.Open(folder)
	if err != nil {
		return err
	}
	defer dir.Close()
	for {
		names, err := dir.Readdirnames(scanBatch)
		for _, name := range names {
			if !f(name) {
				return nil
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// find notes a file that the scan came by. What an earlier process had begun to
// write is removed.
func (d *Disk) find(folder, name string) {
	path := filepath.Join(folder, name)
	n, ok := parseDiskName(name)
	if !ok || n.path() != filepath.Join(filepath.Base(folder), name) {
		if d.isLeftover(name) {
			_ = os.Remove(path) // if not now, the next start tries again
		}
		return
	}
	s := d.stripe(&n) // between the look and the note nobody removes it
	s.Lock()
	defer s.Unlock()
	info, err := os.Lstat(path)
	if err != nil {
		return
	}
	used := d.usedAt(path, info)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.index.find(&n) == 0 {
		d.index.add(&n, blocksOf(info.Size()), used, looseList)
	}
}

// isLeftover says whether a file is one that another process was writing.
func (d *Disk) isLeftover(name string) bool {
	place, rest, _ := strings.Cut(name, ".")
	_, ok := parseDiskName(place)
	return ok && strings.HasSuffix(rest, diskAside) && !strings.HasPrefix(rest, d.run+".")
}

// usedAt is when a file was used last. A time that is yet to come is of a clock
// that was set back since: it counts as now, in the file too, or its page would
// outlive all that is used from now on.
func (d *Disk) usedAt(path string, info fs.FileInfo) uint32 {
	now := d.now()
	if !info.ModTime().After(now) {
		return uint32(max(info.ModTime().Unix(), 0))
	}
	_ = os.Chtimes(path, time.Time{}, now) // where it cannot be, the next start does the same
	return uint32(now.Unix())
}

// adopt brings what the scan found in order, behind what was used since the
// start.
func (d *Disk) adopt() {
	d.mu.Lock()
	found := d.index.loose()
	d.mu.Unlock()
	youngestFirst(found)
	for batch := range slices.Chunk(found, diskChunk) {
		d.mu.Lock() // for so many only: who asks for a page waits
		for _, f := range batch {
			d.index.adopt(f)
		}
		d.mu.Unlock()
	}
	d.mu.Lock()
	d.complete = true
	close(d.scanned) // in one step: who sees the one sees the other
	d.mu.Unlock()
	d.wakeUp()
}

// removeOthers removes the pages of other journals. Folders with something else
// in them stay, and so does that.
func (d *Disk) removeOthers(ctx context.Context) {
	pace := newPace(d.limits.rate / 10)
	err := eachName(d.pages(), func(name string) bool {
		path := filepath.Join(d.pages(), name)
		if info, err := os.Lstat(path); err != nil || !info.IsDir() || path == d.folder {
			return true
		}
		for sub := range 256 {
			d.removePages(ctx, filepath.Join(path, subfolder(sub)), pace)
		}
		_ = os.Remove(path) // if it is empty
		return ctx.Err() == nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		d.noteError(err)
	}
}

// removePages removes the files of pages in a folder, and the folder.
func (d *Disk) removePages(ctx context.Context, folder string, pace *pace) {
	err := eachName(folder, func(name string) bool {
		if _, ok := parseDiskName(name); ok || d.isLeftover(name) {
			if err := os.Remove(filepath.Join(folder, name)); err != nil {
				d.noteError(err)
			}
		}
		return pace.step(ctx)
	})
	switch {
	case err == nil && ctx.Err() == nil:
		_ = os.Remove(folder) // if it is empty
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		d.noteError(err)
	}
}

// pace keeps work in the background from taking all of a disk.
type pace struct {
	batch time.Duration // that scanBatch steps take at least
	steps int
	began time.Time
}

func newPace(rate int) *pace {
	return &pace{batch: scanBatch * time.Second / time.Duration(max(rate, 1)), began: time.Now()}
}

// step counts a step, and waits if they come too fast. false: ctx has ended.
func (p *pace) step(ctx context.Context) bool {
	if p.steps++; p.steps < scanBatch {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(p.batch - time.Since(p.began))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	p.steps, p.began = 0, time.Now()
	return ctx.Err() == nil
}
