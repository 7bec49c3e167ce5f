package origin

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/valyala/fasthttp"
)

// appendRequestHead appends the head of x's request. The fields are those of
// x.Request as they stand; how the body is framed, and the version, are ours.
// Header.Write is no use here: it changes the request and sets a length of its
// own for every method but GET and HEAD.
func appendRequestHead(dst []byte, x *Exchange) ([]byte, error) {
	h := &x.Request.Header
	method, target := h.Method(), h.RequestURI()
	if err := checkRequest(method, target, h.Host()); err != nil {
		return dst, err
	}
	dst = append(append(append(dst, method...), ' '), target...)
	dst = append(dst, " HTTP/1.1\r\n"...)
	kept := len(dst)
	dst = h.AppendBytes(dst)
	var stated bool
	dst, stated = filterFields(dst, kept, x)
	if len(h.Host()) == 0 {
		dst = append(dst, "Host: \r\n"...) // RFC 9112 section 3.2: empty where unknown, never absent
	}
	return append(appendFraming(dst, method, x, stated), "\r\n"...), nil
}

// checkRequest refuses what would end up as something else on the wire.
func checkRequest(method, target, host []byte) error {
	switch {
	case !isToken(method):
		return fmt.Errorf("method %q is no token", method)
	case string(method) == fasthttp.MethodConnect:
		return errors.New(`method "CONNECT" is not supported`)
	case bytes.IndexFunc(target, isSpaceOrControl) >= 0:
		return fmt.Errorf("target %q holds a space or a control character", target)
	case bytes.IndexFunc(host, isSpaceOrControl) >= 0:
		return fmt.Errorf("host %q holds a space or a control character", host)
	}
	return nil
}

func isSpaceOrControl(r rune) bool { return r <= ' ' || r == 0x7f }

// filterFields drops from the head at b[kept:] its first line, the empty line
// at its end and the fields that are not the caller's to say. stated: there
// was a Content-Length.
func filterFields(b []byte, kept int, x *Exchange) (_ []byte, stated bool) {
	lines := b[kept:]
	lines = lines[bytes.IndexByte(lines, '\n')+1:]
	for len(lines) > 2 {
		n := bytes.IndexByte(lines, '\n') + 1
		line := lines[:n]
		lines = lines[n:]
		name, _, _ := bytes.Cut(line, []byte(":"))
		name = bytes.TrimRight(name, " \t")
		switch {
		case isField(name, "content-length"):
			stated = true
			continue
		case isField(name, "transfer-encoding"), isField(name, "trailer"):
			continue
		case isField(name, "connection") && !x.Upgrade:
			continue
		case isField(name, "content-type") && len(x.Request.Header.ContentType()) == 0:
			continue // fasthttp's default
		}
		kept += copy(b[kept:], line)
	}
	return b[:kept], stated
}

// appendFraming says how long the body is. Without one a length of 0 is said
// where the method expects a body (RFC 9110 section 8.6) or the caller said
// some length.
func appendFraming(dst, method []byte, x *Exchange, stated bool) []byte {
	size := x.BodySize
	if x.Body == nil {
		size = 0
		switch string(method) {
		case fasthttp.MethodPost, fasthttp.MethodPut, fasthttp.MethodPatch:
		default:
			if !stated {
				return dst
			}
		}
	}
	if size < 0 {
		return append(dst, "Transfer-Encoding: chunked\r\n"...)
	}
	dst = append(dst, "Content-Length: "...)
	dst = strconv.AppendInt(dst, size, 10)
	return append(dst, "\r\n"...)
}

// isIdempotent reports whether a request may be sent twice (RFC 9110 section
// 9.2.2).
func isIdempotent(method []byte) bool {
	switch string(method) {
	case fasthttp.MethodGet, fasthttp.MethodHead, fasthttp.MethodOptions,
		fasthttp.MethodPut, fasthttp.MethodDelete, fasthttp.MethodTrace:
		return true
	}
	return false
}
