package pagecache

import (
	"crypto/sha256"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// DiskTier is the word for the disk in Cache-Status.
const DiskTier = "disk"

const (
	// DefaultDiskSize is the bytes of pages on a disk.
	DefaultDiskSize = 10 << 30

	// diskPause is the time for which a disk that cannot be written is left
	// alone.
	diskPause = 10 * time.Second

	// diskTouch is how old the time of a file may be that a page is read from:
	// what a restart knows of the order of use is as exact as that.
	diskTouch = 5 * time.Minute

	// diskFlush bounds how long Run goes on writing after its end was asked for.
	diskFlush = 5 * time.Second

	// What waits to be written: pages, and the bytes of them.
	diskQueuePages = 4096
	diskQueueBytes = 64 << 20

	// diskReaders bounds those who read at once. A disk that hangs holds them, and
	// a thread each, of which a process has ten thousand: whoever comes then goes
	// on without it.
	diskReaders = 1024

	diskTouches = 1024 // files whose times are to be set, at most

	// diskTries is how many files that cannot be removed are tried between two
	// pauses.
	diskTries = 16

	diskWriters = 2
	diskStripes = 64
)

// DiskOptions describes a Disk.
type DiskOptions struct {
	Path    string                  // folder; it is made if the one above it is there
	Size    int64                   // bytes of pages, each file rounded up to 4 KiB; 0: DefaultDiskSize
	Journal string                  // name of the journal: pages of another one are removed
	Group   func(key []byte) []byte // the part of a primary key that pages which are purged together share; nil: all of it. Nothing of it is kept
	Log     *slog.Logger            // nil: nowhere
}

// Disk keeps pulled pages in files, one a page, which hold an envelope each:
//
//	path/pages/JOURNAL/3f/7b2e01c93f...
//
// Least recently used pages go when the size is used up; that order outlives
// the process, as the times of the files. There is no other index on the disk:
// a page is found by its path, and what a killed process left is a whole page
// or none.
//
// Pages are written aside, by Run, so nobody waits for a write; until then Get
// finds them where they wait. What cannot be kept (too much is waiting, the
// disk is full) is counted, and what was there before is gone all the same. Its
// methods may be called from any goroutine.
type Disk struct {
	options DiskOptions
	log     *slog.Logger
	folder  string // of this journal's pages
	run     string // in the names of files that are being written
	writes  atomic.Uint64
	limits  diskLimits
	now     func() time.Time
	health  diskHealth
	queue   chan *diskJob
	waiting atomic.Int64 // bytes in the queue
	size    atomic.Int64
	wake    chan struct{} // there is something to tidy
	scanned chan struct{} // closed after the first scan
	lock    diskLock
	buffers diskBuffers
	readers atomic.Int64

	stripes [diskStripes]sync.Mutex // one is held while a file takes or leaves its place

	mu       sync.Mutex
	index    *diskIndex
	complete bool // the index knows every file
	pending  map[diskName]*diskJob
	touches  []diskName // files whose times are to be set
	closed   bool       // nothing is written any more

	counts diskCounts
}

// diskLimits are the constants above, but for tests.
type diskLimits struct {
	pause, touch, flush time.Duration
	queueBytes          int64
	rate                int // files a second that the scan looks at
	readers             int64
}

var _ Tier = (*Disk)(nil)

// diskCounts are those of DiskStats.
type diskCounts struct {
	hits, misses, foreign, errors, evictions, swept atomic.Uint64
	large, busy, trouble                            atomic.Uint64
}

// DiskStats is what a Disk counted.
type DiskStats struct {
	Pages     int64  // there now; while Scanning, of those that are known
	Bytes     int64  // of their files, each rounded up to 4 KiB
	Size      int64  // the bound
	Scanning  bool   // what an earlier process left is still being counted
	Hits      uint64 // of Get
	Misses    uint64 // of Get; trouble too
	Foreign   uint64 // files that were no page, or another's: each was a miss too, and removed
	Errors    uint64 // calls of the system that failed
	Evictions uint64 // pages that went to make room
	Swept     uint64 // pages that were removed because a purge had hit them
	Large     uint64 // pages not written: over a quarter of the size
	Busy      uint64 // pages not written: too much was waiting
	Trouble   uint64 // pages not written: the disk could not, or was left alone after it could not
}

// OpenDisk takes the folder for this process: the error that a second one gets
// names the first. Nothing else is looked at yet. Pages are written and counted
// by Run, which the caller starts.
func OpenDisk(o DiskOptions) (*Disk, error) {
	return openDisk(o, diskLimits{pause: diskPause, touch: diskTouch, flush: diskFlush, queueBytes: diskQueueBytes, rate: diskScanRate, readers: diskReaders})
}

func openDisk(o DiskOptions, limits diskLimits) (*Disk, error) {
	if o.Size <= 0 {
		o.Size = DefaultDiskSize
	}
	d := &Disk{
		options: o, log: o.Log, limits: limits, now: time.Now, run: newJournalName(),
		queue: make(chan *diskJob, diskQueuePages), wake: make(chan struct{}, 1),
		scanned: make(chan struct{}), index: newDiskIndex(), pending: make(map[diskName]*diskJob),
	}
	if d.log == nil {
		d.log = slog.New(slog.DiscardHandler)
	}
	d.health = diskHealth{log: d.log, path: o.Path, pause: limits.pause, start: time.Now()}
	d.size.Store(o.Size)
	path, err := filepath.Abs(o.Path) // it holds when the process goes elsewhere
	if err != nil {
		return nil, err
	}
	d.options.Path = path
	d.folder = filepath.Join(d.pages(), journalFolder(o.Journal))
	if _, err := d.take(); err != nil {
		d.lock.release()
		return nil, err
	}
	return d, nil
}

// Sync waits until the disk has all that was removed as removed. It is called
// after Run has returned. What of pages themselves the disk has not yet may be
// torn after a power loss, which is noticed.
func (d *Disk) Sync() error {
	for sub := range 256 {
		err := syncDir(filepath.Join(d.folder, subfolder(sub)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Close gives the folder back. It is called after Run has returned.
func (d *Disk) Close() error { return d.lock.release() }

// SetSize changes the bound: pages go at once if it is less.
func (d *Disk) SetSize(size int64) {
	d.size.Store(size)
	d.wakeUp()
}

// name gives the name of a key's file.
func (d *Disk) name(key []byte) (n diskName) {
	group := key
	if primary, ok := primaryPart(key); ok {
		group = primary
		if d.options.Group != nil {
			group = d.options.Group(primary)
		}
	}
	prefix, rest := d.group(group), sha256.Sum256(key)
	copy(n[:], prefix[:])
	copy(n[groupSize:], rest[:])
	return n
}

// group gives the part of names that a group's files share.
func (d *Disk) group(group []byte) [groupSize]byte {
	sum := sha256.Sum256(group)
	return [groupSize]byte(sum[:groupSize])
}

func (d *Disk) stripe(n *diskName) *sync.Mutex { return &d.stripes[n[groupSize]%diskStripes] }

// Get finds a page. Trouble is a miss.
func (d *Disk) Get(key []byte) (*Page, bool) {
	p := d.get(key)
	if p == nil {
		d.counts.misses.Add(1)
		return nil, false
	}
	d.counts.hits.Add(1)
	return p, true
}

var errManyReaders = errors.New("pagecache: many pages are being read at once, the disk is slow or hangs: some are not looked for")

func (d *Disk) get(key []byte) *Page {
	n := d.name(key)
	p, look := d.known(&n)
	if p != nil || !look {
		return p
	}
	defer d.readers.Add(-1)
	if d.readers.Add(1) > d.limits.readers {
		d.health.say(errManyReaders)
		return nil
	}
	if p = d.load(&n, key); p != nil {
		d.use(&n)
	}
	return p
}

// known gives a page that waits to be written; look says whether the disk is
// to be asked for one.
func (d *Disk) known(n *diskName) (p *Page, look bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if j := d.pending[*n]; j != nil {
		return j.page, false
	}
	i := d.index.find(n)
	if i == 0 {
		return nil, !d.complete
	}
	return nil, !d.index.isDead(i)
}

// use notes that a page was read. Its file's time is set later, and only now
// and then.
func (d *Disk) use(n *diskName) {
	now := uint32(d.now().Unix())
	d.mu.Lock()
	defer d.mu.Unlock()
	i := d.index.find(n)
	if i == 0 || d.index.isDead(i) {
		return // the scan has yet to find it, or it has just gone
	}
	d.index.use(i)
	e := d.index.at(i)
	if age := time.Duration(int64(now)-int64(e.used)) * time.Second; age >= 0 && age < d.limits.touch || len(d.touches) >= diskTouches {
		return
	}
	e.used = now
	d.touches = append(d.touches, *n)
	d.wakeUp()
}

// Delete removes a page: when it returns without an error the page is gone,
// also for a process that comes after kill -9. An error means that its file is
// still there; this Disk will not use it, and tries again to remove it.
func (d *Disk) Delete(key []byte) error {
	n := d.name(key)
	s := d.stripe(&n)
	s.Lock()
	defer s.Unlock()
	d.mu.Lock()
	delete(d.pending, n) // a write of it that is under way finds out before it takes its place
	d.killLocked(&n)
	d.mu.Unlock()
	return d.eraseNow(&n, nil)
}

// forget is Delete for a page that is not to be waited for: it is removed
// later. What is known not to be there needs nothing.
func (d *Disk) forget(n *diskName) {
	d.mu.Lock()
	delete(d.pending, *n)
	there, closed := d.killLocked(n), d.closed
	d.mu.Unlock()
	switch {
	case there && closed: // nobody is left who would
		_ = d.evict(n, deadList)
	case there:
		d.wakeUp()
	}
}

// killLocked has a file count as gone. false: it is known that there is none.
func (d *Disk) killLocked(n *diskName) bool {
	i := d.index.find(n)
	switch {
	case i != 0:
		d.index.kill(i)
	case d.complete:
		return false
	default:
		d.index.add(n, 0, 0, deadList)
	}
	return true
}

func (d *Disk) wakeUp() {
	select {
	case d.wake <- struct{}{}:
	default: // it will wake anyway
	}
}

// Stats returns what was counted so far.
func (d *Disk) Stats() DiskStats {
	d.mu.Lock()
	s := DiskStats{Pages: d.index.pages, Bytes: d.index.blocks * diskBlock, Scanning: !d.complete}
	d.mu.Unlock()
	c := &d.counts
	s.Size = d.size.Load()
	s.Hits, s.Misses, s.Foreign, s.Errors = c.hits.Load(), c.misses.Load(), c.foreign.Load(), c.errors.Load()
	s.Evictions, s.Swept = c.evictions.Load(), c.swept.Load()
	s.Large, s.Busy, s.Trouble = c.large.Load(), c.busy.Load(), c.trouble.Load()
	return s
}
