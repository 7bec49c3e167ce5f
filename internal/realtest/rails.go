package realtest

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// railsPackages are Debian's names of what the Rails app runs on.
var railsPackages = []string{"ruby-railties", "ruby-actionpack-page-caching", "ruby-dalli", "puma"}

// RailsServer is the real Rails app of the shared material, run by puma.
type RailsServer struct {
	*Process
	Addr  string // 127.0.0.1:port, or the path of a unix socket
	Dir   string // scratch folder: log, public
	Cache string // where caches_page writes
}

// Rails starts the Rails app on a free TCP port, or on a unix socket, with
// settings such as "ORIGIN_MEMCACHED=127.0.0.1:11211". Its pages are written to
// Cache unless a setting says otherwise.
func Rails(t testing.TB, unix bool, settings ...string) *RailsServer {
	t.Helper()
	addr := ""
	if !unix {
		addr = FreeAddr(t)
	}
	return RailsAt(t, addr, settings...)
}

// RailsAt is Rails at a given address: host:port, the path of a unix socket,
// or "" for a socket of its own.
func RailsAt(t testing.TB, addr string, settings ...string) *RailsServer {
	t.Helper()
	setup := Shared(t, "rails/setup.sh")
	for _, program := range []string{"bash", "puma", "dpkg"} {
		Require(t, program)
	}
	// Else the script would install them: not a test's business.
	if err := exec.Command("dpkg", append([]string{"-s"}, railsPackages...)...).Run(); err != nil {
		Absent(t, "the packages of the Rails app are not installed: make test-deps does it")
	}
	s := &RailsServer{Addr: addr, Dir: t.TempDir()}
	if s.Addr == "" {
		s.Addr = SocketPath(t)
	}
	s.Cache = filepath.Join(s.Dir, "cache")
	// In the foreground, as the child of the test, so that it cannot be left
	// behind; "start" is the same and lets go of it.
	args := append([]string{setup, "run", s.Addr, s.Dir, "ORIGIN_CACHE_DIR=" + s.Cache}, settings...)
	s.Process = Start(t, exec.Command("bash", args...))
	s.listening(t, s.Addr)
	Eventually(t, "the Rails app answers", s.up)
	return s
}

// up says whether the app answers; puma accepts connections before it can.
func (s *RailsServer) up() bool {
	client := Client(s.Addr)
	defer client.CloseIdleConnections()
	answer, err := client.Get("http://origin/admin/up")
	if err != nil {
		return false
	}
	answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

// SocketPath gives a path for a unix socket: short, as its length is limited,
// and that of t.TempDir grows with the test's name.
func SocketPath(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "socket")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "s")
}
