package realtest

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Process is a program that a test started. It is stopped, by its pid, at the
// end of the test that started it, or before by Stop.
type Process struct {
	Pid    int
	Stdout *Output
	Stderr *Output

	name string
	done chan struct{} // closed when the process has ended
	err  error         // of Wait; valid when done is closed
}

// Start starts a program. Its output is gathered; the test need not wait for
// it: what is left at the end of the test gets SIGTERM, and SIGKILL if that
// does not help.
func Start(t testing.TB, cmd *exec.Cmd) *Process {
	t.Helper()
	p := &Process{Stdout: new(Output), Stderr: new(Output), name: cmd.Path, done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.Stdout, p.Stderr
	cmd.SysProcAttr = dieWithParent()
	// A grandchild that keeps the pipes open must not hold Wait for good.
	cmd.WaitDelay = patience
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.Pid = cmd.Process.Pid
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	t.Cleanup(func() {
		if err := p.end(); err != nil {
			t.Errorf("%v", err)
		}
	})
	return p
}

// Signal sends a signal; to a process that has ended it sends nothing.
func (p *Process) Signal(s syscall.Signal) {
	if !p.Ended() {
		_ = syscall.Kill(p.Pid, s)
	}
}

// Ended says whether the process has ended.
func (p *Process) Ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Exit waits for the end of the process and gives its exit code; -1 if a
// signal ended it. It fails the test when the process stays.
func (p *Process) Exit(t testing.TB) int {
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(patience):
		t.Fatalf("%s does not end\n%s", p.name, p.Stderr.tail(40))
	}
	if p.err == nil {
		return 0
	}
	exit, ok := p.err.(*exec.ExitError)
	if !ok {
		t.Fatalf("%s: %v", p.name, p.err)
	}
	return exit.ExitCode()
}

// Stop ends the process with SIGTERM and waits for it.
func (p *Process) Stop() { _ = p.end() }

// end ends the process: SIGTERM, then SIGKILL for one that does not listen,
// which is an error.
func (p *Process) end() error {
	p.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
		return nil
	case <-time.After(patience):
	}
	p.Signal(syscall.SIGKILL)
	<-p.done
	return fmt.Errorf("%s did not end on SIGTERM and was killed\n%s", p.name, p.Stderr.tail(40))
}

// listening waits until the process accepts connections at each address:
// "host:port", or the path of a unix socket.
func (p *Process) listening(t testing.TB, addrs ...string) {
	t.Helper()
	for _, addr := range addrs {
		Eventually(t, p.name+" listens on "+addr, func() bool {
			if p.Ended() {
				t.Fatalf("%s ended (%v) before it listened on %s\n%s\n%s", p.name, p.err, addr, p.Stdout.tail(40), p.Stderr.tail(40))
			}
			conn, err := Dial(addr)
			if err != nil {
				return false
			}
			conn.Close()
			return true
		})
	}
}

// MemoryOf gives the resident memory of a process in bytes.
func MemoryOf(t testing.TB, pid int) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		Absent(t, "no /proc here: "+err.Error())
	}
	for line := range strings.Lines(string(status)) {
		var kib int64
		if n, _ := fmt.Sscanf(line, "VmRSS: %d kB", &kib); n == 1 {
			return kib << 10
		}
	}
	t.Fatalf("no VmRSS in /proc/%d/status: has the process ended?", pid)
	return 0
}
