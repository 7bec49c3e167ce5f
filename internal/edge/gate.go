package edge

import (
	"bytes"

	"github.com/valyala/fasthttp"
)

// gate refuses what fasthttp lets through and two servers might read in two
// ways. status 0: the request may pass; else it is answered with status, the
// reason is for the answer's text, and the connection is best closed.
//
// It reads the request line and the fields as they came over the wire; a head
// that was put together by hand has no raw fields, and nothing to refuse there.
// Stricter than nginx, as RFC 9112 permits: folded lines (section 5.2),
// Content-Length beside Transfer-Encoding (6.1), "identity" (7).
func gate(h *fasthttp.RequestHeader) (status int, reason string) {
	if !h.IsHTTP11() && string(h.Protocol()) != "HTTP/1.0" {
		return fasthttp.StatusHTTPVersionNotSupported, "unknown version of HTTP, want 1.0 or 1.1"
	}
	reason = gateFields(h.RawHeaders())
	if reason == "" {
		reason = gateTarget(h)
	}
	if reason != "" {
		return fasthttp.StatusBadRequest, reason
	}
	return 0, ""
}

// gateFields looks at each field line.
func gateFields(raw []byte) (reason string) {
	length, coding := false, false
	for len(raw) > 0 {
		line := raw
		if i := bytes.IndexByte(raw, '\n'); i >= 0 {
			line, raw = raw[:i], raw[i+1:]
		} else {
			raw = nil
		}
		i := bytes.IndexByte(line, ':')
		switch {
		case len(line) > 0 && (line[0] == ' ' || line[0] == '\t'):
			return "folded field line"
		case i < 0: // the empty line at the end: fasthttp has refused the others
			continue
		}
		name := line[:i]
		if bytes.IndexByte(name, ' ') >= 0 || bytes.IndexByte(name, '\t') >= 0 {
			return "white space in the name of a field"
		}
		switch {
		case len(name) == len(fasthttp.HeaderContentLength) && equalFold(name, fasthttp.HeaderContentLength):
			length = true
		case len(name) == len(fasthttp.HeaderTransferEncoding) && equalFold(name, fasthttp.HeaderTransferEncoding):
			coding = true
			if !equalFold(bytes.Trim(line[i+1:], " \t\r"), "chunked") {
				return "unknown transfer coding, want chunked"
			}
		}
		if length && coding {
			return "both Content-Length and Transfer-Encoding"
		}
	}
	return ""
}

// gateTarget looks at the request target and the Host field. Where both name a
// host they must agree: RFC 9112, section 3.2.2, lets the target win, but not
// everything behind or in front of the edge knows.
func gateTarget(h *fasthttp.RequestHeader) (reason string) {
	target := h.RequestURI()
	if bytes.IndexByte(target, '#') >= 0 {
		return "fragment in the target"
	}
	var buf [maxHost]byte
	host := buf[:0]
	scheme, authority, absolute := absoluteForm(target)
	if sent := h.Host(); len(sent) > 0 {
		var ok bool
		if host, ok = appendHost(host, sent, scheme); !ok {
			return "malformed Host, want a host name and optionally a port"
		}
	}
	switch {
	case absolute:
		return gateAuthority(authority, scheme, host)
	case target[0] == '/' || string(target) == "*" || h.IsConnect():
		return ""
	default:
		return "unknown form of target, want a path or an http URL"
	}
}

// gateAuthority looks at the authority of an absolute-form target; host is
// that of the Host field in canonical form, empty where there was none, as in
// HTTP/1.0.
func gateAuthority(authority []byte, scheme string, host []byte) (reason string) {
	if bytes.IndexByte(authority, '@') >= 0 {
		return "user information in the target"
	}
	named, ok := appendHost(nil, authority, scheme)
	switch {
	case !ok:
		return "malformed host in the target"
	case len(host) > 0 && !bytes.Equal(named, host):
		return "target and Host name different hosts"
	}
	return ""
}

// absoluteForm takes "http://host/path" apart. Where target has another form,
// ok is false and scheme is empty.
func absoluteForm(target []byte) (scheme string, authority []byte, ok bool) {
	if len(target) == 0 || target[0] == '/' {
		return "", nil, false
	}
	for _, scheme := range [...]string{"http", "https"} {
		n := len(scheme) + len("://")
		if len(target) < n || !equalFold(target[:len(scheme)], scheme) || string(target[len(scheme):n]) != "://" {
			continue
		}
		authority = target[n:]
		if i := bytes.IndexAny(authority, "/?#"); i >= 0 {
			authority = authority[:i]
		}
		return scheme, authority, true
	}
	return "", nil, false
}

// originForm is path and query of a request that passed the gate, as sent, and
// "*" for OPTIONS of the server itself. It is a slice of h, but for an
// absolute-form without a path.
func originForm(h *fasthttp.RequestHeader) []byte {
	target := h.RequestURI()
	scheme, authority, ok := absoluteForm(target)
	if !ok {
		return target
	}
	rest := target[len(scheme)+len("://")+len(authority):]
	if len(rest) > 0 && rest[0] == '/' {
		return rest
	}
	return append([]byte("/"), rest...)
}

// requestHost sets dst to the host that a request which passed the gate is for,
// in the form of appendHost: that of an absolute-form target, else that of the
// Host field; empty where neither names one, as HTTP/1.0 may. scheme is the
// visitor's, which says what port is the default; the target's own scheme
// decides where it has one.
func requestHost(h *fasthttp.RequestHeader, scheme string, dst []byte) []byte {
	if own, authority, ok := absoluteForm(h.RequestURI()); ok {
		dst, _ = appendHost(dst[:0], authority, own)
		return dst
	}
	dst, _ = appendHost(dst[:0], h.Host(), scheme)
	return dst
}
