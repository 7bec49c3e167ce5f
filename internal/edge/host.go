package edge

import (
	"bytes"
	"net/netip"
	"strconv"
)

// maxHost is the longest host taken: DNS names end at 253 characters.
const maxHost = 255

// appendHost adds host, the value of a Host field or an authority without
// userinfo, in the form that sites are found and pages are keyed by: lower
// case, without the port that scheme implies, without a dot at the end, IPv6 in
// its one short form (RFC 5952). ok is false, and dst unchanged, where host is
// malformed. An empty host is none.
func appendHost(dst, host []byte, scheme string) (_ []byte, ok bool) {
	name, port, ok := splitHost(host)
	if !ok || len(host) > maxHost {
		return dst, false
	}
	start := len(dst)
	if name[0] == '[' {
		a, err := netip.ParseAddr(string(name[1 : len(name)-1]))
		if err != nil || !a.Is6() || a.Zone() != "" {
			return dst, false
		}
		dst = append(a.AppendTo(append(dst, '[')), ']')
	} else if dst, ok = appendName(dst, name); !ok {
		return dst, false
	}
	if len(port) == 0 {
		return dst, true
	}
	n, err := strconv.ParseUint(string(port), 10, 16)
	if err != nil {
		return dst[:start], false
	}
	if n == 80 && scheme == "http" || n == 443 && scheme == "https" {
		return dst, true
	}
	return strconv.AppendUint(append(dst, ':'), n, 10), true
}

// splitHost cuts host at the colon before the port. name keeps the brackets of
// an IPv6 address and is not empty.
func splitHost(host []byte) (name, port []byte, ok bool) {
	if len(host) > 0 && host[0] == '[' {
		end := bytes.IndexByte(host, ']') + 1
		if end == 0 {
			return nil, nil, false
		}
		name, port = host[:end], host[end:]
		if len(port) > 0 && port[0] != ':' {
			return nil, nil, false
		}
		return name, bytes.TrimPrefix(port, []byte(":")), true
	}
	name, port, _ = bytes.Cut(host, []byte(":"))
	return name, port, len(name) > 0
}

// appendName adds a host name or an IPv4 address. Of the characters that RFC
// 3986 allows only those that occur in real names are taken; apps print the
// others into their pages.
func appendName(dst, name []byte) ([]byte, bool) {
	start := len(dst)
	last := byte('.')
	for _, b := range name {
		b = lower(b)
		switch {
		case 'a' <= b && b <= 'z', '0' <= b && b <= '9', b == '-', b == '_':
		case b == '.' && last != '.':
		default:
			return dst[:start], false
		}
		dst, last = append(dst, b), b
	}
	if last == '.' {
		dst = dst[:len(dst)-1]
	}
	return dst, true
}
