package warm

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// entries gives what a source names: place, host and path, or the error.
func entries(t *testing.T, s Source, f *fetcher) []string {
	t.Helper()
	var got []string
	s.each(t.Context(), f, func(e entry) bool {
		if e.err != nil {
			got = append(got, e.reason+": "+Failure{Place: e.place, URL: e.url, Error: e.err.Error()}.String())
		} else {
			got = append(got, e.place+" "+e.target.host+" "+e.target.path)
		}
		return true
	})
	return got
}

func TestList(t *testing.T) {
	src := utf8BOM + "/a\r\n" +
		"\n" +
		"  # a comment\n" +
		"http://a.example/b?c=1&d=%20#e\n" +
		"\t/with space \n" +
		"b.example/x\n" +
		"mailto:x@y\n" +
		"ftp://a/x\n" +
		"//a/two\n" +
		"/a\x00b\n" +
		"/" + strings.Repeat("x", 3*maxURL) + "\n" +
		"http://a/last"
	want := []string{
		"l.txt:1  /a",
		"l.txt:4 a.example /b?c=1&d=%20",
		"l.txt:5  /with%20space",
		"bad-entry: l.txt:6: b.example/x: a URL or a path is wanted, like https://www.example.com/page or /page",
		"bad-entry: l.txt:7: mailto:x@y: a URL or a path is wanted, like https://www.example.com/page or /page",
		"bad-entry: l.txt:8: ftp://a/x: an http or https URL is wanted",
		"l.txt:9  //a/two",
		`bad-entry: l.txt:10: "/a\x00b": a URL without control characters is wanted`,
		"bad-entry: l.txt:11: /" + strings.Repeat("x", 63) + "...: a URL of at most 16384 bytes is wanted",
		"l.txt:12 a /last",
	}
	for _, r := range []io.Reader{strings.NewReader(src), iotest.OneByteReader(strings.NewReader(src))} {
		if diff := cmp.Diff(want, entries(t, List("l.txt", r), nil)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestListThatCannotBeRead(t *testing.T) {
	r := io.MultiReader(strings.NewReader("/a\n/b"), iotest.ErrReader(errors.New("disk on fire")))
	want := []string{"-:1  /a", "-:2  /b", "bad-entry: -:3: disk on fire"}
	if diff := cmp.Diff(want, entries(t, List("-", r), nil)); diff != "" {
		t.Error(diff)
	}
}

func TestListStops(t *testing.T) {
	n := 0
	List("-", strings.NewReader("/a\n/b\n")).each(t.Context(), nil, func(entry) bool {
		n++
		return false
	})
	if n != 1 {
		t.Errorf("%d entries, want 1", n)
	}
}

// FuzzList: every line that is not empty and no comment comes out once, in order.
func FuzzList(f *testing.F) {
	f.Add("/a\n#b\r\nhttp://c/d\n\n x")
	f.Add(utf8BOM + "\n\x00\r")
	f.Fuzz(func(t *testing.T, src string) {
		want := 0
		for i, line := range strings.Split(src, "\n") {
			if i == 0 {
				line = strings.TrimPrefix(line, utf8BOM)
			}
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
				want++
			}
		}
		if got := entries(t, List("-", strings.NewReader(src)), nil); len(got) != want {
			t.Errorf("%q: %d entries, want %d: %q", src, len(got), want, got)
		}
	})
}
