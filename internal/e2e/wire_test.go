package e2e

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// host is the Host field of every request here, so that answers that hold it
// (redirects, cookies) are the same whatever the port.
const host = "www.example.com"

// request is one request as it goes over the wire: nothing in it is made
// canonical, completed or refused on the way.
type request struct {
	method string   // "" is GET
	target string   // the request target, as sent
	fields []string // "Name: value"
	body   string
	proto  string // "" is HTTP/1.1
	chunk  bool   // send the body as one chunk
	last   bool   // the connection is closed after it
}

// answer is what came back, with its whole body.
type answer struct {
	status int
	header http.Header
	body   string
}

func (r request) String() string {
	method := r.method
	if method == "" {
		method = http.MethodGet
	}
	return strings.TrimSpace(fmt.Sprintf("%s %.80s %s", method, r.target, strings.Join(r.fields, " ")))
}

// bytes gives the request as sent.
func (r request) bytes() []byte {
	method, proto := r.method, r.proto
	if method == "" {
		method = http.MethodGet
	}
	if proto == "" {
		proto = "HTTP/1.1"
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s %s\r\nHost: %s\r\n", method, r.target, proto, host)
	if r.last {
		b.WriteString("Connection: close\r\n")
	}
	for _, field := range r.fields {
		b.WriteString(field + "\r\n")
	}
	switch {
	case r.chunk:
		fmt.Fprintf(&b, "Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(r.body), r.body)
	case r.body != "":
		fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", len(r.body), r.body)
	case method == http.MethodPost || method == http.MethodPut:
		b.WriteString("Content-Length: 0\r\n\r\n")
	default:
		b.WriteString("\r\n")
	}
	return b.Bytes()
}

// form makes a request a form's POST.
func form(target, body string) request {
	return request{method: http.MethodPost, target: target, body: body, fields: []string{"Content-Type: application/x-www-form-urlencoded"}}
}

// get is a plain GET.
func get(target string, fields ...string) request { return request{target: target, fields: fields} }

// send sends one request over a connection of its own and reads the answer.
func send(t testing.TB, addr string, r request) answer {
	t.Helper()
	a, err := exchange(addr, r)
	if err != nil {
		t.Fatalf("%s: %v", r, err)
	}
	return a
}

// exchange is send for goroutines that are not the test's own.
func exchange(addr string, r request) (answer, error) {
	r.last = true
	w := wire{addr: addr}
	defer w.close()
	return w.exchange(r)
}

// wire is a connection that is kept from one request to the next where the
// server allows it. It is dialled when it is needed.
type wire struct {
	addr string
	conn net.Conn
	in   *bufio.Reader
}

// exchange sends a request and reads the whole answer. After an error the next
// one goes over another connection.
func (w *wire) exchange(r request) (a answer, err error) {
	if w.conn == nil {
		if w.conn, err = realtest.Dial(w.addr); err != nil {
			w.conn = nil
			return answer{}, err
		}
		w.in = bufio.NewReader(w.conn)
	}
	keep := false
	defer func() {
		if !keep || err != nil {
			w.close()
		}
	}()
	if err := w.conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return answer{}, err
	}
	// A server may answer and close before it has read all; its answer counts.
	_, writeErr := w.conn.Write(r.bytes())
	in, err := http.ReadResponse(w.in, &http.Request{Method: r.method})
	if err != nil {
		return answer{}, fmt.Errorf("no answer: %w (sending: %v)", err, writeErr)
	}
	defer in.Body.Close()
	body, err := io.ReadAll(in.Body)
	if err != nil {
		return answer{}, fmt.Errorf("status %d, then %d bytes of body, then: %w", in.StatusCode, len(body), err)
	}
	if r.proto == "HTTP/1.0" && len(in.TransferEncoding) > 0 {
		return answer{}, fmt.Errorf("status %d with Transfer-Encoding %v to a request of HTTP/1.0", in.StatusCode, in.TransferEncoding)
	}
	keep = !in.Close && !r.last
	return answer{status: in.StatusCode, header: in.Header, body: string(body)}, nil
}

// close closes the connection, if there is one.
func (w *wire) close() {
	if w.conn != nil {
		w.conn.Close()
		w.conn = nil
	}
}

// cookies gives the Cookie field that a browser sends after an answer.
func (a answer) cookies() string {
	var pairs []string
	for _, line := range a.header.Values("Set-Cookie") {
		pair, _, _ := strings.Cut(line, ";")
		pairs = append(pairs, pair)
	}
	return "Cookie: " + strings.Join(pairs, "; ")
}

// short is a body for a message.
func short(body string) string {
	if len(body) <= 600 {
		return fmt.Sprintf("%q", body)
	}
	return fmt.Sprintf("%q... (%d bytes)", body[:600], len(body))
}
