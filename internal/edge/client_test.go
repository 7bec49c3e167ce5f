package edge

import (
	"net"
	"net/netip"
	"testing"
)

func tcp(s string) net.Addr { return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(s)) }

// addressed is an address of a kind that identify does not know.
type addressed string

func (a addressed) Network() string { return "test" }
func (a addressed) String() string  { return string(a) }

var testProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8:ffff::/48")}

// seen is what is found out about a client; "" is unknown or none.
type seen struct{ addr, scheme, host, chain string }

func look(c *client) seen {
	s := seen{scheme: c.scheme, host: string(c.host), chain: string(c.forwardedFor)}
	if c.addr.IsValid() {
		s.addr = c.addr.String()
	}
	return s
}

func TestIdentify(t *testing.T) {
	proxy, stranger := tcp("10.0.0.1:5000"), tcp("192.0.2.9:5000")
	socket := &net.UnixAddr{Name: "@", Net: "unix"}
	self := seen{addr: "10.0.0.1", scheme: "http"} // a proxy that tells nothing
	tests := []struct {
		name   string
		peer   net.Addr
		fields []string
		want   seen
	}{
		{"a stranger", stranger, nil, seen{addr: "192.0.2.9", scheme: "http"}},
		{"a stranger's claims", stranger, []string{
			"X-Forwarded-For: 192.0.2.1", "X-Forwarded-Proto: https", "X-Forwarded-Host: evil.example", "Forwarded: for=192.0.2.2",
		}, seen{addr: "192.0.2.9", scheme: "http"}},
		{"IPv6", tcp("[2001:db8::5]:80"), nil, seen{addr: "2001:db8::5", scheme: "http"}},
		{"IPv4 in IPv6", tcp("[::ffff:192.0.2.9]:80"), nil, seen{addr: "192.0.2.9", scheme: "http"}},
		{"a proxy in IPv6 form", tcp("[::ffff:10.0.0.1]:80"), []string{"X-Forwarded-For: 192.0.2.1"}, seen{"192.0.2.1", "http", "", "192.0.2.1"}},
		{"UDP", &net.UDPAddr{IP: net.IPv4(192, 0, 2, 9), Port: 1}, nil, seen{addr: "192.0.2.9", scheme: "http"}},
		{"another kind of address", addressed("192.0.2.9:80"), nil, seen{addr: "192.0.2.9", scheme: "http"}},
		{"an address that says nothing", addressed("pipe"), nil, seen{scheme: "http"}},
		{"nobody", nil, nil, seen{scheme: "http"}},
		{"a proxy that tells nothing", proxy, nil, self},

		// X-Forwarded-For.
		{"one hop", proxy, []string{"X-Forwarded-For: 192.0.2.1"}, seen{"192.0.2.1", "http", "", "192.0.2.1"}},
		{"trusted hops", proxy, []string{"X-Forwarded-For: 192.0.2.1, 10.0.0.3, 2001:db8:ffff::1"},
			seen{"192.0.2.1", "http", "", "192.0.2.1, 10.0.0.3, 2001:db8:ffff::1"}},
		{"the visitor's claim is left of it", proxy, []string{"X-Forwarded-For: 127.0.0.1, 192.0.2.1, 10.0.0.3"},
			seen{"192.0.2.1", "http", "", "192.0.2.1, 10.0.0.3"}},
		{"several lines", proxy, []string{"X-Forwarded-For: 192.0.2.1", "X-Forwarded-For: 10.0.0.3", "X-Forwarded-For: 10.0.0.4"},
			seen{"192.0.2.1", "http", "", "192.0.2.1, 10.0.0.3, 10.0.0.4"}},
		{"all trusted", proxy, []string{"X-Forwarded-For: 10.0.0.2, 10.0.0.3"}, seen{"10.0.0.2", "http", "", "10.0.0.2, 10.0.0.3"}},
		{"ports", proxy, []string{"X-Forwarded-For: 192.0.2.1:4711, [2001:db8:ffff::1]:80,10.0.0.3:1"},
			seen{"192.0.2.1", "http", "", "192.0.2.1, 2001:db8:ffff::1, 10.0.0.3"}},
		{"brackets", proxy, []string{"X-Forwarded-For: [2001:db8::1]"}, seen{"2001:db8::1", "http", "", "2001:db8::1"}},
		{"mapped", proxy, []string{"X-Forwarded-For: ::ffff:192.0.2.1"}, seen{"192.0.2.1", "http", "", "192.0.2.1"}},
		{"empty members", proxy, []string{"X-Forwarded-For: , 192.0.2.1,,"}, seen{"192.0.2.1", "http", "", "192.0.2.1"}},
		{"malformed ends the walk", proxy, []string{"X-Forwarded-For: 192.0.2.1, unknown, 10.0.0.3"}, seen{"10.0.0.3", "http", "", "10.0.0.3"}},
		{"malformed at once", proxy, []string{"X-Forwarded-For: 192.0.2.1, x"}, self},
		{"empty", proxy, []string{"X-Forwarded-For:"}, self},
		{"quotes of a visitor", proxy, []string{`X-Forwarded-For: "127.0.0.1, 192.0.2.1`}, seen{"192.0.2.1", "http", "", "192.0.2.1"}},

		// X-Forwarded-Proto and -Host.
		{"https", proxy, []string{"X-Forwarded-For: 192.0.2.1", "X-Forwarded-Proto: HTTPS"}, seen{"192.0.2.1", "https", "", "192.0.2.1"}},
		{"https without an address", proxy, []string{"X-Forwarded-Proto: https"}, seen{addr: "10.0.0.1", scheme: "https"}},
		{"unknown scheme", proxy, []string{"X-Forwarded-Proto: gopher"}, self},
		{"of the visitor's hop", proxy, []string{"X-Forwarded-For: 192.0.2.1, 10.0.0.3", "X-Forwarded-Proto: https, http"},
			seen{"192.0.2.1", "https", "", "192.0.2.1, 10.0.0.3"}},
		{"not of the visitor's claim", proxy, []string{"X-Forwarded-For: 192.0.2.1", "X-Forwarded-Proto: https, http"},
			seen{"192.0.2.1", "http", "", "192.0.2.1"}},
		{"one for all hops", proxy, []string{"X-Forwarded-For: 192.0.2.1, 10.0.0.3", "X-Forwarded-Proto: https"},
			seen{"192.0.2.1", "https", "", "192.0.2.1, 10.0.0.3"}},
		{"host", proxy, []string{"X-Forwarded-Host: WWW.example.com:80"}, seen{addr: "10.0.0.1", scheme: "http", host: "www.example.com"}},
		{"host, https", proxy, []string{"X-Forwarded-Proto: https", "X-Forwarded-Host: a.example:443"}, seen{addr: "10.0.0.1", scheme: "https", host: "a.example"}},
		{"malformed host", proxy, []string{"X-Forwarded-Host: a/b"}, self},

		// Forwarded, RFC 7239.
		{"forwarded", proxy, []string{"Forwarded: for=192.0.2.1;proto=https;by=10.0.0.1;host=Example.com"},
			seen{"192.0.2.1", "https", "example.com", "192.0.2.1"}},
		{"quoted", proxy, []string{`Forwarded: For="[2001:db8:cafe::17]:4711" ; Proto="https"`}, seen{"2001:db8:cafe::17", "https", "", "2001:db8:cafe::17"}},
		{"quoted pairs", proxy, []string{`Forwarded: for="192\.0.2.1"`}, seen{"192.0.2.1", "http", "", "192.0.2.1"}},
		{"brackets without quotes", proxy, []string{"Forwarded: for=[2001:db8::1]:80"}, seen{"2001:db8::1", "http", "", "2001:db8::1"}},
		{"forwarded hops", proxy, []string{"Forwarded: for=127.0.0.1, for=192.0.2.1;proto=https;host=a.example", "Forwarded: for=10.0.0.3;proto=http;host=b.example"},
			seen{"192.0.2.1", "https", "a.example", "192.0.2.1, 10.0.0.3"}},
		{"commas in quotes", proxy, []string{`Forwarded: for=192.0.2.1;x="a,for=127.0.0.1"`}, seen{"192.0.2.1", "http", "", "192.0.2.1"}},
		{"escaped quote", proxy, []string{`Forwarded: for=192.0.2.1, for=10.0.0.3;x="a\"b"`}, seen{"192.0.2.1", "http", "", "192.0.2.1, 10.0.0.3"}},
		{"escaped backslash", proxy, []string{`Forwarded: for=192.0.2.1, for=10.0.0.3;x="a\\"`}, seen{"192.0.2.1", "http", "", "192.0.2.1, 10.0.0.3"}},
		{"unknown node", proxy, []string{"Forwarded: for=192.0.2.1, for=unknown;proto=https"}, seen{addr: "10.0.0.1", scheme: "https"}},
		{"hidden node", proxy, []string{"Forwarded: for=192.0.2.1, for=_hidden, for=10.0.0.3"}, seen{"10.0.0.3", "http", "", "10.0.0.3"}},
		{"hidden port", proxy, []string{`Forwarded: for="192.0.2.1:_p"`}, seen{"192.0.2.1", "http", "", "192.0.2.1"}},
		{"only a scheme", proxy, []string{"Forwarded: proto=https"}, seen{addr: "10.0.0.1", scheme: "https"}},
		{"malformed element", proxy, []string{"Forwarded: for=192.0.2.1;;"}, self},
		{"twice the same", proxy, []string{"Forwarded: for=192.0.2.1;for=192.0.2.2"}, self},
		{"never closed, by the visitor", proxy, []string{`Forwarded: for="127.0.0.1, for=192.0.2.1, for=10.0.0.3`},
			seen{"192.0.2.1", "http", "", "192.0.2.1, 10.0.0.3"}},
		{"opened by the visitor, before a proxy's quotes", proxy, []string{`Forwarded: for="127.0.0.1, for="[2001:db8::1]"`},
			seen{"2001:db8::1", "http", "", "2001:db8::1"}},
		{"X-Forwarded outranks it", proxy, []string{"Forwarded: for=127.0.0.1;proto=https", "X-Forwarded-For: 192.0.2.1"},
			seen{"192.0.2.1", "http", "", "192.0.2.1"}},

		// A unix listener: its peers have no address and are trusted.
		{"unix", socket, nil, seen{scheme: "http"}},
		{"unix, told", socket, []string{"X-Forwarded-For: 192.0.2.1", "X-Forwarded-Proto: https"}, seen{"192.0.2.1", "https", "", "192.0.2.1"}},
	}
	var c client // used for all: nothing of the one before may stay
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c.identify(getWith(t, tt.fields...), tt.peer, false, testProxies)
			if got := look(&c); got != tt.want {
				t.Errorf("%q from %v: %+v, want %+v", tt.fields, tt.peer, got, tt.want)
			}
			if wantHost := tt.want.host != ""; (c.host != nil) != wantHost {
				t.Errorf("host %q, want nil unless told", c.host)
			}
		})
	}
}

