package edge

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// htmlAnswer is an answer of an app in bytes; fields are lines.
func htmlAnswer(body string, fields ...string) string {
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: " + itoa(len(body)) + "\r\n"
	for _, f := range fields {
		head += f + "\r\n"
	}
	return head + "\r\n" + body
}

// path is that of a request's head, with its query.
func pathOf(head string) string { return strings.Fields(head)[1] }

func TestIncludesFromEverywhere(t *testing.T) {
	m := realtest.Memcached(t)
	memcachedSet(t, m.Addr, "/mc", 0, `M<!--#echo var="uri" -->`)
	memcachedSet(t, m.Addr, "/mpage", 0, `<!--#include virtual="/f" -->|<!--#include virtual="/mc" -->|<!--#include virtual="/app" -->`)
	e := newEdge(t, withMemcached(m.Addr, "{raw_path}"), withFiles(t, map[string]string{
		"f.html": "F", "page.html": `<!--#include virtual="/f" -->|<!--#include virtual="/mc" -->|<!--#include virtual="/app" -->`,
	}), withApp(t, pages(map[string]string{
		"/app": `A<!--#echo var="uri" -->`, "/apage": `<!--#include virtual="/f" -->|<!--#include virtual="/mc" -->|<!--#include virtual="/app" -->`,
	})))
	for target, detail := range map[string]string{"/page": "hit; detail=file", "/mpage": "hit; detail=published", "/apage": "fwd=uri-miss"} {
		for range 2 {
			a := e.get(target)
			a.is(t, 200, "F|M/mc|A/app")
			a.has(t, "Cache-Status", "ssiedge; "+detail)
			a.has(t, "Via", "1.1 ssiedge")
			a.has(t, "Accept-Ranges", "")
		}
	}
}

// TestParallelAndInOrder: four fragments are answered only when all four have
// been asked for.
func TestParallelAndInOrder(t *testing.T) {
	var asked sync.WaitGroup
	asked.Add(4)
	app := func(w http.ResponseWriter, r *http.Request) {
		asked.Done()
		asked.Wait()
		io.WriteString(w, r.URL.Path[1:])
	}
	e := newEdge(t, withApp(t, app), withFiles(t, map[string]string{
		"p.html": `[<!--#include virtual="/1" --><!--#include virtual="/2" --><!--#include virtual="/3" --><!--#include virtual="/4" -->]`,
	}))
	e.get("/p").is(t, 200, "[1234]")
}

// TestReadyLeavesFirst reads the socket: what stands before a fragment has come
// before the fragment is let go.
func TestReadyLeavesFirst(t *testing.T) {
	release := make(chan struct{})
	app := newRecorder(t, func(head, _ string) string {
		switch pathOf(head) {
		case "/slow":
			<-release
			return htmlAnswer("slow")
		case "/page":
			return htmlAnswer(`first|<!--#include virtual="/slow" -->|last`, "Cache-Control: public, max-age=60", "ETag: \"e\"", "Expires: Thu, 01 Jan 2099 00:00:00 GMT")
		}
		return htmlAnswer("quick")
	})
	e := newEdge(t, withOrigin(app.url), withFiles(t, map[string]string{
		"p.html": `first|<!--#include virtual="/slow" -->|last`,
	}))
	for _, target := range []string{"/p", "/page"} {
		c := e.dial()
		io.WriteString(c, request11("GET", target))
		r := bufio.NewReader(c)
		head := rawHead(t, r)
		for _, want := range []string{"HTTP/1.1 200 ", "Transfer-Encoding: chunked\r\n", "Cache-Control: private, no-cache\r\n"} {
			if !strings.Contains(head, want) {
				t.Errorf("%s: head %q lacks %q", target, head, want)
			}
		}
		for _, name := range []string{"Etag", "Expires", "Content-Length"} {
			if v := fieldLines(head, name); v != nil {
				t.Errorf("%s: %s is %q, want none", target, name, v)
			}
		}
		if chunk := readChunk(t, r); chunk != "first|" {
			t.Errorf("%s: first chunk %q", target, chunk)
		}
		release <- struct{}{}
		rest, _ := io.ReadAll(r)
		if want := "9\r\nslow|last\r\n0\r\n\r\n"; string(rest) != want {
			t.Errorf("%s: then %q, want %q", target, rest, want)
		}
	}
}

