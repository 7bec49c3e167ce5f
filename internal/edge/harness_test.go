package edge

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ssiedge/ssiedge/internal/realtest"
	"github.com/ssiedge/ssiedge/origin"
	"github.com/ssiedge/ssiedge/pagecache"
)

func TestMain(m *testing.M) { realtest.Main(m) }

// patience bounds what has to come anyway: a test that waits so long has failed.
const patience = time.Minute

// testHost is the Host of requests that name none.
const testHost = "www.example.com"

// testEdge is an Edge behind a real Server on a free port.
type testEdge struct {
	*Edge
	t       testing.TB
	options Options
	server  *Server
	served  []chan error // one a listener: what Serve returned
	addr    string
	log     *logBuffer
	panics  uint64 // that the test provokes
}

// newEdge starts an edge with one site for every host, the defaults of the
// configuration in place. Each change may set anything. At the end of the test
// the server shuts down, and there must be neither a panic nor an open
// connection that the test does not know of.
func newEdge(t testing.TB, changes ...func(*Options)) *testEdge {
	t.Helper()
	e := &testEdge{t: t, log: new(logBuffer)}
	e.options = testOptions(changes...)
	e.options.Log = slog.New(slog.NewTextHandler(e.log, nil))
	var err error
	if e.Edge, err = New(e.options); err != nil {
		t.Fatal(err)
	}
	e.server = NewServer(e.Edge)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e.addr = l.Addr().String()
	e.serve(l)
	t.Cleanup(e.stop)
	return e
}

// serve serves one more listener.
func (e *testEdge) serve(l net.Listener) {
	ended := make(chan error, 1)
	go func() { ended <- e.server.Serve(l) }()
	e.served = append(e.served, ended)
}

func (e *testEdge) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	// A connection that a test leaves without a byte counts as idle after 5 s
	// only; closing all is what follows then.
	e.visitors.closeAll()
	if err := e.server.Shutdown(ctx); err != nil {
		e.t.Errorf("Shutdown: %v", err)
	}
	for _, ended := range e.served {
		if err := <-ended; err != nil && !errors.Is(err, net.ErrClosed) {
			e.t.Errorf("Serve: %v", err)
		}
	}
	e.Close()
	realtest.Eventually(e.t, "all connections are closed", func() bool { return e.open() == 0 })
	if n := e.metrics.panics.Load(); n != e.panics {
		e.t.Errorf("%d panics, want %d", n, e.panics)
	}
	if e.t.Failed() {
		e.t.Logf("the edge's log:\n%s", e.log)
	}
}

// open is the number of open connections of visitors.
func (e *testEdge) open() int { return e.visitors.count() }

func testOptions(changes ...func(*Options)) Options {
	o := Options{
		Memory: 32 << 20,
		Limits: Limits{
			Header: DefaultHeaderLimit, Body: DefaultBodyLimit, Connections: 500, MaxKeep: DefaultMaxKeep,
			HeaderTimeout: DefaultHeaderTimeout, IdleTimeout: DefaultIdleTimeout, WriteTimeout: DefaultWriteTimeout,
		},
		Sites: []Site{testSite()},
	}
	for _, change := range changes {
		change(&o)
	}
	for i := range o.Sites {
		keepNothing(&o.Sites[i])
	}
	return o
}

// keepNothing turns pulled pages off for a test that does not say how long
// fills are waited for: what it is about shall not depend on them.
func keepNothing(s *Site) {
	if s.Cache.FillWait == 0 {
		off := Rule{Where: "test.toml:0", Paths: []string{"*"}, Cache: &Lifetime{Off: true}}
		s.Rules = append([]Rule{off}, s.Rules...)
	}
}

