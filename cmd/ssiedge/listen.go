package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"time"
)

// listen opens a listener for "host:port" or "unix:/path". The error says what
// to do about an address that is taken.
func listen(addr string) (net.Listener, error) {
	path, ok := strings.CutPrefix(addr, "unix:")
	if ok {
		return listenUnix(path)
	}
	l, err := net.Listen("tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("listen %s: the address is in use: stop the other server or choose another port", addr)
	}
	return l, err
}

// openedAt gives the listener among those opened that has this address; it
// opens one where there is none.
func openedAt(addr string, opened []net.Listener) (net.Listener, error) {
	for _, l := range opened {
		if l.Addr().String() == addr {
			return l, nil
		}
	}
	return listen(addr)
}

// listenUnix listens on a socket. One that nobody listens on any more, left by
// a process that was killed, is replaced; a live one is not, nor what is no
// socket. Everybody on the machine may connect, as with a port.
func listenUnix(path string) (net.Listener, error) {
	l, err := net.Listen("unix", path)
	if errors.Is(err, syscall.EADDRINUSE) {
		if c, err := net.DialTimeout("unix", path, time.Second); err == nil {
			c.Close()
			return nil, fmt.Errorf("listen unix:%s: another server listens there", path)
		} else if !errors.Is(err, syscall.ECONNREFUSED) {
			return nil, fmt.Errorf("listen unix:%s: %w", path, err)
		}
		if err := removeSocket(path); err != nil {
			return nil, fmt.Errorf("listen unix:%s: %w", path, err)
		}
		l, err = net.Listen("unix", path)
	}
	if err != nil {
		return nil, err
	}
	return l, os.Chmod(path, 0o666)
}

// removeSocket removes a socket. Files refuse connections as dead sockets do,
// and may be dear to somebody.
func removeSocket(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if info.Mode().Type() != os.ModeSocket {
		return errors.New("something is there that is no socket: remove it or choose another path")
	}
	return os.Remove(path)
}
