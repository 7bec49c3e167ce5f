package accesslog

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
)

// DefaultBuffer is the number of bytes that wait to be written at most, where
// Options.Buffer is 0.
const DefaultBuffer = 4 << 20

// Format is the form of a line.
type Format uint8

const (
	Combined Format = iota // nginx's combined format, byte for byte
	JSON                   // an object a line, RFC 8259
)

// Options of a Log. One of Path and Out is needed.
type Options struct {
	Path   string       // file to append to; it is created if its directory exists
	Format Format       // zero: Combined
	Out    io.Writer    // instead of Path, for stdout and stderr; never closed
	Buffer int          // bytes held at most until they are written; 0: DefaultBuffer
	Log    *slog.Logger // is told when lines cannot be written; nil: nobody is
}

// Log is an access log. Make it with Open.
type Log struct {
	format  func(s *shard, r *Record)
	limit   int64         // of held
	full    int64         // of held: enough to write at once
	kick    chan struct{} // wakes the writer; one pending wake is enough
	reopen  chan chan error
	stop    chan struct{}
	ended   chan struct{} // closed by the writer
	once    sync.Once     // of Close
	closing error         // of Close, set before ended is closed

	shards  []shard
	_       [64]byte      // what is above is only read
	held    atomic.Int64  // bytes of lines not yet written, those being written included
	order   atomic.Uint64 // number of the newest line
	dropped atomic.Uint64
}

// Open opens the file and starts the goroutine that writes to it, which Close
// ends.
func Open(o Options) (*Log, error) {
	l := &Log{
		format: (*shard).combined,
		limit:  int64(o.Buffer),
		kick:   make(chan struct{}, 1),
		reopen: make(chan chan error),
		stop:   make(chan struct{}),
		ended:  make(chan struct{}),
		shards: make([]shard, shardCount(runtime.GOMAXPROCS(0))),
	}
	if o.Format == JSON {
		l.format = (*shard).json
	}
	if l.limit == 0 {
		l.limit = DefaultBuffer
	}
	l.full = min(writeSize, l.limit/2)
	w := &writer{log: l, report: o.Log, out: o.Out}
	if w.report == nil {
		w.report = slog.New(slog.DiscardHandler)
	}
	if o.Out == nil {
		if o.Path == "" {
			return nil, errors.New("access log: neither a path nor a writer is set")
		}
		w.path = o.Path
		if err := w.open(); err != nil {
			return nil, fmt.Errorf("access log: %w", err)
		}
	}
	go w.run()
	return l, nil
}

// shardCount is twice the processors, so that one of them is free, as a power
// of two.
func shardCount(processors int) int {
	n := 2
	for n < 2*processors && n < 32 {
		n *= 2
	}
	return n
}

// Log adds a line. It never waits for a write and keeps no byte of r. A line
// that does not fit into the buffer is dropped and counted, and so is one after
// Close.
func (l *Log) Log(r *Record) {
	s := l.free()
	l.format(s, r)
	size := int64(len(s.line))
	var held int64
	if !s.closed {
		held = l.reserve(size)
	}
	if held == 0 {
		s.Unlock()
		l.dropped.Add(1)
		return
	}
	s.add(l.order.Add(1))
	s.Unlock()
	if held == size || held >= l.full {
		select {
		case l.kick <- struct{}{}:
		default:
		}
	}
}

// reserve takes room for a line. held is how much is taken then; 0: there was
// not enough.
func (l *Log) reserve(size int64) (held int64) {
	for {
		old := l.held.Load()
		if old+size > l.limit {
			return 0
		}
		if l.held.CompareAndSwap(old, old+size) {
			return old + size
		}
	}
}

// free locks a shard, if possible one that nobody uses.
func (l *Log) free() *shard {
	at := int(rand.Uint32())
	for i := range 2 {
		if s := &l.shards[(at+i)&(len(l.shards)-1)]; s.TryLock() {
			return s
		}
	}
	s := &l.shards[at&(len(l.shards)-1)]
	s.Lock()
	return s
}

// Reopen writes what is buffered and opens Path anew, for use after a rename by
// logrotate. If that fails the old file stays in use. With Out it only writes.
// It waits for a write under way.
func (l *Log) Reopen() error {
	answer := make(chan error, 1)
	select {
	case l.reopen <- answer:
		return <-answer
	case <-l.ended:
		return fmt.Errorf("access log: %w", os.ErrClosed)
	}
}

// Dropped returns how many lines were not written: for want of room in the
// buffer, because writing failed, or after Close.
func (l *Log) Dropped() uint64 { return l.dropped.Load() }

// Close writes what is buffered, ends the goroutine and closes the file. The
// error is that of the last write, if it failed, or of closing. Further calls
// do nothing and return the same.
func (l *Log) Close() error {
	l.once.Do(func() { close(l.stop) })
	<-l.ended
	return l.closing
}
