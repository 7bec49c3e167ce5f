package pagecache

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

func TestServerAddresses(t *testing.T) {
	for s, want := range map[string]serverAddr{
		"127.0.0.1:11211": {"tcp", "127.0.0.1:11211"},
		"[::1]:11211":     {"tcp", "[::1]:11211"},
		"cache.local:1":   {"tcp", "cache.local:1"},
		"unix:/run/m":     {"unix", "/run/m"},
	} {
		got, err := parseServer(s)
		if err != nil || got != want || got.name() != s {
			t.Errorf("%q: %+v %v", s, got, err)
		}
	}
	for _, s := range []string{"", "127.0.0.1", ":11211", "host:", "host:0", "host:70000", "host:http", "unix:", "/run/m", "http://h:1", "::1:11211"} {
		if got, err := parseServer(s); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", s)) {
			t.Errorf("%q: %+v, error %v", s, got, err)
		}
	}
	if _, err := NewMemcache(MemcacheOptions{}); err == nil {
		t.Error("a client without servers")
	}
}

// A server that goes takes only its own keys with it.
func TestRingMovesFewKeys(t *testing.T) {
	all := []string{"10.0.0.1:11211", "10.0.0.2:11211", "10.0.0.3:11211", "unix:/run/m"}
	with, _ := newRing(all)
	without, _ := newRing(all[:3])
	count := make([]int, len(all))
	for i := range 10_000 {
		key := fmt.Sprintf("/page/%d", i)
		server := with.pick(key)
		count[server]++
		if server < 3 && without.pick(key) != server {
			t.Fatalf("%s moved from server %d", key, server)
		}
	}
	for i, n := range count {
		if n < 1500 || n > 3500 {
			t.Errorf("server %d has %d of 10000 keys", i, n)
		}
	}
}

// The ring is nginx's: a real one is asked for keys that hold, in each server,
// that server's name.
func TestRingIsThatOfNginx(t *testing.T) {
	realtest.Require(t, "nginx")
	servers := []*realtest.Server{realtest.Memcached(t), realtest.Memcached(t), realtest.MemcachedUnix(t)}
	var upstream string
	var addrs []string
	for _, s := range servers {
		upstream += "server " + s.Addr + ";"
		addrs = append(addrs, s.Addr)
	}
	const keys = 200
	for _, s := range servers {
		conn := dialMemcached(t, s.Addr)
		for i := range keys {
			storeOn(t, conn, fmt.Sprintf("/page/%d", i), 0, s.Addr)
		}
	}
	nginx := realtest.Nginx(t, `
daemon on;
pid @DIR@/pid;
events { worker_connections 64; }
http {
  access_log off;
  client_body_temp_path @DIR@; proxy_temp_path @DIR@; fastcgi_temp_path @DIR@; uwsgi_temp_path @DIR@; scgi_temp_path @DIR@;
  upstream ring { hash $uri consistent; `+upstream+` }
  server {
    listen 127.0.0.1:@PORT@;
    location / { set $memcached_key $uri; memcached_pass ring; }
  }
}`)
	r, err := newRing(addrs)
	if err != nil {
		t.Fatal(err)
	}
	used := make(map[string]int)
	for i := range keys {
		key := fmt.Sprintf("/page/%d", i)
		resp, err := http.Get("http://" + nginx.Addr + key)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if got := addrs[r.pick(key)]; got != string(body) {
			t.Errorf("%s: %s, nginx asks %s", key, got, body)
		}
		used[string(body)]++
	}
	http.DefaultClient.CloseIdleConnections()
	if len(used) != len(servers) {
		t.Errorf("nginx asked %v", used)
	}
}

func dialMemcached(t testing.TB, addr string) net.Conn {
	t.Helper()
	a, err := parseServer(addr)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial(a.Network(), a.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// storeOn sets a value, as an app would.
func storeOn(t testing.TB, conn net.Conn, key string, flags uint32, value string) {
	t.Helper()
	command(t, conn, "STORED\r\n", "set %s %d 0 %d\r\n%s\r\n", key, flags, len(value), value)
}

// command sends a command and wants its answer.
func command(t testing.TB, conn net.Conn, want, format string, args ...any) {
	t.Helper()
	if _, err := fmt.Fprintf(conn, format, args...); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(want))
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != want {
		t.Fatalf("memcached answered %q, %v", got, err)
	}
}
