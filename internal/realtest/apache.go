package realtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// apacheModules is where Debian keeps them.
const apacheModules = "/usr/lib/apache2/modules"

// ApacheServer is a running Apache.
type ApacheServer struct {
	*Process
	Addr string // 127.0.0.1:port
	Dir  string // scratch folder: apache.conf, error.log
}

// Apache starts Apache in the foreground with a configuration but for what
// listens where, who runs it and where its logs are. In it @PORT@ becomes a
// free port on 127.0.0.1. modules are names such as "mod_include". Its
// children do not run as root: what they read has to be readable by all, which
// a folder of testing.TB.TempDir is not (see PublicDir).
func Apache(t testing.TB, modules []string, config string) *ApacheServer {
	t.Helper()
	program := Require(t, "apache2")
	s := &ApacheServer{Addr: FreeAddr(t), Dir: PublicDir(t)}
	var b strings.Builder
	line := func(words ...string) { b.WriteString(strings.Join(words, " ") + "\n") }
	line("ServerRoot", s.Dir)
	line("DefaultRuntimeDir", s.Dir)
	line("PidFile", filepath.Join(s.Dir, "apache.pid"))
	line("ErrorLog", filepath.Join(s.Dir, "error.log"))
	line("ServerName", s.Addr)
	line("Listen", s.Addr)
	for _, m := range modules {
		line("LoadModule", strings.TrimPrefix(m, "mod_")+"_module", filepath.Join(apacheModules, m+".so"))
	}
	if os.Getuid() == 0 {
		line("User nobody")
		line("Group nogroup")
	}
	port := s.Addr[strings.LastIndexByte(s.Addr, ':')+1:]
	b.WriteString(strings.ReplaceAll(config, "@PORT@", port))
	file := filepath.Join(s.Dir, "apache.conf")
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	s.Process = Start(t, exec.Command(program, "-f", file, "-DFOREGROUND"))
	s.listening(t, s.Addr)
	return s
}

// PublicDir gives a folder that every user of the machine may read; it is
// removed when the test ends.
func PublicDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ssiedge-test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("%v", err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}