func TestParseNode(t *testing.T) {
	for node, want := range map[string]string{
		"192.0.2.1": "192.0.2.1", "192.0.2.1:80": "192.0.2.1", "192.0.2.1:": "192.0.2.1", "192.0.2.1:_x": "192.0.2.1", "192.0.2.1:_": "192.0.2.1",
		"2001:db8::1": "2001:db8::1", "[2001:DB8::1]": "2001:db8::1", "[2001:db8::1]:80": "2001:db8::1",
		"::ffff:192.0.2.1": "192.0.2.1", "[::ffff:192.0.2.1]:80": "192.0.2.1",
		// No addresses.
		"": "", "unknown": "", "_hidden": "", "host.example": "", "[192.0.2.1]": "", "192.0.2": "", "192.0.2.256": "", "192.0.2.01": "",
		"192.0.2.1:x": "", "192.0.2.1:123456": "", "192.0.2.1 ": "", "[2001:db8::1": "", "[2001:db8::1]x": "", "[]": "", "[": "",
		"fe80::1%eth0": "", "[fe80::1%eth0]": "", ":::": "", "0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000": "",
	} {
		got := ""
		if a, ok := parseNode([]byte(node)); ok {
			got = a.String()
		}
		if got != want {
			t.Errorf("parseNode(%q) = %q, want %q", node, got, want)
		}
	}
}

