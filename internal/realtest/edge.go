package realtest

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// EdgeServer is a running ssiedge: the real binary, as a user would start it.
type EdgeServer struct {
	*Process
	Addr   string // of the public listener, 127.0.0.1:port
	URL    string // http:// and Addr
	Admin  string // http:// and the address of the admin listener
	Config string // path of the configuration file
}

// EdgeOptions say how to start ssiedge.
type EdgeOptions struct {
	Listen []string // further public listeners
	Config string   // the configuration but for what listens where: top-level keys first, then tables
	Admin  string   // further keys of [admin]
	Env    []string // "NAME=value", beside the test's own environment
}

// Edge builds ssiedge (once for a test binary, with the race detector if the
// test has it) and starts "ssiedge serve -c FILE" on free ports. At the end of
// the test it gets SIGTERM, must exit with 0, and must not have panicked or
// raced.
func Edge(t testing.TB, o EdgeOptions) *EdgeServer {
	t.Helper()
	program := EdgeBinary(t)
	addrs := FreeAddrs(t, 2)
	s := &EdgeServer{Addr: addrs[0], Config: filepath.Join(t.TempDir(), "ssiedge.toml")}
	s.URL, s.Admin = "http://"+s.Addr, "http://"+addrs[1]
	s.WriteConfig(t, o)
	cmd := exec.Command(program, "serve", "-c", s.Config)
	// The race detector would have each process sleep for a second at its end.
	cmd.Env = slices.Concat([]string{"GORACE=atexit_sleep_ms=50"}, os.Environ(), o.Env)
	s.Process = Start(t, cmd)
	t.Cleanup(func() { s.finish(t) })
	s.listening(t, addrs...)
	return s
}

// WriteConfig writes the configuration anew, for a reload; what listens where
// stays.
func (s *EdgeServer) WriteConfig(t testing.TB, o EdgeOptions) {
	t.Helper()
	listen := strings.Join(append([]string{s.Addr}, o.Listen...), `", "`)
	text := fmt.Sprintf("listen = [\"%s\"]\n%s\n[admin]\nlisten = %q\n%s\n",
		listen, o.Config, strings.TrimPrefix(s.Admin, "http://"), o.Admin)
	if err := os.WriteFile(s.Config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// finish ends the edge as an operator would and looks at what it leaves: the
// exit code, unless the test has ended it in a way of its own, and stderr.
func (s *EdgeServer) finish(t testing.TB) {
	t.Helper()
	if !s.Ended() {
		s.Signal(syscall.SIGTERM)
		if code := s.Exit(t); code != 0 {
			t.Errorf("ssiedge ended on SIGTERM with exit code %d, want 0", code)
		}
	}
	for _, sign := range []string{"panic", "DATA RACE", "fatal error:", "BUG:"} {
		if s.Stderr.Contains(sign) {
			t.Errorf("stderr of ssiedge holds %q", sign)
		}
	}
	if t.Failed() {
		t.Logf("ssiedge said on stderr:\n%s", s.Stderr.tail(60))
	}
}

// edgeBuild is the binary that all tests of one test binary share: building it
// takes seconds. Main removes it.
var edgeBuild struct {
	once   sync.Once
	dir    string
	output []byte
	err    error
}

// EdgeBinary gives the path of the ssiedge binary, building it if need be.
func EdgeBinary(t testing.TB) string {
	t.Helper()
	root := Root(t)
	edgeBuild.once.Do(func() {
		if edgeBuild.dir, edgeBuild.err = os.MkdirTemp("", "ssiedge-test"); edgeBuild.err != nil {
			return
		}
		edgeBuild.output, edgeBuild.err = build(root, edgeBuild.dir)
	})
	if edgeBuild.err != nil {
		t.Fatalf("cmd/ssiedge cannot be built: %v\n%s", edgeBuild.err, edgeBuild.output)
	}
	return filepath.Join(edgeBuild.dir, "ssiedge")
}

// build builds cmd/ssiedge into dir.
func build(root, dir string) (output []byte, err error) {
	if err := lookAtSources(root); err != nil {
		return nil, err
	}
	args := []string{"build", "-buildvcs=false", "-o", dir}
	if Race {
		args = append(args, "-race")
	}
	cmd := exec.Command("go", append(args, "./cmd/ssiedge")...)
	cmd.Dir = root
	return cmd.CombinedOutput()
}

// lookAtSources opens every folder of the repository. The go command takes a
// test's kept result for good until something changes that the test itself has
// opened, and what its child opens, go build, is not among that.
func lookAtSources(root string) error {
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && path != root && strings.HasPrefix(entry.Name(), ".") {
			return fs.SkipDir
		}
		return err
	})
}

// removeEdge removes what EdgeBinary built.
func removeEdge() {
	if edgeBuild.dir != "" {
		_ = os.RemoveAll(edgeBuild.dir)
	}
}
