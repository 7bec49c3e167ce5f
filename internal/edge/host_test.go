package edge

import (
	"bytes"
	"strings"
	"testing"
)

func TestAppendHost(t *testing.T) {
	tests := []struct{ host, scheme, want string }{
		{"example.com", "http", "example.com"},
		{"Example.COM", "http", "example.com"},
		{"example.com.", "http", "example.com"},
		{"example.com.:8080", "http", "example.com:8080"},
		{"my_host-1", "http", "my_host-1"},
		{"192.0.2.1", "http", "192.0.2.1"},
		// The port that the scheme implies goes, no other.
		{"example.com:80", "http", "example.com"},
		{"example.com:443", "https", "example.com"},
		{"example.com:443", "http", "example.com:443"},
		{"example.com:80", "https", "example.com:80"},
		{"example.com:8080", "http", "example.com:8080"},
		{"example.com:", "http", "example.com"},
		{"example.com:0080", "http", "example.com"},
		{"example.com:65535", "http", "example.com:65535"},
		{"[::1]", "http", "[::1]"},
		{"[::1]:80", "http", "[::1]"},
		{"[::1]:8080", "http", "[::1]:8080"},
		{"[2001:DB8:0:0:0:0:0:1]:443", "https", "[2001:db8::1]"},
		{"[::ffff:192.0.2.1]", "http", "[::ffff:192.0.2.1]"},
		{strings.Repeat("a", 255), "http", strings.Repeat("a", 255)},
	}
	for _, tt := range tests {
		got, ok := appendHost([]byte("x"), []byte(tt.host), tt.scheme)
		if !ok || string(got) != "x"+tt.want {
			t.Errorf("appendHost(%q, %s) = %q, %v, want %q", tt.host, tt.scheme, got[1:], ok, tt.want)
		}
	}
}

func TestAppendHostRefuses(t *testing.T) {
	for _, host := range []string{
		"", ".", "..", ".example.com", "example..com", "example.com..", ":80", ":", "a b", "a/b", "a?b", "a#b", "a@b", "user:pw@host",
		"a\x00", "a\r\nb", "a\tb", "caf\xc3\xa9", "a%62", "a,b", "<script>", "a\"", "a'", "host:port", "host:-1", "host:+1", "host:1_0",
		"host:65536", "host:99999999999999999999", "host:80:80", "::1", "[::1", "::1]", "[::1]x", "[::1]:x", "[]", "[192.0.2.1]",
		"[fe80::1%eth0]", "[fe80::1%25eth0]", "[::1]]", "a[::1]", strings.Repeat("a", 256), "host:8 0", " host", "host ",
	} {
		got, ok := appendHost([]byte("x"), []byte(host), "http")
		if ok || string(got) != "x" {
			t.Errorf("appendHost(%q) = %q, want it refused", host, got[1:])
		}
	}
}

func FuzzAppendHost(f *testing.F) {
	for _, s := range []string{"Example.com.:080", "[2001:DB8::1]:443", "a..b", "h:1:2", "[::1]x"} {
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, host string, tls bool) {
		scheme := "http"
		if tls {
			scheme = "https"
		}
		got, ok := appendHost(nil, []byte(host), scheme)
		if !ok {
			return
		}
		if again, ok := appendHost(nil, got, scheme); !ok || !bytes.Equal(again, got) {
			t.Fatalf("appendHost(%q) = %q, of which it makes %q, %v", host, got, again, ok)
		}
		if len(got) == 0 || bytes.ContainsAny(got, " \t\r\n/?#@\\\"<>ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
			t.Fatalf("appendHost(%q) = %q", host, got)
		}
	})
}
