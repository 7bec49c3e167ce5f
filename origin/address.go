package origin

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path"
	"strconv"
	"strings"
)

// Address is where a server listens.
type Address struct {
	Network string // "tcp" or "unix"
	Addr    string // "host:port", or the absolute path of a socket
}

// String gives the address as it is named in errors and metrics: "host:port"
// or "unix:/path".
func (a Address) String() string {
	if a.Network == "unix" {
		return "unix:" + a.Addr
	}
	return a.Addr
}

// maxSocketPath is the longest path that the kernel takes (sun_path of 108
// bytes, the last of which is NUL).
const maxSocketPath = 107

// ParseServer reads "http://host:port", "host:port" or "unix:/path". A URL
// without a port means port 80. Its error says what is wrong, and the cure.
func ParseServer(s string) (Address, error) {
	if s == "" {
		return Address{}, errors.New(`server is empty, want "http://host:port", "host:port" or "unix:/path"`)
	}
	if i := strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }); i >= 0 {
		return Address{}, fmt.Errorf("server %q holds a space or a control character, want none", s)
	}
	if rest, ok := strings.CutPrefix(s, "unix:"); ok {
		return parseSocket(s, rest)
	}
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok {
		return parseHostPort(s, s)
	}
	switch strings.ToLower(scheme) {
	case "http":
		return parseURL(s, rest)
	case "https":
		return Address{}, fmt.Errorf("server %q: https is not supported, want http:// to the app itself or to a TLS proxy beside it", s)
	}
	return Address{}, fmt.Errorf("server %q: scheme %q is not supported, want http://host:port or unix:/path", s, scheme)
}

// parseSocket reads what follows "unix:". Puma writes "unix:///path".
func parseSocket(s, p string) (Address, error) {
	if strings.HasPrefix(p, "///") {
		p = p[2:]
	}
	if !strings.HasPrefix(p, "/") {
		return Address{}, fmt.Errorf("server %q: path %q is relative, want an absolute one such as unix:/run/app.sock", s, p)
	}
	if !strings.HasSuffix(p, "/") { // which Clean would take off
		p = path.Clean(p)
	}
	if strings.HasSuffix(p, ":") || strings.HasSuffix(p, "/") {
		return Address{}, fmt.Errorf("server %q: path ends in %q, want the path of the socket alone", s, p[len(p)-1:])
	}
	if len(p) > maxSocketPath {
		return Address{}, fmt.Errorf("server %q: path of %d bytes is too long for a socket, want at most %d", s, len(p), maxSocketPath)
	}
	return Address{Network: "unix", Addr: p}, nil
}

// parseURL reads what follows "http://".
func parseURL(s, rest string) (Address, error) {
	authority := strings.TrimSuffix(rest, "/")
	if i := strings.IndexAny(authority, "/?#"); i >= 0 {
		return Address{}, fmt.Errorf("server %q: path, query and fragment are not supported, want http://%s", s, authority[:i])
	}
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		return Address{}, fmt.Errorf("server %q: user and password are not supported, want http://%s", s, authority[i+1:])
	}
	if !strings.Contains(authority, ":") || strings.HasSuffix(authority, "]") {
		authority += ":80"
	}
	return parseHostPort(s, authority)
}

// parseHostPort reads "host:port".
func parseHostPort(s, hostport string) (Address, error) {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil {
		return Address{}, hostPortError(s, hostport)
	}
	if host == "" {
		return Address{}, fmt.Errorf("server %q has no host, want 127.0.0.1:%s", s, port)
	}
	if !validHost(host) {
		return Address{}, fmt.Errorf("server %q: %q is no host name or address", s, host)
	}
	n, err := strconv.ParseUint(port, 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return Address{}, fmt.Errorf("server %q: port %q is no number, want 1 to 65535", s, port)
	}
	if n < 1 || n > 65535 {
		return Address{}, fmt.Errorf("server %q: port %s is out of range, want 1 to 65535", s, port)
	}
	return Address{Network: "tcp", Addr: net.JoinHostPort(host, strconv.FormatUint(n, 10))}, nil
}

// hostPortError says why hostport cannot be split.
func hostPortError(s, hostport string) error {
	if _, err := netip.ParseAddr(hostport); err == nil && strings.Contains(hostport, ":") {
		return fmt.Errorf("server %q: an IPv6 address needs brackets and a port, want [%s]:80", s, hostport)
	}
	if strings.HasPrefix(s, "/") {
		return fmt.Errorf("server %q looks like a socket, want unix:%s", s, s)
	}
	if strings.ContainsAny(hostport, "/?#") {
		return fmt.Errorf("server %q: path, query and fragment are not supported, want host:port", s)
	}
	if !strings.Contains(hostport, ":") {
		return fmt.Errorf("server %q has no port, want %s:80 or the app's own port", s, hostport)
	}
	return fmt.Errorf("server %q is no host:port; an IPv6 address needs brackets, as in [::1]:80", s)
}

// validHost reports whether host can be a name or an address. A zone may
// follow an IPv6 address.
func validHost(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	for i := range len(host) {
		c := host[i]
		if c != '-' && c != '.' && c != '_' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return len(host) <= 253
}
