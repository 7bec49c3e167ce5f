package conf

import "testing"

func TestConflicts(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{":80", ":80", true},
		{":80", ":81", false},
		{":80", "127.0.0.1:80", true},
		{":80", "[::1]:80", true},
		{":80", "example.com:80", true},
		{"0.0.0.0:80", "127.0.0.1:80", true},
		{"0.0.0.0:80", "[::1]:80", false},
		{"0.0.0.0:80", "[::]:80", true},
		{"0.0.0.0:80", "example.com:80", true},
		{"[::]:80", "127.0.0.1:80", true}, // Go listens on both families
		{"127.0.0.1:80", "127.0.0.2:80", false},
		{"127.0.0.1:80", "localhost:80", true},
		{"127.0.0.1:80", "[::ffff:127.0.0.1]:80", true},
		{"127.0.0.1:80", "example.com:80", false},
		{"example.com:80", "EXAMPLE.com:80", true},
		{"unix:/a", "unix:/a", true},
		{"unix:/a", "unix:/b", false},
		{"unix:/a", ":80", false},
	} {
		a, m1 := parseAddress(c.a)
		b, m2 := parseAddress(c.b)
		if m1 != nil || m2 != nil {
			t.Fatal(c, m1, m2)
		}
		if a.conflicts(b) != c.want || b.conflicts(a) != c.want {
			t.Errorf("%s and %s conflict: %v and %v, want %v", c.a, c.b, a.conflicts(b), b.conflicts(a), c.want)
		}
	}
}

func TestLoopback(t *testing.T) {
	for text, want := range map[string]bool{
		"127.0.0.1:1": true, "127.9.9.9:1": true, "localhost:1": true, "LOCALHOST:1": true, "[::1]:1": true, "[::ffff:127.0.0.1]:1": true, "unix:/a": true,
		":1": false, "0.0.0.0:1": false, "[::]:1": false, "10.0.0.1:1": false, "localhost.example.com:1": false, "example.com:1": false,
	} {
		a, m := parseAddress(text)
		if m != nil || a.loopback() != want {
			t.Errorf("%s is loopback: %v, %v; want %v", text, a.loopback(), m, want)
		}
	}
}
