//go:build !linux || !(amd64 || arm64)

package pagecache

import "golang.org/x/sys/unix"

// statAt asks the file of a name below an open directory, links followed.
// cname ends in NUL.
func statAt(dir int, cname string) (fileStat, unix.Errno) {
	if cname == "" || cname[len(cname)-1] != 0 {
		panic("BUG: pagecache: name without NUL")
	}
	var s unix.Stat_t
	for {
		err := unix.Fstatat(dir, cname[:len(cname)-1], &s, 0)
		if err == nil {
			return newFileStat(&s), 0
		}
		errno, ok := err.(unix.Errno)
		if !ok {
			errno = unix.EINVAL // a NUL within the name, which no valid path has
		}
		if errno != unix.EINTR {
			return fileStat{}, errno
		}
	}
}
