package edge

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func parseCanonical(t *testing.T, target string, slash TrailingSlash, q QueryFilter) *canonical {
	t.Helper()
	var c canonical
	if err := c.parse([]byte(target), slash, &q); err != nil {
		t.Fatalf("parse(%q): %v", target, err)
	}
	return &c
}

func TestCanonicalPath(t *testing.T) {
	tests := []struct {
		target, raw, path string // path "": as raw
		encoded           bool
	}{
		{target: "/", raw: "/"},
		{target: "/a/b.html", raw: "/a/b.html"},
		{target: "/a:b@c;d=1,2!$&'()*+~_-.", raw: "/a:b@c;d=1,2!$&'()*+~_-."},

		// Unreserved characters are decoded.
		{target: "/%61%5a%30%2D%2e%5F%7e", raw: "/aZ0-._~"},
		// Hex is upper case, reserved characters stay escaped and differ.
		{target: "/a%3fb%3B%3d%26%2b%3a%40%5b", raw: "/a%3Fb%3B%3D%26%2B%3A%40%5B", path: "/a?b;=&+:@["},
		{target: "/a;b", raw: "/a;b"},
		{target: "/a%3Bb", raw: "/a%3Bb", path: "/a;b"},
		{target: "/a[1]", raw: "/a[1]"},
		{target: "/%25", raw: "/%25", path: "/%"},
		{target: "/%2561", raw: "/%2561", path: "/%61"}, // decoded once
		{target: "/%25%30%30", raw: "/%2500", path: "/%00"},

		// Bytes outside of the alphabet leave escaped.
		{target: "/São", raw: "/S%C3%A3o", path: "/São"},
		{target: "/S%c3%a3o", raw: "/S%C3%A3o", path: "/São"},
		{target: "/a b\"<>^`{|}", raw: "/a%20b%22%3C%3E%5E%60%7B%7C%7D", path: "/a b\"<>^`{|}"},
		{target: "/\x01\x7f\r\n", raw: "/%01%7F%0D%0A", path: "/\x01\x7f\r\n"},
		{target: "/\xff", raw: "/%FF", path: "/\xff"},

		// Dot segments and empty ones are resolved.
		{target: "//", raw: "/"},
		{target: "///a////b", raw: "/a/b"},
		{target: "//evil.example/x", raw: "/evil.example/x"},
		{target: "/.", raw: "/"},
		{target: "/./", raw: "/"},
		{target: "/./a", raw: "/a"},
		{target: "/a/./b/../c", raw: "/a/c"},
		{target: "/a/..", raw: "/"},
		{target: "/a/../", raw: "/"},
		{target: "/a/b/../../c", raw: "/c"},
		{target: "/a//../b", raw: "/b"}, // the empty segment is gone before
		{target: "/a/%2e/b", raw: "/a/b"},
		{target: "/a/%2e%2E/b", raw: "/b"},
		{target: "/a/.%2e/b", raw: "/b"},

		// These are no dot segments.
		{target: "/..;/a", raw: "/..;/a"},
		{target: "/a/..;x=1/b", raw: "/a/..;x=1/b"},
		{target: "/...", raw: "/..."},
		{target: "/.a/..b/c..", raw: "/.a/..b/c.."},
		{target: "/%252e%252e/a", raw: "/%252e%252e/a", path: "/%2e%2e/a"},

		// Encoded slashes and backslashes stay.
		{target: "/a%2fb", raw: "/a%2Fb", path: "/a/b", encoded: true},
		{target: "/a%2F", raw: "/a%2F", path: "/a/", encoded: true},
		{target: "/%2fa", raw: "/%2Fa", path: "//a", encoded: true},
		{target: "/a%5cb", raw: "/a%5Cb", path: `/a\b`, encoded: true},
		{target: `/a\b`, raw: "/a%5Cb", path: `/a\b`, encoded: true},
		{target: "/x/../a%2Fb", raw: "/a%2Fb", path: "/a/b", encoded: true},
		{target: "/a%2F.b", raw: "/a%2F.b", path: "/a/.b", encoded: true},
		{target: "/a..%2Fb", raw: "/a..%2Fb", path: "/a../b", encoded: true},
		{target: "/a%252Fb", raw: "/a%252Fb", path: "/a%2Fb"},
	}
	for _, tt := range tests {
		c := parseCanonical(t, tt.target, StripSlash, QueryFilter{})
		path := tt.path
		if path == "" {
			path = tt.raw
		}
		if string(c.raw) != tt.raw || string(c.path) != path || c.encoded != tt.encoded {
			t.Errorf("parse(%q): raw %q, path %q, encoded %v; want %q, %q, %v",
				tt.target, c.raw, c.path, c.encoded, tt.raw, path, tt.encoded)
		}
	}
}

