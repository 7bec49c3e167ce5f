package edge

import (
	"bytes"
	"net/netip"
)

// forwarded is one element of a Forwarded field: what one proxy tells.
type forwarded struct {
	node  []byte // for=; nil: not told
	proto []byte
	host  []byte
}

// parseForwarded reads a forwarded-element (RFC 7239, section 4). Parameters it
// does not know are passed over, one given twice is malformed. A value without
// quotes may hold the colons and brackets that the RFC wants quoted, since
// addresses are often written so.
func parseForwarded(element []byte) (f forwarded, ok bool) {
	for rest := element; ; {
		name, after, found := bytes.Cut(rest, []byte("="))
		if !found || !isToken(name) {
			return forwarded{}, false
		}
		value, after, ok := cutValue(after)
		if !ok {
			return forwarded{}, false
		}
		if into := f.parameter(name); into != nil {
			if *into != nil {
				return forwarded{}, false
			}
			*into = value
		}
		after = bytes.TrimLeft(after, " \t")
		if len(after) == 0 {
			return f, true
		}
		if after[0] != ';' {
			return forwarded{}, false
		}
		rest = bytes.TrimLeft(after[1:], " \t")
	}
}

// parameter is where the parameter of that name goes; nil: nowhere.
func (f *forwarded) parameter(name []byte) *[]byte {
	switch {
	case equalFold(name, "for"):
		return &f.node
	case equalFold(name, "proto"):
		return &f.proto
	case equalFold(name, "host"):
		return &f.host
	}
	return nil
}

// cutValue cuts a value off s, quoted or not, and undoes its quotes.
func cutValue(s []byte) (value, rest []byte, ok bool) {
	if len(s) > 0 && s[0] == '"' {
		return cutQuoted(s[1:])
	}
	end := bytes.IndexAny(s, " \t\";")
	if end < 0 {
		end = len(s)
	}
	return s[:end], s[end:], end > 0
}

// cutQuoted cuts a quoted-string off s, which begins after its first quote.
func cutQuoted(s []byte) (value, rest []byte, ok bool) {
	value = make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			return value, s[i+1:], true
		case '\\':
			if i++; i == len(s) {
				return nil, nil, false
			}
		}
		value = append(value, s[i])
	}
	return nil, nil, false
}

func isToken(s []byte) bool {
	for _, b := range s {
		if b != '-' && b != '_' && (b < '0' || b > '9') && (lower(b) < 'a' || lower(b) > 'z') {
			return false
		}
	}
	return len(s) > 0
}

// parseNode reads an address with or without a port: "192.0.2.1",
// "192.0.2.1:80", "2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:80". The
// "unknown" and "_name" of RFC 7239 are no addresses.
func parseNode(s []byte) (netip.Addr, bool) {
	if len(s) > len("[0000:0000:0000:0000:0000:ffff:255.255.255.255]:65535") {
		return netip.Addr{}, false
	}
	bare := bytes.Count(s, []byte(":")) > 1 && s[0] != '['
	if !bare {
		name, port, ok := splitHost(s)
		if !ok || !isPort(port) {
			return netip.Addr{}, false
		}
		s = name
		if s[0] == '[' {
			s = s[1 : len(s)-1]
			bare = true
		}
	}
	a, err := netip.ParseAddr(string(s))
	if err != nil || a.Zone() != "" || a.Is6() != bare {
		return netip.Addr{}, false
	}
	return a.Unmap(), true
}

// isPort takes what proxies write as a port: digits, an obfuscated "_name", or
// nothing.
func isPort(s []byte) bool {
	if len(s) > 0 && s[0] == '_' {
		return isToken(s)
	}
	for _, b := range s {
		if b < '0' || b > '9' {
			return false
		}
	}
	return len(s) <= 5
}
