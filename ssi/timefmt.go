package ssi

import (
	"strconv"
	"strings"
	"time"
)

// DefaultTimeFormat is the timefmt of nginx and Apache.
const DefaultTimeFormat = "%A, %d-%b-%Y %H:%M:%S %Z"

// maxTime is how many bytes a timefmt may give, as in nginx.
const maxTime = 2047

// gmt is the zone of DATE_GMT, under the name that the web gives it.
var gmt = time.FixedZone("GMT", 0)

// appendTime appends t as strftime of glibc does in the C locale: all conversions, the flags _ - 0 ^ #, widths, and
// the modifiers E and O, which change nothing there. What is no conversion is printed as it stands. It stops soon after
// maxTime bytes.
func appendTime(dst []byte, format string, t time.Time) []byte {
	from := len(dst)
	for i := 0; i < len(format) && len(dst)-from <= maxTime; {
		if format[i] != '%' {
			dst = append(dst, format[i])
			i++
			continue
		}
		var c conversion
		n := c.parse(format[i:])
		dst = c.append(dst, t)
		i += n
	}
	return dst
}

// conversion is one %x with its flags.
type conversion struct {
	written  string
	verb     byte
	modifier byte // E or O
	pad      byte // the last of _ - 0; NUL: as the verb has it
	width    int
	upper    bool // ^
	swap     bool // #
}

// parse reads a conversion at the start of s, which is a percent sign, and returns its length.
func (c *conversion) parse(s string) int {
	i := c.flags(s)
	for ; i < len(s) && '0' <= s[i] && s[i] <= '9'; i++ {
		c.width = min(10*c.width+int(s[i]-'0'), maxTime+1)
	}
	if i < len(s) && (s[i] == 'E' || s[i] == 'O') {
		c.modifier = s[i]
		i++
	}
	if i < len(s) {
		c.verb = s[i]
		i++
	}
	c.written = s[:i]
	return i
}

func (c *conversion) flags(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '_', '-', '0':
			c.pad = s[i]
		case '^':
			c.upper = true
		case '#':
			c.swap = true
		default:
			return i
		}
	}
	return len(s)
}

// valid says whether the modifier may stand before the verb.
func (c *conversion) valid() bool {
	switch c.modifier {
	case 'E':
		return strings.IndexByte("cCnpPrRstTuxXyYzZ%", c.verb) >= 0
	case 'O':
		return strings.IndexByte("aAcDFxXY", c.verb) < 0
	}
	return true
}

// formats are the conversions made of others.
var formats = map[byte]string{
	'c': "%a %b %e %H:%M:%S %Y",
	'D': "%m/%d/%y",
	'F': "%Y-%m-%d",
	'r': "%I:%M:%S %p",
	'R': "%H:%M",
	'T': "%H:%M:%S",
	'x': "%m/%d/%y",
	'X': "%H:%M:%S",
}

func (c *conversion) append(dst []byte, t time.Time) []byte {
	if c.valid() {
		if f, ok := formats[c.verb]; ok {
			return c.text(dst, string(appendTime(nil, f, t)))
		}
		if s, ok := c.word(t); ok {
			return c.text(dst, s)
		}
		if c.verb == 'z' {
			return c.offset(dst, t)
		}
		if n, digits, ok := c.number(t); ok {
			return c.padded(dst, n, digits)
		}
	}
	if c.swap && (c.verb == 'b' || c.verb == 'h') {
		c.upper = true // as glibc has it: the flag is looked at before the modifier
	}
	return c.text(dst, c.written)
}

// word answers the conversions that are text.
func (c *conversion) word(t time.Time) (string, bool) {
	switch c.verb {
	case '%':
		return "%", true
	case 'n':
		return "\n", true
	case 't':
		return "\t", true
	case 'a':
		return c.swapped(t.Weekday().String()[:3]), true
	case 'A':
		return c.swapped(t.Weekday().String()), true
	case 'b', 'h':
		return c.swapped(t.Month().String()[:3]), true
	case 'B':
		return c.swapped(t.Month().String()), true
	case 'p':
		return c.swapped(t.Format("PM")), true
	case 'P':
		c.upper = false
		return t.Format("pm"), true
	case 'Z':
		name, _ := t.Zone()
		return c.swapped(name), true
	}
	return "", false
}

