package pagecache

import (
	"errors"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// errOutside is the error of a link that leads out of root and of Links.
var errOutside = errors.New("leads out of root and links")

// root is a site's directory by its name, which may come to mean another
// directory: a deploy flips a link.
type root struct {
	path  string   // absolute
	links []string // absolute
	log   *slog.Logger

	now  atomic.Pointer[handle] // nil: there is none
	next atomic.Int64           // when to look again, in milliseconds of the clock
}

// handle is one directory that root meant, open. It is not closed when root
// means another: a request may be about to use it, and a count of users would
// be one cache line that each hit writes to twice. The files in it close
// themselves when no request holds the handle any more.
type handle struct {
	root       *os.Root
	dir        *os.File // the same directory, for dirfd
	dirfd      int
	id         fileID
	generation uint32
}

func openRoot(path string, links []string, log *slog.Logger) (*root, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	r := &root{path: abs, log: log}
	for _, link := range links {
		l, err := filepath.Abs(link)
		if err != nil {
			return nil, err
		}
		r.links = append(r.links, l)
	}
	h, err := openHandle(abs, rand.Uint32())
	if err != nil {
		return nil, err
	}
	r.now.Store(h)
	return r, nil
}

// openHandle opens the directory that path means now.
func openHandle(path string, generation uint32) (*handle, error) {
	dirRoot, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	// Through the same handle, not by the path again: that may be flipped
	// between the two.
	dir, err := dirRoot.Open(".")
	if err != nil {
		dirRoot.Close()
		return nil, err
	}
	fd := int(dir.Fd())
	st, err := fstat(fd)
	if err != nil {
		dir.Close()
		dirRoot.Close()
		return nil, err
	}
	return &handle{root: dirRoot, dir: dir, dirfd: fd, id: st.id, generation: generation}, nil
}

// current returns the directory that root means, looked up again by the first
// who asks after a second; others meanwhile use the one before. nil: there is
// none now.
func (r *root) current(millis int64) *handle {
	next := r.next.Load()
	if millis >= next && r.next.CompareAndSwap(next, millis+second) {
		r.look()
	}
	return r.now.Load()
}

// look resolves root again.
func (r *root) look() {
	old := r.now.Load()
	st, err := statPath(r.path)
	if err == nil && old != nil && st.id.device == old.id.device && st.id.inode == old.id.inode {
		return
	}
	generation := rand.Uint32()
	if old != nil {
		generation = old.generation + 1
	}
	h, err := openHandle(r.path, generation)
	switch {
	case err == nil:
		if old == nil {
			r.log.Info("root is back", "root", r.path)
		}
	case old == nil:
		return
	case isTrouble(err):
		// The directory may be there all the same; the one before is the best
		// that is known.
		r.log.Error("root cannot be opened", "root", r.path, "error", err)
		return
	default:
		r.log.Error("root is gone, nothing below it is served", "root", r.path, "error", err)
	}
	// Not a plain Store: close may have been here.
	r.now.CompareAndSwap(old, h)
}

// close ends the use of the directory. Requests that are under way end as they
// would have.
func (r *root) close() error {
	r.next.Store(math.MaxInt64)
	h := r.now.Swap(nil)
	if h == nil {
		return nil
	}
	return h.root.Close()
}

// stamp returns the time as a stamp that is good under this handle only.
func (h *handle) stamp(millis int64) stamp { return newStamp(millis, h.generation) }

// stat asks for the file of a name, links followed wherever they lead: good
// for comparing with a file that was opened by open, and for a first look.
func (h *handle) stat(cname string) (fileStat, unix.Errno) {
	st, errno := statAt(h.dirfd, cname)
	runtime.KeepAlive(h)
	return st, errno
}

// open opens the file of a name (without a leading slash) for reading. Links
// may lead to files below root and below links only. It does not block on a
// fifo.
func (r *root) open(h *handle, name string) (*os.File, error) {
	f, err := h.root.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	var errno unix.Errno
	if err == nil || errors.As(err, &errno) || errors.Is(err, os.ErrClosed) {
		return f, err
	}
	// What is no word of the kernel is os.Root's refusal of a link that is
	// absolute or leads out. Both may be fine: it is where it leads that counts.
	return r.openLinked(h, name)
}

func (r *root) openLinked(h *handle, name string) (*os.File, error) {
	base, err := filepath.EvalSymlinks(r.path)
	if err != nil {
		return nil, err
	}
	target, err := filepath.EvalSymlinks(filepath.Join(base, name))
	if err != nil {
		return nil, err
	}
	if rel, ok := below(base, target); ok {
		return h.root.OpenFile(rel, os.O_RDONLY|unix.O_NONBLOCK, 0)
	}
	for _, link := range r.links {
		if base, err = filepath.EvalSymlinks(link); err != nil {
			continue
		}
		if rel, ok := below(base, target); ok {
			return openIn(base, rel)
		}
	}
	return nil, errOutside
}

// openIn opens a file below a directory. Both are free of links; os.Root sees
// to it that they still are.
func openIn(dir, name string) (*os.File, error) {
	d, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
}

// below returns the name of a path as seen from a directory above it.
func below(dir, path string) (rel string, ok bool) {
	rel, err := filepath.Rel(dir, path)
	return rel, err == nil && rel != "." && filepath.IsLocal(rel)
}

func statPath(path string) (fileStat, error) {
	var s unix.Stat_t
	for {
		err := unix.Stat(path, &s)
		if err == nil {
			return newFileStat(&s), nil
		}
		if err != unix.EINTR {
			return fileStat{}, err
		}
	}
}

// isTrouble says whether an error is about this process or the disk, not about
// the file that was asked for.
func isTrouble(err error) bool {
	return !isNoFile(err) && !isRefused(err)
}

// isNoFile says whether an error means that there is no such file.
func isNoFile(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) ||
		errors.Is(err, unix.ENAMETOOLONG) || errors.Is(err, unix.ELOOP)
}

// isRefused says whether an error means that the file is not for us.
func isRefused(err error) bool {
	return errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) || errors.Is(err, errOutside)
}
