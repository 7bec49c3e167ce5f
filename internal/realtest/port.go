package realtest

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// FreeAddr gives an address on 127.0.0.1 that nobody listens on. It lies below
// the ports that the kernel hands out by itself, so that no outgoing
// connection of another test takes it before the server under test does.
func FreeAddr(t testing.TB) string {
	t.Helper()
	const low, high = 20000, 32000
	for range 200 {
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(low+rand.IntN(high-low)))
		l, err := net.Listen("tcp", addr)
		if err != nil {
			continue
		}
		l.Close()
		return addr
	}
	t.Fatalf("no free port found between %d and %d", low, high)
	return ""
}
