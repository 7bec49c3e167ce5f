package realtest

import (
	"bytes"
	"strings"
	"sync"
)

// Output is what a process has printed so far. It may be read while the
// process goes on writing.
type Output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write takes what the process prints. It never fails.
func (o *Output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(b)
}

// String gives everything printed so far.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// Contains says whether text has been printed.
func (o *Output) Contains(text string) bool {
	return strings.Contains(o.String(), text)
}

// tail gives the last lines, for a report of a failure.
func (o *Output) tail(lines int) string {
	all := strings.Split(strings.TrimRight(o.String(), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
