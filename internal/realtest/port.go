package realtest

import (
	"io"
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// FreeAddr gives an address on 127.0.0.1 that nobody listens on.
func FreeAddr(t testing.TB) string {
	t.Helper()
	return FreeAddrs(t, 1)[0]
}

// FreeAddrs gives different addresses on 127.0.0.1 that nobody listens on. They
// lie below the ports that the kernel hands out by itself, so that no outgoing
// connection of another test takes one before the server under test does. Until
// the test ends they are given to no other test: the go command runs those of
// several packages at once, and it takes a server some time to listen.
func FreeAddrs(t testing.TB, count int) []string {
	t.Helper()
	const low, high = 20000, 32000
	var addrs []string
	for range 200 + count {
		if len(addrs) == count {
			return addrs
		}
		port := low + rand.IntN(high-low)
		claim, err := claimPort(port)
		if err != nil {
			continue // another test has it
		}
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		l, err := net.Listen("tcp", addr)
		if err != nil {
			claim.Close()
			continue
		}
		defer l.Close() // only at the end: so no address comes twice, whatever a claim is worth here
		t.Cleanup(func() { claim.Close() })
		addrs = append(addrs, addr)
	}
	t.Fatalf("only %d of %d free ports found between %d and %d", len(addrs), count, low, high)
	return nil
}

// ClaimAddr gives the address of a port on 127.0.0.1 that a program takes by
// itself, as soon as nobody listens there. Until the test ends no other test is
// given it.
func ClaimAddr(t testing.TB, port int) string {
	t.Helper()
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	var claim io.Closer
	Eventually(t, addr+" is free", func() (free bool) {
		var err error
		if claim, err = claimPort(port); err != nil {
			return false
		}
		l, err := net.Listen("tcp", addr)
		if err != nil {
			claim.Close()
			return false
		}
		l.Close()
		return true
	})
	t.Cleanup(func() { claim.Close() })
	return addr
}
