package pagecache

import (
	"bytes"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

const (
	// diskStart is the bytes that a file is read by first: the preamble, the
	// head, and all of a small page.
	diskStart = 8 << 10

	// longestPreamble bounds what is read in search of its end.
	longestPreamble = 8 << 20
)

// diskBuffers are buffers of diskStart bytes.
type diskBuffers struct{ pool sync.Pool }

func (b *diskBuffers) get() *[]byte {
	if v, ok := b.pool.Get().(*[]byte); ok {
		return v
	}
	v := make([]byte, diskStart)
	return &v
}

// errNoPage is the error for a file that is none of a page.
var errNoPage = errors.New("pagecache: no file of a page")

// load reads the page of a name. A file that is none of it is removed.
func (d *Disk) load(n *diskName, key []byte) *Page {
	f, err := openPage(filepath.Join(d.folder, n.path()))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.absent(n)
		return nil
	case errors.Is(err, unix.ELOOP), errors.Is(err, unix.ENXIO): // a link, a socket
		d.counts.foreign.Add(1)
		d.removeOdd(n)
		return nil
	case err != nil:
		d.noteError(err)
		return nil
	}
	defer f.Close()
	p, err := d.read(f, key)
	if err == nil {
		return p
	}
	if !isForeign(err) {
		d.noteError(err)
		return nil
	}
	d.counts.foreign.Add(1)
	d.removeSame(n, f, nil)
	return nil
}

// isForeign tells a file that holds no page from one that cannot be read.
func isForeign(err error) bool {
	return errors.Is(err, ErrEnvelope) || errors.Is(err, ErrForeignEnvelope) || errors.Is(err, errNoPage)
}

// openPage opens a file to read. It does not wait for what is none, and follows
// no link.
func openPage(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
}

// absent notes that there is no file.
func (d *Disk) absent(n *diskName) {
	s := d.stripe(n)
	s.Lock()
	defer s.Unlock()
	if _, err := os.Lstat(filepath.Join(d.folder, n.path())); !errors.Is(err, fs.ErrNotExist) {
		return // it came meanwhile
	}
	if _, err := os.Lstat(d.folder); err != nil {
		return // the disk itself is away, and may come back
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if i := d.index.find(n); i != 0 {
		d.index.remove(i)
	}
}

// removeOdd removes what is in the place of a file and cannot be opened as one.
func (d *Disk) removeOdd(n *diskName) {
	s := d.stripe(n)
	s.Lock()
	defer s.Unlock()
	info, err := os.Lstat(filepath.Join(d.folder, n.path()))
	if err == nil && !info.Mode().IsRegular() {
		_ = d.eraseNow(n, nil) // counted
	}
}

// noteError counts a call of the system that failed, and says so.
func (d *Disk) noteError(err error) {
	d.counts.errors.Add(1)
	d.health.say(err)
}

// read reads a page of a key: the beginning of its file first, then the rest of
// the body to where it stays.
func (d *Disk) read(f *os.File, key []byte) (*Page, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNoPage
	}
	buf := d.buffers.get()
	defer d.buffers.pool.Put(buf)
	start, err := readStart(f, info.Size(), *buf)
	if err != nil {
		return nil, err
	}
	want, ok := envelopeSum(start)
	if !ok {
		return nil, ErrEnvelope
	}
	m, rest, ok := readPreamble(start[envelopeHead:])
	before := int64(len(start) - len(rest))
	if !ok || uint64(info.Size()-before) != m.length() {
		return nil, ErrEnvelope
	}
	if err := m.belongs(key, d.options.Journal); err != nil {
		return nil, err
	}
	head, body := make([]byte, m.head), make([]byte, m.body)
	there := copy(head, rest)
	there += copy(body, rest[there:])
	if err := readRest(f, before, there, head, body); err != nil {
		return nil, err
	}
	sum := crc32.Checksum(start[envelopeHead:before], castagnoli)
	if crc32.Update(crc32.Update(sum, castagnoli, head), castagnoli, body) != want {
		return nil, ErrEnvelope
	}
	return m.page(head, body)
}

// readStart reads the beginning of a file, with all of the preamble; into buf,
// if it fits.
func readStart(f *os.File, size int64, buf []byte) ([]byte, error) {
	for {
		n, err := f.ReadAt(buf[:min(size, int64(len(buf)))], 0)
		if err != nil && err != io.EOF {
			return nil, err
		}
		whole := int64(n) >= size || len(buf) >= longestPreamble
		if whole || n < len(buf) || bytes.Contains(buf[:n], []byte("\n\n")) {
			return buf[:n], nil
		}
		buf = make([]byte, min(8*len(buf), longestPreamble))
	}
}

// readRest reads what of head and body was not there: the first there bytes of
// both were.
func readRest(f *os.File, before int64, there int, head, body []byte) error {
	at := before + int64(there)
	if there < len(head) {
		n, err := f.ReadAt(head[there:], at)
		if err != nil {
			return cutOff(err)
		}
		there, at = there+n, at+int64(n)
	}
	if body = body[there-len(head):]; len(body) == 0 {
		return nil
	}
	_, err := f.ReadAt(body, at)
	return cutOff(err)
}

// cutOff makes of the end of a file that it holds no page.
func cutOff(err error) error {
	if err == io.EOF {
		return ErrEnvelope
	}
	return err
}

// removeSame removes the file of a name, if it is still the one that is open.
// count is as for erase.
func (d *Disk) removeSame(n *diskName, f *os.File, count *atomic.Uint64) bool {
	s := d.stripe(n)
	s.Lock()
	defer s.Unlock()
	there, err := os.Lstat(filepath.Join(d.folder, n.path()))
	if err != nil {
		return false
	}
	opened, err := f.Stat()
	if err != nil || !os.SameFile(there, opened) {
		return false
	}
	return d.eraseNow(n, count) == nil
}

// erase removes the file of a name, whose lock is held. Where it cannot, the
// file counts as gone, and it is to be tried again. count, if it is not nil,
// counts a file that went, in the step in which the index forgets it.
func (d *Disk) erase(n *diskName, count *atomic.Uint64) error {
	err := os.Remove(filepath.Join(d.folder, n.path()))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil {
		d.counts.errors.Add(1)
		d.killLocked(n)
		return err
	}
	if i := d.index.find(n); i != 0 {
		d.index.remove(i)
	}
	if count != nil {
		count.Add(1)
	}
	return nil
}

// eraseNow is erase for those who do not try again themselves.
func (d *Disk) eraseNow(n *diskName, count *atomic.Uint64) error {
	err := d.erase(n, count)
	if err != nil {
		d.wakeUp()
	}
	return err
}
