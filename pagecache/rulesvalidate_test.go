package pagecache

import (
	"slices"
	"testing"
	"time"
)

// A page that each use has to validate is served stale where the answer says so
// itself, or the origin fails; a window that only the policy opens is none.
func TestDecideWindowsOfWhatIsValidated(t *testing.T) {
	site := Policy{StaleWhileRevalidate: 10 * time.Second, StaleIfError: 20 * time.Second}
	for _, c := range []struct {
		reply        string
		while, error uint32
		flags        FreshnessFlags
	}{
		{"Cache-Control: max-age=0\nETag: \"a\"", 0, 20, 0},
		{"Cache-Control: max-age=0, stale-if-error=5\nAge: 7\nETag: \"a\"", 0, 5, 0},
		{"Cache-Control: max-age=0, stale-while-revalidate=5\nETag: \"a\"", 5, 20, 0},
		{"Cache-Control: max-age=0, must-revalidate\nETag: \"a\"", 0, 0, MustRevalidate},
		{"Cache-Control: no-cache\nETag: \"a\"", 0, 0, NoCache},
		{"Cache-Control: s-maxage=0\nETag: \"a\"", 0, 0, SharedAge},
	} {
		d := Decide(replyOf(c.reply), Asked{}, &site)
		if !d.Keep || !d.NeverFresh() || d.StaleWhile() != c.while || d.StaleError != c.error || d.Flags() != c.flags {
			t.Errorf("%q: %+v", c.reply, d)
		}
	}
}

// Fields that private and no-cache name are left out of the page.
func TestDecideOmits(t *testing.T) {
	for reply, want := range map[string][]string{
		"Cache-Control: max-age=60": nil,
		`Cache-Control: max-age=60, private="X-User, set-cookie"` + "\nCache-Control: no-cache=x-time": {"X-User", "X-Time"},
		`Cache-Control: max-age=60, no-cache="a, A,, b"`:                                               {"A", "B"},
		"CDN-Cache-Control: max-age=60, private=\"a\"\nCache-Control: no-cache=b":                      {"A"},
	} {
		if d := Decide(replyOf(reply), Asked{}, &Policy{}); !d.Keep || !slices.Equal(d.Omit, want) {
			t.Errorf("%q: keep %v, omit %q, want %q", reply, d.Keep, d.Omit, want)
		}
	}
}
