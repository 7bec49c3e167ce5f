package edge

import "time"

const (
	months   = "janfebmaraprmayjunjulaugsepoctnovdec"
	weekdays = "sunmontuewedthufrisat"
)

// longWeekdays are those of the RFC 850 form, lower case.
var longWeekdays = [...]string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}

// parseHTTPDate reads an HTTP-date (RFC 9110, section 5.6.7) in one of its
// three forms, as seconds since 1970. Names and zone may be of any case, the
// weekday need not agree with the date, and second 60 is taken as the next
// minute's first; everything else is strict, unlike http.ParseTime.
func parseHTTPDate(b []byte) (unix int64, ok bool) {
	if len(b) < len("Sun Nov  6 08:49:37 1994") {
		return 0, false
	}
	switch {
	case b[3] == ',':
		return parseIMFDate(b)
	case b[3] == ' ':
		return parseANSIDate(b)
	default:
		return parseRFC850Date(b, time.Now())
	}
}

// parseIMFDate reads "Sun, 06 Nov 1994 08:49:37 GMT".
func parseIMFDate(b []byte) (int64, bool) {
	d := dateReader{b: b, ok: len(b) == len("Sun, 06 Nov 1994 08:49:37 GMT")}
	d.weekday()
	d.literal(", ")
	day := d.digits(2)
	d.literal(" ")
	month := d.month()
	d.literal(" ")
	year := d.digits(4)
	d.literal(" ")
	clock := d.clock()
	d.literal(" gmt")
	return d.unix(year, month, day, clock)
}

// parseANSIDate reads the form of C's asctime, "Sun Nov  6 08:49:37 1994". The
// day may be padded with a space or a nought.
func parseANSIDate(b []byte) (int64, bool) {
	d := dateReader{b: b, ok: len(b) == len("Sun Nov  6 08:49:37 1994")}
	d.weekday()
	d.literal(" ")
	month := d.month()
	d.literal(" ")
	var day int
	if d.ok && d.b[0] == ' ' {
		d.literal(" ")
		day = d.digits(1)
	} else {
		day = d.digits(2)
	}
	d.literal(" ")
	clock := d.clock()
	d.literal(" ")
	year := d.digits(4)
	return d.unix(year, month, day, clock)
}

// parseRFC850Date reads "Sunday, 06-Nov-94 08:49:37 GMT". Its year is the one
// that lies within 50 years of now.
func parseRFC850Date(b []byte, now time.Time) (int64, bool) {
	d := dateReader{b: b, ok: true}
	d.longWeekday()
	d.literal(", ")
	day := d.digits(2)
	d.literal("-")
	month := d.month()
	d.literal("-")
	short := d.digits(2)
	d.literal(" ")
	clock := d.clock()
	d.literal(" gmt")
	if len(d.b) != 0 {
		return 0, false
	}
	// From the next century down, the first that is not too far ahead.
	limit := now.AddDate(50, 0, 0).Unix()
	for year := now.Year()/100*100 + 100 + short; ; year -= 100 {
		t, ok := d.unix(year, month, day, clock)
		// 29 February is no date of every century: the next one may have it.
		if ok && t <= limit || year < now.Year()-150 {
			return t, ok
		}
	}
}

// dateReader takes a date apart from the left. Its methods do nothing once ok
// is false.
type dateReader struct {
	b  []byte
	ok bool
}

// take cuts off the next n bytes; nil where there are fewer.
func (d *dateReader) take(n int) []byte {
	if !d.ok || len(d.b) < n {
		d.ok = false
		return nil
	}
	t := d.b[:n]
	d.b = d.b[n:]
	return t
}

// literal wants s, in any case.
func (d *dateReader) literal(s string) {
	if t := d.take(len(s)); t != nil && !equalFold(t, s) {
		d.ok = false
	}
}

func (d *dateReader) digits(n int) (v int) {
	for _, c := range d.take(n) {
		if c < '0' || c > '9' {
			d.ok = false
			return 0
		}
		v = v*10 + int(c-'0')
	}
	return v
}

// name wants one of the three-letter names in table and gives its place.
func (d *dateReader) name(table string) int {
	t := d.take(3)
	for i := 0; t != nil && i < len(table); i += 3 {
		if equalFold(t, table[i:i+3]) {
			return i / 3
		}
	}
	d.ok = false
	return 0
}

func (d *dateReader) weekday() { d.name(weekdays) }

func (d *dateReader) month() time.Month { return time.Month(d.name(months) + 1) }

func (d *dateReader) longWeekday() {
	for _, w := range longWeekdays {
		if d.ok && len(d.b) > len(w) && equalFold(d.b[:len(w)], w) {
			d.b = d.b[len(w):]
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

func (d *dateReader) unix(year int, month time.Month, day, clock int) (int64, bool) {
	if !d.ok {
		return 0, false
	}
	t := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	if t.Day() != day || t.Month() != month {
		return 0, false // 31 November, day 0
	}
	return t.Unix() + int64(clock), true
}
