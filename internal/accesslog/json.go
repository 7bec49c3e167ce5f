package accesslog

import (
	"strconv"
	"time"
	"unicode/utf8"
)

// json formats r into s.line as an object, its keys always all there and in
// this order. Absent fields are empty strings, the duration is in seconds.
func (s *shard) json(r *Record) {
	b := append(s.line[:0], `{"time":"`...)
	b = s.clock.append(b, r.Time, "2006-01-02T15:04:05")
	b = appendFraction(append(b, '.'), int64(r.Time.Nanosecond())/1e6, 1000)
	b = r.Time.AppendFormat(b, "Z07:00")
	b = append(b, `","client":"`...)
	if r.Client.IsValid() {
		b = r.Client.AppendTo(b)
	}
	b = appendString(append(b, `","method":`...), r.Method)
	b = appendString(append(b, `,"target":`...), r.Target)
	b = append(append(b, `,"protocol":"`...), r.Protocol...)
	b = appendString(append(b, `","host":`...), r.Host)
	b = strconv.AppendInt(append(b, `,"status":`...), int64(r.Status), 10)
	b = strconv.AppendInt(append(b, `,"bytes":`...), r.Bytes, 10)
	b = appendSeconds(append(b, `,"duration":`...), r.Duration)
	b = appendString(append(b, `,"referer":`...), r.Referer)
	b = appendString(append(b, `,"user_agent":`...), r.UserAgent)
	b = appendString(append(b, `,"request_id":`...), r.RequestID)
	b = appendString(append(b, `,"cache":`...), r.Cache)
	s.line = append(b, "}\n"...)
}

// appendSeconds adds d with six decimal places. A clock that was set back gives
// no negative one.
func appendSeconds(dst []byte, d time.Duration) []byte {
	us := max(0, d.Microseconds())
	dst = strconv.AppendInt(dst, us/1e6, 10)
	return appendFraction(append(dst, '.'), us%1e6, 1e6)
}

// appendFraction adds n as the places after a point, of which unit has one more
// than there are digits.
func appendFraction(dst []byte, n, unit int64) []byte {
	for unit /= 10; unit > 0; unit /= 10 {
		dst = append(dst, byte('0'+n/unit%10))
	}
	return dst
}

// appendString adds value as a JSON string. Bytes that are no UTF-8 become
// U+FFFD, one for each, as encoding/json has it.
func appendString(dst, value []byte) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(value); {
		if i += plainRun(value[i:]); i == len(value) {
			break
		}
		c := value[i]
		if c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' {
			i++
			continue
		}
		size := 1
		if c >= utf8.RuneSelf {
			var r rune
			if r, size = utf8.DecodeRune(value[i:]); r != utf8.RuneError || size > 1 {
				i += size
				continue
			}
		}
		dst = append(dst, value[start:i]...)
		dst = appendControl(dst, c)
		i += size
		start = i
	}
	dst = append(dst, value[start:]...)
	return append(dst, '"')
}

// appendControl adds what a byte that cannot stand in a JSON string becomes.
func appendControl(dst []byte, c byte) []byte {
	const digits = "0123456789abcdef"
	switch {
	case c >= utf8.RuneSelf:
		return utf8.AppendRune(dst, utf8.RuneError)
	case c == '"', c == '\\':
		return append(dst, '\\', c)
	case c == '\n':
		return append(dst, `\n`...)
	case c == '\r':
		return append(dst, `\r`...)
	case c == '\t':
		return append(dst, `\t`...)
	default:
		return append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
	}
}
