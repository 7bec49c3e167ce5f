package accesslog

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is how long a test waits for what must come.
const patience = time.Minute

func record(target string) *Record {
	return &Record{
		Time: time.Date(2026, 11, 30, 16, 11, 15, 42e6, time.UTC), Client: netip.MustParseAddr("192.0.2.1"),
		Method: []byte("GET"), Target: []byte(target), Protocol: "HTTP/1.1", Status: 200, Bytes: 5,
	}
}

func open(t testing.TB, o Options) *Log {
	t.Helper()
	l, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// targets are those of the lines in a combined log, in order.
func targets(t *testing.T, text string) (list []string) {
	t.Helper()
	for s := bufio.NewScanner(strings.NewReader(text)); s.Scan(); {
		fields := strings.Fields(s.Text())
		if len(fields) != 12 {
			t.Fatalf("line %q", s.Text())
		}
		list = append(list, fields[6])
	}
	return list
}

// until waits for a condition.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("still waiting for %s", what)
		}
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// output is a writer that a test can look into, hold up and break.
type output struct {
	mu      sync.Mutex
	text    bytes.Buffer
	room    int           // bytes taken until writes fail; negative: any
	entered chan struct{} // if not nil: told of each write
	gate    chan struct{} // if not nil: each write waits for a token
}

func (o *output) Write(b []byte) (int, error) {
	if o.entered != nil {
		o.entered <- struct{}{}
	}
	if o.gate != nil {
		<-o.gate
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.room < 0 || len(b) <= o.room {
		if o.room >= 0 {
			o.room -= len(b)
		}
		return o.text.Write(b)
	}
	n, _ := o.text.Write(b[:o.room])
	o.room = 0
	return n, syscall.ENOSPC
}

func (o *output) set(room int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.room = room
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

func TestCloseWritesWhatIsBuffered(t *testing.T) {
	path := filepath.Join(t.TempDir(), "access.log")
	if err := os.WriteFile(path, []byte("old\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := open(t, Options{Path: path})
	for i := range 3 {
		l.Log(record(fmt.Sprint("/", i)))
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	rest, ok := strings.CutPrefix(readFile(t, path), "old\n")
	if got := targets(t, rest); !ok || fmt.Sprint(got) != "[/0 /1 /2]" {
		t.Errorf("the file has %q", rest)
	}
	l.Log(record("/late"))
	if l.Dropped() != 1 {
		t.Errorf("%d lines dropped after Close, want 1", l.Dropped())
	}
	if err := l.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	if err := l.Reopen(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Reopen after Close: %v", err)
	}
}

// A single line is written without another one, or Close.
func TestLoneLineIsWritten(t *testing.T) {
	out := &output{room: -1}
	l := open(t, Options{Out: out})
	for i := range 3 {
		want := fmt.Sprint("/", i)
		l.Log(record(want))
		until(t, want, func() bool { return strings.Contains(out.String(), want) })
	}
}

func TestOpenRefuses(t *testing.T) {
	if _, err := Open(Options{}); err == nil {
		t.Error("neither path nor writer, and no error")
	}
	path := filepath.Join(t.TempDir(), "none", "access.log")
	if _, err := Open(Options{Path: path}); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), path) {
		t.Errorf("in no directory: %v", err)
	}
}

// Lines of one caller stay in order, whatever others log, and none is lost.
func TestOrderWithinACaller(t *testing.T) {
	const callers, lines = 8, 2000
	out := &output{room: -1}
	l := open(t, Options{Out: out, Buffer: 64 << 20})
	var wg sync.WaitGroup
	for c := range callers {
		wg.Go(func() {
			for i := range lines {
				l.Log(record(fmt.Sprintf("/%d/%d", c, i)))
			}
		})
	}
	wg.Wait()
	if err := l.Close(); err != nil || l.Dropped() != 0 {
		t.Fatalf("close: %v, %d dropped", err, l.Dropped())
	}
	var next [callers]int
	for _, target := range targets(t, out.String()) {
		var c, i int
		if _, err := fmt.Sscanf(target, "/%d/%d", &c, &i); err != nil {
			t.Fatal(err)
		}
		if i != next[c] {
			t.Fatalf("caller %d: line %d where %d was due", c, i, next[c])
		}
		next[c]++
	}
	for c, n := range next {
		if n != lines {
			t.Errorf("caller %d: %d lines, want %d", c, n, lines)
		}
	}
}

// A writer that hangs holds nobody up: lines beyond the buffer are dropped and
// counted, the others come out when it moves again.
func TestFullBufferDrops(t *testing.T) {
	out := &output{room: -1, entered: make(chan struct{}, 1000), gate: make(chan struct{})}
	l := open(t, Options{Out: out, Buffer: 1000})
	l.Log(record("/0"))
	<-out.entered // the writer hangs from here on
	size := len(`192.0.2.1 - - [30/Nov/2026:16:11:15 +0000] "GET /0 HTTP/1.1" 200 5 "-" "-"` + "\n")
	fit := 1000/size - 1 // the one being written counts
	for i := range 9 {
		l.Log(record(fmt.Sprintf("/%c", 'a'+i)))
	}
	l.Log(record("/" + strings.Repeat("long", 1000)))
	for range 10 {
		l.Log(record("/z"))
	}
	if want := uint64(20 - fit); l.Dropped() != want {
		t.Errorf("%d dropped, want %d", l.Dropped(), want)
	}
	close(out.gate)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	got := targets(t, out.String())
	if len(got) != 1+fit || got[0] != "/0" || got[1] != "/a" {
		t.Errorf("%d lines came out, want %d: %v", len(got), 1+fit, got)
	}
}

func TestReopen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "access.log")
	l := open(t, Options{Path: path})
	l.Log(record("/before"))
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	if err := l.Reopen(); err != nil {
		t.Fatal(err)
	}
	l.Log(record("/after"))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if got := targets(t, readFile(t, path+".1")); fmt.Sprint(got) != "[/before]" {
		t.Errorf("the old file has %v", got)
	}
	if got := targets(t, readFile(t, path)); fmt.Sprint(got) != "[/after]" {
		t.Errorf("the new file has %v", got)
	}
}

func TestReopenFailureKeepsTheFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "logs", "access.log")
	if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	l := open(t, Options{Path: path})
	l.Log(record("/1"))
	moved := filepath.Join(dir, "moved")
	if err := os.Rename(filepath.Dir(path), moved); err != nil {
		t.Fatal(err)
	}
	if err := l.Reopen(); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("reopen where no directory is: %v", err)
	}
	l.Log(record("/2"))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if got := targets(t, readFile(t, filepath.Join(moved, "access.log"))); fmt.Sprint(got) != "[/1 /2]" {
		t.Errorf("the file has %v", got)
	}
}

