package origin

import (
	"strings"
	"testing"
)

func TestParseServer(t *testing.T) {
	long := "/" + strings.Repeat("a", 106)
	for in, want := range map[string]string{
		"http://127.0.0.1:3000":  "tcp 127.0.0.1:3000",
		"HTTP://app:3000/":       "tcp app:3000",
		"http://app":             "tcp app:80",
		"http://[::1]":           "tcp [::1]:80",
		"http://[::1]:3000":      "tcp [::1]:3000",
		"[fe80::1%eth0]:80":      "tcp [fe80::1%eth0]:80",
		"localhost:3000":         "tcp localhost:3000",
		"my_app.internal:65535":  "tcp my_app.internal:65535",
		"10.0.0.7:080":           "tcp 10.0.0.7:80",
		"unix:/run/app.sock":     "unix /run/app.sock",
		"unix:///run/app.sock":   "unix /run/app.sock",
		"unix:/run//../app.sock": "unix /app.sock",
		"unix:" + long:           "unix " + long,
	} {
		a, err := ParseServer(in)
		if got := a.Network + " " + a.Addr; err != nil || got != want {
			t.Errorf("ParseServer(%q) = %s, %v; want %s", in, got, err, want)
		}
	}
	if a, _ := ParseServer("unix:///run/app.sock"); a.String() != "unix:/run/app.sock" {
		t.Errorf("socket is named %q", a)
	}
	if a, _ := ParseServer("http://app"); a.String() != "app:80" {
		t.Errorf("server is named %q", a)
	}
}

// Each error names the mistake and, where there is one, the cure.
func TestParseServerErrors(t *testing.T) {
	for in, want := range map[string]string{
		"":                                  `want "http://host:port", "host:port" or "unix:/path"`,
		"https://app:443":                   "https is not supported, want http://",
		"tcp://app:80":                      `scheme "tcp" is not supported`,
		"http://app:80/api":                 "path, query and fragment are not supported, want http://app:80",
		"http://app:80?x":                   "not supported, want http://app:80",
		"app:80/api":                        "port \"80/api\" is no number",
		"app/api":                           "path, query and fragment are not supported",
		"http://u:p@app:80":                 "user and password are not supported, want http://app:80",
		"app":                               "has no port, want app:80",
		"app:":                              `port "" is no number`,
		"app:http":                          `port "http" is no number`,
		"app:+80":                           `port "+80" is no number`,
		"app:0":                             "port 0 is out of range, want 1 to 65535",
		"app:65536":                         "port 65536 is out of range",
		"app:99999999999999999999":          "is out of range",
		":3000":                             "has no host, want 127.0.0.1:3000",
		"http://":                           "has no host",
		"::1":                               "want [::1]:80",
		"a:b:80":                            "an IPv6 address needs brackets",
		"app one:80":                        "holds a space",
		"app\x00:80":                        "control character",
		"app,other:80":                      "is no host name or address",
		"/run/app.sock":                     "want unix:/run/app.sock",
		"unix:run/app.sock":                 "is relative, want an absolute one",
		"unix:":                             "is relative",
		"unix:@abstract":                    "is relative",
		"unix://run/app.sock/":              `path ends in "/"`,
		"unix:/run/app.sock:":               `path ends in ":"`,
		"unix:/run/app.sock:/.":             `path ends in ":"`,
		"unix:/run/..":                      `path ends in "/"`,
		"unix:/" + strings.Repeat("a", 107): "is too long for a socket, want at most 107",
	} {
		if a, err := ParseServer(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseServer(%q) = %v, error %v; want %q in it", in, a, err, want)
		}
	}
}

func FuzzParseServer(f *testing.F) {
	for _, s := range []string{"http://a:1", "a:1", "unix:/s", "[::1]:1", "unix:///s", "http://u@[::1", "://", "a:"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := ParseServer(s)
		if err != nil {
			return
		}
		again, err := ParseServer(a.String())
		if err != nil || again != a {
			t.Fatalf("ParseServer(%q) = %+v, whose name gives %+v, %v", s, a, again, err)
		}
	})
}

func TestNewErrors(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{}, "no servers"},
		{Options{Servers: []string{"a:1"}, Timeout: -1}, "negative"},
		{Options{Servers: []string{"a:1"}, Idle: -1}, "negative"},
		{Options{Servers: []string{"a:1"}, MaxHead: -1}, "negative"},
		{Options{Servers: []string{"a"}}, "has no port"},
		{Options{Servers: []string{"a:1", "http://a:1"}}, "is there twice"},
	} {
		c.o.Name = "blog"
		if _, err := New(c.o); err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), `origin: pool "blog": `) {
			t.Errorf("New(%+v): error %v, want %q in it", c.o, err, c.want)
		}
	}
}
