package edge

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// FuzzRequest sends arbitrary bytes: the edge answers what it can, and never
// with a 5xx of its own making other than for the version of HTTP.
func FuzzRequest(f *testing.F) {
	for _, seed := range []string{
		"GET /p HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET /s?a=%00 HTTP/1.1\r\nHost: a\r\nCookie: a=1; b=\"2\r\n\r\n",
		"HEAD /s/ HTTP/1.0\r\n\r\n",
		"GET /a//b/../%2e%2e/%5c HTTP/1.1\r\nHost: [::1]:80\r\nX-Forwarded-For: ,\", x\r\nForwarded: for=\"\r\n\r\n",
		"GET /p HTTP/1.1\r\nHost: a\r\nRange: bytes=0-1,5-,-9\r\nIf-None-Match: \"x\", W/\r\nIf-Range: x\r\nAccept-Encoding: gzip;q=, *\r\n\r\n",
		"POST /p HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
		"POST /app HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\nabcGET /app HTTP/1.1\r\nHost: a\r\n\r\n",
		"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\nCONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n",
		"GET http://a/app HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, x\r\nUpgrade: websocket\r\n\r\n",
		"GET /app HTTP/1.2\r\nHost: a\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	app := newApp(f, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, `<!--#echo var="request_uri" --><!--#include virtual="/p" -->`)
	})
	e := newEdge(f, withOrigin(app), withFiles(f, map[string]string{"p.html": "page", "s.html": `<!--#echo var="http_cookie" --><!--#include virtual="/p" -->`}),
		func(o *Options) { o.Limits.HeaderTimeout, o.Limits.IdleTimeout = time.Second, time.Second })
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := net.Dial("tcp", e.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		c.SetDeadline(time.Now().Add(patience))
		go func() { // the edge may close before it has read all
			c.Write(raw)
			c.(*net.TCPConn).CloseWrite()
		}()
		got, _ := io.ReadAll(c)
		if !bytes.HasPrefix(got, []byte("HTTP/1.1 5")) || bytes.HasPrefix(got, []byte("HTTP/1.1 505")) {
			return
		}
		t.Errorf("%q is answered %.200q; the log: %s", raw, got, e.log)
	})
}

func FuzzCacheControl(f *testing.F) {
	for _, seed := range []string{"", "private", "max-age=60, public", `private="Set-Cookie, x", s-maxage="5"`, `a="b\"c",no-store`, "max-age=99999999999999999999", ",,=,\"", "no-cache=\"", "MAX-AGE = 5"} {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		a := parseCacheControl([][]byte{[]byte(first)})
		both := parseCacheControl([][]byte{[]byte(first), []byte(second)})
		if both.limits&a.limits != a.limits || a.stated && (!both.stated || both.lifetime > a.lifetime) || a.shared && !both.shared {
			t.Errorf("%q gives %+v, and with %q after it %+v: a line takes nothing back", first, a, second, both)
		}
		if both.lifetime < 0 || both.lifetime > 1<<31 {
			t.Errorf("%q, %q: lifetime %d", first, second, both.lifetime)
		}
	})
}

func TestParseCacheControl(t *testing.T) {
	tests := []struct {
		lines []string
		want  cacheControl
	}{
		{nil, cacheControl{}},
		{[]string{"max-age=60"}, cacheControl{lifetime: 60, stated: true}},
		{[]string{" Max-Age=\"60\" , PUBLIC"}, cacheControl{lifetime: 60, stated: true, shared: true}},
		{[]string{"max-age=60", "s-maxage=5"}, cacheControl{lifetime: 5, stated: true, shared: true}},
		{[]string{"max-age=x"}, cacheControl{stated: true}},
		{[]string{"max-age=-1"}, cacheControl{stated: true}},
		{[]string{"max-age"}, cacheControl{stated: true}},
		{[]string{"max-age="}, cacheControl{stated: true}},
		{[]string{"max-age=1.5"}, cacheControl{stated: true}},
		{[]string{"max-age=99999999999999999999"}, cacheControl{lifetime: 1 << 31, stated: true}},
		{[]string{`private="Set-Cookie, max-age=5"`}, cacheControl{limits: private}},
		{[]string{`no-cache="x\", private"`}, cacheControl{limits: noCache}},
		{[]string{"no-store,must-revalidate,proxy-revalidate,no-transform"}, cacheControl{limits: noStore | mustRevalidate | proxyRevalidate | noTransform}},
		{[]string{"private-ish, xmax-age=5, immutable, stale-if-error=5"}, cacheControl{}},
	}
	for _, test := range tests {
		var lines [][]byte
		for _, l := range test.lines {
			lines = append(lines, []byte(l))
		}
		if got := parseCacheControl(lines); got != test.want {
			t.Errorf("%q: %+v, want %+v", test.lines, got, test.want)
		}
	}
}

func FuzzAccepts(f *testing.F) {
	for _, seed := range []string{"", "gzip", "br;q=0, *", "*;q=0.000", "gzip;q=0.1;x", ";q", "gzip ; Q = 0", ",,"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		for _, coding := range codings {
			got := accepts([][]byte{[]byte(line)}, coding)
			if got && !strings.Contains(line, "*") && !strings.Contains(strings.ToLower(line), coding) {
				t.Errorf("%q does not name %s", line, coding)
			}
			if !got && strings.EqualFold(line, coding) {
				t.Errorf("%q is not taken for %s", line, coding)
			}
		}
	})
}

func TestAccepts(t *testing.T) {
	tests := []struct {
		lines  []string
		coding string
		want   bool
	}{
		{nil, "gzip", false},
		{[]string{""}, "gzip", false},
		{[]string{"gzip"}, "gzip", true},
		{[]string{"deflate", " GZIP;q=0.5"}, "gzip", true},
		{[]string{"x-gzip"}, "gzip", true},
		{[]string{"gzip;q=0"}, "gzip", false},
		{[]string{"gzip ; q=0.000"}, "gzip", false},
		{[]string{"gzip;q=0.001"}, "gzip", true},
		{[]string{"gzip;q=1.0"}, "gzip", true},
		{[]string{"*"}, "br", true},
		{[]string{"*;q=0"}, "br", false},
		{[]string{"br;q=0, *"}, "br", false},
		{[]string{"*;q=0, br"}, "br", true},
		{[]string{"*, br;q=0"}, "br", false},
		{[]string{"brotli"}, "br", false},
		{[]string{"identity"}, "br", false},
	}
	for _, test := range tests {
		var lines [][]byte
		for _, l := range test.lines {
			lines = append(lines, []byte(l))
		}
		if got := accepts(lines, test.coding); got != test.want {
			t.Errorf("%q accepts %s: %v, want %v", test.lines, test.coding, got, test.want)
		}
	}
}
