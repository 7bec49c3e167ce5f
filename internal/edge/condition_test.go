package edge

import (
	"bufio"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"
)

// readHead reads a request head as it comes over the wire.
func readHead(t testing.TB, lines ...string) *fasthttp.RequestHeader {
	t.Helper()
	h := new(fasthttp.RequestHeader)
	wire := strings.Join(lines, "\r\n") + "\r\n\r\n"
	if err := h.Read(bufio.NewReaderSize(strings.NewReader(wire), len(wire))); err != nil {
		t.Fatalf("head %q: %v", wire, err)
	}
	return h
}

// getWith is a GET with the given fields.
func getWith(t testing.TB, fields ...string) *fasthttp.RequestHeader {
	t.Helper()
	return readHead(t, append([]string{"GET / HTTP/1.1", "Host: example.com"}, fields...)...)
}

const (
	dateBefore = "Sun, 06 Nov 1994 08:49:36 GMT"
	dateExact  = "Sun, 06 Nov 1994 08:49:37 GMT"
	dateAfter  = "Sun, 06 Nov 1994 08:49:38 GMT"
	dateUnix   = 784111777 // dateExact
)

func TestEvaluate(t *testing.T) {
	strong := validators{etag: `"a"`, modified: dateUnix}
	weak := validators{etag: `W/"a"`, modified: dateUnix}
	none := validators{}
	odd := func(tag string) validators { return validators{etag: tag} }
	tests := []struct {
		name   string
		v      validators
		want   int
		fields []string
	}{
		{"no condition", strong, 0, nil},
		{"Range is none", strong, 0, []string{"Range: bytes=0-1"}},

		// If-None-Match: RFC 9110, section 13.1.2.
		{"match", strong, 304, []string{`If-None-Match: "a"`}},
		{"no match", strong, 0, []string{`If-None-Match: "b"`}},
		{"weak asked, strong here", strong, 304, []string{`If-None-Match: W/"a"`}},
		{"strong asked, weak here", weak, 304, []string{`If-None-Match: "a"`}},
		{"both weak", weak, 304, []string{`If-None-Match: W/"a"`}},
		{"member of a list", strong, 304, []string{`If-None-Match: "x", W/"y" ,"a"`}},
		{"empty members", strong, 304, []string{`If-None-Match: ,, "a",`}},
		{"second line", strong, 304, []string{`If-None-Match: "x"`, `If-None-Match: "a"`}},
		{"any", strong, 304, []string{`If-None-Match: *`}},
		{"any, without a tag", none, 304, []string{`If-None-Match: *`}},
		{"any in a list is no any", strong, 0, []string{`If-None-Match: "x", *`}},
		{"any in quotes is a tag", strong, 0, []string{`If-None-Match: "*"`}},
		{"without a tag here", none, 0, []string{`If-None-Match: "a"`}},
		{"empty tag", odd(`""`), 304, []string{`If-None-Match: ""`}},
		{"case matters", strong, 0, []string{`If-None-Match: "A"`}},
		{"comma in a tag", odd(`"a,b"`), 304, []string{`If-None-Match: "x,y", "a,b"`}},
		{"half of such a tag", odd(`"b"`), 0, []string{`If-None-Match: "a,"b"`}},
		{"obs-text", odd("\"\xff\""), 304, []string{"If-None-Match: \"\xff\""}},
		{"backslash is no escape", odd(`"a\"`), 304, []string{`If-None-Match: "a\", "b"`}},
		{"unquoted asked", strong, 0, []string{`If-None-Match: a`}},
		{"unquoted here", odd(`a`), 0, []string{`If-None-Match: "a"`}},
		{"unquoted on both sides", odd(`a`), 304, []string{`If-None-Match: a`}},
		{"lower-case w asked", strong, 0, []string{`If-None-Match: w/"a"`}},
		{"lower-case w here", odd(`w/"a"`), 0, []string{`If-None-Match: "a"`}},
		{"lower-case w on both sides", odd(`w/"a"`), 304, []string{`If-None-Match: w/"a"`}},
		{"no slash", strong, 0, []string{`If-None-Match: W"a"`}},
		{"never closed", strong, 0, []string{`If-None-Match: "a`}},
		{"space in a tag", odd(`"a b"`), 304, []string{`If-None-Match: "a b"`}},
		{"space in a weak tag", odd(`"a b"`), 0, []string{`If-None-Match: W/"a b"`}},
		{"any beside another line is no any", strong, 0, []string{`If-None-Match: *`, `If-None-Match: "x"`}},
		{"tag outranks date", strong, 0, []string{`If-None-Match: "b"`, "If-Modified-Since: " + dateAfter}},
		{"tag outranks a later date", strong, 304, []string{`If-None-Match: "a"`, "If-Modified-Since: " + dateBefore}},
		{"tag outranks a broken date", strong, 0, []string{`If-None-Match: "b"`, "If-Modified-Since: x"}},

		// If-Modified-Since: section 13.1.3.
		{"unchanged", strong, 304, []string{"If-Modified-Since: " + dateExact}},
		{"later than that", strong, 304, []string{"If-Modified-Since: " + dateAfter}},
		{"changed", strong, 0, []string{"If-Modified-Since: " + dateBefore}},
		{"RFC 850", strong, 304, []string{"If-Modified-Since: Sunday, 06-Nov-94 08:49:37 GMT"}},
		{"asctime", strong, 304, []string{"If-Modified-Since: Sun Nov  6 08:49:37 1994"}},
		{"no date", strong, 0, []string{"If-Modified-Since: tomorrow"}},
		{"two dates", strong, 0, []string{"If-Modified-Since: " + dateAfter, "If-Modified-Since: " + dateAfter}},
		{"without Last-Modified here", none, 0, []string{"If-Modified-Since: " + dateAfter}},

		// If-Match: section 13.1.1.
		{"has it", strong, 0, []string{`If-Match: "a"`}},
		{"has it in a list", strong, 0, []string{`If-Match: "x", "a"`}},
		{"has another", strong, 412, []string{`If-Match: "b"`}},
		{"has none", none, 412, []string{`If-Match: "a"`}},
		{"anything", none, 0, []string{`If-Match: *`}},
		{"weak asked never", strong, 412, []string{`If-Match: W/"a"`}},
		{"weak here never", weak, 412, []string{`If-Match: "a"`}},
		{"both weak never", weak, 412, []string{`If-Match: W/"a"`}},
		{"unquoted never", odd("a"), 412, []string{`If-Match: a`}},
		{"If-Match, then If-None-Match", strong, 304, []string{`If-Match: "a"`, `If-None-Match: "a"`}},
		{"If-Match first", strong, 412, []string{`If-Match: "b"`, `If-None-Match: "a"`}},
		{"If-Match outranks date", strong, 0, []string{`If-Match: "a"`, "If-Unmodified-Since: " + dateBefore}},

		// If-Unmodified-Since: section 13.1.4.
		{"still the same", strong, 0, []string{"If-Unmodified-Since: " + dateExact}},
		{"changed since", strong, 412, []string{"If-Unmodified-Since: " + dateBefore}},
		{"since no date", strong, 0, []string{"If-Unmodified-Since: x"}},
		{"since two dates", strong, 0, []string{"If-Unmodified-Since: " + dateBefore, "If-Unmodified-Since: " + dateBefore}},
		{"since, without Last-Modified", none, 0, []string{"If-Unmodified-Since: " + dateBefore}},
		{"both dates", strong, 304, []string{"If-Unmodified-Since: " + dateExact, "If-Modified-Since: " + dateExact}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := evaluate(getWith(t, tt.fields...), tt.v); got != tt.want {
				t.Errorf("%q against %+v: %d, want %d", tt.fields, tt.v, got, tt.want)
			}
		})
	}
}

