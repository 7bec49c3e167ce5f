package conformance

import (
	"strings"
	"testing"
)

// Section 22: fields.

func TestHDR_1(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	for _, f := range []string{
		"Test-Header: a", "X-Spaces: a  b", "X-Quoted: \"a, b\"", "Content-Disposition: attachment; filename=\"a\"", "Content-Security-Policy: default-src 'self'",
		"Content-MD5: x", "Strict-Transport-Security: max-age=1", "X-High: \xe9\xff", "P3P: x", "Refresh: 1", "Retry-After: 5", "Server-Timing: a;dur=1",
		"WWW-Authenticate: Basic realm=\"x\"", "Access-Control-Allow-Origin: *", "Accept-Ranges: none", "X-Empty-List: ,,", "Pragma: no-cache",
	} {
		name, value := cut(f)
		target := w.target(ok("x", cc("max-age=60"), f))
		w.fetched(target).has(name, value)
		w.reused(target).has(name, value)
	}
}

func TestHDR_2(t *testing.T) {
	t.Parallel()
	w := given(t, ok("x", cc("max-age=60"), "Connection: X-Hop, x-other", "X-Hop: 1", "X-Other: 2", "X-End: 3"))
	for _, g := range []*got{w.fetched("/p", "Connection: X-Mine", "X-Mine: 1", "X-End: 2"), w.reused("/p")} {
		g.has("X-Hop", "").has("X-Other", "").has("X-End", "3")
		if c := g.header.Get("Connection"); strings.Contains(c, "X-") {
			t.Errorf("Connection is %q", c)
		}
	}
	w.asks("X-Mine:", "X-End: 2")
	if c := w.last().Header.Get("Connection"); strings.Contains(c, "X-Mine") {
		t.Errorf("the app got Connection: %q", c)
	}
}

func TestHDR_3(t *testing.T) {
	t.Parallel()
	w := given(t, ok("x", cc("max-age=60"), "Keep-Alive: timeout=5", "Proxy-Connection: close", "TE: trailers", "Upgrade: h2c"))
	for _, g := range []*got{w.fetched("/p", "Keep-Alive: timeout=5", "Proxy-Connection: keep-alive", "TE: trailers", "Upgrade: h2c", "Connection: Upgrade, TE"), w.reused("/p")} {
		g.has("Keep-Alive", "").has("Proxy-Connection", "").has("TE", "").has("Upgrade", "").has("Transfer-Encoding", "")
	}
	w.asks("Keep-Alive:", "Proxy-Connection:", "TE:", "Upgrade:")
	w.post("POST", "/q", "x", "TE: trailers", "Keep-Alive: 1")
	w.asks("Keep-Alive:", "TE:")
}

func TestHDR_4(t *testing.T) {
	t.Parallel()
	w := given(t, ok("x", cc("max-age=60"), "Proxy-Authenticate: Basic", "Proxy-Authentication-Info: x", "Proxy-Authorization: y"))
	w.fetched("/p", "Proxy-Authorization: Basic YTpi")
	w.asks("Proxy-Authorization:")
	w.reused("/p").has("Proxy-Authenticate", "").has("Proxy-Authentication-Info", "").has("Proxy-Authorization", "")
}

func TestHDR_6(t *testing.T) {
	t.Parallel()
	w := given(t, ok("body", cc("max-age=60"), "Content-Range: bytes 0-1/9", "Location: /x", "Retry-After: 1"))
	w.fetched("/p").is(200, "body")
	w.reused("/p").is(200, "body").has("Content-Range", "bytes 0-1/9").has("Location", "/x")
	w.reused("/p", rng("0-1")).is(206, "bo").has("Content-Range", "bytes 0-1/4")
}

func TestHDR_7(t *testing.T) {
	t.Parallel()
	w := given(t, ok("body", cc("max-age=60"), "Content-Encoding: x-own", "Content-Type: text/plain"))
	for range 2 {
		w.get("/p", "Accept-Encoding: gzip").is(200, "body").has("Content-Encoding", "x-own")
	}
}

func TestHDR_8(t *testing.T) {
	t.Parallel()
	w := given(t, ok("x", cc("max-age=60")))
	w.fetched("/p", "Via: 1.0 before")
	if via := w.last().Header.Get("Via"); !strings.HasSuffix(via, "1.1 ssiedge") {
		t.Errorf("the app got Via: %q", via)
	}
	w.do("OPTIONS", "/p", "Max-Forwards: 5").is(200, "x")
	w.asks("Max-Forwards: 4")
	before := len(w.requests())
	if g := w.do("OPTIONS", "/p", "Max-Forwards: 0"); g.status != 204 || len(w.requests()) != before {
		t.Errorf("Max-Forwards: 0: %d, and the app was asked %d times", g.status, len(w.requests())-before)
	}
	w.post("POST", "/q", "x", "Max-Forwards: 5")
	w.asks("Max-Forwards: 5") // it is of OPTIONS and TRACE alone
}

func TestHDR_10(t *testing.T) {
	t.Parallel()
	w := given(t, ok("x", cc("max-age=60")))
	for _, field := range []string{"X-A: a\x00b", "X-A: a\rb", "X A: b", "X-A : b", ": b", "X(A): b", "X-A: a\nX-B c"} {
		if g := w.do("GET", "/p", field); g.status != 400 {
			t.Errorf("%q: %d, want 400", field, g.status)
		}
	}
	if n := len(w.requests()); n != 0 {
		t.Errorf("the app was asked %d times", n)
	}
	for _, field := range []string{"X-A: a\x00b", "X-A: a\rb", "X A: b", ": b", "no colon"} {
		w.on("/bad", raw("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 1\r\n"+field+"\r\n\r\nx"))
		if g := w.get("/bad"); g.status != 502 {
			t.Errorf("an answer with %q: %d, want 502\n%s", field, g.status, g.head)
		}
	}
}
