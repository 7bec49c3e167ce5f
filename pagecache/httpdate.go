package pagecache

import "time"

const (
	monthNames   = "janfebmaraprmayjunjulaugsepoctnovdec"
	weekdayNames = "sunmontuewedthufrisat"
)

// longWeekdays are those of the RFC 850 form.
var longWeekdays = [...]string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}

// ParseDate reads an HTTP-date (RFC 9110, section 5.6.7) in one of its three
// forms, as Unix seconds. now places the two-digit year of RFC 850. Names and
// zone may be of any case, the weekday need not agree with the date, and
// second 60 is the next minute's first; all else is strict, unlike in
// http.ParseTime. b is not kept, and nothing is allocated.
func ParseDate(b []byte, now time.Time) (unix int64, ok bool) {
	d := dateReader{rest: b, ok: len(b) > 4}
	switch {
	case !d.ok:
		return 0, false
	case b[3] == ',':
		return d.imf()
	case b[3] == ' ':
		return d.asctime()
	}
	return d.rfc850(now.UTC())
}

// dateReader takes a date apart from the left. Once ok is false its methods do
// nothing.
type dateReader struct {
	rest []byte
	ok   bool
}

// imf reads "Sun, 06 Nov 1994 08:49:37 GMT".
func (d *dateReader) imf() (int64, bool) {
	d.name(weekdayNames)
	d.literal(", ")
	day := d.digits(2)
	d.literal(" ")
	month := d.name(monthNames)
	d.literal(" ")
	year := d.digits(4)
	d.literal(" ")
	clock := d.clock()
	d.literal(" gmt")
	return d.unix(year, month, day, clock)
}

// asctime reads "Sun Nov  6 08:49:37 1994": the day is padded by a space or a
// nought.
func (d *dateReader) asctime() (int64, bool) {
	d.name(weekdayNames)
	d.literal(" ")
	month := d.name(monthNames)
	d.literal(" ")
	width := 2
	if d.ok && len(d.rest) > 0 && d.rest[0] == ' ' {
		d.literal(" ")
		width = 1
	}
	day := d.digits(width)
	d.literal(" ")
	clock := d.clock()
	d.literal(" ")
	return d.unix(d.digits(4), month, day, clock)
}

// rfc850 reads "Sunday, 06-Nov-94 08:49:37 GMT". A year that would be more
// than 50 years ahead is one of the past (RFC 9110, section 5.6.7).
func (d *dateReader) rfc850(now time.Time) (int64, bool) {
	d.longWeekday()
	d.literal(", ")
	day := d.digits(2)
	d.literal("-")
	month := d.name(monthNames)
	d.literal("-")
	short := d.digits(2)
	d.literal(" ")
	clock := d.clock()
	d.literal(" gmt")
	limit := now.AddDate(50, 0, 0).Unix()
	// From the next century down to the first that is not too far ahead. One
	// that lacks the day, a 29 February, is passed over.
	for year := now.Year()/100*100 + 100 + short; year > now.Year()-200; year -= 100 {
		if t, ok := d.unix(year, month, day, clock); ok && t <= limit {
			return t, true
		}
	}
	return 0, false
}

// literal wants s, which is lower case, in any case.
func (d *dateReader) literal(s string) {
	if !d.ok || len(d.rest) < len(s) || !equalFold(d.rest[:len(s)], s) {
		d.ok = false
		return
	}
	d.rest = d.rest[len(s):]
}

func (d *dateReader) digits(n int) (v int) {
	if !d.ok || len(d.rest) < n {
		d.ok = false
		return 0
	}
	for _, c := range d.rest[:n] {
		if c < '0' || c > '9' {
			d.ok = false
			return 0
		}
		v = v*10 + int(c-'0')
	}
	d.rest = d.rest[n:]
	return v
}

// name wants one of the three-letter names of a table, and gives its place,
// from 1.
func (d *dateReader) name(table string) int {
	for i := 0; d.ok && len(d.rest) >= 3 && i < len(table); i += 3 {
		if equalFold(d.rest[:3], table[i:i+3]) {
			d.rest = d.rest[3:]
			return i/3 + 1
		}
	}
	d.ok = false
	return 0
}

func (d *dateReader) longWeekday() {
	for _, w := range longWeekdays {
		if d.ok && len(d.rest) > len(w) && equalFold(d.rest[:len(w)], w) {
			d.rest = d.rest[len(w):]
			return
		}
	}
	d.ok = false
}

// clock reads "08:49:37" as seconds since midnight.
func (d *dateReader) clock() int {
	h := d.digits(2)
	d.literal(":")
	m := d.digits(2)
	d.literal(":")
	s := d.digits(2)
	if h > 23 || m > 59 || s > 60 {
		d.ok = false
	}
	return (h*60+m)*60 + s
}

// unix is the end of every form: nothing may be left.
func (d *dateReader) unix(year, month, day, clock int) (int64, bool) {
	if !d.ok || len(d.rest) > 0 {
		return 0, false
	}
	t := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if t.Day() != day || t.Month() != time.Month(month) {
		return 0, false // 31 November, day 0
	}
	return t.Unix() + int64(clock), true
}

// equalFold compares b, in any case, with s, which is lower case.
func equalFold(b []byte, s string) bool {
	if len(b) != len(s) {
		return false
	}
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != s[i] {
			return false
		}
	}
	return true
}