// RFC 9110, section 13.1.5.
func TestIfRange(t *testing.T) {
	strong := validators{etag: `"a"`, modified: dateUnix}
	tests := []struct {
		name   string
		v      validators
		want   bool
		fields []string
	}{
		{"absent", strong, true, nil},
		{"same tag", strong, true, []string{`If-Range: "a"`}},
		{"other tag", strong, false, []string{`If-Range: "b"`}},
		{"weak asked", strong, false, []string{`If-Range: W/"a"`}},
		{"both weak", validators{etag: `W/"a"`}, false, []string{`If-Range: W/"a"`}},
		{"weak here", validators{etag: `W/"a"`}, false, []string{`If-Range: "a"`}},
		{"no tag here", validators{}, false, []string{`If-Range: "a"`}},
		{"unquoted", validators{etag: `a`}, false, []string{`If-Range: a`}},
		{"list", strong, false, []string{`If-Range: "a", "b"`}},
		{"any", strong, false, []string{`If-Range: *`}},
		{"same date", strong, true, []string{"If-Range: " + dateExact}},
		{"same date, asctime", strong, true, []string{"If-Range: Sun Nov  6 08:49:37 1994"}},
		{"later", strong, false, []string{"If-Range: " + dateAfter}},
		{"earlier", strong, false, []string{"If-Range: " + dateBefore}},
		{"no date here", validators{etag: `"a"`}, false, []string{"If-Range: " + dateExact}},
		{"epoch is no date here", validators{}, false, []string{"If-Range: Thu, 01 Jan 1970 00:00:00 GMT"}},
		{"broken", strong, false, []string{"If-Range: x"}},
		{"twice", strong, false, []string{`If-Range: "a"`, `If-Range: "a"`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := ifRange(getWith(t, tt.fields...), tt.v); got != tt.want {
				t.Errorf("%q against %+v: %v, want %v", tt.fields, tt.v, got, tt.want)
			}
		})
	}
}

