package pagecache

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// diskJob is a page that waits to be written.
type diskJob struct {
	name diskName
	key  []byte
	page *Page
	size int64
}

// Put has a page written, in place of what was there. key is copied. A page
// that cannot be kept only removes what was there: that is older.
func (d *Disk) Put(key []byte, p *Page) {
	n := d.name(key)
	size := int64(len(p.Head) + len(p.Body))
	switch {
	case !p.keepable():
	case size > d.size.Load()/LargestShare || size/diskBlock+1 > mostBlocks:
		d.counts.large.Add(1)
	case !d.health.allow():
		d.counts.trouble.Add(1)
	case !d.enqueue(&diskJob{name: n, key: append([]byte(nil), key...), page: p, size: size}):
		d.counts.busy.Add(1)
	default:
		return
	}
	d.forget(&n)
}

// enqueue hands a page to the writers, unless too much is waiting.
func (d *Disk) enqueue(j *diskJob) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed || d.waiting.Load()+j.size > d.limits.queueBytes && d.waiting.Load() > 0 || d.overfullLocked() {
		return false
	}
	select {
	case d.queue <- j:
	default:
		return false
	}
	d.waiting.Add(j.size)
	d.pending[j.name] = j // in place of one that waits: that is not written any more
	return true
}

// overfullLocked says that there is no room, and that nobody knows yet which
// page is to go for it: the scan has not found them all.
func (d *Disk) overfullLocked() bool {
	return !d.complete && d.index.blocks*diskBlock > d.size.Load()
}

// writeJobs writes what Put handed over until end is closed, then what is left,
// as far as it comes within the time for that.
func (d *Disk) writeJobs(end <-chan struct{}) {
	for {
		select {
		case j := <-d.queue:
			d.write(j)
			continue
		case <-end:
		}
		break
	}
	for deadline := time.Now().Add(d.limits.flush); ; {
		select {
		case j := <-d.queue:
			if time.Now().Before(deadline) {
				d.write(j)
			} else {
				d.drop(j)
			}
		default:
			return
		}
	}
}

// drop gives up a page that waits, and removes the one before it.
func (d *Disk) drop(j *diskJob) {
	d.waiting.Add(-j.size)
	if !d.isCurrent(j) {
		return
	}
	d.counts.busy.Add(1)
	_ = d.Delete(j.key) // what is left is counted, and tried by nobody any more
}

// isCurrent says whether nothing came after j: no other page, no Delete.
func (d *Disk) isCurrent(j *diskJob) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.pending[j.name] == j
}

// write writes a page aside and puts it in its place, unless something came
// after it. It wakes whoever makes room.
func (d *Disk) write(j *diskJob) {
	defer d.waiting.Add(-j.size)
	if !d.isCurrent(j) {
		return
	}
	place := filepath.Join(d.folder, j.name.path())
	aside := place + "." + d.run + "." + strconv.FormatUint(d.writes.Add(1), 36) + diskAside
	size, err := d.writeAside(aside, j)
	if errors.Is(err, fs.ErrNotExist) { // no folder yet, or none any more
		if err = d.makeFolder(filepath.Dir(place)); err == nil {
			size, err = d.writeAside(aside, j)
		}
	}
	if err == nil {
		err = d.place(aside, place, j, size)
	}
	if err != nil {
		d.notWritten(j, err)
		return
	}
	d.health.worked()
}

// writeAside writes the envelope of a page to a file of its own.
func (d *Disk) writeAside(path string, j *diskJob) (size int64, err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		return 0, err
	}
	start, body := encodeStart(nil, j.key, d.options.Journal, j.page)
	_, err = f.Write(start)
	if err == nil {
		_, err = f.Write(body)
	}
	if closing := f.Close(); err == nil {
		err = closing // some file systems find out here that they are full
	}
	if err != nil {
		_ = os.Remove(path)
	}
	return int64(len(start) + len(body)), err
}

// place puts a whole file in its place, under the lock that Delete takes too:
// a page that was removed meanwhile does not come back.
func (d *Disk) place(aside, place string, j *diskJob, size int64) error {
	s := d.stripe(&j.name)
	s.Lock()
	defer s.Unlock()
	if !d.isCurrent(j) {
		return os.Remove(aside)
	}
	if err := os.Rename(aside, place); err != nil {
		_ = os.Remove(aside)
		return err
	}
	d.placed(j, size)
	return nil
}

// placed notes that a file is in its place. Since the last look the page may
// have been forgotten, or a later one may wait.
func (d *Disk) placed(j *diskJob, size int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.index.put(&j.name, blocksOf(size), uint32(d.now().Unix()))
	switch d.pending[j.name] {
	case j:
		delete(d.pending, j.name)
	case nil:
		d.killLocked(&j.name)
	}
	if d.index.dead > 0 || d.index.blocks*diskBlock > d.size.Load() {
		d.wakeUp()
	}
}

// notWritten is the end of a page that could not be written: there is none.
func (d *Disk) notWritten(j *diskJob, err error) {
	d.counts.errors.Add(1)
	d.counts.trouble.Add(1)
	d.health.failed(err)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.pending[j.name] != j {
		return
	}
	delete(d.pending, j.name)
	if d.killLocked(&j.name) {
		d.wakeUp()
	}
}

// makeFolder makes one of the 256 folders, and those above it if somebody has
// removed them.
func (d *Disk) makeFolder(path string) error {
	err := os.Mkdir(path, 0o750)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil // as in take
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := d.restore(); err != nil {
		return err
	}
	err = os.Mkdir(path, 0o750)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// blocksOf gives the blocks that a file of a size takes.
func blocksOf(size int64) uint32 {
	return uint32(min((size+diskBlock-1)/diskBlock, mostBlocks))
}
