package conformance

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ssiedge/ssiedge/conf"
	"github.com/ssiedge/ssiedge/internal/edge"
	"github.com/ssiedge/ssiedge/internal/realtest"
)

func TestMain(m *testing.M) { realtest.Main(m) }

// patience bounds what has to come anyway.
const patience = time.Minute

// world is an edge and the app behind it.
type world struct {
	*app
	t     *testing.T
	edge  *edge.Edge
	addr  string
	began time.Time
	count int // of targets that the helpers made up
}

// given starts an edge before an app, with the defaults and those settings: a
// line of a [[site]] ("cache.heuristic = true"), one of the top of the file that
// begins with "limits." or "trusted", or a table ("[[site.rule]]\n...").
func given(t *testing.T, s script, settings ...string) *world {
	t.Helper()
	w := &world{app: newApp(t), t: t, began: time.Now()}
	w.on("", s)
	c, err := conf.Parse("test.toml", []byte(w.config(settings)), nil)
	if err != nil {
		t.Fatalf("the configuration: %v", err)
	}
	c.Edge.Log = slog.New(slog.DiscardHandler)
	if w.edge, err = edge.New(c.Edge); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.addr = l.Addr().String()
	server := edge.NewServer(w.edge)
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			t.Errorf("Shutdown: %v", err)
		}
		<-served
		w.edge.Close()
	})
	return w
}

func (w *world) config(settings []string) string {
	top, site, tables := "memory.size = \"8MiB\"\nlimits.connections = 200\n", "", ""
	for _, s := range settings {
		switch {
		case strings.HasPrefix(s, "["):
			tables += s + "\n"
		case strings.HasPrefix(s, "limits."), strings.HasPrefix(s, "trusted"):
			top += s + "\n"
		default:
			site += s + "\n"
		}
	}
	return fmt.Sprintf("%s[[site]]\norigin.servers = [%q]\norigin.timeout = \"30s\"\n%s%s", top, "http://"+w.listener.Addr().String(), site, tables)
}

// got is what a visitor got.
type got struct {
	t       testing.TB
	world   *world
	status  int
	header  http.Header
	head    string   // as it came
	interim []string // heads of the 1xx answers before
	body    string
	err     error // it was cut off
}

// get asks as a visitor does. fields are lines, "Name: value".
func (w *world) get(target string, fields ...string) *got {
	w.t.Helper()
	return w.do("GET", target, fields...)
}

func (w *world) do(method, target string, fields ...string) *got {
	w.t.Helper()
	return w.send(request(method, target, fields...))
}

// post sends a request with a body.
func (w *world) post(method, target, body string, fields ...string) *got {
	w.t.Helper()
	return w.send(request(method, target, append(fields, fmt.Sprintf("Content-Length: %d", len(body)))...) + body)
}

func request(method, target string, fields ...string) string {
	host := "Host: www.example.com"
	head := ""
	for _, f := range fields {
		if strings.HasPrefix(f, "Host:") {
			host = f
		} else {
			head += f + "\r\n"
		}
	}
	return method + " " + target + " HTTP/1.1\r\n" + host + "\r\n" + head + "\r\n"
}

