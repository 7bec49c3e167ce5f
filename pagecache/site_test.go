package pagecache

import (
	"bytes"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// testClock is a clock that stands still until a test moves it. It starts a
// minute ahead, so that a file written just now is an old one.
type testClock struct {
	base   time.Time
	ahead  atomic.Int64             // of base, in nanoseconds
	files  atomic.Pointer[[]string] // not nil: base is when one of these was changed last, plus a millisecond
	pauses atomic.Int64
	onWait func() // called instead of sleeping; nil: nothing happens
}

func newTestClock() *testClock {
	c := &testClock{base: time.Now()}
	c.advance(time.Minute)
	return c
}

func (c *testClock) advance(d time.Duration) { c.ahead.Add(int64(d)) }

// follow makes the clock show a time at which the files were changed just now,
// however long the machine takes for it.
func (c *testClock) follow(files ...string) {
	c.files.Store(&files)
	c.ahead.Store(0)
}

func (c *testClock) now() time.Time {
	now := c.base
	if files := c.files.Load(); files != nil {
		for _, name := range *files {
			if st, err := statPath(name); err == nil {
				changed := time.Unix(0, max(st.id.mtime, st.id.change)).Add(time.Millisecond)
				if changed.After(now) {
					now = changed
				}
			}
		}
	}
	return now.Add(time.Duration(c.ahead.Load()))
}

func (c *testClock) sleep(d time.Duration) {
	c.pauses.Add(1)
	if c.onWait != nil {
		c.onWait()
	}
}

func (c *testClock) clock() *clock {
	return &clock{now: c.now, sleep: c.sleep, start: c.base}
}

// site is a root with files, and what a test needs round it.
type site struct {
	*Files
	t      testing.TB
	dir    string // the root
	clock  *testClock
	memory *Memory
	said   *logText
}

func newSite(t testing.TB, o FilesOptions, files ...string) *site {
	t.Helper()
	s := &site{t: t, clock: newTestClock(), memory: NewMemory(4 << 20), said: new(logText)}
	return s.open(o, files...)
}

// open makes the files, "name=text", and opens the site over them.
func (s *site) open(o FilesOptions, files ...string) *site {
	s.t.Helper()
	if o.Root == "" {
		o.Root = filepath.Join(s.t.TempDir(), "root")
	}
	s.dir = o.Root
	os.MkdirAll(s.dir, 0o755)
	for _, f := range files {
		name, text, _ := strings.Cut(f, "=")
		s.write(name, text)
	}
	f, err := OpenFiles(o, s.memory, slog.New(slog.NewTextHandler(s.said, nil)))
	if err != nil {
		s.t.Fatal(err)
	}
	f.clock = s.clock.clock()
	s.t.Cleanup(func() { f.Close() })
	s.Files = f
	return s
}

func (s *site) path(name string) string { return filepath.Join(s.dir, name) }

func (s *site) write(name, text string) {
	s.t.Helper()
	outlast(s.t, s.path(name), s.dir+".probe")
	if err := os.MkdirAll(filepath.Dir(s.path(name)), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(s.path(name), []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// outlast waits until a file that is written now gets other times than the last
// write of this one left: many kernels change the time of files only every few
// milliseconds. It does nothing where there is no such file. probe is one that
// it may write.
func outlast(t testing.TB, name, probe string) {
	t.Helper()
	last, err := statPath(name)
	if err != nil {
		return
	}
	realtest.Eventually(t, "the time of files goes on", func() bool {
		if err := os.WriteFile(probe, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		st, err := statPath(probe)
		return err == nil && st.id.change > last.id.change
	})
}

func (s *site) link(target, name string) {
	s.t.Helper()
	if err := os.MkdirAll(filepath.Dir(s.path(name)), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Symlink(target, s.path(name)); err != nil {
		s.t.Fatal(err)
	}
}

// young makes files the clock's: they are a millisecond old.
func (s *site) young(names ...string) {
	var files []string
	for _, name := range names {
		files = append(files, s.path(name))
	}
	s.clock.follow(files...)
}

// dated sets the time of a file's last write.
func (s *site) dated(name string, at time.Time) {
	s.t.Helper()
	if err := os.Chtimes(s.path(name), at, at); err != nil {
		s.t.Fatal(err)
	}
}

// get gives the body of a path, or "none".
func (s *site) get(path string) string {
	s.t.Helper()
	h, ok := s.Get([]byte(path), false)
	if !ok {
		return "none"
	}
	return bodyOf(s.t, h)
}

// bodyOf reads a hit whole and closes its file.
func bodyOf(t testing.TB, h Hit) string {
	t.Helper()
	if h.File == nil {
		return string(h.Page.Body)
	}
	defer h.File.Close()
	b, err := io.ReadAll(io.NewSectionReader(h.File, 0, h.Page.Length))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// want checks what paths give, "path=body" or "path=none".
func (s *site) want(what string, cases ...string) {
	s.t.Helper()
	for _, c := range cases {
		path, body, _ := strings.Cut(c, "=")
		if got := s.get(path); got != body {
			s.t.Errorf("%s: %q gives %q, want %q", what, path, got, body)
		}
	}
}

// logText is what was logged.
type logText struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logText) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

func (l *logText) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.buf.String(), text)
}

func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}
