package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/ssiedge/ssiedge/conf"
	"github.com/ssiedge/ssiedge/internal/demo"
)

// runDemo runs the sample site, the sample app and the edge in this process until
// ctx ends.
func runDemo(ctx context.Context, stdout, stderr io.Writer) int {
	d, err := demo.Start()
	if err != nil {
		fmt.Fprintf(stderr, "ssiedge: %v\n", err)
		return exitFailed
	}
	defer d.Close()
	public, admin, err := freeAddresses()
	if err != nil {
		fmt.Fprintf(stderr, "ssiedge: demo: %v\n", err)
		return exitFailed
	}
	file, _, err := d.WriteConfig(public, admin)
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
	return serve(ctx, cfg, serveOptions{
		load: load, stdout: stdout, stderr: stderr,
		ready: func([]net.Addr) { announce(stdout, d, file, "http://"+public, "http://"+admin) },
	})
}

// freeAddresses finds two ports that nobody listens on.
func freeAddresses() (public, admin string, err error) {
	var addrs [2]string
	for i := range addrs {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return "", "", err
		}
		defer l.Close() // not before both are found, or they could be one
		addrs[i] = l.Addr().String()
	}
	return addrs[0], addrs[1], nil
}

func announce(w io.Writer, d *demo.Demo, file, base, admin string) {
	fmt.Fprintf(w, "The Lantern Coast, a site to try the edge with: %s\n", base)
	fmt.Fprintf(w, "Its files are in %s, its configuration is %s.\n\nTry:\n", d.Root, file)
	for _, stop := range d.Tour(base, admin) {
		fmt.Fprintf(w, "\n# %s\n%s\n", stop.Says, stop.Command)
	}
	fmt.Fprintln(w, "\nControl-C ends it.")
}
