package realtest

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// Server is a running memcached. Stop ends it; the end of the test does too.
type Server struct {
	*Process
	Addr string // host:port, or unix:/path

	args []string // beside those that say where it listens
}

// Memcached starts a memcached on a free port. args are further options.
func Memcached(t testing.TB, args ...string) *Server {
	t.Helper()
	s := &Server{Addr: FreeAddr(t), args: args}
	s.listen(t)
	t.Cleanup(s.Stop)
	return s
}

// MemcachedUnix starts a memcached on a socket.
func MemcachedUnix(t testing.TB) *Server {
	t.Helper()
	// Not t.TempDir: the name of a long test would make the path longer than
	// that of a socket may be.
	dir, err := os.MkdirTemp("", "memcached")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "socket")
	s := &Server{Process: Start(t, memcachedCommand(t, "-s", path)), Addr: "unix:" + path}
	t.Cleanup(s.Stop)
	s.listening(t, path)
	return s
}

// Stop ends the process and waits for it. memcached looks at SIGTERM only once
// a second, and has nothing to save.
func (s *Server) Stop() {
	s.Signal(syscall.SIGKILL)
	s.Process.Stop()
}

// Restart stops the server and starts it again, empty, on the same port.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	s.Stop()
	s.listen(t)
}

// listen starts the process on its port.
func (s *Server) listen(t testing.TB) {
	t.Helper()
	host, port, err := net.SplitHostPort(s.Addr)
	if err != nil {
		t.Fatalf("only a server on a port can be started again: %v", err)
	}
	s.Process = Start(t, memcachedCommand(t, append([]string{"-l", host, "-p", port}, s.args...)...))
	s.listening(t, s.Addr)
}

func memcachedCommand(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	args = append(args, "-U", "0", "-m", "64")
	if os.Geteuid() == 0 {
		args = append(args, "-u", "root")
	}
	return exec.Command(Require(t, "memcached"), args...)
}
