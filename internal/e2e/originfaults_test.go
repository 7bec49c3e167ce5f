package e2e

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// originOfPages is a real server, in one process, whose page /p/N says "page N"
// and is good for a second.
const originOfPages = `
daemon on;
master_process off;
pid @DIR@/pid;
events { worker_connections 256; }
http {
  access_log off;
  client_body_temp_path @DIR@; proxy_temp_path @DIR@; fastcgi_temp_path @DIR@; uwsgi_temp_path @DIR@; scgi_temp_path @DIR@;
  server {
    listen 127.0.0.1:@PORT@;
    location ~ ^/p/([0-9]+)$ { add_header Cache-Control "max-age=1"; default_type text/html; return 200 "page $1"; }
  }
}`

// The origin fails in all ways that it has, under load that has it asked again
// and again: every page that was there once is served, stale where it must be,
// and when the origin is back they are renewed.
func TestOriginFaults(t *testing.T) {
	origin := realtest.Nginx(t, originOfPages)
	edge := realtest.Edge(t, realtest.EdgeOptions{Config: fmt.Sprintf(
		"[[site]]\n[site.origin]\nservers = [\"http://%s\"]\ntimeout = \"500ms\"\n[site.cache]\nstale_if_error = \"1h\"\n", origin.Addr)})
	process := origin.Process
	restart := func() {
		process.Signal(9)
		process.Stop()
		process = realtest.Start(t, exec.Command("nginx", "-c", filepath.Join(origin.Dir, "nginx.conf"), "-e", filepath.Join(origin.Dir, "error.log")))
	}
	renewed := func() {
		t.Helper()
		realtest.Eventually(t, "pages are renewed", func() bool {
			_, stored := member(t, send(t, edge.Addr, get("/p/0")))["stored"]
			return stored
		})
	}
	for page := range faultPages {
		realtest.Eventually(t, "the page is there", func() bool { // 500 ms may be short on a busy machine
			return send(t, edge.Addr, get(fmt.Sprintf("/p/%d", page))).body == fmt.Sprintf("page %d", page)
		})
	}
	for _, fault := range []struct {
		name       string
		harm, cure func()
	}{
		{"hung", func() { process.Hang(t) }, func() { process.Resume() }},
		{"killed", func() { process.Signal(9); process.Stop() }, restart},
		{"restarted", func() {}, restart},
	} {
		l := startLoad(t, edge.Addr)
		l.goesOn(t, "before the origin is "+fault.name)
		fault.harm()
		if fault.name != "restarted" {
			realtest.Eventually(t, "a page is stale", func() bool {
				return t.Failed() || strings.HasPrefix(member(t, send(t, edge.Addr, get("/p/1")))["ttl"], "-")
			})
		}
		l.goesOn(t, "while the origin is "+fault.name)
		fault.cure()
		l.goesOn(t, "after the origin was "+fault.name)
		renewed()
		l.end()
		if t.Failed() {
			t.Fatalf("that was while the origin was %s", fault.name)
		}
	}
}