func readChunk(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	var n int
	if _, err := fmt.Fscanf(r, "%x\r\n", &n); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, n+2)
	if _, err := io.ReadFull(r, b); err != nil {
		t.Fatal(err)
	}
	return string(b[:n])
}

// patient makes the head wait for its fragments, so that a test is not about
// time.
func patient(s *Site) { s.SSI.FlushAfter = patience }

func TestCompletePageHasItsLength(t *testing.T) {
	e := newEdge(t, withSite(patient), withApp(t, pages(map[string]string{"/f": "fragment"})),
		withFiles(t, map[string]string{"p.html": `[<!--#include virtual="/f" -->]`}))
	a := e.get("/p")
	a.is(t, 200, "[fragment]")
	a.has(t, "Content-Length", "10")
	a.has(t, "Transfer-Encoding", "")
	if tag := a.Header.Get("Etag"); !regexp.MustCompile(`^W/"[0-9a-f]+"$`).MatchString(tag) {
		t.Errorf("entity-tag %q, want a weak one", tag)
	}
}

func TestAnswerToPostIsAssembled(t *testing.T) {
	app := newRecorder(t, func(head, body string) string {
		if strings.HasPrefix(head, "POST") {
			return htmlAnswer(body+`<!--#include virtual="/f" --><!--#echo var="request_method" -->`, "Set-Cookie: s=1")
		}
		return htmlAnswer("F")
	})
	e := newEdge(t, withSite(patient), withOrigin(app.url))
	a := e.post("POST", "/form/", "name=x ", "If-None-Match: *", "Content-Type: application/x-www-form-urlencoded",
		"X-HTTP-Method-Override: DELETE", "X-Original-URL: /x", "Origin: http://x")
	a.is(t, 200, "name=x FPOST")
	a.has(t, "Set-Cookie", "s=1")
	for _, head := range app.all() {
		if !strings.HasPrefix(head, "GET /f HTTP/1.1\r\n") {
			continue
		}
		for _, name := range []string{"Content-Type", "Content-Length", "Transfer-Encoding", "If-None-Match", "X-Http-Method-Override", "X-Original-Url"} {
			if v := fieldLines(head, name); v != nil {
				t.Errorf("the fragment was asked for with %s %q", name, v)
			}
		}
		return
	}
	t.Error("no fragment was asked for")
}

func TestLimitsOfAssembly(t *testing.T) {
	e := newEdge(t, withFiles(t, map[string]string{
		"loop.html":  `(<!--#include virtual="/loop" -->)`,
		"many.html":  strings.Repeat(`<!--#include virtual="/one" -->`, 7),
		"one.html":   "1",
		"large.html": strings.Repeat(`<!--#include virtual="/block" -->`, 5),
		"block.html": strings.Repeat("x", 100),
	}), withApp(t, pages(map[string]string{})), withSite(func(s *Site) {
		patient(s)
		s.SSI.MaxDepth, s.SSI.MaxIncludes, s.SSI.MaxPage = 3, 5, 450
	}))
	e.get("/loop").is(t, 200, "((((["+"error]))))")
	e.get("/many").is(t, 200, "11111[error][error]")
	if a := e.get("/large"); a.StatusCode != 500 || strings.Contains(a.body, "xxx") {
		t.Errorf("over max_page: %d %.100q, want our 500", a.StatusCode, a.body)
	}
	if log := e.log.String(); !strings.Contains(log, "larger than the limit") {
		t.Errorf("the log does not tell of max_page:\n%s", log)
	}
}

