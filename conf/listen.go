package conf

import (
	"fmt"
	"net/netip"
	"strings"
)

// listener is an address with the node that asks for it.
type listener struct {
	address
	from *node
}

// listeners reads listen. What is wrong is noted and left out.
func (r *reader) listeners(top section) []listener {
	n := top.get("listen")
	if n.kind == listKind && len(n.items) == 0 {
		r.problem(n, "no listener", `name one at least, such as ":8080"`)
	}
	var out []listener
	for _, n := range r.texts(n) {
		a, m := parseAddress(n.text)
		for _, other := range out {
			if m == nil && a.conflicts(other.address) {
				m = &mistake{fmt.Sprintf("%q is taken by %q already", n.text, other.from.text), "listen on each address once"}
			}
		}
		if r.fault(n, m) {
			out = append(out, listener{a, n})
		}
	}
	return out
}

// trustedProxies reads trusted_proxies.
func (r *reader) trustedProxies(top section) []netip.Prefix {
	var out []netip.Prefix
	for _, n := range top.texts("trusted_proxies") {
		prefix, m := parsePrefix(n.text)
		if !r.fault(n, m) {
			continue
		}
		if prefix.Bits() == 0 {
			r.warn(n.at, n.key, fmt.Sprintf("%q trusts every visitor: anyone can claim any address", n.text), "name the networks of your proxies")
		}
		out = append(out, prefix)
	}
	return out
}

// parsePrefix reads "10.0.0.0/8", or an address alone.
func parsePrefix(s string) (netip.Prefix, *mistake) {
	if ip, err := netip.ParseAddr(s); err == nil && ip.Zone() == "" {
		ip = ip.Unmap()
		return netip.PrefixFrom(ip, ip.BitLen()), nil
	}
	p, err := netip.ParsePrefix(s)
	if err != nil || p.Addr().Is4In6() {
		return p, &mistake{fmt.Sprintf("%q is no network", s), `write an address and its bits, such as "10.0.0.0/8" or "2001:db8::/32"`}
	}
	if p != p.Masked() {
		return p, &mistake{fmt.Sprintf("%q has bits set behind its prefix", s), fmt.Sprintf("write %q", p.Masked())}
	}
	return p, nil
}

// healthPath reads health_path.
func (r *reader) healthPath(top section) string {
	path := top.text("health_path")
	if path == "" {
		return ""
	}
	n := top.get("health_path")
	switch {
	case path[0] != '/':
		r.problem(n, fmt.Sprintf("%q is no path", path), fmt.Sprintf("write %q", "/"+path))
	case path == "/" || strings.ContainsFunc(path, func(c rune) bool { return c <= ' ' || c > '~' || strings.ContainsRune(`?#%"<>\`, c) }):
		r.problem(n, fmt.Sprintf("%q is no path of its own", path), `write a plain one such as "/edge-up", without query and escapes`)
	}
	return path
}