func TestIdentifyTrust(t *testing.T) {
	var c client
	h := getWith(t, "X-Forwarded-For: 192.0.2.1")
	c.identify(h, tcp("10.0.0.1:1"), true, testProxies)
	if !c.trusted || c.scheme != "https" {
		t.Errorf("a proxy over TLS: trusted %v, scheme %s", c.trusted, c.scheme)
	}
	c.identify(h, tcp("192.0.2.9:1"), true, testProxies)
	if c.trusted || c.scheme != "https" || len(c.forwardedFor) != 0 {
		t.Errorf("a stranger over TLS: trusted %v, scheme %s, chain %q", c.trusted, c.scheme, c.forwardedFor)
	}
	c.identify(h, tcp("10.0.0.1:1"), false, nil)
	if c.trusted || c.addr != netip.MustParseAddr("10.0.0.1") {
		t.Errorf("without proxies: trusted %v, %v", c.trusted, c.addr)
	}
	c.identify(h, &net.UnixAddr{}, false, nil)
	if !c.trusted || c.addr != netip.MustParseAddr("192.0.2.1") {
		t.Errorf("on a unix socket: trusted %v, %v", c.trusted, c.addr)
	}
}

func TestIdentifyAllocatesNothing(t *testing.T) {
	h := readHead(t, usualHead...)
	var c client
	for _, peer := range []net.Addr{tcp("192.0.2.9:80"), tcp("[2001:db8::1]:80")} {
		if n := testing.AllocsPerRun(100, func() { c.identify(h, peer, false, nil) }); n != 0 {
			t.Errorf("%v: %v allocations, want none", peer, n)
		}
	}
}

// Whatever a visitor sends, the proxy's own element at the right decides.
func FuzzIdentify(f *testing.F) {
	for _, s := range []string{"", `"`, `for="`, `\`, `\"`, `for=127.0.0.1, `, `for="a\`, `,,;`, `"[::1]`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, claim string) {
		for _, b := range []byte(claim) {
			if b < ' ' || b == 0x7f {
				return // no field value
			}
		}
		want := netip.MustParseAddr("192.0.2.1")
		var c client
		for _, field := range []string{"Forwarded: " + claim + `, for="192.0.2.1:80"`, "X-Forwarded-For: " + claim + ", 192.0.2.1"} {
			c.identify(getWith(t, field), tcp("10.0.0.1:80"), false, testProxies)
			if c.addr != want || string(c.forwardedFor) != "192.0.2.1" {
				t.Fatalf("%q: %v, chain %q", field, c.addr, c.forwardedFor)
			}
		}
	})
}
