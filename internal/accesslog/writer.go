package accesslog

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"
)

const (
	writeSize  = 64 << 10               // bytes that are worth a write of their own
	writeAfter = 100 * time.Millisecond // how long fewer wait
	reportGap  = time.Minute            // between two reports of failing writes
	spareLimit = 1 << 20                // bytes of a shard's buffer that are kept when it is empty
)

// writer is the goroutine that writes. It alone knows the file.
type writer struct {
	log    *Log
	path   string // "": out is not ours
	out    io.Writer
	file   *os.File // out, where path is set
	report *slog.Logger

	taken    [][]byte // a buffer a shard, swapped with its lines
	batches  []batch
	gathered []byte // lines in order, up to writeSize and one line
	count    int    // of the lines in gathered
	torn     bool   // the last write ended within a line
	failed   error  // of the last write
	reported time.Time
}

// open opens path and uses it from here on.
func (w *writer) open() error {
	f, err := os.OpenFile(w.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	if w.file != nil {
		w.file.Close()
	}
	w.file, w.out, w.torn = f, f, false
	return nil
}

func (w *writer) run() {
	defer close(w.log.ended)
	w.taken = make([][]byte, len(w.log.shards))
	w.batches = make([]batch, len(w.log.shards))
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	var late <-chan time.Time // nil, and never ready, where no line waits
	for {
		if late == nil && w.log.held.Load() > 0 {
			timer.Reset(writeAfter)
			late = timer.C
		}
		select {
		case <-w.log.kick:
			if w.log.held.Load() < w.log.full {
				continue // the first line: time begins to run
			}
			w.flush(false)
		case <-late:
			w.flush(false)
		case answer := <-w.log.reopen:
			answer <- w.reopen()
		case <-w.log.stop:
			w.log.closing = w.close()
			return
		}
		late = nil
	}
}

func (w *writer) reopen() error {
	w.flush(false)
	if w.path == "" {
		return nil
	}
	if err := w.open(); err != nil {
		return fmt.Errorf("access log: %w", err)
	}
	return nil
}

func (w *writer) close() error {
	w.flush(true)
	err := w.failed
	if w.file != nil {
		if e := w.file.Close(); err == nil {
			err = e
		}
	}
	if err != nil {
		return fmt.Errorf("access log: %w", err)
	}
	return nil
}

// flush writes the lines of all shards. last: and lets no more in.
func (w *writer) flush(last bool) {
	w.take(last)
	for b := w.oldest(); b != nil; b = w.oldest() {
		w.gathered = append(w.gathered, b.cut()...)
		w.count++
		if len(w.gathered) >= writeSize {
			w.write()
		}
	}
	if w.count > 0 {
		w.write()
	}
}

// take empties the shards. It holds all their locks at once: a caller's earlier
// line is then in what is taken whenever its later one is.
func (w *writer) take(last bool) {
	shards := w.log.shards
	for i := range shards {
		shards[i].Lock()
	}
	for i := range shards {
		s := &shards[i]
		s.lines, w.taken[i] = w.taken[i], s.lines
		s.closed = s.closed || last
		s.Unlock()
	}
	for i, lines := range w.taken {
		w.batches[i] = lines
		if cap(lines) <= spareLimit {
			w.taken[i] = lines[:0]
		} else {
			w.taken[i] = nil
		}
	}
}

// oldest is the batch that begins with the oldest line; nil: all are empty.
func (w *writer) oldest() (found *batch) {
	for i := range w.batches {
		b := &w.batches[i]
		if len(*b) > 0 && (found == nil || b.number() < found.number()) {
			found = b
		}
	}
	return found
}

// write writes what is gathered. What cannot be written is lost and counted:
// the next lines may find room again, and older ones would only be in their way.
func (w *writer) write() {
	lines := w.gathered
	if w.torn {
		if _, err := w.out.Write([]byte{'\n'}); err != nil {
			w.wrote(0, err)
			return
		}
		w.torn = false
	}
	n, err := w.out.Write(lines)
	if err == nil && n < len(lines) {
		err = io.ErrShortWrite
	}
	w.torn = n > 0 && lines[n-1] != '\n'
	w.wrote(n, err)
}

// wrote ends a write of what is gathered, of which n bytes went out. The first
// failure of a row is reported, but not every one of a disk that is full now
// and then.
func (w *writer) wrote(n int, err error) {
	if err != nil {
		w.log.dropped.Add(uint64(w.count - bytes.Count(w.gathered[:n], []byte{'\n'})))
		if now := time.Now(); w.failed == nil && (w.reported.IsZero() || now.Sub(w.reported) >= reportGap) {
			w.reported = now
			w.report.Error("access log: lines are lost", "error", err)
		}
	}
	w.failed = err
	w.log.held.Add(-int64(len(w.gathered)))
	w.gathered, w.count = w.gathered[:0], 0
}
