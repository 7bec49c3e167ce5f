package conf

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// maxSocketPath is what fits into sockaddr_un, with its final NUL.
const maxSocketPath = 107

// address is where something listens or can be reached: a unix socket, or a host
// and a port. An empty host is every address.
type address struct {
	unix string
	host string
	port int
}

// parseAddress reads "host:port", ":8080" or "unix:/path".
func parseAddress(s string) (address, *mistake) {
	if path, ok := strings.CutPrefix(s, "unix:"); ok {
		return address{unix: path}, checkSocketPath(path)
	}
	if m := checkAddressShape(s); m != nil {
		return address{}, m
	}
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		return address{}, &mistake{fmt.Sprintf("%q is no address with a port", s), `write "host:port"; an IPv6 host in brackets: "[::1]:8080"`}
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return address{}, &mistake{fmt.Sprintf("%q is no port", port), "use a number from 1 to 65535"}
	}
	if n < 1 || n > 65535 {
		return address{}, &mistake{fmt.Sprintf("port %s is out of range", port), "use 1 to 65535"}
	}
	if _, err := netip.ParseAddr(host); err != nil && host != "" && !hostName(host) {
		return address{}, &mistake{fmt.Sprintf("%q is no host", host), `write an address, a name, or ":` + port + `" for every address`}
	}
	return address{host: strings.ToLower(host), port: n}, nil
}

// checkAddressShape finds what is written often instead of an address.
func checkAddressShape(s string) *mistake {
	switch {
	case s == "":
		return &mistake{"an address is wanted, not an empty string", `write ":8080", "127.0.0.1:8080" or "unix:/run/name.sock"`}
	case strings.HasPrefix(s, "/"):
		return &mistake{fmt.Sprintf("%q is a path", s), fmt.Sprintf("write %q for a unix socket", "unix:"+s)}
	case strings.Contains(s, "://"):
		return &mistake{fmt.Sprintf("%q is a URL", s), `write "host:port" without scheme`}
	case !strings.Contains(s, ":") && s != leadingDigits(s):
		return &mistake{fmt.Sprintf("%q has no port", s), "add one behind a colon"}
	case s == leadingDigits(s):
		return &mistake{fmt.Sprintf("%q has no colon", s), fmt.Sprintf("write %q", ":"+s)}
	default:
		return nil
	}
}

func checkSocketPath(path string) *mistake {
	switch {
	case !strings.HasPrefix(path, "/"):
		return &mistake{fmt.Sprintf("the socket %q is no absolute path", path), `write "unix:/run/name.sock"`}
	case len(path) > maxSocketPath:
		return &mistake{fmt.Sprintf("the path of the socket is %d bytes long", len(path)), fmt.Sprintf("use at most %d", maxSocketPath)}
	case strings.ContainsRune(path, 0):
		return &mistake{fmt.Sprintf("the socket %q holds a NUL", path), "take it out"}
	default:
		return nil
	}
}

// loopback reports whether only this machine can reach a.
func (a address) loopback() bool {
	ip, _ := netip.ParseAddr(a.host)
	return a.unix != "" || a.host == "localhost" || ip.IsValid() && ip.Unmap().IsLoopback()
}

// conflicts reports whether the two cannot both be listened on.
func (a address) conflicts(b address) bool {
	if a.unix != "" || b.unix != "" {
		return a.unix == b.unix
	}
	if a.port != b.port {
		return false
	}
	x, y := a.ip(), b.ip()
	switch {
	case !x.IsValid() || !y.IsValid():
		return a.host == b.host || x.IsUnspecified() || y.IsUnspecified()
	case x.IsUnspecified() && y.IsUnspecified():
		return true
	case x.IsUnspecified():
		return x.Is6() || y.Is4() // Go listens on both families where "::" is asked for
	case y.IsUnspecified():
		return y.Is6() || x.Is4()
	default:
		return x == y
	}
}

// ip is the host as an address; invalid where it is another name.
func (a address) ip() netip.Addr {
	switch a.host {
	case "":
		return netip.IPv6Unspecified()
	case "localhost":
		return netip.AddrFrom4([4]byte{127, 0, 0, 1})
	default:
		ip, _ := netip.ParseAddr(a.host)
		return ip.Unmap()
	}
}
