package main

import (
	"context"
	"io"
	"net"
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

// TestServeOnOpenListeners: nobody can take an address between its choice and
// the start, as it is listened on all the while.
func TestServeOnOpenListeners(t *testing.T) {
	opened, err := listenAnywhere(2)
	defer closeAll(opened)
	if err != nil {
		t.Fatal(err)
	}
	public, admin := opened[0].Addr().String(), opened[1].Addr().String()
	src := "listen = \"" + public + "\"\nhealth_path = \"/up\"\n[admin]\nlisten = \"" + admin + "\"\n[[site]]\nroot = \".\"\n"
	cfg, err := conf.Parse(filepath.Join(t.TempDir(), "ssiedge.toml"), []byte(src), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan int, 1)
	ready := make(chan []net.Addr, 1)
	go func() {
		ended <- serve(ctx, cfg, serveOptions{opened: opened, stdout: io.Discard, stderr: io.Discard, ready: func(addrs []net.Addr) { ready <- addrs }})
	}()
	select {
	case addrs := <-ready:
		if len(addrs) != 1 || addrs[0].String() != public {
			t.Errorf("serves on %v, want %s", addrs, public)
		}
		get(t, visitor(t), "http://"+public+"/up")
		get(t, visitor(t), "http://"+admin+"/healthz")
		cancel()
		if code := <-ended; code != exitDone {
			t.Errorf("exit code %d, want %d", code, exitDone)
		}
	case code := <-ended:
		t.Fatalf("serve ended with %d", code)
	}
	for _, l := range opened {
		if _, err := l.Accept(); err == nil {
			t.Errorf("%s is still open", l.Addr())
		}
	}
}
