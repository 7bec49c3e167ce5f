package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// logged are requests whose lines in the access log are compared with nginx's.
var logged = []request{
	get("/p.html"),
	get("/p.html?a=1&b=%20"),
	get("/p.html", "Referer: http://www.example.com/from?x=1", "User-Agent: Mozilla/5.0 (X11; \"quoted\" \\ back)"),
	get("/p.html", "User-Agent: caf\xc3\xa9\x09tab"),
	get("/p.html", "Range: bytes=0-1"),
	{method: http.MethodHead, target: "/p.html"},
	{target: "/p.html", proto: "HTTP/1.0"},
	get("//p.html"),
	get("/./p.html/"),
	get("/S\xc3\xa3o\"%22.html"),
}

// site is nginx with nothing but files, logging to access.log in @DIR@.
const filesOnly = `
daemon on;
pid @DIR@/pid;
events { worker_connections 64; }
http {
  access_log @DIR@/access.log;
  client_body_temp_path @DIR@/body;
  proxy_temp_path @DIR@/proxy;
  fastcgi_temp_path @DIR@/fastcgi;
  uwsgi_temp_path @DIR@/uwsgi;
  scgi_temp_path @DIR@/scgi;
  include /etc/nginx/mime.types;
  server {
    listen 127.0.0.1:@PORT@;
    root %s;
    rewrite ^(.+)/$ $1;
  }
}
`

func TestAccessLogCombined(t *testing.T) {
	s := setup{files: map[string]string{"p.html": "page", "São\"\".html": "odd"}}
	edge := s.start(t)
	nginx := realtest.Nginx(t, fmt.Sprintf(filesOnly, s.root))
	for _, r := range logged {
		theirs, ours := send(t, nginx.Addr, r), send(t, edge.Addr, r)
		if theirs.status >= 300 || ours.status != theirs.status {
			t.Fatalf("%s gives %d, nginx %d", r, ours.status, theirs.status)
		}
	}
	want := lines(t, "nginx's log", func() string {
		text, _ := os.ReadFile(filepath.Join(nginx.Dir, "access.log"))
		return string(text)
	})
	got := lines(t, "ssiedge's log", edge.Stdout.String)
	times := regexp.MustCompile(`\[\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\]`)
	for i := range want {
		if !times.MatchString(got[i]) {
			t.Errorf("no time as nginx has it in %q", got[i])
		}
		if g, w := times.ReplaceAllString(got[i], "[]"), times.ReplaceAllString(want[i], "[]"); g != w {
			t.Errorf("ssiedge logs %s\nnginx logs   %s", g, w)
		}
	}
}

// lines waits until a log has a line for each of the logged requests.
func lines(t *testing.T, what string, read func() string) []string {
	t.Helper()
	realtest.Eventually(t, "all lines are in "+what, func() bool { return strings.Count(read(), "\n") >= len(logged) })
	all := strings.Split(strings.TrimSuffix(read(), "\n"), "\n")
	if len(all) != len(logged) {
		t.Fatalf("%s has %d lines for %d requests:\n%s", what, len(all), len(logged), read())
	}
	return all
}

func TestAccessLogJSON(t *testing.T) {
	path := filepath.Join(t.TempDir(), "access.log")
	s := setup{
		app:   newApp(map[string]string{"/f": "fragment"}),
		files: map[string]string{"p.html": `page <!--#include virtual="/f" -->`},
		top:   fmt.Sprintf("[log]\naccess = %q\nformat = \"json\"", path),
	}
	edge := s.start(t)
	send(t, edge.Addr, get("/p?utm_source=x", "User-Agent: a \"b\" \\ caf\xe9", "Referer: http://r/", "X-Request-Id: id-1"))
	send(t, edge.Addr, form("/nothing", "a=1"))
	entries := jsonLines(t, path, 2)
	for i, want := range []map[string]any{
		{"method": "GET", "target": "/p?utm_source=x", "status": 200.0, "bytes": 13.0, "host": host, "client": "127.0.0.1", "protocol": "HTTP/1.1", "referer": "http://r/", "user_agent": "a \"b\" \\ caf\ufffd", "request_id": "id-1"},
		{"method": "POST", "target": "/nothing", "status": 404.0},
	} {
		for key, value := range want {
			if entries[i][key] != value {
				t.Errorf("line %d: %s is %v, want %v", i+1, key, entries[i][key], value)
			}
		}
	}
	if cache, _ := entries[0]["cache"].(string); !strings.Contains(cache, "hit") {
		t.Errorf("cache is %q, want a hit", cache)
	}
	if edge.Stdout.Contains("/nothing") {
		t.Error("lines go to stdout too")
	}
}

// jsonLines waits for so many lines and decodes them.
func jsonLines(t *testing.T, path string, count int) []map[string]any {
	t.Helper()
	var text string
	realtest.Eventually(t, fmt.Sprintf("%d lines in %s", count, filepath.Base(path)), func() bool {
		b, _ := os.ReadFile(path)
		text = string(b)
		return strings.Count(text, "\n") >= count
	})
	var entries []map[string]any
	for line := range strings.Lines(text) {
		var entry map[string]any
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		entries = append(entries, entry)
	}
	return entries
}

// After logrotate has renamed the file, SIGHUP makes a new one; no line is lost.
func TestAccessLogReopens(t *testing.T) {
	dir := t.TempDir()
	path, rotated := filepath.Join(dir, "access.log"), filepath.Join(dir, "access.log.1")
	s := setup{app: newApp(nil), top: fmt.Sprintf("[log]\naccess = %q\nformat = \"json\"", path)}
	edge := s.start(t)
	send(t, edge.Addr, get("/before"))
	jsonLines(t, path, 1)
	if err := os.Rename(path, rotated); err != nil {
		t.Fatal(err)
	}
	edge.Signal(syscall.SIGHUP)
	realtest.Eventually(t, "there is a file again", func() bool {
		_, err := os.Stat(path)
		return err == nil
	})
	send(t, edge.Addr, get("/after"))
	after := jsonLines(t, path, 1)
	targets := []any{jsonLines(t, rotated, 1)[0]["target"], after[len(after)-1]["target"]}
	if !slices.Equal(targets, []any{"/before", "/after"}) {
		t.Errorf("the two files hold %v, want /before and /after", targets)
	}
}

// What was logged last is written before the process ends.
func TestAccessLogFlushedAtEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "access.log")
	s := setup{app: newApp(nil), top: fmt.Sprintf("[log]\naccess = %q", path)}
	edge := s.start(t)
	const requests = 200
	w := wire{addr: edge.Addr}
	defer w.close()
	for range requests {
		if _, err := w.exchange(get("/last")); err != nil {
			t.Fatal(err)
		}
	}
	edge.Signal(syscall.SIGTERM)
	if code := edge.Exit(t); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "\n"); n != requests {
		t.Errorf("the log has %d lines for %d requests", n, requests)
	}
}
