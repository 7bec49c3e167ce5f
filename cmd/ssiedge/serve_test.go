package main

import (
	"context"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/ssiedge/ssiedge/conf"
	"github.com/ssiedge/ssiedge/internal/realtest"
)

// TestStopBeforeServing: a signal may come when the listeners are open and
// nothing is accepted yet. Who is first is up to the scheduler, hence the runs.
func TestStopBeforeServing(t *testing.T) {
	src := "listen = \"" + realtest.FreeAddr(t) + "\"\n[admin]\nlisten = \"" + realtest.FreeAddr(t) + "\"\n[[site]]\nroot = \".\"\n"
	cfg, err := conf.Parse(filepath.Join(t.TempDir(), "ssiedge.toml"), []byte(src), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for range 50 {
		ended := make(chan int, 1)
		go func() { ended <- serve(ctx, cfg, serveOptions{stdout: io.Discard, stderr: io.Discard}) }()
		select {
		case code := <-ended:
			if code != exitDone {
				t.Fatalf("exit code %d, want %d", code, exitDone)
			}
		case <-time.After(30 * time.Second):
			t.Fatal("serve does not end")
		}
	}
}
