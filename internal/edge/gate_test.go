package edge

import (
	"bufio"
	"bytes"
	"testing"

	"github.com/valyala/fasthttp"
)

func TestGate(t *testing.T) {
	const host = "Host: example.com"
	tests := []struct {
		name string
		want int
		head []string
	}{
		{"plain", 0, []string{"GET /a?b=c HTTP/1.1", host}},
		{"HTTP/1.0", 0, []string{"GET / HTTP/1.0"}},
		{"HTTP/1.0 with Host", 0, []string{"GET / HTTP/1.0", host}},
		{"HTTP/1.2", 505, []string{"GET / HTTP/1.2", host}},
		{"HTTP/2.0", 505, []string{"GET / HTTP/2.0", host}},
		{"HTTP/0.9", 505, []string{"GET / HTTP/0.9", host}},
		{"two slashes are a path", 0, []string{"GET //evil.example/x HTTP/1.1", host}},
		{"high bytes", 0, []string{"GET /\xc3\xa9 HTTP/1.1", host, "X-A: \xff"}},
		{"own method", 0, []string{"get / HTTP/1.1", host}},
		{"underscore in a name", 0, []string{"GET / HTTP/1.1", host, "X_A: 1"}},

		// Fields.
		{"space in a name", 400, []string{"GET / HTTP/1.1", host, "Content-Length x: 5"}},
		{"folded line", 400, []string{"GET / HTTP/1.1", host, "X-A: b", " c: d"}},
		{"folded line, tab", 400, []string{"GET / HTTP/1.1", host, "X-A: b", "\tc"}},
		{"length", 0, []string{"POST / HTTP/1.1", host, "Content-Length: 5"}},
		{"chunked", 0, []string{"POST / HTTP/1.1", host, "Transfer-Encoding: chunked"}},
		{"Chunked", 0, []string{"POST / HTTP/1.1", host, "transfer-encoding:  Chunked "}},
		{"both", 400, []string{"POST / HTTP/1.1", host, "Content-Length: 5", "Transfer-Encoding: chunked"}},
		{"both, other order and case", 400, []string{"POST / HTTP/1.1", host, "TRANSFER-encoding: chunked", "CONTENT-length: 5"}},
		{"identity", 400, []string{"POST / HTTP/1.1", host, "Transfer-Encoding: identity"}},
		{"identity and length", 400, []string{"POST / HTTP/1.1", host, "Content-Length: 5", "Transfer-Encoding: identity"}},
		{"name in a value", 0, []string{"POST / HTTP/1.1", host, "X-A: Transfer-Encoding: chunked", "Content-Length: 5"}},

		// Host.
		{"Host with a port", 0, []string{"GET / HTTP/1.1", "Host: example.com:8080"}},
		{"Host, IPv6", 0, []string{"GET / HTTP/1.1", "Host: [::1]:8080"}},
		{"userinfo in Host", 400, []string{"GET / HTTP/1.1", "Host: u@example.com"}},
		{"odd Host", 400, []string{"GET / HTTP/1.1", "Host: <b>"}},
		{"empty labels in Host", 400, []string{"GET / HTTP/1.1", "Host: a..b"}},

		// Target.
		{"fragment", 400, []string{"GET /a#b HTTP/1.1", host}},
		{"fragment in the query", 400, []string{"GET /a?b#c HTTP/1.1", host}},
		{"absolute", 0, []string{"GET http://example.com/a HTTP/1.1", host}},
		{"absolute, as written", 0, []string{"GET HTTP://EXAMPLE.com:80/a HTTP/1.1", "Host: example.com."}},
		{"absolute, https", 0, []string{"GET https://example.com:443/a HTTP/1.1", host}},
		{"absolute without a path", 0, []string{"GET http://example.com HTTP/1.1", host}},
		{"absolute, only a query", 0, []string{"GET http://example.com?a HTTP/1.1", host}},
		{"absolute, IPv6", 0, []string{"GET http://[0:0::1]:81/ HTTP/1.1", "Host: [::1]:81"}},
		{"absolute, 1.0 without Host", 0, []string{"GET http://example.com/ HTTP/1.0"}},
		{"another host", 400, []string{"GET http://evil.example/a HTTP/1.1", host}},
		{"another port", 400, []string{"GET http://example.com:8080/a HTTP/1.1", host}},
		{"port of another scheme", 400, []string{"GET https://example.com:80/a HTTP/1.1", host}},
		{"userinfo", 400, []string{"GET http://u:p@example.com/a HTTP/1.1", host}},
		{"at sign in the path", 0, []string{"GET http://example.com/@a HTTP/1.1", host}},
		{"no authority", 400, []string{"GET http:///a HTTP/1.1", host}},
		{"absolute with a fragment", 400, []string{"GET http://example.com/a#b HTTP/1.1", host}},
		{"another scheme", 400, []string{"GET ftp://example.com/a HTTP/1.1", host}},
		{"scheme that begins like http", 400, []string{"GET httpx://example.com/a HTTP/1.1", host}},
		{"OPTIONS *", 0, []string{"OPTIONS * HTTP/1.1", host}},
		{"CONNECT", 0, []string{"CONNECT example.com:443 HTTP/1.1", "Host: example.com:443"}}, // 405 comes later
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			status, reason := gate(readHead(t, tt.head...))
			if status != tt.want || (reason == "") != (status == 0) {
				t.Errorf("%q: %d %q, want %d", tt.head, status, reason, tt.want)
			}
		})
	}
}

