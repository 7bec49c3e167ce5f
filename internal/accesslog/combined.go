package accesslog

import "strconv"

// combined formats r into s.line as nginx's predefined format does:
//
//	$remote_addr - $remote_user [$time_local] "$request" $status
//	$body_bytes_sent "$http_referer" "$http_user_agent"
//
// The edge knows no users: that field is always "-".
func (s *shard) combined(r *Record) {
	b := s.line[:0]
	if r.Client.IsValid() {
		b = r.Client.AppendTo(b)
	} else {
		b = append(b, '-')
	}
	b = append(b, " - - ["...)
	b = s.clock.append(b, r.Time, "02/Jan/2006:15:04:05 -0700")
	b = append(b, `] "`...)
	if len(r.Method) == 0 {
		b = append(b, '-') // no request line came
	} else {
		b = append(appendHexEscaped(b, r.Method), ' ')
		b = append(appendHexEscaped(b, r.Target), ' ')
		b = append(b, r.Protocol...)
	}
	b = append(b, `" `...)
	b = appendStatus(b, r.Status)
	b = strconv.AppendInt(append(b, ' '), r.Bytes, 10)
	b = appendQuoted(append(b, ' '), r.Referer)
	b = appendQuoted(append(b, ' '), r.UserAgent)
	s.line = append(b, '\n')
}

// appendStatus adds at least three digits.
func appendStatus(dst []byte, status int) []byte {
	for limit := 100; limit > 1 && status < limit; limit /= 10 {
		dst = append(dst, '0')
	}
	return strconv.AppendInt(dst, int64(status), 10)
}

// appendQuoted adds a field in quotes, "-" where it is absent.
func appendQuoted(dst, value []byte) []byte {
	dst = append(dst, '"')
	if len(value) == 0 {
		dst = append(dst, '-')
	} else {
		dst = appendHexEscaped(dst, value)
	}
	return append(dst, '"')
}

// appendHexEscaped adds value with quotes, backslashes, controls and all that
// is not ASCII as \xXX: nginx's default escape.
func appendHexEscaped(dst, value []byte) []byte {
	const digits = "0123456789ABCDEF"
	start := 0
	for i := 0; i < len(value); i++ {
		if i += plainRun(value[i:]); i == len(value) {
			break
		}
		c := value[i]
		if c >= ' ' && c < 0x7f && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, value[start:i]...)
		dst = append(dst, '\\', 'x', digits[c>>4], digits[c&15])
		start = i + 1
	}
	return append(dst, value[start:]...)
}
