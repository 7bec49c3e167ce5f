package pagecache

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// lockFileName is the file in a directory that is locked for one process.
const lockFileName = "lock"

// lockState takes the directory for this process. The lock is that of an open
// file, which the kernel gives back however the process ends; the file stays,
// and says who has it. Closing it unlocks.
func lockState(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockFileName), os.O_RDWR|os.O_CREATE, 0o640)
	if err != nil {
		return nil, err
	}
	switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
	case errors.Is(err, unix.EWOULDBLOCK):
		defer f.Close()
		return nil, fmt.Errorf("directory %q is in use by %s: stop that, or give each its own directory", dir, holder(f))
	case err != nil:
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	if err := writeHolder(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// writeHolder says in the lock's file who has it.
func writeHolder(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt(strconv.AppendInt(nil, int64(os.Getpid()), 10), 0)
	return err
}

// holder names who has the lock.
func holder(f *os.File) string {
	b, err := io.ReadAll(io.NewSectionReader(f, 0, 32))
	pid, parseErr := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || parseErr != nil {
		return "another process"
	}
	return fmt.Sprintf("process %d", pid)
}
