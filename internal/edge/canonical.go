package edge

import "bytes"

// canonical is a URL in the canonical form of a site: what is looked up, keyed
// and sent on. Its slices are its own, valid until the next parse.
type canonical struct {
	path    []byte // decoded
	raw     []byte // canonical and escaped: what is sent and keyed
	query   []byte // filtered, without "?"; empty: none
	encoded bool   // raw holds %2F or %5C: never matches a file
	slash   bool   // the path as written ended in a slash that is not the root's ("strip" removed it, "redirect" must)
	tidied  bool   // the path as written had empty or dot segments, which are gone

	decoded []byte      // of path, where it differs from raw
	params  []parameter // of the query, when it is sorted
}

// badTarget says why a target is no URL that the edge answers: 400.
type badTarget struct{ reason string }

func (e *badTarget) Error() string { return e.reason }

var (
	errNoPath       = &badTarget{"target does not begin with a slash"}
	errNUL          = &badTarget{"NUL in the target"}
	errFragment     = &badTarget{"fragment in the target"}
	errEscape       = &badTarget{"malformed escape in the path, want % and two hex digits"}
	errAboveRoot    = &badTarget{"path leads above the root"}
	errDotAndSlash  = &badTarget{"encoded slash or backslash beside a dot segment"}
	errQueryControl = &badTarget{"control byte in the query"}
)

// parse makes target, a path and query in origin-form as sent, canonical. It
// keeps nothing of target and, once c's buffers are large enough, allocates
// nothing. An error is a *badTarget, and c is then of no use.
//
// Visitors' requests, includes, and what names a URL to the edge otherwise all
// come through here, so that one URL is one key. Where the RFCs leave a choice:
//
//   - An escape is undone only for unreserved characters. %2F, %3B and the like
//     stay, and differ from the plain characters (RFC 3986, section 6.2.2.2).
//   - Dot segments are those left after that, so %2e%2e is one and "..;" is not.
//   - A backslash is a character, sent as %5C; but some app will take it, or a
//     decoded %2F, for a separator. Where that would make a dot segment, or a
//     ".." would remove such a segment, the path has two meanings: refused.
//   - ".." above the root is refused, as in nginx, not ignored.
func (c *canonical) parse(target []byte, slash TrailingSlash, q *QueryFilter) error {
	if len(target) == 0 || target[0] != '/' {
		return errNoPath
	}
	path, query, _ := bytes.Cut(target, questionMark)
	if err := c.parsePath(path); err != nil {
		return err
	}
	if n := len(c.raw); n > 1 && c.raw[n-1] == '/' {
		c.slash = true
		if slash != KeepSlash {
			c.raw = c.raw[:n-1]
		}
	}
	c.path = c.raw
	if bytes.IndexByte(c.raw, '%') >= 0 {
		c.decoded = appendUnescaped(c.decoded[:0], c.raw)
		c.path = c.decoded
	}
	return c.parseQuery(query, q)
}

var questionMark = []byte("?")

// parsePath fills raw, a slash at its end included, and what parse tells of it.
func (c *canonical) parsePath(path []byte) error {
	w := pathWriter{raw: append(c.raw[:0], '/')}
	err := w.write(path[1:])
	c.raw, c.encoded, c.slash, c.tidied = w.raw, w.encoded, false, w.tidied
	return err
}

// pathWriter writes a canonical path, segment by segment.
type pathWriter struct {
	raw     []byte
	segment int  // where the present segment begins in raw
	piece   int  // where it begins after its last encoded slash or backslash
	split   bool // the present segment holds one
	encoded bool // any segment does
	tidied  bool
}

