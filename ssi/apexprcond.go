package ssi

import (
	"bytes"
	"net/netip"
	"strconv"
	"strings"
)

// affirmative is -T: neither empty nor 0, off, false or no, in any case.
type affirmative struct{ of operand }

func (c *affirmative) eval(d *document) (bool, error) {
	v, err := c.of.value(d)
	return len(v) > 0 && string(v) != "0" && !equalFold(v, "off") && !equalFold(v, "false") && !equalFold(v, "no"), err
}

// numeric compares whole numbers.
type numeric struct {
	left, right operand
	outcomes
}

func (c *numeric) eval(d *document) (bool, error) {
	left, right, err := both(d, c.left, c.right)
	l, r := leadingInteger(left), leadingInteger(right)
	switch {
	case l < r:
		return c.less, err
	case l > r:
		return c.greater, err
	}
	return c.equal, err
}

// leadingInteger is the number that s begins with, behind white space; 0 without one; the nearest where it is too large.
func leadingInteger(s []byte) int64 {
	s = bytes.TrimLeft(s, " \t\n\v\f\r")
	i := 0
	if len(s) > 0 && (s[0] == '+' || s[0] == '-') {
		i++
	}
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	n, _ := strconv.ParseInt(string(s[:i]), 10, 64) // out of range: the nearest; no digits: 0
	return n
}

// member is in: one of the list is equal.
type member struct {
	of   operand
	list []operand
}

func (c *member) eval(d *document) (bool, error) {
	v, err := c.of.value(d)
	if err != nil {
		return false, err
	}
	for _, o := range c.list {
		if w, err := o.value(d); err != nil || bytes.Equal(v, w) {
			return err == nil, err
		}
	}
	return false, nil
}

// network holds for an address within it.
type network struct {
	of  operand
	net netip.Prefix
}

func (c *network) eval(d *document) (bool, error) {
	v, err := c.of.value(d)
	if err != nil {
		return false, err
	}
	addr, bad := netip.ParseAddr(string(v[:min(len(v), maxAddr)]))
	return bad == nil && c.net.Contains(addr.Unmap().WithZone("")), nil
}

// maxAddr is more than the length of any address; a longer text need not be read to be known as none.
const maxAddr = 100

func ipv6(addr []byte) bool { return bytes.IndexByte(addr, ':') >= 0 }

// within compiles -ipmatch and -R; the network, which stands at from, has to be a constant.
func (a *apParser) within(of, in operand, from int) (condition, *fault) {
	text, ok := in.(literal)
	if !ok {
		return nil, a.wrong(from, "network is not a constant", "write it out, as in '10.0.0.0/8'")
	}
	net, ok := parseNetwork(string(text[:min(len(text), maxAddr)]))
	if !ok {
		return nil, a.wrong(from, quoted(text)+" is no network", "write an address, as in '192.0.2.1', or a network, as in '10.0.0.0/8', '10' or '2001:db8::/32'")
	}
	return &network{of, net}, nil
}

// parseNetwork reads an address, one with the number of its bits or a mask behind a slash, or the first numbers of one.
func parseNetwork(s string) (netip.Prefix, bool) {
	text, mask, masked := strings.Cut(s, "/")
	if !masked {
		if net, ok := leadingNumbers(text); ok {
			return net, true
		}
	}
	addr, err := netip.ParseAddr(text)
	if err != nil || addr.Is4In6() || addr.Zone() != "" {
		return netip.Prefix{}, false
	}
	bits := addr.BitLen()
	if masked {
		if bits, err = strconv.Atoi(mask); err != nil {
			bits = maskBits(mask)
		}
	}
	net, err := addr.Prefix(bits)
	return net, err == nil
}

// maskBits counts the bits of a mask such as 255.255.0.0; -1: it is none.
func maskBits(mask string) int {
	addr, err := netip.ParseAddr(mask)
	if err != nil || !addr.Is4() {
		return -1
	}
	bits := 0
	for _, b := range addr.As4() {
		for ; b&0x80 != 0; b <<= 1 {
			bits++
		}
		if b != 0 {
			return -1
		}
	}
	if net, _ := addr.Prefix(bits); net.Addr() != addr {
		return -1
	}
	return bits
}

// leadingNumbers reads the first one to three numbers of an IPv4 address, such as 10 or 192.0.2.
func leadingNumbers(s string) (netip.Prefix, bool) {
	parts := strings.Split(strings.TrimSuffix(s, "."), ".")
	if len(parts) > 3 {
		return netip.Prefix{}, false
	}
	var b [4]byte
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 10, 8)
		if err != nil {
			return netip.Prefix{}, false
		}
		b[i] = byte(n)
	}
	return netip.PrefixFrom(netip.AddrFrom4(b), 8*len(parts)), true
}
