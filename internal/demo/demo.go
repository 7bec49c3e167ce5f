package demo

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

//go:embed site
var embedded embed.FS

// stopTime bounds how long Close waits for answers that are still being
// written: the longest fragment waits for its request to be cancelled.
const stopTime = 2 * time.Second

// Demo is the sample site on disk and the sample app, running.
type Demo struct {
	// Dir is the temporary folder that holds everything the demo writes.
	Dir string
	// Root is the folder of published pages, below Dir.
	Root string
	// Origin is the URL of the app, "http://127.0.0.1:PORT".
	Origin string

	server *http.Server
	ended  chan error // of server.Serve; one value
}

// Start copies the site to a temporary folder and starts the app on a free
// loopback port. The caller must Close the Demo.
func Start() (*Demo, error) {
	dir, err := os.MkdirTemp("", "ssiedge-demo-")
	if err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	d := &Demo{Dir: dir, Root: filepath.Join(dir, "public")}
	if err := d.start(); err != nil {
		return nil, fmt.Errorf("demo: %w", errors.Join(err, os.RemoveAll(dir)))
	}
	return d, nil
}

func (d *Demo) start() error {
	site, err := fs.Sub(embedded, "site")
	if err != nil {
		return err
	}
	if err := os.CopyFS(d.Root, site); err != nil {
		return err
	}
	app, err := newApp(os.DirFS(d.Root))
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	d.Origin = "http://" + l.Addr().String()
	d.server = &http.Server{
		Handler:           app.handler(),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       75 * time.Second,
	}
	d.ended = make(chan error, 1)
	go func() { d.ended <- d.server.Serve(l) }()
	return nil
}

// Close stops the app, waits for it to end and removes the temporary folder.
// It must be called once.
func (d *Demo) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	if err := d.server.Shutdown(ctx); err != nil {
		d.server.Close() // answers that would not end in time
	}
	err := <-d.ended
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return errors.Join(err, os.RemoveAll(d.Dir))
}
