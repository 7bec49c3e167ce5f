package realtest

import (
	"syscall"
	"testing"
)

// Hang stops the process in its tracks (SIGSTOP), and returns when it has: a
// signal takes its time, and until then the process still answers. Resume ends
// that.
func (p *Process) Hang(t testing.TB) {
	t.Helper()
	p.Signal(syscall.SIGSTOP)
	Eventually(t, p.name+" stands still", func() bool {
		if p.Ended() {
			t.Fatalf("%s has ended: it cannot hang", p.name)
		}
		return stopped(p.Pid)
	})
}

// Resume lets a process that hangs go on.
func (p *Process) Resume() { p.Signal(syscall.SIGCONT) }
