package warm

import (
	"net/url"
	"strings"
	"testing"
)

func TestParseURL(t *testing.T) {
	f := func(s string, want target) {
		t.Helper()
		if got, err := parseURL(s); got != want || err != nil {
			t.Errorf("parseURL(%.80q) = %.80q, %v, want %.80q", s, got, err, want)
		}
	}
	f("http://a", target{"a", "/"})
	f("HTTPS://a.example:8443/", target{"a.example:8443", "/"})
	f("http://[::1]:80/x", target{"[::1]:80", "/x"})
	f("http://a?q=1", target{"a", "/?q=1"})                                                    // a path is always sent
	f("http://a#top", target{"a", "/"})                                                        // a fragment never
	f("http://a/x?#top?", target{"a", "/x?"})                                                  // an empty query is one
	f("http://a/%7e%2F%zz//../.%41?b=2&a=%20+", target{"a", "/%7e%2F%zz//../.%41?b=2&a=%20+"}) // byte for byte
	f("http://a/x?u=http://b/#c", target{"a", "/x?u=http://b/"})                               // a URL within
	f("http://a/São Paulo?q=\"é\"<>", target{"a", "/S%C3%A3o%20Paulo?q=%22%C3%A9%22%3C%3E"})
	f("http://a/|{}^`\\'", target{"a", "/|{}^`\\'"})
	f("http://a/x y \t#z", target{"a", "/x%20y"})
	f("http://a//x", target{"a", "//x"})
	f("http://bücher.example/", target{"bücher.example", "/"})
	f("http://a/"+strings.Repeat("x", maxURL-1), target{"a", "/" + strings.Repeat("x", maxURL-1)})
}

func TestParseURLErrors(t *testing.T) {
	f := func(s, want string) {
		t.Helper()
		if got, err := parseURL(s); err == nil || err.Error() != want {
			t.Errorf("parseURL(%.80q) = %.80q, %v, want the error %q", s, got, err, want)
		}
	}
	const absolute = "an absolute URL is wanted, like https://www.example.com/page"
	f("", absolute)
	f("/x", absolute)
	f("//a/x", absolute)
	f("a.example/x", absolute)
	f("/x?u=http://b/", absolute)
	f("x?http://b/", absolute)
	f("mailto:me@a.example", absolute)
	f("ftp://a/x", "an http or https URL is wanted")
	f("://a/x", "an http or https URL is wanted")
	f("file:///etc/passwd", "an http or https URL is wanted")
	f("http://", "a URL with a host is wanted")
	f("http:///x", "a URL with a host is wanted")
	f("http://:80/x", "a URL with a host is wanted")
	f("http://a b/x", "a URL with a host is wanted")
	f("http://a\nb/x", "a URL with a host is wanted")
	f("http://a:b/x", "a URL with a host is wanted")
	f("http://a%41/x", "a URL with a host is wanted")
	f("http://me:pw@a/x", "a URL without user and password is wanted")
	f("http://a/x\ny", "a URL without control characters is wanted")
	f("http://a/\x7f", "a URL without control characters is wanted")
	f("http://a/"+strings.Repeat("x", maxURL), "a URL of at most 16384 bytes is wanted")
	f("http://a/"+strings.Repeat("é", maxURL/6+1), "a URL of at most 16384 bytes is wanted")
}

// FuzzParseURL: what is accepted can be sent, and goes out as it was read.
func FuzzParseURL(f *testing.F) {
	for _, s := range []string{"http://a/x?y#z", "https://[::1]/%zz", "http://a//x", "http://ü/é", "//", "http://a?", "http://a:/"} {
		f.Add(s)
	}
	a := &asker{edge: &url.URL{Scheme: "http", Host: "edge"}}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := parseURL(s)
		if err != nil {
			return
		}
		if got.host == "" || !strings.Contains(s, got.host) {
			t.Errorf("host %q of %q", got.host, s)
		}
		if !strings.HasPrefix(got.path, "/") || strings.ContainsAny(got.path, " #\"<>\r\n\t\x00\x7f") || len(got.path) > maxURL {
			t.Errorf("path %q of %q", got.path, s)
		}
		sent := a.request(t.Context(), got).URL.RequestURI()
		if want := got.path; sent != want && sent != "http://"+got.host+want {
			t.Errorf("%q goes out as %q, want %q", s, sent, want)
		}
	})
}
