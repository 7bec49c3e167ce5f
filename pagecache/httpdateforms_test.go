package pagecache

import (
	"testing"
	"time"
)

func TestParseDateForms(t *testing.T) {
	const rfc = 784111777 // 6 November 1994, 08:49:37
	tests := []struct {
		name, date string
		want       int64
	}{
		// RFC 9110, section 5.6.7.
		{"IMF", "Sun, 06 Nov 1994 08:49:37 GMT", rfc},
		{"RFC 850", "Sunday, 06-Nov-94 08:49:37 GMT", rfc},
		{"asctime", "Sun Nov  6 08:49:37 1994", rfc},
		{"asctime, two digits", "Wed Nov 16 08:49:37 1994", rfc + 10*86400},
		{"asctime, padded with a nought", "Sun Nov 06 08:49:37 1994", rfc},
		// Any case.
		{"upper case", "SUN, 06 NOV 1994 08:49:37 GMT", rfc},
		{"lower case", "sun, 06 nov 1994 08:49:37 gmt", rfc},
		{"mixed zone", "Sun, 06 Nov 1994 08:49:37 gMT", rfc},
		{"RFC 850, upper case", "SUNDAY, 06-NOV-94 08:49:37 GMT", rfc},
		{"asctime, lower case", "sun nov  6 08:49:37 1994", rfc},
		// Leniency.
		{"wrong weekday", "Mon, 06 Nov 1994 08:49:37 GMT", rfc},
		{"leap second", "Sun, 06 Nov 1994 08:49:60 GMT", rfc + 23},
		// Far off.
		{"2038", "Tue, 19 Jan 2038 03:14:08 GMT", 1 << 31},
		{"year 9999", "Fri, 31 Dec 9999 23:59:59 GMT", 253402300799},
		{"before 1970", "Wed, 31 Dec 1969 23:59:59 GMT", -1},
		{"leap day", "Thu, 29 Feb 2024 00:00:00 GMT", 1709164800},
		{"epoch", "Thu, 01 Jan 1970 00:00:00 GMT", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := ParseDate([]byte(tt.date), time.Now())
			if !ok || got != tt.want {
				t.Errorf("ParseDate(%q) = %d, %v, want %d", tt.date, got, ok, tt.want)
			}
		})
	}
}

func TestParseDateRefuses(t *testing.T) {
	for _, date := range []string{
		"", "0", "-1", "GMT", "Sun",
		// Other zones.
		"Sun, 06 Nov 1994 08:49:37 UTC",
		"Sun, 06 Nov 1994 08:49:37 AEST",
		"Sun, 06 Nov 1994 08:49:37 +0000",
		"Sunday, 06-Nov-94 08:49:37 UTC",
		// Other forms.
		"Sun, 06 Nov 94 08:49:37 GMT",
		"Sun 06 Nov 1994 08:49:37 GMT",
		"Sun,  06 Nov 1994 08:49:37 GMT",
		"Sun, 06  Nov 1994 08:49:37 GMT",
		"Sun, 06 Nov  1994 08:49:37 GMT",
		"Sun, 06 Nov 1994  08:49:37 GMT",
		"Sun, 06 Nov 1994 08:49:37  GMT",
		"Sun, 06-Nov-1994 08:49:37 GMT",
		"Sunday, 06-Nov-1994 08:49:37 GMT",
		"Sun, 06 Nov 1994 08.49.37 GMT",
		"Sun, 06 Nov 1994 8:49:37 GMT",
		"Sun, 06 Nov 1994 08:49 GMT",
		"Sun, 06 Nov 1994 08:49:37",
		"Sun, 06 Nov 1994 08:49:37 ",
		"Sun, 6 Nov 1994 08:49:37 GMT",
		"Sun, 06 Nov 1994 08:49:37 GMT ",
		" Sun, 06 Nov 1994 08:49:37 GMT",
		"Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT",
		"Son, 06 Nov 1994 08:49:37 GMT",
		"Sun, 06 Nev 1994 08:49:37 GMT",
		"Sun, 06 ovd 1994 08:49:37 GMT",
		"Sun, 06 Nov 1994 24:00:00 GMT",
		"Sun, 06 Nov 1994 08:60:00 GMT",
		"Sun, 06 Nov 1994 08:49:61 GMT",
		"Sun, 00 Nov 1994 08:49:37 GMT",
		"Thu, 31 Nov 1994 08:49:37 GMT",
		"Wed, 29 Feb 2023 00:00:00 GMT",
		"Sun, -6 Nov 1994 08:49:37 GMT",
		"Sun Nov 6 08:49:37 1994",
		"Sun Nov  0 08:49:37 1994",
		"Sun Nov  6 08:49:37 94",
		"Sun Nov  6 08:49:37 1994 GMT",
		"Sun, Nov  6 08:49:37 1994",
		"Funday, 06-Nov-94 08:49:37 GMT",
		"Sunday, 31-Nov-94 08:49:37 GMT",
		"Sunday, 06-Nov-94 08:49:37 GMT+1",
		"Sunday,06-Nov-94 08:49:37 GMT",
		"1994-11-06T08:49:37Z.........",
	} {
		if got, ok := ParseDate([]byte(date), time.Now()); ok {
			t.Errorf("ParseDate(%q) = %d, want it refused", date, got)
		}
	}
}

