package edge

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/ssiedge/ssiedge/internal/accesslog"
	"github.com/ssiedge/ssiedge/internal/realtest"
)

// TestAccessLog has a line for every kind of answer.
func TestAccessLog(t *testing.T) {
	var out bytes.Buffer
	access, err := accesslog.Open(accesslog.Options{Out: &out, Format: accesslog.JSON})
	if err != nil {
		t.Fatal(err)
	}
	app := newRecorder(t, func(head, _ string) string {
		return strings.Replace(echoApp(head, ""), "Content-Type", "Cache-Status: inner; hit\r\nContent-Type", 1)
	})
	logged := func(o *Options) { o.Access, o.Limits.Body = access, 100 }
	e := newEdge(t, withOrigin(app.url), withFiles(t, map[string]string{"p.html": "page"}), logged, withTrust("127.0.0.0/8"))
	requests := []struct {
		raw  string
		want map[string]any
	}{
		{request11("GET", "/p/?utm_source=x", "X-Forwarded-For: 192.0.2.7", "User-Agent: test/1", "Referer: http://x/", "X-Request-Id: abc"),
			map[string]any{"client": "192.0.2.7", "method": "GET", "target": "/p/?utm_source=x", "status": 200.0, "bytes": 4.0, "host": testHost,
				"user_agent": "test/1", "referer": "http://x/", "request_id": "abc", "cache": "ssiedge; hit; detail=file"}},
		{request11("HEAD", "/p"), map[string]any{"client": "127.0.0.1", "method": "HEAD", "status": 200.0, "bytes": 0.0}},
		{request11("GET", "/app"), map[string]any{"status": 200.0, "cache": "ssiedge; fwd=uri-miss"}},
		{"GET /x#y HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.7\r\n\r\n", map[string]any{"client": "127.0.0.1", "status": 400.0}},
		{"nonsense\r\n\r\n", map[string]any{"client": "127.0.0.1", "status": 400.0, "method": "", "target": "", "protocol": ""}},
		{request11("POST", "/up", "Expect: 100-continue", "Content-Length: 101", "X-Forwarded-For: 192.0.2.7"),
			map[string]any{"client": "192.0.2.7", "method": "POST", "target": "/up", "status": 413.0, "bytes": 57.0}},
	}
	before := time.Now()
	for _, request := range requests {
		e.send(request.raw).Body.Close()
	}
	realtest.Eventually(t, "all requests have ended", func() bool { return e.open() == 0 })
	if err := access.Close(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != len(requests) {
		t.Fatalf("%d lines, want %d:\n%s", len(lines), len(requests), out.String())
	}
	for i, line := range lines {
		var got map[string]any
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		for name, want := range requests[i].want {
			if got[name] != want {
				t.Errorf("%s of %.30q is %v, want %v", name, requests[i].raw, got[name], want)
			}
		}
		at, err := time.Parse(time.RFC3339, got["time"].(string))
		if err != nil || at.Before(before.Truncate(time.Second)) {
			t.Errorf("time %v (%v)", got["time"], err)
		}
	}
}
