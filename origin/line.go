package origin

import "bytes"

// cutLine splits b after its first line, which is given without its end.
// Single line feeds end lines too (RFC 9112 section 2.2).
func cutLine(b []byte) (line, rest []byte) {
	i := bytes.IndexByte(b, '\n')
	if i < 0 {
		return nil, nil
	}
	line, rest = b[:i], b[i+1:]
	if i > 0 && b[i-1] == '\r' {
		line = b[:i-1]
	}
	return line, rest
}

// joinFolds makes the first line of b one with the lines that begin with a
// space, by putting spaces in place of the line ends (RFC 9112 section 5.2).
func joinFolds(b []byte) {
	if len(b) <= 2 {
		return // the empty line
	}
	for i := bytes.IndexByte(b, '\n'); i >= 0 && i+1 < len(b) && isOWS(b[i+1]); {
		b[i] = ' '
		if i > 0 && b[i-1] == '\r' {
			b[i-1] = ' '
		}
		n := bytes.IndexByte(b[i:], '\n')
		if n < 0 {
			return
		}
		i += n
	}
}

func isOWS(c byte) bool { return c == ' ' || c == '\t' }

// isControl reports whether r has no place in a line of a head.
func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

// isField compares a name with one in lower case.
func isField(name []byte, lower string) bool {
	if len(name) != len(lower) {
		return false
	}
	for i, c := range name {
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// isToken reports whether b is a token of RFC 9110 section 5.6.2.
func isToken(b []byte) bool {
	for _, c := range b {
		if c >= 0x80 || !tokenBytes[c] {
			return false
		}
	}
	return len(b) > 0
}

var tokenBytes = [128]bool{
	'!': true, '#': true, '$': true, '%': true, '&': true, '\'': true, '*': true, '+': true, '-': true, '.': true,
	'^': true, '_': true, '`': true, '|': true, '~': true,
	'0': true, '1': true, '2': true, '3': true, '4': true, '5': true, '6': true, '7': true, '8': true, '9': true,
	'A': true, 'B': true, 'C': true, 'D': true, 'E': true, 'F': true, 'G': true, 'H': true, 'I': true, 'J': true,
	'K': true, 'L': true, 'M': true, 'N': true, 'O': true, 'P': true, 'Q': true, 'R': true, 'S': true, 'T': true,
	'U': true, 'V': true, 'W': true, 'X': true, 'Y': true, 'Z': true,
	'a': true, 'b': true, 'c': true, 'd': true, 'e': true, 'f': true, 'g': true, 'h': true, 'i': true, 'j': true,
	'k': true, 'l': true, 'm': true, 'n': true, 'o': true, 'p': true, 'q': true, 'r': true, 's': true, 't': true,
	'u': true, 'v': true, 'w': true, 'x': true, 'y': true, 'z': true,
}
