package ssi

import (
	"bytes"
	"encoding/base64"
	"strings"
)

// decode undoes an encoding, as Apache does: what is not well formed stays as it is. v is not changed.
func decode(v []byte, e encoding) []byte {
	switch e {
	case encodeURL, encodeURLApache:
		return unescape(v, false)
	case encodeURLEncoded:
		return unescape(v, true)
	case encodeEntity:
		return decodeEntities(v)
	case encodeBase64:
		return decodeBase64(v)
	}
	return v
}

// unescape decodes %XX, and where plus is set + to a blank. The value ends at %00, as it does in C.
func unescape(v []byte, plus bool) []byte {
	if bytes.IndexByte(v, '%') < 0 && (!plus || bytes.IndexByte(v, '+') < 0) {
		return v
	}
	out := make([]byte, 0, len(v))
	for i := 0; i < len(v); i++ {
		c := v[i]
		if c == '%' && i+2 < len(v) && isHex(v[i+1]) && isHex(v[i+2]) {
			if c = unhex(v[i+1])<<4 | unhex(v[i+2]); c == 0 {
				return out
			}
			i += 2
		} else if c == '+' && plus {
			c = ' '
		}
		out = append(out, c)
	}
	return out
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= lower(c) && lower(c) <= 'f' }

// unhex is the value of a hexadecimal digit.
func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return lower(c) - 'a' + 10
}

// decodeBase64 decodes up to the first byte that is not of the alphabet.
func decodeBase64(v []byte) []byte {
	n := 0
	for n < len(v) && (isWordByte(v[n]) && v[n] != '_' || v[n] == '+' || v[n] == '/') {
		n++
	}
	if n%4 == 1 {
		n-- // six bits make no byte
	}
	out := make([]byte, base64.RawStdEncoding.DecodedLen(n))
	n, _ = base64.RawStdEncoding.Decode(out, v[:n])
	return out[:n]
}

// maxEntity is the length of the longest name of an entity.
const maxEntity = 6

// entities are the characters that have a name: the four of markup, and the letters of ISO 8859-1.
var entities = namedEntities(192, "Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml "+
	"ETH Ntilde Ograve Oacute Ocirc Otilde Ouml - Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig "+
	"agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml "+
	"eth ntilde ograve oacute ocirc otilde ouml - oslash ugrave uacute ucirc uuml yacute thorn yuml")

// namedEntities makes the table; names are those of the characters from first on, a dash is one without a name.
func namedEntities(first byte, names string) map[string]byte {
	table := map[string]byte{"lt": '<', "gt": '>', "amp": '&', "quot": '"'}
	c := first
	for name := range strings.FieldsSeq(names) {
		if name != "-" {
			table[name] = c
		}
		c++
	}
	return table
}

// decodeEntities decodes &lt; &gt; &amp; &quot;, the letters of Latin-1 (one byte each, whatever the page's charset) and
// decimal numbers, as Apache does. A number that is no printable character of Latin-1 vanishes, all else stays.
func decodeEntities(v []byte) []byte {
	if bytes.IndexByte(v, '&') < 0 {
		return v
	}
	out := make([]byte, 0, len(v))
	for i := 0; i < len(v); i++ {
		n := 0
		if v[i] == '&' {
			n, out = appendEntity(out, v[i:])
		}
		if n > 0 {
			i += n - 1
			continue
		}
		out = append(out, v[i])
	}
	return out
}

// appendEntity decodes the entity at the start of s, and returns its length; 0: there is none.
func appendEntity(out, s []byte) (int, []byte) {
	if len(s) > 1 && s[1] == '#' {
		return appendNumber(out, s)
	}
	end := bytes.IndexByte(s[:min(len(s), maxEntity+2)], ';')
	if end < 0 {
		return 0, out
	}
	c, ok := entities[string(s[1:end])]
	if !ok {
		return 0, out
	}
	return end + 1, append(out, c)
}

// maxNumber is how many bytes of a numeric entity are looked at for its semicolon: so decoding stays linear.
const maxNumber = 32

func appendNumber(out, s []byte) (int, []byte) {
	end := bytes.IndexByte(s[:min(len(s), maxNumber)], ';')
	if end < 0 {
		return 0, out
	}
	c := 0
	for _, d := range s[2:end] {
		if d < '0' || d > '9' || c > 255 {
			return end + 1, out
		}
		c = 10*c + int(d-'0')
	}
	if c > 255 || c < 32 && c != '\t' && c != '\n' || 127 <= c && c <= 160 {
		return end + 1, out
	}
	return end + 1, append(out, byte(c))
}