func TestEvaluateAllocatesNothing(t *testing.T) {
	v := validators{etag: `"a"`, modified: dateUnix}
	for _, fields := range [][]string{nil, {`If-None-Match: "x", W/"a"`}, {"If-Modified-Since: " + dateExact}} {
		h := getWith(t, fields...)
		if n := testing.AllocsPerRun(100, func() { evaluate(h, v) }); n != 0 {
			t.Errorf("%q: %v allocations, want none", fields, n)
		}
	}
}

// Whatever is sent, the two fields that compare tags agree with themselves: a
// tag that matches strongly matches weakly too, and "*" always does.
func FuzzMatches(f *testing.F) {
	for _, s := range []string{`"a"`, `W/"a"`, `"a,b", "c`, `*`, `w/"a"`, `"\"`, `,`} {
		f.Add(s, `"a"`)
	}
	f.Fuzz(func(t *testing.T, list, etag string) {
		lines := [][]byte{[]byte(list)}
		strong, weak := matchesAny(lines, etag, true), matchesAny(lines, etag, false)
		if strong && !weak {
			t.Errorf("%q matches %q strongly, but not weakly", list, etag)
		}
		if weak && list != "*" && !strings.Contains(list, strings.TrimPrefix(etag, "W/")) {
			t.Errorf("%q matches %q, which is not in it", list, etag)
		}
		if isStrong([]byte(etag)) && !matchesAny([][]byte{[]byte(`"other", W/` + etag)}, etag, false) {
			t.Errorf("a list with %q does not match it", etag)
		}
	})
}

func BenchmarkEvaluate(b *testing.B) {
	v := validators{etag: `"a"`, modified: dateUnix}
	usual := []string{
		"User-Agent: Mozilla/5.0", "Accept: text/html", "Accept-Language: en", "Accept-Encoding: gzip, br", "Cookie: a=b; c=d",
		"Referer: http://example.com/", "Upgrade-Insecure-Requests: 1",
	}
	for name, fields := range map[string][]string{"none": usual, "tag": append(usual, `If-None-Match: W/"a"`)} {
		b.Run(name, func(b *testing.B) {
			h := getWith(b, fields...)
			b.ReportAllocs()
			for b.Loop() {
				evaluate(h, v)
			}
		})
	}
}
