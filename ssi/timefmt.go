package ssi

import (
	"strconv"
	"time"
)

// DefaultTimeFormat is the timefmt of nginx and Apache.
const DefaultTimeFormat = "%A, %d-%b-%Y %H:%M:%S %Z"

// maxTime is how many bytes a timefmt may give, as in nginx.
const maxTime = 2047

// gmt is the zone of DATE_GMT, under the name that the web gives it.
var gmt = time.FixedZone("GMT", 0)

// appendTime appends t as strftime does in the C locale: all of POSIX and the GNU conversions k l P s, the GNU flags
// _ - 0 ^ #, and the modifiers E and O, which change nothing there. What is no conversion is printed as it stands.
func appendTime(dst []byte, format string, t time.Time) []byte {
	for i := 0; i < len(format); {
		if format[i] != '%' {
			dst = append(dst, format[i])
			i++
			continue
		}
		c := conversion{}
		n := c.parse(format[i:])
		out, ok := c.append(dst, t)
		if !ok {
			out = append(dst, format[i:i+n]...)
		}
		dst = out
		i += n
	}
	return dst
}

// conversion is one %x with its flags.
type conversion struct {
	verb  byte
	pad   byte // '_', '-' or '0'; 0: as the verb has it
	upper bool // ^
	swap  bool // #
}

// parse reads a conversion at the start of s, which is a percent sign, and returns its length.
func (c *conversion) parse(s string) int {
	i := 1
	for ; i < len(s); i++ {
		switch s[i] {
		case '_', '-', '0':
			c.pad = s[i]
		case '^':
			c.upper = true
		case '#':
			c.swap = true
		case 'E', 'O':
		default:
			c.verb = s[i]
			return i + 1
		}
	}
	return i
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

func (c *conversion) append(dst []byte, t time.Time) ([]byte, bool) {
	if f, ok := formats[c.verb]; ok {
		return c.cased(dst, appendTime(nil, f, t)), true
	}
	if s, ok := c.word(t); ok {
		return c.cased(dst, []byte(s)), true
	}
	if n, width, pad, ok := c.number(t); ok {
		return c.padded(dst, n, width, pad), true
	}
	return dst, false
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
		return t.Weekday().String()[:3], true
	case 'A':
		return t.Weekday().String(), true
	case 'b', 'h':
		return t.Month().String()[:3], true
	case 'B':
		return t.Month().String(), true
	case 'p':
		if c.swap {
			return t.Format("pm"), true
		}
		return t.Format("PM"), true
	case 'P':
		return t.Format("pm"), true
	case 'z':
		return t.Format("-0700"), true
	case 'Z':
		name, _ := t.Zone()
		return name, true
	}
	return "", false
}

// number answers the conversions that are numbers, with their width and padding.
func (c *conversion) number(t time.Time) (n, width int, pad byte, ok bool) {
	switch c.verb {
	case 'Y':
		return t.Year(), 1, '0', true
	case 'C':
		return t.Year() / 100, 2, '0', true
	case 'y':
		return t.Year() % 100, 2, '0', true
	case 'm':
		return int(t.Month()), 2, '0', true
	case 'd':
		return t.Day(), 2, '0', true
	case 'e':
		return t.Day(), 2, '_', true
	case 'H':
		return t.Hour(), 2, '0', true
	case 'k':
		return t.Hour(), 2, '_', true
	case 'I':
		return (t.Hour()+11)%12 + 1, 2, '0', true
	case 'l':
		return (t.Hour()+11)%12 + 1, 2, '_', true
	case 'M':
		return t.Minute(), 2, '0', true
	case 'S':
		return t.Second(), 2, '0', true
	case 's':
		return int(t.Unix()), 1, '0', true
	case 'j':
		return t.YearDay(), 3, '0', true
	}
	return c.week(t)
}

// week answers the conversions that count weeks and their days.
func (c *conversion) week(t time.Time) (n, width int, pad byte, ok bool) {
	year, week := t.ISOWeek()
	switch c.verb {
	case 'u':
		return (int(t.Weekday())+6)%7 + 1, 1, '0', true
	case 'w':
		return int(t.Weekday()), 1, '0', true
	case 'U':
		return (t.YearDay() + 6 - int(t.Weekday())) / 7, 2, '0', true
	case 'W':
		return (t.YearDay() + 6 - (int(t.Weekday())+6)%7) / 7, 2, '0', true
	case 'V':
		return week, 2, '0', true
	case 'G':
		return year, 1, '0', true
	case 'g':
		return year % 100, 2, '0', true
	}
	return 0, 0, 0, false
}

// padded appends a number; a flag overrules the verb's own padding.
func (c *conversion) padded(dst []byte, n, width int, pad byte) []byte {
	if c.pad != 0 {
		pad = c.pad
	}
	s := strconv.Itoa(n)
	for i := len(s); i < width && pad != '-'; i++ {
		if pad == '_' {
			dst = append(dst, ' ')
		} else {
			dst = append(dst, '0')
		}
	}
	return append(dst, s...)
}

// cased appends text, in capitals where a flag wants it (# alone does so for names, not for zones and signs).
func (c *conversion) cased(dst, s []byte) []byte {
	capitals := c.upper
	for _, b := range s {
		switch {
		case c.swap && c.verb == 'Z' && 'A' <= b && b <= 'Z':
			b += 'a' - 'A'
		case (capitals || c.swap && c.verb != 'P' && c.verb != 'p') && 'a' <= b && b <= 'z':
			b -= 'a' - 'A'
		}
		dst = append(dst, b)
	}
	return dst
}