func TestReopenOfAWriter(t *testing.T) {
	out := &output{room: -1}
	l := open(t, Options{Out: out})
	l.Log(record("/1"))
	if err := l.Reopen(); err != nil {
		t.Fatal(err)
	}
	if got := targets(t, out.String()); fmt.Sprint(got) != "[/1]" {
		t.Errorf("after Reopen: %v", got)
	}
}

// A full disk costs lines, each counted, and one report; a line that was cut
// off does not swallow the next one.
func TestWriteErrors(t *testing.T) {
	line := `192.0.2.1 - - [30/Nov/2026:16:11:15 +0000] "GET /1 HTTP/1.1" 200 5 "-" "-"` + "\n"
	var reports bytes.Buffer
	out := &output{room: len(line) + 10}
	l := open(t, Options{Out: out, Log: slog.New(slog.NewTextHandler(&reports, nil))})
	log := func(names ...string) {
		for _, n := range names {
			l.Log(record(n))
		}
		if err := l.Reopen(); err != nil { // waits for the write
			t.Fatal(err)
		}
	}
	log("/1", "/2", "/3") // 1 whole, 2 in part
	if l.Dropped() != 2 {
		t.Errorf("%d lines dropped, want 2", l.Dropped())
	}
	log("/4")
	if l.Dropped() != 3 {
		t.Errorf("%d lines dropped, want 3", l.Dropped())
	}
	out.set(-1)
	log("/5")
	out.set(0)
	log("/6")
	out.set(-1)
	log("/7")
	if l.Dropped() != 4 {
		t.Errorf("%d lines dropped, want 4", l.Dropped())
	}
	want := line + line[:10] + "\n" + strings.Replace(line, "/1", "/5", 1) + strings.Replace(line, "/1", "/7", 1)
	if got := out.String(); got != want {
		t.Errorf("written:\n%s\nwant:\n%s", got, want)
	}
	if err := l.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if n := strings.Count(reports.String(), "\n"); n != 1 || !strings.Contains(reports.String(), "no space left") {
		t.Errorf("%d reports, want 1: %s", n, reports.String())
	}
}

