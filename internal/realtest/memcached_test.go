package realtest

import (
	"bufio"
	"net"
	"strings"
	"testing"
)

func TestMemcached(t *testing.T) {
	s := Memcached(t)
	first, pid := s.Addr, s.Pid
	if v := version(t, "tcp", s.Addr); !strings.HasPrefix(v, "VERSION ") {
		t.Fatalf("answered %q", v)
	}
	s.Restart(t)
	if s.Addr != first || s.Pid == pid {
		t.Fatalf("restarted at %s as %d, was at %s as %d", s.Addr, s.Pid, first, pid)
	}
	if v := version(t, "tcp", s.Addr); !strings.HasPrefix(v, "VERSION ") {
		t.Fatalf("answered %q after the restart", v)
	}
	s.Stop()
	s.Stop()
	if c, err := net.Dial("tcp", first); err == nil {
		c.Close()
		t.Fatal("still accepts after Stop")
	}
}

func TestMemcachedUnix(t *testing.T) {
	s := MemcachedUnix(t)
	path, ok := strings.CutPrefix(s.Addr, "unix:")
	if !ok {
		t.Fatalf("Addr is %q", s.Addr)
	}
	if v := version(t, "unix", path); !strings.HasPrefix(v, "VERSION ") {
		t.Fatalf("answered %q", v)
	}
}

func version(t *testing.T, network, addr string) string {
	t.Helper()
	c, err := net.Dial(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.Write([]byte("version\r\n"))
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return line
}
