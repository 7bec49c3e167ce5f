package realtest

import (
	"net"
	"runtime"
	"testing"
)

// No address comes twice while its test runs, though nobody listens there yet.
func TestFreeAddrs(t *testing.T) {
	seen := map[string]bool{}
	given := func(addrs ...string) {
		for _, addr := range addrs {
			if seen[addr] {
				t.Errorf("%s comes twice", addr)
			}
			seen[addr] = true
		}
	}
	given(FreeAddrs(t, 50)...)
	if runtime.GOOS == "linux" { // elsewhere only those of one call differ
		for range 600 {
			given(FreeAddr(t))
		}
	}
	for addr := range seen {
		l, err := net.Listen("tcp", addr)
		if err != nil {
			t.Errorf("not free: %v", err)
			continue
		}
		l.Close()
	}
}
