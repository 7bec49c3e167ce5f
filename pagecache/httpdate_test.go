package pagecache

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestParseDate(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	const day = "1994-11-06T08:49:37Z"
	for _, c := range []struct{ id, in, want string }{
		{"DAT_1", "Sun, 06 Nov 1994 08:49:37 GMT", day},
		{"DAT_1", "Sunday, 06-Nov-94 08:49:37 GMT", day},
		{"DAT_1", "Sun Nov  6 08:49:37 1994", day},
		{"DAT_2", "SUN, 06 NOV 1994 08:49:37 gMT", day},
		{"DAT_2", "sUNDAY, 06-nOV-94 08:49:37 Gmt", day},
		{"DAT_3", "Sun, 06 Nov 1994 08:49:37 UTC", ""},
		{"DAT_3", "Sun, 06 Nov 1994 08:49:37 AEST", ""},
		{"DAT_3", "Sun, 06 Nov 1994 08:49:37 +0000", ""},
		{"DAT_3", "Sun Nov  6 08:49:37 1994 GMT", ""},
		{"DAT_4", "Monday, 30-Nov-76 12:00:00 GMT", "2076-11-30T12:00:00Z"},
		{"DAT_4", "Monday, 30-Nov-76 12:00:01 GMT", "1976-11-30T12:00:01Z"},
		{"DAT_4", "Monday, 01-Jan-77 00:00:00 GMT", "1977-01-01T00:00:00Z"},
		{"DAT_4", "Monday, 01-Jan-26 00:00:00 GMT", "2026-01-01T00:00:00Z"},
		{"DAT_4", "Monday, 29-Feb-00 00:00:00 GMT", "2000-02-29T00:00:00Z"},
		{"DAT_5", "Sun, 06 Nov 94 08:49:37 GMT", ""},
		{"DAT_5", "Sun 06 Nov 1994 08:49:37 GMT", ""},
		{"DAT_5", "Sun,  06 Nov 1994 08:49:37 GMT", ""},
		{"DAT_5", "Sun, 06  Nov 1994 08:49:37 GMT", ""},
		{"DAT_5", "Sun, 06-Nov-1994 08:49:37 GMT", ""},
		{"DAT_5", "Sunday, 06-Nov-1994 08:49:37 GMT", ""},
		{"DAT_5", "Sun, 06 Nov 1994 08.49.37 GMT", ""},
		{"DAT_5", "Sun, 06 Nov 1994 8:49:37 GMT", ""},
		{"DAT_5", "Sun, 06 Nov 1994 08:49:37", ""},
		{"DAT_5", "Sun, 06 Nov 1994 08:49:37 GMT ", ""},
		{"DAT_5", "Sun, 06 Nov 1994 08:49:37 GMTx", ""},
		{"DAT_5", "Sun, 6 Nov 1994 08:49:37 GMT", ""},
		{"DAT_5", "Sun, 31 Nov 1994 08:49:37 GMT", ""},
		{"DAT_5", "Sun, 00 Nov 1994 08:49:37 GMT", ""},
		{"DAT_5", "Sun, 06 Nov 1994 24:00:00 GMT", ""},
		{"DAT_5", "Sun, 06 Nov 1994 08:60:00 GMT", ""},
		{"DAT_5", "Sun, 06 Nov 1994 08:49:61 GMT", ""},
		{"DAT_5", "Xyz, 06 Nov 1994 08:49:37 GMT", ""},
		{"DAT_5", "", ""}, {"DAT_5", "0", ""}, {"DAT_5", "-1", ""}, {"DAT_5", "Sun,", ""}, {"DAT_5", "Sun ", ""}, {"DAT_5", "Sunday", ""},
		{"DAT_6", "Mon, 06 Nov 1994 08:49:37 GMT", day},
		{"DAT_6", "Sun, 06 Nov 1994 23:59:60 GMT", "1994-11-07T00:00:00Z"},
		{"DAT_6", "Sun Nov 06 08:49:37 1994", day},
		{"DAT_6", "Sun Nov 16 08:49:37 1994", "1994-11-16T08:49:37Z"},
		{"DAT_7", "Tue, 19 Jan 2038 03:14:08 GMT", "2038-01-19T03:14:08Z"},
		{"DAT_7", "Fri, 31 Dec 9999 23:59:59 GMT", "9999-12-31T23:59:59Z"},
	} {
		got := ""
		if unix, ok := ParseDate([]byte(c.in), now); ok {
			got = time.Unix(unix, 0).UTC().Format(time.RFC3339)
		}
		if got != c.want {
			t.Errorf("%s: %q is %q, want %q", c.id, c.in, got, c.want)
		}
	}
}

// What is taken for a date net/http takes too, for the same one, but where it
// is stricter than the RFC or has a fixed pivot for years of two digits.
func FuzzParseDate(f *testing.F) {
	f.Add("Sun, 06 Nov 1994 08:49:37 GMT")
	f.Add("Sunday, 06-Nov-94 08:49:37 GMT")
	f.Add("Sun Nov  6 08:49:37 1994")
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, s string) {
		unix, ok := ParseDate([]byte(s), now)
		if !ok || strings.Contains(s, ":60") || strings.Contains(s, "-") {
			return
		}
		want, err := http.ParseTime(strings.ToUpper(s))
		if err != nil || want.Unix() != unix {
			t.Errorf("%q is %d, net/http says %v %v", s, unix, want, err)
		}
	})
}