func TestCanonicalRefuses(t *testing.T) {
	tests := []struct {
		target string
		want   *badTarget
	}{
		{"", errNoPath},
		{"*", errNoPath},
		{"a/b", errNoPath},
		{"?a=1", errNoPath},
		{"http://host/", errNoPath},
		{"/%00", errNUL},
		{"/a%00.html", errNUL},
		{"/\x00", errNUL},
		{"/a?b=%00", errNUL},
		{"/a?%%00", errNUL},
		{"/a?b=\x00", errNUL},
		{"/a#b", errFragment},
		{"/a?b#c", errFragment},
		{"/%", errEscape},
		{"/%2", errEscape},
		{"/a%zz", errEscape},
		{"/%%30%30", errEscape},
		{"/%0g", errEscape},
		{"/%u0041", errEscape},
		{"/a%2?b=c", errEscape},
		{"/..", errAboveRoot},
		{"/../a", errAboveRoot},
		{"/a/../../b", errAboveRoot},
		{"/./../a", errAboveRoot},
		{"//../a", errAboveRoot},
		{"/%2e%2e/a", errAboveRoot},
		{"/..%2fetc", errDotAndSlash},
		{"/a/..%2Fb", errDotAndSlash},
		{"/a/%2e%2e%2fb", errDotAndSlash},
		{"/a%2f..", errDotAndSlash},
		{"/a%2f../b", errDotAndSlash},
		{"/a%2F./b", errDotAndSlash},
		{"/a%2F..%2Fb", errDotAndSlash},
		{"/.%2Fa", errDotAndSlash},
		{"/..%5cetc", errDotAndSlash},
		{"/a%5C%2E%2E", errDotAndSlash},
		{`/..\etc`, errDotAndSlash},
		{`/a\..\b`, errDotAndSlash},
		{"/a%2Fb/../c", errDotAndSlash}, // /c, or /a/c?
		{`/a\b/..`, errDotAndSlash},
		{"/a?b=\n", errQueryControl},
		{"/a?\x7f", errQueryControl},
	}
	for _, tt := range tests {
		var c canonical
		err := c.parse([]byte(tt.target), StripSlash, &QueryFilter{Mode: QueryNone})
		if bad, ok := errors.AsType[*badTarget](err); !ok || bad != tt.want {
			t.Errorf("parse(%q): %v, want %v", tt.target, err, tt.want)
		}
	}
}

