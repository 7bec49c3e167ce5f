package pagecache

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// fileBirth tells a file from a copy of it, even one in the same place: by the
// inode and, where the file system knows it, when that was made.
func fileBirth(f *os.File) (string, error) {
	var s unix.Statx_t
	err := unix.Statx(int(f.Fd()), "", unix.AT_EMPTY_PATH, unix.STATX_INO|unix.STATX_BTIME, &s)
	if err != nil || s.Mask&unix.STATX_BTIME == 0 {
		st, err := fstat(int(f.Fd()))
		return strconv.FormatUint(st.id.inode, 10), err
	}
	b := strconv.AppendUint(nil, s.Ino, 10)
	b = strconv.AppendInt(append(b, '.'), s.Btime.Sec, 10)
	b = strconv.AppendUint(append(b, '.'), uint64(s.Btime.Nsec), 10)
	return string(b), nil
}
