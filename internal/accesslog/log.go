package accesslog

import (
	"errors"
	"io"
	"log/slog"
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
	Log    *slog.Logger // is told of lines that could not be written; nil: nobody is
}

// Log is an access log.
type Log struct{}

// Open opens the file and starts the goroutine that writes to it, which Close
// ends.
func Open(o Options) (*Log, error) { return nil, errors.New("accesslog: not written") }

// Log adds a line. It never waits for a write and keeps no byte of r. A line
// that does not fit into the buffer is dropped and counted.
func (l *Log) Log(r *Record) {}

// Reopen opens Path anew, for use after a rename by logrotate. If that fails
// the old file stays in use.
func (l *Log) Reopen() error { return nil }

// Dropped returns how many lines were not written.
func (l *Log) Dropped() uint64 { return 0 }

// Close writes what is buffered and ends the goroutine.
func (l *Log) Close() error { return nil }
