package edge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/ssiedge/ssiedge/pagecache"
)

// diskTier is the tier on disk, and the goroutine that works for it.
type diskTier struct {
	*pagecache.Disk
	end  context.CancelFunc
	done chan struct{} // closed when Run has returned
}

// openDisk opens the tier on disk, for the pages of a journal, and runs it.
func openDisk(o *Disk, journal string, log *slog.Logger) (*diskTier, error) {
	d, err := pagecache.OpenDisk(pagecache.DiskOptions{
		Path: o.Path, Size: o.Size, Journal: journal, Group: keyPath, Log: log,
	})
	if err != nil {
		return nil, fmt.Errorf("disk: %w", err)
	}
	ctx, end := context.WithCancel(context.Background())
	t := &diskTier{Disk: d, end: end, done: make(chan struct{})}
	go func() {
		defer close(t.done)
		d.Run(ctx)
	}()
	return t, nil
}

// close writes what waits, for some seconds at most, and gives the folder back.
// An error means that the disk may not have all that was removed as removed.
func (t *diskTier) close() error {
	t.end()
	<-t.done
	err := t.Sync()
	return errors.Join(err, t.Close())
}

// keyPath gives the path in a key: pages of one path are purged together.
func keyPath(key []byte) []byte {
	for range 3 { // site, scheme, host
		_, key, _ = bytes.Cut(key, []byte{0})
	}
	key, _, _ = bytes.Cut(key, []byte{0})
	path, _, _ := bytes.Cut(key, []byte("?"))
	return path
}
