package realtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// NginxServer is a running nginx.
type NginxServer struct {
	*Process
	Addr string // 127.0.0.1:port
	Dir  string // scratch folder: nginx.conf, error.log, access.log
}

// Nginx starts nginx in the foreground with a whole configuration. In it
// @PORT@ becomes a free port on 127.0.0.1, @DIR@ a scratch folder, "daemon on"
// is turned off, and under root the workers stay root, so that they may read
// the test's folders.
func Nginx(t testing.TB, config string) *NginxServer {
	t.Helper()
	Require(t, "nginx")
	s := &NginxServer{Addr: FreeAddr(t), Dir: t.TempDir()}
	port := s.Addr[strings.LastIndexByte(s.Addr, ':')+1:]
	config = strings.NewReplacer("@PORT@", port, "@DIR@", s.Dir, "daemon on;", "daemon off;").Replace(config)
	if os.Getuid() == 0 {
		config = "user root;\n" + config
	}
	file := filepath.Join(s.Dir, "nginx.conf")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Process = Start(t, exec.Command("nginx", "-c", file, "-e", filepath.Join(s.Dir, "error.log")))
	s.listening(t, s.Addr)
	return s
}