func TestCanonicalTrailingSlash(t *testing.T) {
	tests := []struct {
		target, stripped, kept string
		slash, tidied          bool
	}{
		{target: "/", stripped: "/", kept: "/"},
		{target: "//", stripped: "/", kept: "/", tidied: true},
		{target: "/a", stripped: "/a", kept: "/a"},
		{target: "/a/", stripped: "/a", kept: "/a/", slash: true},
		{target: "/a//", stripped: "/a", kept: "/a/", slash: true, tidied: true},
		{target: "//a", stripped: "/a", kept: "/a", tidied: true},
		{target: "/./a", stripped: "/a", kept: "/a", tidied: true},
		{target: "/a/.", stripped: "/a", kept: "/a/", slash: true, tidied: true},
		{target: "/a/b/..", stripped: "/a", kept: "/a/", slash: true, tidied: true},
		{target: "/a/..", stripped: "/", kept: "/", tidied: true},
		{target: "/a%2F", stripped: "/a%2F", kept: "/a%2F"},
		{target: "/a%2F/", stripped: "/a%2F", kept: "/a%2F/", slash: true},
	}
	for _, tt := range tests {
		for mode, want := range map[TrailingSlash]string{StripSlash: tt.stripped, RedirectSlash: tt.stripped, KeepSlash: tt.kept} {
			c := parseCanonical(t, tt.target, mode, QueryFilter{})
			if string(c.raw) != want || c.slash != tt.slash || c.tidied != tt.tidied {
				t.Errorf("parse(%q) in mode %d: raw %q, slash %v, tidied %v; want %q, %v, %v",
					tt.target, mode, c.raw, c.slash, c.tidied, want, tt.slash, tt.tidied)
			}
		}
	}
}

// A query that nobody listed stays, and keeps a published page from answering
// (github.com/refinery/refinerycms-blog/issues/145); a listed one goes, so that
// any number of slashes with it is still the one page
// (github.com/pluginkollektiv/cachify/issues/206).
func TestCanonicalReportedCases(t *testing.T) {
	def := QueryFilter{Mode: QueryDrop, Names: []string{"utm_*", "gclid", "fbclid", "msclkid"}}
	tests := []struct{ target, raw, query string }{
		{"/blog?page=2", "/blog", "page=2"},
		{"/blog?utm_source=x", "/blog", ""},
		{"/blog", "/blog", ""},
		{"/slug/", "/slug", ""},
		{"/slug//", "/slug", ""},
		{"/slug///?utm_source=x", "/slug", ""},
		{"/", "/", ""},
	}
	for _, tt := range tests {
		c := parseCanonical(t, tt.target, StripSlash, def)
		if string(c.raw) != tt.raw || string(c.query) != tt.query {
			t.Errorf("parse(%q): %q ? %q, want %q ? %q", tt.target, c.raw, c.query, tt.raw, tt.query)
		}
	}
}

// A canonical is used again and again: nothing of the URL before may show.
func TestCanonicalReuse(t *testing.T) {
	var c canonical
	q := QueryFilter{Mode: QueryDrop, Names: []string{"x"}, Sort: true}
	for _, target := range []string{"/long/pa%20th/?c=3&a=1&x=2", "/../", "/a%2Fb//", "/", "/?b=1", "/s"} {
		var fresh canonical
		err, want := c.parse([]byte(target), KeepSlash, &q), fresh.parse([]byte(target), KeepSlash, &q)
		if err != want {
			t.Fatalf("parse(%q): %v, want %v", target, err, want)
		}
		if err == nil && (!bytes.Equal(c.raw, fresh.raw) || !bytes.Equal(c.path, fresh.path) || !bytes.Equal(c.query, fresh.query) ||
			c.encoded != fresh.encoded || c.slash != fresh.slash || c.tidied != fresh.tidied) {
			t.Errorf("parse(%q) in a used one: %+v, in a fresh one: %+v", target, c, fresh)
		}
	}
}

// The target belongs to the request, which may go before the canonical does.
func TestCanonicalKeepsNothingOfTarget(t *testing.T) {
	for _, q := range []QueryFilter{{}, {Mode: QueryDrop, Names: []string{"x"}, Sort: true}} {
		target := []byte("/abc?d=1&c=2")
		var c canonical
		if err := c.parse(target, StripSlash, &q); err != nil {
			t.Fatal(err)
		}
		before := string(c.path) + string(c.raw) + string(c.query)
		for i := range target {
			target[i] = 'X'
		}
		if after := string(c.path) + string(c.raw) + string(c.query); after != before {
			t.Errorf("after the target changed: %q, before: %q", after, before)
		}
	}
}

