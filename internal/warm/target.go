package warm

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// maxURL bounds a URL. ssiedge takes heads of 16 KiB.
const maxURL = 16 << 10

// target is what goes to the edge for one URL.
type target struct {
	host string // of the Host field; empty: the edge's
	path string // with the query; begins with a slash
}

// parseURL reads an absolute URL. What follows the host is taken over byte for
// byte, but for the fragment, which nobody sends, and bytes that no URL may hold:
// those are escaped, as a browser does it, or the page kept would be one that no
// visitor asks for.
func parseURL(s string) (target, error) {
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok || strings.ContainsAny(scheme, "/?#") {
		return target{}, errors.New("an absolute URL is wanted, like https://www.example.com/page")
	}
	if !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") {
		return target{}, errors.New("an http or https URL is wanted")
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	if err := checkHost(rest[:end]); err != nil {
		return target{}, err
	}
	path, err := parsePath(rest[end:])
	return target{rest[:end], path}, err
}

// parsePath reads what follows the host of a URL: path, query, fragment, each of
// which may be missing.
func parsePath(s string) (string, error) {
	s, _, _ = strings.Cut(s, "#")
	s = strings.TrimRight(s, " \t") // "/page # what it is" in a list
	for i := range len(s) {
		if s[i] < ' ' || s[i] == 0x7f {
			return "", errors.New("a URL without control characters is wanted")
		}
	}
	if !strings.HasPrefix(s, "/") {
		s = "/" + s
	}
	if s = escape(s); len(s) > maxURL {
		return "", fmt.Errorf("a URL of at most %d bytes is wanted", maxURL)
	}
	return s, nil
}

// escape replaces the bytes that would end the request line, or that browsers
// send escaped in paths and queries alike (WHATWG URL, percent-encode sets).
func escape(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	kept := 0
	for i := range len(s) {
		c := s[i]
		if c < 0x80 && !strings.ContainsRune(" \"<>", rune(c)) {
			continue
		}
		b.WriteString(s[kept:i])
		b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		kept = i + 1
	}
	if kept == 0 {
		return s
	}
	b.WriteString(s[kept:])
	return b.String()
}

// checkHost judges the authority of a URL, or a Host.
func checkHost(s string) error {
	u, err := url.Parse("http://" + s)
	switch {
	case len(s) > 0 && err == nil && u.User != nil:
		return errors.New("a URL without user and password is wanted")
	case err != nil || u.Host != s || u.Hostname() == "" || strings.ContainsAny(s, " \"<>\\^`{|}"):
		return errors.New("a URL with a host is wanted")
	}
	return nil
}
