package warm

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseCacheStatus(t *testing.T) {
	f := func(want cacheStatus, lines ...string) {
		t.Helper()
		if got, found := parseCacheStatus(lines); got != want || !found {
			t.Errorf("%q: %+v, %v, want %+v", lines, got, found, want)
		}
	}
	f(cacheStatus{}, "ssiedge")
	f(cacheStatus{hit: true, detail: "memory"}, "ssiedge; hit; ttl=3580; detail=memory")
	f(cacheStatus{fwd: "uri-miss", stored: true}, "ssiedge; fwd=uri-miss; stored")
	f(cacheStatus{fwd: "uri-miss", detail: "set-cookie"}, "ssiedge;fwd=uri-miss;detail=set-cookie")
	f(cacheStatus{fwd: "miss", collapsed: true}, `"ssiedge"; fwd=miss; collapsed`)                // a name may be a string
	f(cacheStatus{hit: true, detail: `a "b" \, c; d`}, `ssiedge; hit; detail="a \"b\" \\, c; d"`) // and what a string holds parts nothing
	f(cacheStatus{}, "ssiedge; hit=?0; stored=?0; collapsed=?0")
	f(cacheStatus{hit: true}, "ssiedge; hit=?1")
	f(cacheStatus{}, "ssiedge; hit=1; stored=yes") // no Booleans, so nothing is said
	f(cacheStatus{detail: "b"}, "ssiedge; detail=a; detail=b")

	// The last member is nearest to us; others are not ours, in whatever lines.
	f(cacheStatus{hit: true}, "ssiedge; fwd=miss; stored, Origin; hit, ssiedge; hit")
	f(cacheStatus{fwd: "miss"}, "ssiedge; fwd=miss, CDN; hit")
	f(cacheStatus{hit: true}, "ssiedge; fwd=miss", "CDN; fwd=miss", "ssiedge; hit")
	f(cacheStatus{hit: true}, `"a, ssiedge; stored", ssiedge; hit`)
	f(cacheStatus{hit: true}, "ssiedge; hit", "((broken", "")

	// Parameters of every type are passed over.
	f(cacheStatus{hit: true}, `ssiedge; ttl=-5; a=1.125; b=:aGk=:; c=@-1659578233; d=%"f%c3%bc"; *e.f_-1="x"; key=*t/o:k; hit`)
	f(cacheStatus{hit: true}, "  x \t, \tssiedge;   hit  ")
}

func TestParseCacheStatusNone(t *testing.T) {
	for _, line := range []string{
		"", " ", "CDN; hit", "ssiedge2; hit", "Ssiedge; hit", `"ssiedg"`,
		"1, 2.5, ?1, :c3NpZWRnZQ==:, @1, %\"ssiedge\"",
		// Not well-formed: the whole line is ignored (RFC 9651 section 4.2).
		"ssiedge; hit,", ",ssiedge", "ssiedge;; hit", "ssiedge; Hit", "ssiedge; hit=", "ssiedge hit", "ssiedge; hit; a=\"",
		`ssiedge; a="\x"`, `ssiedge; a="é"`, "ssiedge; a=?2", "ssiedge; a=?", "ssiedge; a=1.", "ssiedge; a=1.1234", "ssiedge; a=-",
		"ssiedge; a=1234567890123456", "ssiedge; a=1234567890123.1", "ssiedge; a=@1.5", "ssiedge; a=@", "ssiedge; a=:x", "ssiedge; a=:*:",
		`ssiedge; a=%x`, `ssiedge; a=%"%C3"`, `ssiedge; a=%"%a"`, `ssiedge; a=%"`, "ssiedge; a=(1 2)", "(ssiedge); hit", "\tssiedge", "ssiedge, é",
	} {
		if got, found := parseCacheStatus([]string{line}); found {
			t.Errorf("%q: %+v, want nothing", line, got)
		}
	}
}

// TestCacheStatusOfAnyShape builds well-formed fields and looks whether the last
// member of ssiedge comes out as it went in.
func TestCacheStatusOfAnyShape(t *testing.T) {
	value := rapid.SampledFrom([]string{"", "=1", "=-2.5", "=tok", `="s,;\"s"`, "=?0", "=:AA==:", "=@1", `=%"%e2%82%ac"`})
	name := rapid.SampledFrom([]string{"ssiedge", `"ssiedge"`, "CDN", `"ssiedge; hit"`, "42"})
	space := rapid.SampledFrom([]string{"", " ", "  "})
	rapid.Check(t, func(t *rapid.T) {
		var members []string
		var want cacheStatus
		wantFound := false
		for range rapid.IntRange(1, 5).Draw(t, "members") {
			m := name.Draw(t, "name")
			ours := strings.Trim(m, `"`) == "ssiedge"
			s := cacheStatus{}
			for range rapid.IntRange(0, 4).Draw(t, "parameters") {
				m += ";" + space.Draw(t, "space")
				switch rapid.IntRange(0, 3).Draw(t, "kind") {
				case 0:
					m, s.hit = m+"hit", true
				case 1:
					m, s.stored = m+"stored=?1", true
				case 2:
					m, s.detail = m+`detail="a, b"`, "a, b"
				default:
					m += "x" + value.Draw(t, "value")
				}
			}
			if ours {
				want, wantFound = s, true
			}
			members = append(members, m)
		}
		line := strings.Join(members, space.Draw(t, "before")+","+space.Draw(t, "after"))
		if got, found := parseCacheStatus([]string{line}); got != want || found != wantFound {
			t.Fatalf("%q: %+v, %v, want %+v, %v", line, got, found, want, wantFound)
		}
	})
}

// FuzzCacheStatus: no field makes the parser panic or hang, and nothing is found
// where the name is not.
func FuzzCacheStatus(f *testing.F) {
	for _, s := range []string{"ssiedge; hit; ttl=3", `"ssiedge";a="\\";b=%"%e2"`, "a;b=@1,ssiedge;c=:x:", "ssiedge;a=?1, 1.5"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, found := parseCacheStatus([]string{s})
		if found && !strings.Contains(s, "ssiedge") && !strings.Contains(s, `\`) {
			t.Errorf("%q: found", s)
		}
		if again, _ := parseCacheStatus([]string{"", " " + s + " ", ""}); again != got {
			t.Errorf("%q: %+v, with spaces around it %+v", s, got, again)
		}
	})
}
