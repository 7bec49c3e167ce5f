package pagecache

import (
	"fmt"
	"slices"
	"strings"
)

const (
	pathWord  = "{path}"
	maxTry    = 16
	indexName = "/index.html"

	maxPath    = 4096 // bytes of a path that may name a file
	maxSegment = 255  // bytes of one of its segments
)

// DefaultTry returns the patterns used where FilesOptions.Try is nil: those of
// Rails page caching, then static site generators, then the file itself.
func DefaultTry() []string { return []string{pathWord + ".html", pathWord + indexName, pathWord} }

// pattern is one of Try: what stands before and after the path, which begins
// with a slash itself.
type pattern struct{ before, after string }

func parsePattern(s string) (pattern, error) {
	before, after, found := strings.Cut(s, pathWord)
	if !found || strings.ContainsAny(before+after, "{}") {
		return pattern{}, fmt.Errorf("try: pattern %q must hold {path} once, and no other word: %q", s, "{path}.html")
	}
	before = strings.Trim(before, "/")
	if before != "" {
		before = "/" + before
	}
	if !validPath([]byte(before + "/x" + after)) {
		return pattern{}, fmt.Errorf("try: pattern %q must name a file below root, without dot names and double slashes: %q", s, "{path}.html")
	}
	return pattern{before, after}, nil
}

// exact says whether the pattern is the path itself.
func (p pattern) exact() bool { return p == pattern{} }

// try is the order in which the names of a path are looked for.
type try struct {
	plain  []pattern // of most paths
	suffix []pattern // of a path with a known suffix: itself first
	slash  []pattern // of a path that ends in a slash: what lies in that directory
	home   []pattern // of "/": the same, and always index.html
}

func newTry(patterns []string) (*try, error) {
	if patterns == nil {
		patterns = DefaultTry()
	}
	if len(patterns) > maxTry {
		return nil, fmt.Errorf("try: %d patterns, want at most %d", len(patterns), maxTry)
	}
	t := new(try)
	var others []pattern
	for _, s := range patterns {
		p, err := parsePattern(s)
		if err != nil {
			return nil, err
		}
		t.plain = append(t.plain, p)
		switch {
		case p.exact():
			t.suffix = append(t.suffix, p)
		default:
			others = append(others, p)
		}
		if strings.HasPrefix(p.after, "/") {
			t.slash = append(t.slash, p)
		}
	}
	t.suffix = append(t.suffix, others...)
	t.home = append(t.home, t.slash...)
	if index := (pattern{after: indexName}); !slices.Contains(t.home, index) {
		t.home = append(t.home, index)
	}
	return t, nil
}

// order returns the patterns of a path, first things first.
func (t *try) order(path []byte) []pattern {
	switch {
	case len(path) == 1:
		return t.home
	case path[len(path)-1] == '/':
		return t.slash
	}
	if _, known := knownSuffix(view(path)); known {
		return t.suffix
	}
	return t.plain
}

// appendName appends the name that the pattern gives for a path: with a
// leading slash, and with the NUL that the kernel wants at its end.
func (p pattern) appendName(dst, path []byte) []byte {
	if path[len(path)-1] == '/' {
		path = path[:len(path)-1] // after begins with one
	}
	dst = append(dst, p.before...)
	dst = append(dst, path...)
	dst = append(dst, p.after...)
	return append(dst, 0)
}

// validPath says whether a decoded path may name a file: from the root, no
// NUL, no empty segment but the last, none of dots only, dot names only under
// /.well-known/, nothing longer than a file system takes.
func validPath(path []byte) bool {
	if len(path) == 0 || path[0] != '/' || len(path) > maxPath {
		return false
	}
	const wellKnown = "/.well-known/"
	dots := len(path) >= len(wellKnown) && string(path[:len(wellKnown)]) == wellKnown
	start := 1
	for i := 1; i <= len(path); i++ {
		if i < len(path) && path[i] == 0 {
			return false
		}
		if i < len(path) && path[i] != '/' {
			continue
		}
		last := i == len(path)
		if !validSegment(path[start:i], dots, last) {
			return false
		}
		start = i + 1
	}
	return true
}

func validSegment(s []byte, dots, last bool) bool {
	switch {
	case len(s) == 0:
		return last
	case len(s) > maxSegment:
		return false
	case s[0] != '.':
		return true
	}
	return dots && string(s) != "." && string(s) != ".."
}
