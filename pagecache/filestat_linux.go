//go:build amd64 || arm64

package pagecache

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// statAt asks the file of a name below an open directory, links followed.
// cname ends in NUL: the name goes to the kernel as it is, where unix.Fstatat
// would copy it on every hit.
func statAt(dir int, cname string) (fileStat, unix.Errno) {
	if cname == "" || cname[len(cname)-1] != 0 {
		panic("BUG: pagecache: name without NUL")
	}
	var s unix.Stat_t
	for {
		_, _, errno := unix.Syscall6(unix.SYS_NEWFSTATAT, uintptr(dir),
			uintptr(unsafe.Pointer(unsafe.StringData(cname))), uintptr(unsafe.Pointer(&s)), 0, 0, 0)
		if errno == 0 {
			return newFileStat(&s), 0
		}
		if errno != unix.EINTR {
			return fileStat{}, errno
		}
	}
}
