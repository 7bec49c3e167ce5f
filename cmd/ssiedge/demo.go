package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/ssiedge/ssiedge/conf"
	"github.com/ssiedge/ssiedge/internal/demo"
)

// demoDrain bounds how long the demo's last answers may take once it is told to
// end: its slowest page is ready well before.
const demoDrain = 3 * time.Second

// runDemo runs the sample site, the sample app and the edge in this process until
// ctx ends. Its folder is gone when it returns.
func runDemo(ctx context.Context, stdout, stderr io.Writer) int {
	d, err := demo.Start()
	if err != nil {
		fmt.Fprintf(stderr, "ssiedge: %v\n", err)
		return exitFailed
	}
	code := serveDemo(ctx, d, stdout, stderr)
	if err := d.Close(); err != nil {
		fmt.Fprintf(stderr, "ssiedge: demo: %v\n", err)
		return exitFailed
	}
	return code
}

// serveDemo writes the demo's configuration, reads it as serve would read any
// file, and serves.
func serveDemo(ctx context.Context, d *demo.Demo, stdout, stderr io.Writer) int {
	opened, err := listenAnywhere(2)
	defer closeAll(opened) // again, where serve has
	if err != nil {
		fmt.Fprintf(stderr, "ssiedge: demo: %v\n", err)
		return exitFailed
	}
	public, admin := opened[0].Addr().String(), opened[1].Addr().String()
	file, err := d.WriteConfig(public, admin)
	if err != nil {
		fmt.Fprintf(stderr, "ssiedge: %v\n", err)
		return exitFailed
	}
	load := func() (*conf.Config, error) { return conf.Load(file, os.LookupEnv) }
	cfg, err := load()
	if err != nil {
		printProblems(stderr, err)
		return exitFailed
	}
	quit, stop := context.WithCancel(context.Background())
	defer stop()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(demoDrain, stop) })()
	return serve(ctx, cfg, serveOptions{
		load: load, quit: quit, opened: opened, stdout: stdout, stderr: stderr,
		ready: func([]net.Addr) { announce(stdout, d, "http://"+public, "http://"+admin) },
	})
}

// listenAnywhere opens so many listeners on free ports of this machine, or fewer
// and an error. Whoever looked for free ports and listened later could find them
// taken.
func listenAnywhere(count int) (opened []net.Listener, err error) {
	for range count {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return opened, err
		}
		opened = append(opened, l)
	}
	return opened, nil
}

func closeAll(listeners []net.Listener) {
	for _, l := range listeners {
		l.Close()
	}
}

// announce says what there is to see. It writes all at once, so that lines of the
// log do not get between.
func announce(w io.Writer, d *demo.Demo, base, admin string) {
	var b strings.Builder
	fmt.Fprintf(&b, "The Lantern Coast, a sample site behind ssiedge, in %s\n\nOpen:\n\n", d.Dir)
	for _, p := range demo.Places() {
		fmt.Fprintf(&b, "  %-36s %s\n", base+p.Path, p.Says)
	}
	fmt.Fprint(&b, "\nEdit a file in public and reload: the next request sees it. Or try, in another terminal:\n\n")
	fmt.Fprintf(&b, "  cd %s\n", d.Dir)
	for _, s := range demo.Tour(base, admin) {
		fmt.Fprintf(&b, "\n  # %s\n  %s\n  # shows: %s\n", s.Says, s.Command, s.Shows)
	}
	fmt.Fprint(&b, "\nThe files are public, ssiedge.toml and access.log. Control-C ends it and removes them.\n")
	io.WriteString(w, b.String())
}
