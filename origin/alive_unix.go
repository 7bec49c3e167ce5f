//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package origin

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// probe looks whether a connection has something to read, without reading it.
// It polls: that says what recv with MSG_PEEK says, and allocates nothing.
type probe struct {
	raw  syscall.RawConn
	look func(fd uintptr) bool // made once a connection: a closure each time would allocate
	fds  [1]unix.PollFd
	n    int // descriptors that have something: bytes, an end or an error
	err  error
}

func (p *probe) init(c net.Conn) {
	p.raw = nil
	sc, ok := c.(syscall.Conn)
	if !ok {
		return
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return
	}
	p.raw = raw
	p.look = func(fd uintptr) bool {
		p.fds[0] = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
		for {
			if p.n, p.err = unix.Poll(p.fds[:], 0); p.err != unix.EINTR {
				return true // never wait until there is something
			}
		}
	}
}

// silent reports whether the connection is open and has nothing to read.
func (p *probe) silent() bool {
	return p.raw != nil && p.raw.Read(p.look) == nil && p.err == nil && p.n == 0
}
