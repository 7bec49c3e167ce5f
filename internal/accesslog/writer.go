package accesslog

import (
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
	failing  bool
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
	for {
		var late <-chan time.Time // nil, and never ready, where no line waits
		if w.log.held.Load() > 0 {
			timer.Reset(writeAfter)
			late = timer.C
		}
		select {
		case <-w.log.kick:
			// The first line wakes only to set the timer.
			if late == nil && w.log.held.Load() < w.log.full {
				continue
			}
		case <-late:
		case answer := <-w.log.reopen:
			answer <- w.reopen()
			continue
		case <-w.log.stop:
			w.log.closing = w.close()
			return
		}
		w.flush(false)
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
	err := w.flush(true)
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
func (w *writer) flush(last bool) (err error) {
	w.take(last)
	for b := w.oldest(); b != nil; b = w.oldest() {
		w.gathered = append(w.gathered, b.cut()...)
		w.count++
		if len(w.gathered) >= writeSize {
			err = w.write()
		}
	}
	if w.count > 0 {
		err = w.write()
	}
	return err
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
func (w *writer) write() error {
	lines, count := w.gathered, w.count
	w.gathered, w.count = w.gathered[:0], 0
	defer w.log.held.Add(-int64(len(lines)))
	if w.torn {
		if _, err := w.out.Write([]byte{'\n'}); err != nil {
			return w.failed(err, count)
		}
		w.torn = false
	}
	n, err := w.out.Write(lines)
	if err == nil && n < len(lines) {
		err = io.ErrShortWrite
	}
	if err != nil {
		for _, b := range lines[:n] {
			if b == '\n' {
				count--
			}
		}
		w.torn = n > 0 && lines[n-1] != '\n'
		return w.failed(err, count)
	}
	w.failing = false
	return nil
}

// failed counts lost lines and reports the first failure of a row, but not
// every one of a disk that is full now and then.
func (w *writer) failed(err error, lost int) error {
	w.log.dropped.Add(uint64(lost))
	if now := time.Now(); !w.failing && (w.reported.IsZero() || now.Sub(w.reported) >= reportGap) {
		w.reported = now
		w.report.Error("access log: lines are lost", "error", err)
	}
	w.failing = true
	return err
}
