package pagecache

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"
)

// diskPages is the folder in that of a tier where the pages are, and nothing
// else: what else may be in the tier's folder is nobody's to remove.
const diskPages = "pages"

func (d *Disk) pages() string { return filepath.Join(d.options.Path, diskPages) }

// take makes the folders of the tier as far as they are missing, and takes them
// for this process. anew says that the folder of the pages was missing.
func (d *Disk) take() (anew bool, err error) {
	if err := CheckDisk(d.options.Path); err != nil {
		return false, err
	}
	for _, dir := range []string{d.options.Path, d.pages()} {
		if err := os.Mkdir(dir, 0o750); err != nil && !errors.Is(err, fs.ErrExist) {
			return false, err
		}
	}
	if err := d.lock.take(d.pages()); err != nil {
		return false, err
	}
	err = os.Mkdir(d.folder, 0o750)
	if errors.Is(err, fs.ErrExist) {
		return false, nil // what else may be there, opening files tells
	}
	return err == nil, err
}

// restore takes the folder again, making it anew, when somebody has removed it.
// What the index knew is gone then.
func (d *Disk) restore() error {
	d.mu.Lock() // whoever puts a file into the new folder notes it after this
	defer d.mu.Unlock()
	anew, err := d.take()
	if anew && d.complete {
		d.index = newDiskIndex()
	}
	return err
}

// CheckDisk says what keeps path from being the folder of a Disk: it can be
// written by this process, or can be made. It changes nothing.
func CheckDisk(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		parent := filepath.Dir(filepath.Clean(path))
		if info, err := os.Stat(parent); err != nil || !info.IsDir() {
			return fmt.Errorf("there is no directory %q, want a path of which only the last part is missing", parent)
		}
		return writable(parent)
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%q is no directory, want one that is there, or one that can be made", path)
	}
	return writable(path)
}

// writable says why this process could not make files in a folder.
func writable(path string) error {
	err := unix.Access(path, unix.W_OK|unix.X_OK)
	if err == nil {
		return nil
	}
	text := fmt.Sprintf("the directory %q cannot be written by user %d", path, os.Geteuid())
	if st := new(unix.Stat_t); unix.Stat(path, st) == nil && int(st.Uid) != os.Geteuid() {
		text += fmt.Sprintf(", it belongs to user %d", st.Uid)
	}
	return fmt.Errorf("%s: %w, want one that this user may write", text, err)
}

// DiskRoom tells the bytes of the file system that path is on, or would be.
func DiskRoom(path string) (size int64, ok bool) {
	var st unix.Statfs_t
	if unix.Statfs(path, &st) != nil && unix.Statfs(filepath.Dir(filepath.Clean(path)), &st) != nil {
		return 0, false
	}
	return int64(st.Blocks) * int64(st.Bsize), true
}

// journalFolder is the folder of a journal's pages: its name, if that is plain.
func journalFolder(name string) string {
	plain := len(name) > 0 && len(name) <= 64
	for _, c := range []byte(name) {
		plain = plain && (isLower(c) || c >= '0' && c <= '9')
	}
	if plain {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return "x" + hex.EncodeToString(sum[:16])
}

// diskLock is the lock of a folder. It can be taken again when the folder was
// removed and made anew.
type diskLock struct {
	mu   sync.Mutex
	file *os.File // nil: not taken
}

// take locks a folder, unless it is locked already.
func (l *diskLock) take(dir string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		there, err := os.Stat(filepath.Join(dir, lockFileName))
		ours, err2 := l.file.Stat()
		if err == nil && err2 == nil && os.SameFile(there, ours) {
			return nil
		}
	}
	f, err := lockState(dir)
	if err != nil {
		return err
	}
	if l.file != nil {
		l.file.Close()
	}
	l.file = f
	return nil
}

func (l *diskLock) release() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}
