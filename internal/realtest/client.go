package realtest

import (
	"context"
	"net"
	"net/http"
	"strings"
)

// Dial connects to host:port, or to a unix socket by its path.
func Dial(addr string) (net.Conn, error) { return net.Dial(network(addr), addr) }

// network gives the network of an address.
func network(addr string) string {
	if strings.HasPrefix(addr, "/") {
		return "unix"
	}
	return "tcp"
}

// Client gives an HTTP client that connects to addr (host:port, or the path of
// a unix socket) whatever host a URL names, and follows no redirect.
func Client(addr string) *http.Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network(addr), addr)
	}
	return &http.Client{
		Transport:     &http.Transport{DialContext: dial, DisableCompression: true, MaxIdleConnsPerHost: 64},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       patience,
	}
}
