package pagecache

import (
	"time"

	"golang.org/x/sys/unix"
)

// fileID tells whether a file is still the one that was opened, with the bytes
// that were read: a write changes its times, a replacement its inode.
type fileID struct {
	device, inode       uint64
	size, mtime, change int64 // times in Unix nanoseconds
}

// fileStat is what is asked of a file.
type fileStat struct {
	id    fileID
	mode  uint32
	uid   uint32
	links uint64
}

// regular says whether it is a file with bytes of its own: no directory,
// device, fifo or socket.
func (st *fileStat) regular() bool { return st.mode&unix.S_IFMT == unix.S_IFREG }

// seconds returns the file's time as HTTP has it.
func (st *fileStat) seconds() int64 { return time.Unix(0, st.id.mtime).Unix() }

// young says whether the file was written to less than a second ago, so that
// whoever writes it may still be at it, and another write may leave the same
// times. Either of its times can tell; one that is more than a second ahead
// belongs to another clock and tells nothing.
func (st *fileStat) young(now time.Time) bool {
	return recent(st.id.mtime, now) || recent(st.id.change, now)
}

func recent(nanos int64, now time.Time) bool {
	age := now.UnixNano() - nanos
	return -int64(time.Second) < age && age < int64(time.Second)
}

// untouched says whether the bytes of an open file are those of an earlier
// look: nobody wrote to it. That its last name was taken away (it was removed,
// or another file renamed over it) changes its change time, not its bytes.
func (st *fileStat) untouched(now *fileStat) bool {
	same := st.id.size == now.id.size && st.id.mtime == now.id.mtime
	return same && (st.id.change == now.id.change || now.links == 0)
}

// fstat asks an open file.
func fstat(fd int) (fileStat, error) {
	var s unix.Stat_t
	for {
		err := unix.Fstat(fd, &s)
		if err == nil {
			return newFileStat(&s), nil
		}
		if err != unix.EINTR {
			return fileStat{}, err
		}
	}
}

func newFileStat(s *unix.Stat_t) fileStat {
	return fileStat{
		id: fileID{
			device: uint64(s.Dev),
			inode:  uint64(s.Ino),
			size:   int64(s.Size),
			mtime:  s.Mtim.Nano(),
			change: s.Ctim.Nano(),
		},
		mode:  uint32(s.Mode),
		uid:   s.Uid,
		links: uint64(s.Nlink),
	}
}