func testSite() Site {
	return Site{
		Where: "test.toml:1",
		Query: QueryFilter{Mode: QueryDrop, Names: []string{"utm_*", "gclid"}},
		SSI: SSI{
			Enabled: true, Types: []string{"text/html"}, ErrorMessage: "[error]", ETag: true, Timezone: time.UTC,
			Timeout: DefaultSSITimeout, FlushAfter: DefaultFlushAfter,
			MaxDepth: DefaultMaxDepth, MaxIncludes: DefaultMaxIncludes,
			MaxFragment: DefaultMaxFragment, MaxPage: DefaultMaxPage,
		},
	}
}

// withSite changes the first site.
func withSite(change func(*Site)) func(*Options) {
	return func(o *Options) { change(&o.Sites[0]) }
}

// withRule adds a rule to the first site.
func withRule(r Rule) func(*Options) {
	return withSite(func(s *Site) {
		r.Where = fmt.Sprintf("test.toml:%d", len(s.Rules)+100)
		s.Rules = append(s.Rules, r)
	})
}

// withFiles publishes files: path below the root to contents.
func withFiles(t testing.TB, files map[string]string) func(*Options) {
	return withRoot(writeFiles(t, files))
}

func withRoot(root string) func(*Options) {
	return withSite(func(s *Site) { s.Files = withRootOnly(root) })
}

// withRootOnly are the options of a root.
func withRootOnly(root string) *pagecache.FilesOptions { return &pagecache.FilesOptions{Root: root} }

// withOrigin sets the app behind the first site: the URL of a server, or an
// address as origin.Options has them.
func withOrigin(address string) func(*Options) {
	return withSite(func(s *Site) {
		s.Origin = &origin.Options{Name: "app", Servers: []string{address}, Timeout: patience, Idle: patience}
	})
}

// withApp starts an app and puts it behind the first site.
func withApp(t testing.TB, app http.HandlerFunc) func(*Options) {
	return withOrigin(newApp(t, app))
}

// writeFiles makes a root of files that were last written an hour ago.
func writeFiles(t testing.TB, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		writeFile(t, root, name, text)
	}
	return root
}

// written is the time of the last write of files in a test.
var written = time.Now().Add(-time.Hour).Truncate(time.Second)

func writeFile(t testing.TB, root, name, text string) {
	t.Helper()
	path := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, written, written); err != nil {
		t.Fatal(err)
	}
}

// answer is what a visitor got.
type answer struct {
	*http.Response
	head string // status line and fields as they came
	body string
	err  error // of reading the body: it was cut off
}

// get sends a GET and reads its answer. fields are lines, "Name: value".
func (e *testEdge) get(target string, fields ...string) *answer {
	e.t.Helper()
	return e.do("GET", target, fields...)
}

// do sends a request without a body.
func (e *testEdge) do(method, target string, fields ...string) *answer {
	e.t.Helper()
	return e.send(request11(method, target, fields...))
}

// post sends a request with a body.
func (e *testEdge) post(method, target, body string, fields ...string) *answer {
	e.t.Helper()
	fields = append(fields, fmt.Sprintf("Content-Length: %d", len(body)))
	return e.send(request11(method, target, fields...) + body)
}

// request11 is the head of a request that closes the connection. A line that
// begins with "Host:" stands in for the usual one.
func request11(method, target string, fields ...string) string {
	host := "Host: " + testHost
	var rest []string
	for _, f := range fields {
		if strings.HasPrefix(f, "Host:") {
			host = f
		} else {
			rest = append(rest, f)
		}
	}
	lines := append([]string{method + " " + target + " HTTP/1.1", host, "Connection: close"}, rest...)
	return strings.Join(lines, "\r\n") + "\r\n\r\n"
}

// send sends bytes and reads one answer, to the end of the connection.
func (e *testEdge) send(raw string) *answer {
	e.t.Helper()
	c := e.dial()
	defer c.Close()
	if _, err := io.WriteString(c, raw); err != nil {
		e.t.Fatalf("send: %v", err)
	}
	method, _, _ := strings.Cut(raw, " ")
	return readAnswer(e.t, bufio.NewReader(c), method)
}