// swapped is what the flag # makes of a name: capitals, but small letters of AM, PM and zones.
func (c *conversion) swapped(name string) string {
	switch {
	case !c.swap:
		return name
	case c.verb == 'p' || c.verb == 'Z':
		c.upper = false
		return strings.ToLower(name)
	}
	return strings.ToUpper(name)
}

// number answers the conversions that are numbers, with the digits that they have at least.
func (c *conversion) number(t time.Time) (n, digits int, ok bool) {
	switch c.verb {
	case 'Y':
		return t.Year(), 1, true
	case 'C':
		return t.Year() / 100, 2, true
	case 'y':
		return t.Year() % 100, 2, true
	case 'm':
		return int(t.Month()), 2, true
	case 'd':
		return t.Day(), 2, true
	case 'e':
		return t.Day(), 2, true
	case 'H':
		return t.Hour(), 2, true
	case 'k':
		return t.Hour(), 2, true
	case 'I':
		return (t.Hour()+11)%12 + 1, 2, true
	case 'l':
		return (t.Hour()+11)%12 + 1, 2, true
	case 'M':
		return t.Minute(), 2, true
	case 'S':
		return t.Second(), 2, true
	case 's':
		return int(t.Unix()), 1, true
	case 'j':
		return t.YearDay(), 3, true
	}
	return c.week(t)
}

// week answers the conversions that count weeks and their days.
func (c *conversion) week(t time.Time) (n, digits int, ok bool) {
	year, week := t.ISOWeek()
	switch c.verb {
	case 'u':
		return (int(t.Weekday())+6)%7 + 1, 1, true
	case 'w':
		return int(t.Weekday()), 1, true
	case 'U':
		return (t.YearDay() + 6 - int(t.Weekday())) / 7, 2, true
	case 'W':
		return (t.YearDay() + 6 - (int(t.Weekday())+6)%7) / 7, 2, true
	case 'V':
		return week, 2, true
	case 'G':
		return year, 1, true
	case 'g':
		return year % 100, 2, true
	}
	return 0, 0, false
}

// padded appends a number. A flag overrules the verb's own padding, which is zeros but for %e %k %l.
func (c *conversion) padded(dst []byte, n, digits int) []byte {
	pad := byte('0')
	switch {
	case c.pad != 0:
		pad = c.pad
	case c.verb == 'e' || c.verb == 'k' || c.verb == 'l':
		pad = '_'
	}
	if c.verb != 's' {
		digits = max(digits, c.width)
	}
	s := strconv.Itoa(n)
	if missing := digits - len(s); missing > 0 && pad == '0' {
		s = strings.Repeat("0", missing) + s
	} else if missing > 0 && pad == '_' {
		s = strings.Repeat(" ", missing) + s
	}
	return c.text(dst, s)
}

// offset appends the distance from UTC: glibc applies flags and width to the sign, then to the number.
func (c *conversion) offset(dst []byte, t time.Time) []byte {
	_, seconds := t.Zone()
	sign := "+"
	if seconds < 0 {
		sign, seconds = "-", -seconds
	}
	return c.padded(c.text(dst, sign), seconds/3600*100+seconds/60%60, 4)
}

// text appends s, filled up to the width from the left.
func (c *conversion) text(dst []byte, s string) []byte {
	fill := byte(' ')
	if c.pad == '0' {
		fill = '0'
	}
	for i := len(s); i < c.width; i++ {
		dst = append(dst, fill)
	}
	if c.upper {
		s = strings.ToUpper(s)
	}
	return append(dst, s...)
}
