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

// listeners reads listen.
func (r *reader) listeners(top section) []string {
	var out []string
	for _, l := range r.addresses(top) {
		out = append(out, l.from.text)
	}
	if n := top.get("listen"); n.kind == listKind && len(n.items) == 0 {
		r.problem(n, "no listener", `name one at least, such as ":8080"`)
	}
	return out
}

// addresses is what of listen is right; mistakes are noted.
func (r *reader) addresses(top section) []listener {
	var out []listener
	for _, n := range top.texts("listen") {
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
			r.warn(n.at, n.key, fmt.Sprintf("%q trusts every visitor: anyone can write the address he comes from", n.text), "name the networks of your proxies")
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