// dial opens a connection on which every wait ends.
func (e *testEdge) dial() net.Conn { return dialTo(e.t, e.addr) }

func dialTo(t testing.TB, addr string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(patience))
	t.Cleanup(func() { c.Close() })
	return c
}

// readAnswer reads one answer to a request of the method, and no byte more of r.
func readAnswer(t testing.TB, r *bufio.Reader, method string) *answer {
	t.Helper()
	a := &answer{head: rawHead(t, r)}
	var err error
	if a.Response, err = http.ReadResponse(bufio.NewReader(strings.NewReader(a.head)), &http.Request{Method: method}); err != nil {
		t.Fatalf("no answer: %v in %q", err, a.head)
	}
	body, err := io.ReadAll(bodyOf(a.Response, r))
	a.body, a.err = string(body), err
	return a
}

// bodyOf is the body that follows the head of a in r, by its framing (RFC 9112,
// section 6.3).
func bodyOf(a *http.Response, r *bufio.Reader) io.Reader {
	switch {
	case a.Body == http.NoBody:
		return a.Body
	case slices.Contains(a.TransferEncoding, "chunked"):
		return &chunkedBody{Reader: httputil.NewChunkedReader(r), rest: r}
	case a.ContentLength >= 0:
		return &exactBody{Reader: r, left: a.ContentLength}
	}
	return r
}

// chunkedBody reads the line after the last chunk away, too.
type chunkedBody struct {
	io.Reader
	rest *bufio.Reader
}

func (b *chunkedBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err == io.EOF {
		b.rest.ReadString('\n')
	}
	return n, err
}

// exactBody is an error where it ends early.
type exactBody struct {
	io.Reader
	left int64
}

func (b *exactBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	n, err := b.Reader.Read(p[:min(int64(len(p)), b.left)])
	if b.left -= int64(n); err == io.EOF && b.left > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// rawHead reads up to and with the empty line.
func rawHead(t testing.TB, r *bufio.Reader) string {
	t.Helper()
	var head strings.Builder
	for {
		line, err := r.ReadString('\n')
		head.WriteString(line)
		if err != nil {
			t.Fatalf("head ended early: %v after %q", err, head.String())
		}
		if strings.TrimRight(line, "\r\n") == "" {
			return head.String()
		}
	}
}

// lines are the values of a field, as they came.
func (a *answer) lines(name string) []string { return a.Header.Values(name) }

// is fails the test unless status and body are those.
func (a *answer) is(t testing.TB, status int, body string) {
	t.Helper()
	if a.StatusCode != status || a.body != body || a.err != nil {
		t.Errorf("answer is %d %.300q (%v), want %d %.300q", a.StatusCode, a.body, a.err, status, body)
	}
}

// has fails the test unless a field has that value in one line; "" means that
// the field is not there.
func (a *answer) has(t testing.TB, name, want string) {
	t.Helper()
	got := a.Header.Values(name)
	if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || got[0] != want) {
		t.Errorf("%s is %q, want %q", name, got, want)
	}
}

// fieldLines are the values of a field in a head, as they came.
func fieldLines(head, name string) []string {
	var values []string
	for line := range strings.SplitSeq(head, "\r\n") {
		if key, value, ok := strings.Cut(line, ": "); ok && strings.EqualFold(key, name) {
			values = append(values, value)
		}
	}
	return values
}

// logBuffer is a log that a test can read while the edge writes it.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func itoa(n int) string { return strconv.Itoa(n) }

func ptr[T any](v T) *T { return &v }

// poolOf is a second app, for a rule.
func poolOf(address string) *origin.Options {
	return &origin.Options{Name: "other", Servers: []string{address}, Timeout: patience, Idle: patience}
}

// withTrust trusts the proxies of a network.
func withTrust(network string) func(*Options) {
	return func(o *Options) { o.TrustedProxies = append(o.TrustedProxies, netip.MustParsePrefix(network)) }
}