// The two digits mean the year within 50 of now.
func TestParseDateYear(t *testing.T) {
	tests := []struct {
		now, date string
		year      int
	}{
		{"2026-11-30", "Sunday, 06-Nov-94 08:49:37 GMT", 1994},
		{"2026-11-30", "Sunday, 06-Nov-26 08:49:37 GMT", 2026},
		{"2026-11-30", "Sunday, 06-Nov-70 08:49:37 GMT", 2070},
		{"2026-11-30", "Sunday, 29-Nov-76 08:49:37 GMT", 2076},
		{"2026-11-30", "Sunday, 01-Dec-76 08:49:37 GMT", 1976},
		{"2026-11-30", "Sunday, 06-Nov-77 08:49:37 GMT", 1977},
		{"2026-11-30", "Sunday, 06-Nov-00 08:49:37 GMT", 2000},
		{"2026-11-30", "Tuesday, 29-Feb-00 08:49:37 GMT", 2000},
		{"2080-01-01", "Sunday, 06-Nov-10 08:49:37 GMT", 2110},
		{"2080-01-01", "Sunday, 06-Nov-40 08:49:37 GMT", 2040},
		{"1999-01-01", "Sunday, 06-Nov-30 08:49:37 GMT", 2030},
		{"1999-01-01", "Sunday, 06-Nov-60 08:49:37 GMT", 1960},
	}
	for _, tt := range tests {
		now, err := time.Parse(time.DateOnly, tt.now)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := ParseDate([]byte(tt.date), now)
		if year := time.Unix(got, 0).UTC().Year(); !ok || year != tt.year {
			t.Errorf("in %s %q is in %d (%v), want %d", tt.now, tt.date, year, ok, tt.year)
		}
	}
}

// What is accepted is what time.Parse reads in the same form; and every time
// survives a round through each form.
func FuzzDateForms(f *testing.F) {
	f.Add([]byte("Sun, 06 Nov 1994 08:49:37 GMT"), int64(784111777))
	f.Add([]byte("Sunday, 06-Nov-94 08:49:37 GMT"), int64(0))
	f.Add([]byte("Sun Nov  6 08:49:37 1994"), int64(253402300799))
	f.Fuzz(func(t *testing.T, b []byte, unix int64) {
		ParseDate(b, time.Now())
		unix = max(0, min(unix, 253402300799))
		at := time.Unix(unix, 0).UTC()
		for _, layout := range []string{"Mon, 02 Jan 2006 15:04:05 GMT", time.ANSIC} {
			if got, ok := ParseDate([]byte(at.Format(layout)), time.Now()); !ok || got != unix {
				t.Errorf("%q is %d, %v, want %d", at.Format(layout), got, ok, unix)
			}
		}
		date := at.Format("Monday, 02-Jan-06 15:04:05 GMT")
		if got, ok := ParseDate([]byte(date), at); !ok || got != unix {
			t.Errorf("%q at that time is %d, %v, want %d", date, got, ok, unix)
		}
	})
}

func TestParseDateAllocatesNothing(t *testing.T) {
	for _, s := range []string{"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"} {
		b := []byte(s)
		if n := testing.AllocsPerRun(100, func() { ParseDate(b, time.Now()) }); n != 0 {
			t.Errorf("%q: %v allocations, want none", s, n)
		}
	}
}