func TestCanonicalAllocatesNothing(t *testing.T) {
	target := []byte("/a//b/%7Ecaf%C3%A9/../d/?b=1&utm_source=x&a=2")
	q := &QueryFilter{Mode: QueryDrop, Names: []string{"utm_*"}, Sort: true}
	var c canonical
	n := testing.AllocsPerRun(100, func() {
		if err := c.parse(target, StripSlash, q); err != nil {
			t.Fatal(err)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func FuzzCanonical(f *testing.F) {
	for _, s := range []string{"/", "/a/./b/../c//d/?x=%00", "/%2e%2e%2f", `/a\..\b`, "/a%2Fb/..", "/S%c3%a3o?b=2&a=1&&utm_x", "/..;/", "/%25%30%30"} {
		f.Add(s, uint8(0), uint8(0), false)
		f.Add(s, uint8(1), uint8(3), true)
	}
	f.Fuzz(func(t *testing.T, target string, slash, mode uint8, sort bool) {
		q := &QueryFilter{Mode: QueryMode(mode % 4), Names: []string{"a", "utm_*"}, Sort: sort}
		var c, again canonical
		if err := c.parse([]byte(target), TrailingSlash(slash%3), q); err != nil {
			if _, ok := errors.AsType[*badTarget](err); !ok {
				t.Fatalf("parse(%q): error %T, want *badTarget", target, err)
			}
			return
		}
		checkCanonical(t, target, &c)
		url := string(c.raw)
		if len(c.query) > 0 {
			url += "?" + string(c.query)
		}
		if err := again.parse([]byte(url), TrailingSlash(slash%3), q); err != nil {
			t.Fatalf("parse(%q) gives %q, which is refused: %v", target, url, err)
		}
		if !bytes.Equal(again.raw, c.raw) || !bytes.Equal(again.path, c.path) || !bytes.Equal(again.query, c.query) || again.encoded != c.encoded || again.tidied {
			t.Fatalf("parse(%q) gives %q, which gives %q?%q", target, url, again.raw, again.query)
		}
	})
}

// checkCanonical checks what holds of every canonical URL.
func checkCanonical(t *testing.T, target string, c *canonical) {
	t.Helper()
	if c.raw[0] != '/' || bytes.Contains(c.raw, []byte("//")) {
		t.Errorf("parse(%q): raw %q", target, c.raw)
	}
	for _, b := range append(append([]byte(nil), c.raw...), c.query...) {
		if b <= ' ' || b == 0x7f || b == '#' {
			t.Errorf("parse(%q): %q ? %q cannot stand in a request line", target, c.raw, c.query)
		}
	}
	if !bytes.Equal(appendUnescaped(nil, c.raw), c.path) {
		t.Errorf("parse(%q): raw %q, path %q", target, c.raw, c.path)
	}
	if has := bytes.Contains(c.raw, []byte("%2F")) || bytes.Contains(c.raw, []byte("%5C")); has != c.encoded {
		t.Errorf("parse(%q): raw %q, encoded %v", target, c.raw, c.encoded)
	}
	if bytes.IndexByte(c.path, 0) >= 0 {
		t.Errorf("parse(%q): NUL in path %q", target, c.path)
	}
	for _, s := range strings.FieldsFunc(string(c.path), func(r rune) bool { return r == '/' || r == '\\' }) {
		if s == "." || s == ".." {
			t.Errorf("parse(%q): dot segment in path %q", target, c.path)
		}
	}
}

func BenchmarkCanonical(b *testing.B) {
	q := &QueryFilter{Mode: QueryDrop, Names: []string{"utm_*", "gclid", "fbclid", "msclkid"}}
	for _, target := range []string{"/towns/kestrel-bay", "/s%C3%A3o-paulo/a//b/", "/products?page=2&utm_source=x&sort=price"} {
		b.Run(target, func(b *testing.B) {
			b.ReportAllocs()
			var c canonical
			t := []byte(target)
			for b.Loop() {
				if err := c.parse(t, StripSlash, q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
