package realtest

import (
	"net"
	"testing"
)

func TestFreeAddrs(t *testing.T) {
	seen := map[string]bool{}
	for _, addr := range FreeAddrs(t, 50) {
		if seen[addr] {
			t.Errorf("%s comes twice", addr)
		}
		seen[addr] = true
		l, err := net.Listen("tcp", addr)
		if err != nil {
			t.Errorf("not free: %v", err)
			continue
		}
		l.Close()
	}
	if len(seen) != 50 {
		t.Errorf("%d addresses, want 50", len(seen))
	}
}
