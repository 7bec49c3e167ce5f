package edge

import "bytes"

// cookieValue finds a cookie in one line of a Cookie field. The value is raw,
// up to the semicolon, quotes included, and the first cookie of that name
// wins, as in nginx. Names of cookies are case-sensitive (RFC 6265); nginx's
// $cookie_NAME is not, so exact is false for SSI variables.
//
// fasthttp's own parser is not used: it rewrites the field it reads.
func cookieValue(line []byte, name string, exact bool) ([]byte, bool) {
	for len(line) > 0 {
		pair := line
		if i := bytes.IndexByte(line, ';'); i >= 0 {
			pair, line = line[:i], line[i+1:]
		} else {
			line = nil
		}
		pair = bytes.TrimLeft(pair, " \t")
		key, value, ok := bytes.Cut(pair, []byte("="))
		if !ok || len(key) != len(name) {
			continue
		}
		if string(key) == name || !exact && equalFold(key, name) {
			return bytes.TrimRight(value, " \t"), true
		}
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
