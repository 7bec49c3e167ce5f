package realtest

import "syscall"

// dieWithParent has the kernel stop the process when the test binary is gone
// without its cleanups having run (a panic, a timeout).
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
}
