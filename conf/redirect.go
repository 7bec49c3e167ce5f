package conf

import (
	"fmt"
	"net/url"
	"strings"
)

// redirect reads where a rule sends its visitors.
func (r *reader) redirect(s section) *string {
	to := s.text("redirect")
	if n := s.get("redirect"); n.kind == textKind {
		r.fault(n, checkRedirect(to))
	}
	return &to
}

// checkRedirect judges a target: an absolute URL or a path, perhaps with {uri}.
func checkRedirect(to string) *mistake {
	filled := strings.ReplaceAll(to, "{uri}", "/uri")
	switch {
	case strings.ContainsAny(filled, "{}"):
		return &mistake{fmt.Sprintf("%q holds a word that is not known", to), "the only one is {uri}: the path and the query"}
	case strings.ContainsFunc(filled, func(c rune) bool { return c <= ' ' || c > '~' || strings.ContainsRune(`"<>\^`+"`|", c) }):
		return &mistake{fmt.Sprintf("%q holds a character that no URL may", to), "escape it, such as %20 for a space"}
	case strings.HasPrefix(to, "{uri}") || strings.HasPrefix(to, "/{uri}"):
		// "/{uri}" is "//evil.example", another host, for the path "/evil.example".
		return &mistake{fmt.Sprintf("%q sends a page to itself, or to any host", to), `write "/new{uri}" or "https://www.example.com{uri}"`}
	case strings.Contains(to, "/{uri}") && !strings.Contains(to, "//{uri}"):
		return &mistake{fmt.Sprintf("%q has two slashes in a row: {uri} begins with one", to), fmt.Sprintf("write %q", strings.ReplaceAll(to, "/{uri}", "{uri}"))}
	case strings.HasPrefix(filled, "/") && !strings.HasPrefix(filled, "//"):
		return nil
	}
	u, err := url.Parse(filled)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return &mistake{fmt.Sprintf("%q is no absolute URL and no path", to), `begin it with "https://" or one slash`}
	}
	return nil
}