// write adds path, which lacks the first slash.
func (w *pathWriter) write(path []byte) error {
	w.begin()
	for i := 0; i < len(path); i++ {
		b := path[i]
		if isPathCharacter[b] {
			w.raw = append(w.raw, b)
			continue
		}
		var err error
		switch b {
		case '/':
			err = w.endSegment(true)
		case '%':
			if i+2 >= len(path) || !isHex(path[i+1]) || !isHex(path[i+2]) {
				return errEscape
			}
			err = w.escaped(unhex(path[i+1])<<4 | unhex(path[i+2]))
			i += 2
		case '#':
			err = errFragment
		default:
			err = w.escaped(b)
		}
		if err != nil {
			return err
		}
	}
	return w.endSegment(false)
}

func (w *pathWriter) begin() { w.segment, w.piece, w.split = len(w.raw), len(w.raw), false }

// escaped adds a byte that came as an escape or has to leave as one.
func (w *pathWriter) escaped(b byte) error {
	switch {
	case b == 0:
		return errNUL
	case isUnreserved(b):
		w.raw = append(w.raw, b)
	case b == '/' || b == '\\':
		if isDots(w.raw[w.piece:]) {
			return errDotAndSlash
		}
		w.raw = appendEscape(w.raw, b)
		w.piece, w.split, w.encoded = len(w.raw), true, true
	default:
		w.raw = appendEscape(w.raw, b)
	}
	return nil
}

// endSegment closes the present segment: at a slash, or at the end of the
// path. Empty segments and dot segments leave nothing but the slash before
// them.
func (w *pathWriter) endSegment(slash bool) error {
	s := w.raw[w.segment:]
	switch {
	case w.split:
		if isDots(w.raw[w.piece:]) {
			return errDotAndSlash
		}
	case len(s) == 0:
		w.tidied = w.tidied || slash
		return nil
	case isDots(s):
		w.tidied = true
		w.raw = w.raw[:w.segment]
		if len(s) == 1 {
			return nil
		}
		return w.removeSegment()
	}
	if slash {
		w.raw = append(w.raw, '/')
		w.begin()
	}
	return nil
}

// removeSegment takes the last whole segment away, for a "..".
func (w *pathWriter) removeSegment() error {
	if w.segment == 1 {
		return errAboveRoot
	}
	at := bytes.LastIndexByte(w.raw[:w.segment-1], '/') + 1
	if w.encoded && holdsSeparator(w.raw[at:]) {
		return errDotAndSlash
	}
	w.raw = w.raw[:at]
	w.begin()
	return nil
}

// holdsSeparator says whether a canonical segment holds %2F or %5C.
func holdsSeparator(s []byte) bool {
	return bytes.Contains(s, []byte("%2F")) || bytes.Contains(s, []byte("%5C"))
}

// isDots says whether s is "." or "..".
func isDots(s []byte) bool {
	return len(s) == 1 && s[0] == '.' || len(s) == 2 && s[0] == '.' && s[1] == '.'
}

// isPathCharacter holds the characters that stay in a path as they are (RFC
// 3986, section 2). Brackets are not allowed there, yet reserved: browsers send
// them plain, and escaped they would be another URL.
var isPathCharacter = func() (is [256]bool) {
	for b := range is {
		is[b] = isUnreserved(byte(b)) || bytes.IndexByte([]byte("!$&'()*+,;=:@[]"), byte(b)) >= 0
	}
	return is
}()

func isUnreserved(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' ||
		b == '-' || b == '.' || b == '_' || b == '~'
}

func isHex(b byte) bool {
	return '0' <= b && b <= '9' || 'a' <= b && b <= 'f' || 'A' <= b && b <= 'F'
}

// unhex is the value of a hex digit.
func unhex(b byte) byte {
	if b <= '9' {
		return b - '0'
	}
	return b&^0x20 - 'A' + 10
}

func appendEscape(dst []byte, b byte) []byte {
	const digits = "0123456789ABCDEF"
	return append(dst, '%', digits[b>>4], digits[b&15])
}

// appendUnescaped adds s with its escapes undone; malformed ones stay.
func appendUnescaped(dst, s []byte) []byte {
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]) {
			dst = append(dst, unhex(s[i+1])<<4|unhex(s[i+2]))
			i += 2
			continue
		}
		dst = append(dst, s[i])
	}
	return dst
}
