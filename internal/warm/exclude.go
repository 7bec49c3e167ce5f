package warm

import "strings"

// patterns are texts in which * stands for any run of characters.
type patterns []string

// match reports whether a pattern matches the whole path of target, or all of
// it: so /search and *.pdf need not know of queries, and *?page=* can.
func (p patterns) match(target string) bool {
	path, _, _ := strings.Cut(target, "?")
	for _, pattern := range p {
		if glob(pattern, path) || len(path) < len(target) && glob(pattern, target) {
			return true
		}
	}
	return false
}

// glob takes time in proportion to both lengths: the parts between the stars
// are found one after the other, each at its first place.
func glob(pattern, s string) bool {
	first, rest, star := strings.Cut(pattern, "*")
	if !strings.HasPrefix(s, first) {
		return false
	}
	s = s[len(first):]
	if !star {
		return s == ""
	}
	parts := strings.Split(rest, "*")
	last := parts[len(parts)-1]
	for _, part := range parts[:len(parts)-1] {
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s = s[i+len(part):]
	}
	return strings.HasSuffix(s, last)
}
