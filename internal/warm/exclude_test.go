package warm

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, target string
		want            bool
	}{
		{"/a", "/a", true},
		{"/a", "/a?x=1", true}, // a path's pattern knows no query
		{"/a", "/ab", false},
		{"/a", "/x/a", false}, // whole, not anywhere
		{"/a*", "/ab/c?d", true},
		{"*.pdf", "/x.pdf?v=2", true},
		{"*.pdf", "/x.pdf.html", false},
		{"*?page=*", "/list?page=2", true},
		{"*?page=*", "/list?a&page=2", false},
		{"/a?x=1", "/a?x=1", true}, // a question mark is itself
		{"/a?x=1", "/abx=1", false},
		{"*", "/", true},
		{"/*a*a", "/a", false}, // the first star's part may not be used twice
		{"/*a*a", "/aa", true},
		{"", "/", false},
	} {
		if got := (patterns{"/none", c.pattern}).match(c.target); got != c.want {
			t.Errorf("%q matches %q: %v, want %v", c.pattern, c.target, got, c.want)
		}
	}
	if (patterns)(nil).match("/") {
		t.Error("no pattern matches")
	}
}

func TestGlobIsARegexp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringOfN(rapid.SampledFrom([]rune("ab*")), 0, 8, -1).Draw(t, "pattern")
		s := rapid.StringOfN(rapid.SampledFrom([]rune("ab")), 0, 8, -1).Draw(t, "s")
		want := regexp.MustCompile("^" + strings.ReplaceAll(pattern, "*", ".*") + "$").MatchString(s)
		if got := glob(pattern, s); got != want {
			t.Fatalf("glob(%q, %q) = %v, want %v", pattern, s, got, want)
		}
	})
}