// A head made by hand, as HTTP/2 will make it, has no raw fields.
func TestGateHandMade(t *testing.T) {
	h := new(fasthttp.RequestHeader)
	h.SetRequestURI("/a")
	h.SetHost("example.com")
	if status, reason := gate(h); status != 0 {
		t.Errorf("%d %q, want it to pass", status, reason)
	}
}

func TestOriginForm(t *testing.T) {
	tests := []struct{ line, want string }{
		{"GET /a?b HTTP/1.1", "/a?b"},
		{"GET //a/../%2f HTTP/1.1", "//a/../%2f"},
		{"GET /http://example.com/b HTTP/1.1", "/http://example.com/b"},
		{"GET http://example.com/a?b HTTP/1.1", "/a?b"},
		{"GET HTTPS://example.com/a?b=/c HTTP/1.1", "/a?b=/c"},
		{"GET http://example.com HTTP/1.1", "/"},
		{"GET http://example.com?a/b HTTP/1.1", "/?a/b"},
		{"OPTIONS * HTTP/1.1", "*"},
	}
	for _, tt := range tests {
		if got := originForm(readHead(t, tt.line, "Host: example.com")); string(got) != tt.want {
			t.Errorf("%q: %q, want %q", tt.line, got, tt.want)
		}
	}
}

func TestRequestHost(t *testing.T) {
	tests := []struct{ line, host, scheme, want string }{
		{"GET / HTTP/1.1", "Example.com.:80", "http", "example.com"},
		{"GET / HTTP/1.1", "Example.com:80", "https", "example.com:80"},
		{"GET / HTTP/1.1", "[::1]:8080", "http", "[::1]:8080"},
		{"GET http://EXAMPLE.com:80/ HTTP/1.1", "example.com", "https", "example.com"},
		{"GET https://example.com:443/ HTTP/1.1", "example.com", "http", "example.com"},
		{"GET / HTTP/1.0", "", "http", ""},
		{"GET http://example.com/ HTTP/1.0", "", "http", "example.com"},
	}
	dst := []byte("left over")
	for _, tt := range tests {
		lines := []string{tt.line}
		if tt.host != "" {
			lines = append(lines, "Host: "+tt.host)
		}
		if dst = requestHost(readHead(t, lines...), tt.scheme, dst); string(dst) != tt.want {
			t.Errorf("%q, Host %q, %s: %q, want %q", tt.line, tt.host, tt.scheme, dst, tt.want)
		}
	}
}

var usualHead = []string{
	"GET /towns/kestrel-bay?page=2 HTTP/1.1", "Host: www.example.com", "User-Agent: Mozilla/5.0 (X11; Linux x86_64)",
	"Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "Accept-Language: en-US,en;q=0.5",
	"Accept-Encoding: gzip, deflate, br, zstd", "Cookie: _session=d2VsY29tZQ; theme=dark", "Connection: keep-alive",
}

func TestGateAllocatesNothing(t *testing.T) {
	h := readHead(t, usualHead...)
	dst := make([]byte, 0, 64)
	n := testing.AllocsPerRun(100, func() {
		if status, reason := gate(h); status != 0 {
			t.Fatal(status, reason)
		}
		originForm(h)
		dst = requestHost(h, "http", dst)
	})
	if n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func BenchmarkGate(b *testing.B) {
	h := readHead(b, usualHead...)
	b.ReportAllocs()
	for b.Loop() {
		gate(h)
	}
}

// What passes the gate has one meaning, whoever reads it.
func FuzzGate(f *testing.F) {
	for _, s := range []string{
		"GET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET http://a:80?b HTTP/1.1\r\nHost: A.\r\n\r\n", "OPTIONS * HTTP/1.1\nHost: a\n\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "GET / HTTP/1.0\r\nA: b\r\n c: d\r\n\r\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, wire []byte) {
		h := new(fasthttp.RequestHeader)
		if err := h.Read(bufio.NewReader(bytes.NewReader(wire))); err != nil {
			return
		}
		if status, _ := gate(h); status != 0 {
			return
		}
		path := originForm(h)
		if path[0] != '/' && string(path) != "*" && !h.IsConnect() {
			t.Errorf("%q passes with the target %q", wire, path)
		}
		host := requestHost(h, "http", nil)
		if _, ok := appendHost(nil, host, "http"); !ok && len(host) > 0 || len(host) == 0 && len(h.Host()) > 0 {
			t.Errorf("%q passes with the host %q", wire, host)
		}
		for name := range h.AllInOrder() {
			if bytes.ContainsAny(name, " \t") {
				t.Errorf("%q passes with a field %q", wire, name)
			}
		}
	})
}
