package conf

import (
	"fmt"
	"net/netip"
	"strings"
)

// parseHost reads one of a site's hosts: a name, "*.example.com", or an address
// as it stands in a Host field. It comes back in lower case, an IPv6 address in
// its shortest form.
func parseHost(s string) (string, *mistake) {
	host := strings.ToLower(s)
	if m := checkHostShape(s, host); m != nil {
		return "", m
	}
	if inner, ok := strings.CutPrefix(host, "["); ok {
		ip, err := netip.ParseAddr(strings.TrimSuffix(inner, "]"))
		if err != nil || !ip.Is6() || ip.Zone() != "" || !strings.HasSuffix(inner, "]") {
			return "", &mistake{fmt.Sprintf("%q is no IPv6 address", s), `write "[2001:db8::1]"`}
		}
		return "[" + ip.String() + "]", nil
	}
	name := strings.TrimPrefix(host, "*.")
	if strings.Contains(name, "*") {
		return "", &mistake{fmt.Sprintf("%q has a * in a wrong place", s), `use it for the first part only: "*.example.com"`}
	}
	if !hostName(name) {
		return "", &mistake{fmt.Sprintf("%q is no host name", s), `write letters, digits, - and dots: "www.example.com"`}
	}
	return host, nil
}

// checkHostShape finds what is written often instead of a host.
func checkHostShape(s, host string) *mistake {
	name, port, colon := strings.Cut(host, ":")
	switch {
	case s == "":
		return &mistake{"a host is wanted, not an empty string", "leave hosts out for a site that answers every host"}
	case s == "*":
		return &mistake{`"*" is no host`, "leave hosts out for a site that answers every host"}
	case strings.Contains(s, "://") || strings.Contains(s, "/"):
		return &mistake{fmt.Sprintf("%q is a URL", s), `write the host alone: "www.example.com"`}
	case strings.HasPrefix(s, "["):
		return checkBracketPort(s)
	case colon && strings.Contains(port, ":"):
		return &mistake{fmt.Sprintf("%q is no host name", s), fmt.Sprintf("write an IPv6 address in brackets: %q", "["+s+"]")}
	case colon:
		return &mistake{fmt.Sprintf("%q has a port", s), fmt.Sprintf("write %q: a site answers on every listener", name)}
	case strings.HasSuffix(s, "."):
		return &mistake{fmt.Sprintf("%q ends in a dot", s), fmt.Sprintf("write %q, which answers both forms", strings.TrimRight(host, "."))}
	case !ascii(s):
		return &mistake{fmt.Sprintf("%q is not ASCII", s), `write the name as browsers send it: "xn--..."`}
	default:
		return nil
	}
}

func checkBracketPort(s string) *mistake {
	if i := strings.Index(s, "]:"); i > 0 {
		return &mistake{fmt.Sprintf("%q has a port", s), fmt.Sprintf("write %q: a site answers on every listener", s[:i+1])}
	}
	return nil
}

// hostName reports whether s is a name or an IPv4 address as RFC 3986 section
// 3.2.2 and DNS allow it; underscores are allowed, as browsers do.
func hostName(s string) bool {
	if s == "" || len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, c := range []byte(label) {
			if !alphanumeric(c) && c != '-' && c != '_' {
				return false
			}
		}
	}
	return true
}

func alphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

func ascii(s string) bool {
	return strings.IndexFunc(s, func(c rune) bool { return c > 0x7f }) < 0
}
