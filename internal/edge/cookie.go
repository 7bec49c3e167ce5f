package edge

import "bytes"

// cookieValue finds a cookie in one line of a Cookie field. The value is raw,
// up to the semicolon, quotes included, and the first cookie of that name
// wins. Names of cookies are case-sensitive (RFC 6265).
//
// fasthttp's own parser is not used: it rewrites the field it reads.
func cookieValue(line []byte, name string) ([]byte, bool) {
	for len(line) > 0 {
		var pair []byte
		pair, line, _ = bytes.Cut(line, []byte(";"))
		key, value, ok := bytes.Cut(bytes.TrimLeft(pair, " \t"), []byte("="))
		if ok && string(key) == name {
			return bytes.TrimRight(value, " \t"), true
		}
	}
	return nil, false
}

// cookieVariable finds a cookie as nginx does for $cookie_NAME: its name in any
// case, blanks around the equals sign, a comma between cookies as good as a
// semicolon, though not in a value.
func cookieVariable(line []byte, name string) ([]byte, bool) {
	for line = bytes.TrimLeft(line, " "); len(line) > 0; line = bytes.TrimLeft(line, " ") {
		if len(line) >= len(name) && equalFold(line[:len(name)], name) {
			line = bytes.TrimLeft(line[len(name):], " ")
			if value, ok := bytes.CutPrefix(line, []byte("=")); ok {
				value, _, _ = bytes.Cut(bytes.TrimLeft(value, " "), []byte(";"))
				return value, true
			}
		}
		i := bytes.IndexAny(line, ";,")
		if i < 0 {
			break
		}
		line = line[i+1:]
	}
	return nil, false
}

// equalFold compares without regard to ASCII case.
func equalFold(b []byte, s string) bool {
	if len(b) != len(s) {
		return false
	}
	for i := range b {
		if lower(b[i]) != lower(s[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
