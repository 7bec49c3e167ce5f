package ssi

import "encoding/base64"

// encoding is how echo prints a value.
type encoding uint8

const (
	encodeEntity     encoding = iota // < > & " as entities (nginx leaves the apostrophe and so do we)
	encodeNone                       // as it is
	encodeURL                        // %XX, but for what may stand in a URL
	encodeURLEncoded                 // as a form does: blank is +
	encodeBase64
	encodeURLApache // %xx in lower case, by Apache's table
)

var encodingNames = [...]string{"entity", "none", "url", "urlencoded", "base64"}

// encodingOf finds an encoding by its name, in any case in the apache dialect. To nginx "NONE" is unknown, and the value
// is encoded.
func encodingOf(name []byte, d Dialect) (encoding, bool) {
	for i, s := range encodingNames {
		if string(name) != s && (d == DialectNginx || !equalFold(name, s)) {
			continue
		}
		if encoding(i) == encodeURL && d == DialectApache {
			return encodeURLApache, true
		}
		return encoding(i), true
	}
	return encodeEntity, false
}

const (
	urlKept       = "!$&()*+,-./:;=?@[]_~" // beside letters and digits: nginx's table
	urlKeptApache = "!$&'()*+,-./:;=@_~"
	formKept      = "*.-_"
)

// encode gives v in encoding e: v itself where nothing changes.
func encode(v []byte, e encoding) []byte {
	switch e {
	case encodeNone:
		return v
	case encodeBase64:
		return base64.StdEncoding.AppendEncode(nil, v)
	case encodeEntity:
		return encodeEntities(v)
	case encodeURL:
		return escape(v, urlKept, "0123456789ABCDEF", false)
	case encodeURLApache:
		return escape(v, urlKeptApache, "0123456789abcdef", false)
	default:
		return escape(v, formKept, "0123456789abcdef", true)
	}
}

func entity(c byte) string {
	switch c {
	case '<':
		return "&lt;"
	case '>':
		return "&gt;"
	case '&':
		return "&amp;"
	case '"':
		return "&quot;"
	}
	return ""
}

func encodeEntities(v []byte) []byte {
	i := 0
	for i < len(v) && entity(v[i]) == "" {
		i++
	}
	if i == len(v) {
		return v
	}
	out := append(make([]byte, 0, len(v)+16), v[:i]...)
	for _, c := range v[i:] {
		if e := entity(c); e != "" {
			out = append(out, e...)
			continue
		}
		out = append(out, c)
	}
	return out
}

func escape(v []byte, kept, hex string, plus bool) []byte {
	i := 0
	for i < len(v) && stays(v[i], kept) {
		i++
	}
	if i == len(v) {
		return v
	}
	out := append(make([]byte, 0, len(v)+16), v[:i]...)
	for _, c := range v[i:] {
		switch {
		case stays(c, kept):
			out = append(out, c)
		case c == ' ' && plus:
			out = append(out, '+')
		default:
			out = append(out, '%', hex[c>>4], hex[c&15])
		}
	}
	return out
}

func stays(c byte, kept string) bool {
	if '0' <= c && c <= '9' || 'a' <= lower(c) && lower(c) <= 'z' {
		return true
	}
	for i := range len(kept) {
		if kept[i] == c {
			return true
		}
	}
	return false
}
