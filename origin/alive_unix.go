//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package origin

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// probe looks whether a connection has something to read, without reading it.
type probe struct {
	raw  syscall.RawConn
	peek func(fd uintptr) bool // made once a connection: a closure each time would allocate
	buf  [1]byte
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
	p.peek = func(fd uintptr) bool {
		for {
			_, _, p.err = unix.Recvfrom(int(fd), p.buf[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
			if p.err != unix.EINTR {
				return true // never wait until there is something
			}
		}
	}
}

// silent reports whether the connection is open and has nothing to read: only
// EAGAIN says so. An end of the stream is no error, and bytes are none either.
func (p *probe) silent() bool {
	if p.raw == nil || p.raw.Read(p.peek) != nil {
		return false
	}
	return p.err == unix.EAGAIN
}