// TestPageOverTheLimitBreaksOff where its head has left.
func TestPageOverTheLimitBreaksOff(t *testing.T) {
	release := make(chan struct{})
	app := newRecorder(t, func(string, string) string {
		<-release
		return htmlAnswer(strings.Repeat("x", 1000))
	})
	e := newEdge(t, withOrigin(app.url), withFiles(t, map[string]string{"p.html": `first<!--#include virtual="/f" -->`}),
		withSite(func(s *Site) { s.SSI.MaxPage = 500 }))
	c := e.dial()
	io.WriteString(c, request11("GET", "/p"))
	r := bufio.NewReader(c)
	rawHead(t, r)
	if chunk := readChunk(t, r); chunk != "first" {
		t.Errorf("first chunk %q", chunk)
	}
	close(release)
	rest, _ := io.ReadAll(r)
	if strings.HasSuffix(string(rest), "0\r\n\r\n") {
		t.Error("the answer ends as if it were whole")
	}
	realtest.Eventually(t, "the broken answer is counted", func() bool { return e.metrics.broken.Load() == 1 })
}

func TestTimeoutOfAssembly(t *testing.T) {
	silent := newRawApp(t, func(c net.Conn) { io.Copy(io.Discard, c) })
	e := newEdge(t, withOrigin(silent), withFiles(t, map[string]string{
		"p.html": `<!--#block name="s" -->stub<!--#endblock -->[<!--#include virtual="/f" -->|<!--#include virtual="/g" stub="s" -->]`,
	}), withSite(func(s *Site) { s.SSI.Timeout = 60 * time.Millisecond }))
	e.get("/p").is(t, 200, "[[error]|stub]")
}

// TestVisitorLeaves: the fragments that were under way end, and so do all
// goroutines, which the harness and TestMain look for.
func TestVisitorLeaves(t *testing.T) {
	asked, gone := make(chan struct{}), make(chan struct{})
	var once sync.Once
	app := newRawApp(t, func(c net.Conn) {
		r := bufio.NewReader(c)
		q, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		if q.URL.Path == "/fast" {
			<-gone
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"+strings.Repeat("x", 100000))
		}
		once.Do(func() { close(asked) })
		io.Copy(io.Discard, c) // until the edge closes it
	})
	e := newEdge(t, withOrigin(app), withFiles(t, map[string]string{
		"p.html": `first<!--#include virtual="/fast" -->` + strings.Repeat(`<!--#include virtual="/never" -->`, 20),
	}), withSite(func(s *Site) { s.SSI.Timeout = patience }))
	c := e.dial()
	io.WriteString(c, request11("GET", "/p"))
	r := bufio.NewReader(c)
	rawHead(t, r)
	readChunk(t, r)
	<-asked
	c.(*net.TCPConn).SetLinger(0) // a reset: the next write fails
	c.Close()
	close(gone)
	realtest.Eventually(t, "the visitor's connection is closed", func() bool { return e.open() == 0 })
}

func TestHTTP10GetsNoChunks(t *testing.T) {
	release := make(chan struct{}, 1)
	app := newRecorder(t, func(head, _ string) string {
		if pathOf(head) == "/chunked" {
			return "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n"
		}
		<-release
		return htmlAnswer("slow")
	})
	e := newEdge(t, withOrigin(app.url), withFiles(t, map[string]string{"p.html": `first|<!--#include virtual="/slow" -->|last`, "q.html": "q"}))
	for _, fields := range []string{"", "Connection: keep-alive\r\n"} {
		a := e.send("GET /chunked HTTP/1.0\r\nHost: a\r\n" + fields + "\r\n")
		a.is(t, 200, "abcdef")
		a.has(t, "Transfer-Encoding", "")
		a.has(t, "Content-Length", "")
		if len(a.TransferEncoding) > 0 || !a.Close {
			t.Errorf("head %q: want one that ends with the connection", a.head)
		}

		c := e.dial()
		io.WriteString(c, "GET /p HTTP/1.0\r\nHost: a\r\n"+fields+"\r\n")
		r := bufio.NewReader(c)
		head := rawHead(t, r)
		first := make([]byte, len("first|"))
		if _, err := io.ReadFull(r, first); err != nil || string(first) != "first|" {
			t.Fatalf("%q %v, want what is ready to leave first", first, err)
		}
		release <- struct{}{}
		rest, err := io.ReadAll(r)
		if string(rest) != "slow|last" || err != nil || strings.Contains(head, "chunked") {
			t.Errorf("head %q, then %q (%v)", head, rest, err)
		}
	}
	a := e.send("GET /q HTTP/1.0\r\nHost: a\r\n\r\n")
	a.is(t, 200, "q")
	a.has(t, "Content-Length", "1")
	e.send("HEAD /p HTTP/1.0\r\nHost: a\r\n\r\n").is(t, 200, "")
}

