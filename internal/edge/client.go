package edge

import (
	"bytes"
	"net"
	"net/netip"
	"slices"

	"github.com/valyala/fasthttp"
)

// client is who asks: the visitor, as the peer or the proxies in front tell.
// Its slices are its own, valid until the next identify.
type client struct {
	addr         netip.Addr // of the visitor; the zero Addr: unknown, as on a unix socket
	scheme       string     // "http" or "https"
	host         []byte     // in the form of appendHost; nil: the request's own
	trusted      bool       // the peer is a trusted proxy, or on a unix socket
	forwardedFor []byte     // chain to pass on, without the peer; empty: none

	name  []byte       // buffer of host
	chain []netip.Addr // of forwardedFor, nearest first
}

// identify finds out who asks. A stranger's forwarding fields count for
// nothing. Those of a trusted peer are read from the right: each hop was
// written by the one after it, so the walk goes on while hops are trusted, and
// the first that is not is the visitor. What stands left of it is the visitor's
// own claim; so is everything left of a malformed value.
//
// Forwarded (RFC 7239) counts only where no X-Forwarded field is there. Nearly
// all proxies write the latter and pass a visitor's Forwarded on untouched, so
// the other order would let visitors choose their address. A proxy that writes
// Forwarded alone has to remove X-Forwarded-*.
func (c *client) identify(h *fasthttp.RequestHeader, peer net.Addr, tls bool, proxies []netip.Prefix) {
	c.scheme, c.host = "http", nil
	if tls {
		c.scheme = "https"
	}
	c.forwardedFor, c.chain = c.forwardedFor[:0], c.chain[:0]
	var local bool
	c.addr, local = peerAddr(peer)
	c.trusted = local || trusts(proxies, c.addr)
	if !c.trusted {
		return
	}
	if h.Peek(fasthttp.HeaderXForwardedFor) != nil || h.Peek(fasthttp.HeaderXForwardedProto) != nil ||
		h.Peek(fasthttp.HeaderXForwardedHost) != nil {
		c.readXForwarded(h, proxies)
	} else {
		c.readForwarded(h, proxies)
	}
	for i, a := range slices.Backward(c.chain) {
		c.forwardedFor = a.AppendTo(c.forwardedFor)
		if i > 0 {
			c.forwardedFor = append(c.forwardedFor, ", "...)
		}
	}
}

// peerAddr is the address of a connection's other end. local: it is on this
// machine's file system, where only those that its permissions let in can be.
func peerAddr(peer net.Addr) (a netip.Addr, local bool) {
	switch p := peer.(type) {
	case *net.TCPAddr:
		a, _ = netip.AddrFromSlice(p.IP)
	case *net.UnixAddr:
		return netip.Addr{}, true
	case *net.UDPAddr: // HTTP/3
		a, _ = netip.AddrFromSlice(p.IP)
	case nil:
	default:
		ap, _ := netip.ParseAddrPort(peer.String())
		a = ap.Addr()
	}
	return a.Unmap(), false
}

// trusts says whether a is an address of the proxies.
func trusts(proxies []netip.Prefix, a netip.Addr) bool {
	for _, p := range proxies {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// hop takes up the next address of the walk, and says whether to go on.
func (c *client) hop(node []byte, proxies []netip.Prefix) bool {
	a, ok := parseNode(node)
	if !ok {
		return false
	}
	c.addr, c.chain = a, append(c.chain, a)
	return trusts(proxies, a)
}

func (c *client) readXForwarded(h *fasthttp.RequestHeader, proxies []netip.Prefix) {
	for element := range backward(h.PeekAll(fasthttp.HeaderXForwardedFor)) {
		if !c.hop(element, proxies) {
			break
		}
	}
	// A proxy that adds to these lists does so hop by hop, as with the
	// addresses; most replace them, and then one value is all there is.
	hops := max(1, len(c.chain))
	c.setScheme(fromRight(h.PeekAll(fasthttp.HeaderXForwardedProto), hops))
	c.setHost(fromRight(h.PeekAll(fasthttp.HeaderXForwardedHost), hops))
}

func (c *client) readForwarded(h *fasthttp.RequestHeader, proxies []netip.Prefix) {
	var host []byte
	for element := range backward(h.PeekAll(fasthttp.HeaderForwarded)) {
		f, ok := parseForwarded(element)
		if !ok {
			break
		}
		c.setScheme(f.proto)
		if f.host != nil {
			host = f.host
		}
		if !c.hop(f.node, proxies) {
			break
		}
	}
	c.setHost(host)
}

// setScheme takes up a scheme that a trusted proxy states.
func (c *client) setScheme(s []byte) {
	switch {
	case equalFold(s, "http"):
		c.scheme = "http"
	case equalFold(s, "https"):
		c.scheme = "https"
	}
}

// setHost takes up a host that a trusted proxy states; a malformed one is none.
func (c *client) setHost(host []byte) {
	var ok bool
	if c.name, ok = appendHost(c.name[:0], host, c.scheme); ok {
		c.host = c.name
	}
}

// fromRight is the nth element of a list, counted from the right from 1; the
// leftmost where there are fewer, nil where there is none.
func fromRight(lines [][]byte, n int) (found []byte) {
	for element := range backward(lines) {
		found = element
		if n--; n == 0 {
			break
		}
	}
	return found
}

// backward yields the elements of a list that came in several lines, the last
// one first, without white space around them and without empty ones. Only so
// can nothing that a visitor put in front, such as a quote that is never
// closed, change how the elements are read that the proxies added.
func backward(lines [][]byte) func(yield func(element []byte) bool) {
	return func(yield func([]byte) bool) {
		for _, line := range slices.Backward(lines) {
			for more := true; more; {
				at := lastComma(line)
				element := bytes.Trim(line[at+1:], " \t")
				if len(element) > 0 && !yield(element) {
					return
				}
				if more = at >= 0; more {
					line = line[:at]
				}
			}
		}
	}
}

// lastComma finds the last comma outside of quotes, reading from the right; -1
// where there is none.
func lastComma(list []byte) int {
	quoted := false
	for i := len(list) - 1; i >= 0; i-- {
		switch {
		case list[i] == '"' && !escapedAt(list, i):
			quoted = !quoted
		case list[i] == ',' && !quoted:
			return i
		}
	}
	return -1
}

// escapedAt says whether an odd number of backslashes stands before b[i].
func escapedAt(b []byte, i int) bool {
	n := i
	for n > 0 && b[n-1] == '\\' {
		n--
	}
	return (i-n)%2 == 1
}