func TestCloseTellsOfTheLastWrite(t *testing.T) {
	l := open(t, Options{Out: &output{room: 3}})
	l.Log(record("/1"))
	if err := l.Close(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("close: %v, want no space", err)
	}
}

// Nothing of a record is kept: its bytes belong to the request.
func TestLogKeepsNothing(t *testing.T) {
	out := &output{room: -1}
	l := open(t, Options{Out: out})
	r := record("/kept")
	l.Log(r)
	for i := range r.Target {
		r.Target[i] = 'X'
	}
	l.Close()
	if got := targets(t, out.String()); fmt.Sprint(got) != "[/kept]" {
		t.Errorf("written: %v", got)
	}
}

// Everything at once, for the race detector: callers, reopening, a close.
func TestConcurrentUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "access.log")
	l := open(t, Options{Path: path, Format: JSON, Buffer: 20_000})
	const callers, lines = 4, 500
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for range lines {
				l.Log(record("/x"))
			}
		})
	}
	wg.Go(func() {
		for range 20 {
			if err := l.Reopen(); err != nil && !errors.Is(err, os.ErrClosed) {
				t.Error(err)
			}
			l.Dropped()
		}
	})
	wg.Go(func() { l.Close() })
	wg.Wait()
	written := strings.Count(readFile(t, path), "\n")
	if total := uint64(written) + l.Dropped(); total != callers*lines {
		t.Errorf("%d written and %d dropped, want %d together", written, l.Dropped(), callers*lines)
	}
}

// TestLogAllocatesNothing waits for the writer after every few lines: a writer
// that is late lets the buffers grow, which is no cost of a line.
func TestLogAllocatesNothing(t *testing.T) {
	const lots, lines = 10, 100
	for _, format := range []Format{Combined, JSON} {
		l := open(t, Options{Out: io.Discard, Format: format})
		r := record("/a?b=\"c\"")
		log := func() {
			for range lots {
				for range lines {
					l.Log(r)
				}
				if err := l.Reopen(); err != nil {
					t.Fatal(err)
				}
			}
		}
		log()
		// A Reopen allocates, and now and then a buffer still grows.
		if n := testing.AllocsPerRun(20, log); n > lots*lines/20 {
			t.Errorf("format %d: %v allocations for %d lines, want next to none", format, n, lots*lines)
		}
	}
}

// BenchmarkLog waits for the writer every 256 lines, some 64 KiB, so that it
// shows what a line costs all in all.
func BenchmarkLog(b *testing.B) {
	for name, format := range map[string]Format{"combined": Combined, "json": JSON} {
		b.Run(name, func(b *testing.B) {
			f, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			l := open(b, Options{Out: f, Format: format})
			r := record("/towns/kestrel-bay?page=2")
			r.Time = time.Now()
			r.Host, r.Referer = []byte("www.example.com"), []byte("https://www.example.com/towns")
			r.UserAgent = []byte("Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0")
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if l.Log(r); i%256 == 255 {
					if err := l.Reopen(); err != nil {
						b.Fatal(err)
					}
				}
			}
			if l.Dropped() > 0 {
				b.Errorf("%d lines dropped", l.Dropped())
			}
		})
	}
}

func BenchmarkLogParallel(b *testing.B) {
	l := open(b, Options{Out: io.Discard})
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		r := record("/towns/kestrel-bay?page=2")
		for pb.Next() {
			l.Log(r)
		}
	})
	b.ReportMetric(float64(l.Dropped())/float64(b.N), "dropped/op")
}