// send sends bytes on a connection of their own and reads one final answer.
func (w *world) send(text string) *got {
	w.t.Helper()
	c, err := net.Dial("tcp", w.addr)
	if err != nil {
		w.t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(c, text); err != nil {
		w.t.Fatal(err)
	}
	method, _, _ := strings.Cut(text, " ")
	g := readAnswer(w.t, bufio.NewReader(c), method)
	g.world = w
	return g
}

// readAnswer reads an answer, with the 1xx answers before it.
func readAnswer(t testing.TB, r *bufio.Reader, method string) *got {
	t.Helper()
	g := &got{t: t}
	for {
		head, err := readHead(r)
		if err != nil { // broken off before anything came
			g.head, g.err = head, err
			return g
		}
		resp, err := http.ReadResponse(bufio.NewReader(strings.NewReader(head)), &http.Request{Method: method})
		if err != nil {
			t.Fatalf("no answer: %v in %q", err, head)
		}
		if resp.StatusCode < 200 {
			g.interim = append(g.interim, head)
			continue
		}
		g.status, g.header, g.head = resp.StatusCode, resp.Header, head
		g.body, g.err = readBody(resp, r)
		return g
	}
}

func readHead(r *bufio.Reader) (string, error) {
	head := ""
	for {
		line, err := r.ReadString('\n')
		if head += line; err != nil {
			return head, fmt.Errorf("the head ended early: %w", err)
		}
		if line == "\r\n" {
			return head, nil
		}
	}
}

// readBody reads a body by its framing (RFC 9112, section 6.3).
func readBody(resp *http.Response, r *bufio.Reader) (string, error) {
	var body io.Reader = r
	switch {
	case resp.Body == http.NoBody:
		return "", nil
	case slices.Contains(resp.TransferEncoding, "chunked"):
		body = httputil.NewChunkedReader(r)
	case resp.ContentLength >= 0:
		b := make([]byte, resp.ContentLength)
		n, err := io.ReadFull(r, b)
		return string(b[:n]), err
	}
	b, err := io.ReadAll(body)
	return string(b), err
}

// is fails the test unless status and body are those.
func (g *got) is(status int, body string) *got {
	g.t.Helper()
	if g.status != status || g.body != body || g.err != nil {
		g.t.Errorf("got %d %.200q (%v), want %d %.200q\n%s", g.status, g.body, g.err, status, body, g.head)
	}
	return g
}

// has fails the test unless a field has those lines; "" alone: it is not there.
func (g *got) has(name string, lines ...string) *got {
	g.t.Helper()
	have := g.header.Values(name)
	if len(lines) == 1 && lines[0] == "" {
		lines = nil
	}
	if !slices.Equal(have, lines) {
		g.t.Errorf("%s is %q, want %q", name, have, lines)
	}
	return g
}

// cacheStatus is the member of the edge.
func (g *got) cacheStatus() string {
	all := g.header.Values("Cache-Status")
	if len(all) == 0 {
		return ""
	}
	last := all[len(all)-1]
	return strings.TrimSpace(last[strings.LastIndex(last, ",")+1:])
}

// says fails the test unless the Cache-Status of the edge has that in it.
func (g *got) says(part string) *got {
	g.t.Helper()
	if !strings.Contains(g.cacheStatus()+";", part+";") {
		g.t.Errorf("Cache-Status is %q, want %q in it", g.cacheStatus(), part)
	}
	return g
}

// reused asks for a target and fails the test if the app was asked.
func (w *world) reused(target string, fields ...string) *got {
	w.t.Helper()
	before := len(w.requests())
	g := w.get(target, fields...)
	if n := len(w.requests()) - before; n != 0 {
		w.t.Errorf("GET %s %q: the app was asked %d times, want a page that is kept; Cache-Status: %s", target, fields, n, g.cacheStatus())
	}
	return g
}

// fetched asks for a target and fails the test unless the app was asked, once.
func (w *world) fetched(target string, fields ...string) *got {
	w.t.Helper()
	before := len(w.requests())
	g := w.get(target, fields...)
	if n := len(w.requests()) - before; n != 1 {
		w.t.Errorf("GET %s %q: the app was asked %d times, want once; Cache-Status: %s", target, fields, n, g.cacheStatus())
	}
	return g
}

// target is a new one for an answer.
func (w *world) target(s script) string {
	w.count++
	target := fmt.Sprintf("/made/%d", w.count)
	w.on(target, s)
	return target
}

// keeps fails the test unless answers with those fields are used again without
// asking. It gives the second answer.
func (w *world) keeps(fields ...string) *got {
	w.t.Helper()
	return w.twice(numbered(fields...), 1, fields)
}

// asksAgain fails the test unless the app is asked again after an answer with
// those fields: it is not kept, or not fresh. It gives the second answer.
func (w *world) asksAgain(fields ...string) *got {
	w.t.Helper()
	return w.twice(numbered(fields...), 2, fields)
}

// keepsIt is keeps for any answer.
func (w *world) keepsIt(s script, about ...any) *got {
	w.t.Helper()
	return w.twice(s, 1, about)
}

// asksAgainAfter is asksAgain for any answer.
func (w *world) asksAgainAfter(s script, about ...any) *got {
	w.t.Helper()
	return w.twice(s, 2, about)
}

// twice asks for an answer twice, and fails the test unless the app was asked
// so often.
func (w *world) twice(s script, want int, about any) *got {
	w.t.Helper()
	target := w.target(s)
	before := len(w.requests())
	w.get(target)
	g := w.get(target)
	if n := len(w.requests()) - before; n != want {
		w.t.Errorf("%v: two visitors made %d requests, want %d; Cache-Status: %s", about, n, want, g.cacheStatus())
	}
	return g
}

// afterDeath asks for pages with those fields, which are stale when they come
// and can be validated, and asks again when the app is gone. It gives the second
// answers, in order.
func (w *world) afterDeath(each ...[]string) []*got {
	w.t.Helper()
	var targets []string
	for _, fields := range each {
		target := w.target(ok("old", append([]string{`ETag: "a"`, "Age: 60"}, fields...)...))
		w.get(target).is(200, "old")
		targets = append(targets, target)
	}
	w.die()
	var all []*got
	for _, target := range targets {
		all = append(all, w.get(target))
	}
	return all
}

// dead fails the test unless those answers are the edge's own: the app is gone,
// and what is kept may not be used.
func dead(t testing.TB, all []*got) {
	t.Helper()
	for i, g := range all {
		if g.status != 502 && g.status != 504 {
			t.Errorf("case %d: %d %q, want 502 or 504; Cache-Status: %s", i, g.status, g.body, g.cacheStatus())
		}
	}
}

func (w *world) eventually(what string, ok func() bool) {
	w.t.Helper()
	realtest.Eventually(w.t, what, ok)
}
