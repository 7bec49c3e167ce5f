package realtest

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// dieWithParent has the kernel stop the process when the test binary is gone
// without its cleanups having run (a panic, a timeout).
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
}

// stopped says whether a signal has stopped the process, a child of ours, with
// all its threads. It asks without taking the news from whoever waits.
func stopped(pid int) bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, pid, &info, unix.WSTOPPED|unix.WNOHANG|unix.WNOWAIT, nil)
	return err == nil && info.Signo == int32(unix.SIGCHLD)
}
