//go:build unix

package edge

import "golang.org/x/sys/unix"

// canPeek says that peek tells something.
const canPeek = true

// peek looks at what a connection has to read, without reading it. done is
// false while there is nothing; end says that the other side sends no more.
func peek(fd int) (end, done bool) {
	var b [1]byte
	for {
		n, _, err := unix.Recvfrom(fd, b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			return false, false
		default:
			return err != nil || n == 0, true
		}
	}
}
