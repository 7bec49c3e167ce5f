package conformance

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// script says what the app answers: all bytes of it. "" closes the connection
// without a word.
type script func(q *asked) string

// asked is a request as the app got it.
type asked struct {
	*http.Request
	body string
	n    int // it is the nth for its path and query
}

// app is the origin of a test.
type app struct {
	t        testing.TB
	listener net.Listener
	serving  sync.WaitGroup
	gone     chan struct{} // closed by die: for scripts that wait

	mu      sync.Mutex
	scripts map[string]script // by path and query, "" for all others
	log     []*asked
	open    map[net.Conn]bool
}

func newApp(t testing.TB) *app {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	a := &app{t: t, listener: l, gone: make(chan struct{}), scripts: map[string]script{}, open: map[net.Conn]bool{}}
	a.serving.Go(a.accept)
	t.Cleanup(a.die)
	return a
}

func (a *app) accept() {
	for {
		c, err := a.listener.Accept()
		if err != nil {
			return
		}
		a.mu.Lock()
		a.open[c] = true
		a.mu.Unlock()
		a.serving.Go(func() { a.serve(c) })
	}
}

// die closes all that is open: from here on the app is not there.
func (a *app) die() {
	a.listener.Close()
	a.mu.Lock()
	select {
	case <-a.gone:
	default:
		close(a.gone)
	}
	for c := range a.open {
		c.Close()
	}
	a.mu.Unlock()
	a.serving.Wait()
}

func (a *app) serve(c net.Conn) {
	defer func() {
		c.Close()
		a.mu.Lock()
		delete(a.open, c)
		a.mu.Unlock()
	}()
	r := bufio.NewReader(c)
	for {
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		body, _ := io.ReadAll(req.Body)
		answer := a.take(&asked{Request: req, body: string(body)})
		head, rest := lastHead(answer)
		if req.Method == "HEAD" {
			answer, rest = strings.TrimSuffix(answer, rest), ""
		}
		if text, cut := strings.CutSuffix(answer, reset); cut {
			io.WriteString(c, text)
			c.(*net.TCPConn).SetLinger(0)
			return
		}
		if _, err := io.WriteString(c, answer); err != nil || !lasts(req.Method, head, rest) {
			return
		}
	}
}

// take notes a request and finds its answer.
func (a *app) take(q *asked) string {
	target := q.URL.RequestURI()
	a.mu.Lock()
	s, ok := a.scripts[target]
	if !ok {
		s = a.scripts[""]
	}
	q.n = 1
	for _, earlier := range a.log {
		if earlier.URL.RequestURI() == target {
			q.n++
		}
	}
	a.log = append(a.log, q)
	a.mu.Unlock()
	if s == nil {
		a.t.Errorf("the app was asked for %s, which the test does not state", target)
		return ""
	}
	return s(q)
}

// lastHead gives the head of an answer, behind those of interim ones, and its
// body.
func lastHead(answer string) (head, rest string) {
	head, rest, _ = strings.Cut(answer, "\r\n\r\n")
	for strings.HasPrefix(head, "HTTP/1.1 1") && !strings.HasPrefix(head, "HTTP/1.1 101 ") {
		head, rest, _ = strings.Cut(rest, "\r\n\r\n")
	}
	return head, rest
}

// lasts says whether the connection can go on after an answer: it was framed as
// it says.
func lasts(method, head, rest string) bool {
	lower := strings.ToLower(head)
	switch {
	case head == "", strings.Contains(lower, "connection: close"), strings.HasPrefix(head, "HTTP/1.0"):
		return false
	case method == "HEAD", strings.HasPrefix(head, "HTTP/1.1 304"), strings.HasPrefix(head, "HTTP/1.1 204"):
		return rest == ""
	case strings.Contains(lower, "transfer-encoding: chunked"):
		return strings.HasSuffix(rest, "0\r\n\r\n")
	}
	return strings.Contains(lower, "content-length: "+strconv.Itoa(len(rest))+"\r\n") ||
		strings.HasSuffix(lower, "content-length: "+strconv.Itoa(len(rest)))
}

// on says what the app answers for a path and query.
func (a *app) on(target string, s script) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.scripts[target] = s
}

// requests are those so far.
func (a *app) requests() []*asked {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]*asked(nil), a.log...)
}

// last is the latest request.
func (a *app) last() *asked {
	a.t.Helper()
	all := a.requests()
	if len(all) == 0 {
		a.t.Fatal("the app was not asked")
	}
	return all[len(all)-1]
}

// reset at the end of an answer ends the connection by a reset.
const reset = "\x00reset"

// raw answers with those very bytes.
func raw(answer string) script { return func(*asked) string { return answer } }

// say answers with a status, a body and fields, "Name: value". A Date and a
// Content-Length are there unless the fields have their own; "-Date" leaves it out.
func say(status int, body string, fields ...string) script {
	return func(*asked) string { return message(status, body, fields...) }
}

// ok is say for 200.
func ok(body string, fields ...string) script { return say(200, body, fields...) }

// inTurn answers each request for a target with the next script, and with the
// last one from then on.
func inTurn(scripts ...script) script {
	return func(q *asked) string { return scripts[min(q.n, len(scripts))-1](q) }
}

// numbered is an app whose bodies are "1", "2" and so on, with those fields.
func numbered(fields ...string) script {
	return func(q *asked) string { return message(200, strconv.Itoa(q.n), fields...) }
}

// validating answers 200 with a body and fields, and 304 with the fields beside
// where the request has one of the conditions, "Name: value".
func validating(full script, condition string, notModified ...string) script {
	name, value, _ := strings.Cut(condition, ": ")
	return func(q *asked) string {
		if q.Header.Get(name) == value {
			return message(304, "", notModified...)
		}
		return full(q)
	}
}

func message(status int, body string, fields ...string) string {
	head := fmt.Sprintf("HTTP/1.1 %d %s\r\n", status, http.StatusText(status))
	bodiless := status == 204 || status == 304
	for _, f := range fields {
		if f != "-Date" {
			head += f + "\r\n"
		}
	}
	if !stated(fields, "Date") && !stated(fields, "-Date") {
		head += "Date: " + date(0) + "\r\n"
	}
	if !bodiless && !stated(fields, "Content-Length") && !stated(fields, "Transfer-Encoding") {
		head += "Content-Length: " + strconv.Itoa(len(body)) + "\r\n"
	}
	return head + "\r\n" + body
}

func stated(fields []string, name string) bool {
	for _, f := range fields {
		n, _, _ := strings.Cut(f, ":")
		if strings.EqualFold(n, name) {
			return true
		}
	}
	return false
}

// date is the time in so long, as a field has it.
func date(in time.Duration) string { return time.Now().Add(in).UTC().Format(http.TimeFormat) }

// chunked is a body in one chunk, with trailers.
func chunked(body string, trailers ...string) string {
	end := "0\r\n"
	for _, line := range trailers {
		end += line + "\r\n"
	}
	if body == "" {
		return end + "\r\n"
	}
	return fmt.Sprintf("%x\r\n%s\r\n%s\r\n", len(body), body, end)
}
