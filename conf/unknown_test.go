package conf

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	names := settingNames("site")
	for name, want := range map[string]string{
		"hots": "hosts", "host": "hosts", "HOSTS": "hosts", "rooot": "root", "rules": "rule", "trailingslash": "trailing_slash", "publish_for": "published_for",
		"x": "", "": "", "banana": "", "timeouts": "", "origins": "origin", "qurey": "query",
		strings.Repeat("hosts", 20): "",
	} {
		if got := nearest(name, names); got != want {
			t.Errorf("nearest to %q is %q, want %q", name, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"abc", "abd", 1}, {"listen", "lsiten", 1}, {"kitten", "sitting", 3},
	} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("from %q to %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