func TestRuleThatTurnsSSIOff(t *testing.T) {
	const text = `<!--#echo var="uri" -->`
	e := newEdge(t, withFiles(t, map[string]string{"on.html": text, "off.html": text, "p.html": `<!--#include virtual="/off" -->`}),
		withRule(Rule{Paths: []string{"/off"}, SSI: ptr(false)}))
	e.get("/on").is(t, 200, "/on.html")
	e.get("/off").is(t, 200, text)
	e.get("/p").is(t, 200, text)
}

func TestOtherTypes(t *testing.T) {
	files := map[string]string{"p.txt": `<!--#echo var="uri" -->`, "p.html": `<!--#echo var="uri" -->`}
	some := newEdge(t, withFiles(t, files))
	all := newEdge(t, withFiles(t, files), withSite(func(s *Site) { s.SSI.Types = []string{"*"} }))
	some.get("/p.txt").is(t, 200, files["p.txt"])
	all.get("/p.txt").is(t, 200, "/p.txt")
	all.get("/p.html").is(t, 200, "/p.html")
}

// TestFileTooLargeToAssemble is sent as it is, and reported.
func TestFileTooLargeToAssemble(t *testing.T) {
	page := `<!--#echo var="uri" -->` + noise(200_000)
	e := newEdge(t, withFiles(t, map[string]string{"p.html": page}), withSite(func(s *Site) { s.Files.MaxKeep = 100_000 }))
	e.get("/p").is(t, 200, page)
	if log := e.log.String(); !strings.Contains(log, "max_keep") {
		t.Errorf("the log does not tell of it: %s", log)
	}
}

// TestTooLargeToAssemble: over max_keep a page streams as it is.
func TestTooLargeToAssemble(t *testing.T) {
	page := `<!--#echo var="uri" -->` + noise(200_000)
	for name, answer := range map[string]string{
		"length":  htmlAnswer(page),
		"chunked": "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(page), page),
	} {
		app := newRecorder(t, func(string, string) string { return answer })
		e := newEdge(t, withOrigin(app.url), func(o *Options) { o.Limits.MaxKeep = 100_000 })
		e.get("/p").is(t, 200, page)
		if log := e.log.String(); !strings.Contains(log, "max_keep") {
			t.Errorf("%s: the log does not tell of it", name)
		}
	}
}

func TestLargeAssembledPage(t *testing.T) {
	big := noise(largeBody * 3)
	app := newRecorder(t, func(head, _ string) string {
		if pathOf(head) == "/plain" {
			return htmlAnswer(big)
		}
		return htmlAnswer(`<!--#echo var="uri" -->` + big)
	})
	e := newEdge(t, withOrigin(app.url), withFiles(t, map[string]string{"p.html": big + `<!--#echo var="uri" -->`}))
	e.get("/p").is(t, 200, big+"/p.html")
	e.get("/plain").is(t, 200, big)
	a := e.get("/x")
	a.is(t, 200, "/x"+big)
	a.has(t, "Content-Length", itoa(len(big)+2))
	a = e.get("/x", "If-None-Match: "+a.Header.Get("Etag"))
	a.is(t, 304, "")
	a.has(t, "Content-Length", "")
	h := e.do("HEAD", "/p")
	h.is(t, 200, "")
	h.has(t, "Content-Length", itoa(len(big)+len("/p.html")))
}
