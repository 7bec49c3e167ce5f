package edge

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// smuggled is a request that only somebody who reads a body as a request sees.
const smuggled = "GET /smuggled HTTP/1.1\r\nHost: " + testHost + "\r\nX-Ignore: x"

// Request smuggling: two opinions about where a request ends. Each is refused,
// or goes to the app as one request; the next request, on whatever connection,
// gets its own answer.
func TestAttackRequestSmuggling(t *testing.T) {
	e, app := newPulling(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Cache-Control", "max-age=3600")
		io.WriteString(w, r.URL.Path)
	})
	sent := map[string]bool{} // paths that may reach the app
	chunk := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(smuggled), smuggled)
	end := "0\r\n\r\n" + smuggled
	for i, shape := range []struct{ name, fields, body string }{
		{"CL.TE", fmt.Sprintf("Content-Length: %d\r\nTransfer-Encoding: chunked\r\n", len(end)), end},
		{"TE.CL", "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", chunk},
		{"CL.CL", fmt.Sprintf("Content-Length: 0\r\nContent-Length: %d\r\n", len(smuggled)), smuggled},
		{"CL, CL", fmt.Sprintf("Content-Length: 0, %d\r\n", len(smuggled)), smuggled},
		{"CL.0", fmt.Sprintf("Content-Length: %d\r\n", len(smuggled)), smuggled},
		{"CL with a sign", "Content-Length: +0\r\n", smuggled},
		{"CL in hex", fmt.Sprintf("Content-Length: 0x%x\r\n", len(smuggled)), smuggled},
		{"CL with a space before", fmt.Sprintf("Content-Length : %d\r\n", len(smuggled)), smuggled},
		{"CL folded", fmt.Sprintf("Content-Length:\r\n %d\r\n", len(smuggled)), smuggled},
		{"CL negative", "Content-Length: -1\r\n", smuggled},
		{"CL empty", "Content-Length:\r\n", smuggled},
		{"CL beyond 64 bits", "Content-Length: 18446744073709551616\r\n", smuggled},
		{"CL with a tail", fmt.Sprintf("Content-Length: %d;x\r\n", len(smuggled)), smuggled},
		{"CL_", fmt.Sprintf("Content_Length: %d\r\n", len(smuggled)), ""},
		{"TE with a space before", fmt.Sprintf("Transfer-Encoding : chunked\r\nContent-Length: %d\r\n", len(end)), end},
		{"TE with a tab after", fmt.Sprintf("Transfer-Encoding:\tchunked\r\nContent-Length: %d\r\n", len(end)), end},
		{"TE with a control after", fmt.Sprintf("Transfer-Encoding: \x0bchunked\r\nContent-Length: %d\r\n", len(end)), end},
		{"TE quoted", fmt.Sprintf("Transfer-Encoding: \"chunked\"\r\nContent-Length: %d\r\n", len(end)), end},
		{"TE xchunked", fmt.Sprintf("Transfer-Encoding: xchunked\r\nContent-Length: %d\r\n", len(end)), end},
		{"TE chunked, identity", "Transfer-Encoding: chunked, identity\r\n", end},
		{"TE identity, chunked", "Transfer-Encoding: identity, chunked\r\n", end},
		{"TE twice", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", end},
		{"TE twice, the other way", "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n", end},
		{"TE folded", "Transfer-Encoding:\r\n chunked\r\n", end},
		{"TE folded into another", fmt.Sprintf("X: x\r\n Transfer-Encoding: chunked\r\nContent-Length: %d\r\n", len(end)), end},
		{"TE after a bare CR", fmt.Sprintf("X: x\rTransfer-Encoding: chunked\r\nContent-Length: %d\r\n", len(end)), end},
		{"TE after a bare LF", fmt.Sprintf("X: x\nTransfer-Encoding: chunked\r\nContent-Length: %d\r\n", len(end)), end},
		{"TE after a NUL", fmt.Sprintf("X: x\x00\nTransfer-Encoding: chunked\r\nContent-Length: %d\r\n", len(end)), end},
		{"TE empty", fmt.Sprintf("Transfer-Encoding:\r\nContent-Length: %d\r\n", len(end)), end},
		{"TE_", fmt.Sprintf("Transfer_Encoding: chunked\r\nContent-Length: %d\r\n", len(end)), end},
		{"TE named by Connection", fmt.Sprintf("Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked\r\nContent-Length: %d\r\n", len(end)), end},
		{"CL named by Connection", fmt.Sprintf("Connection: Content-Length\r\nContent-Length: %d\r\n", len(smuggled)), smuggled},
		{"chunk size with a space", "Transfer-Encoding: chunked\r\n", "0 \r\n\r\n" + smuggled},
		{"chunk size in another base", "Transfer-Encoding: chunked\r\n", "0x0\r\n\r\n" + smuggled},
		{"chunk size beyond 64 bits", "Transfer-Encoding: chunked\r\n", "10000000000000000\r\n\r\n" + smuggled},
		{"chunk size negative", "Transfer-Encoding: chunked\r\n", "-1\r\n\r\n" + smuggled},
		{"chunk extension with LF", "Transfer-Encoding: chunked\r\n", "0;\n" + smuggled + "\r\n\r\n"},
		{"chunk ends in LF", "Transfer-Encoding: chunked\r\n", "1\nx\n0\n\n" + smuggled},
		{"chunk too short", "Transfer-Encoding: chunked\r\n", "1\r\nxx\r\n0\r\n\r\n" + smuggled},
		{"trailer CL", "Transfer-Encoding: chunked\r\nTrailer: Content-Length\r\n", "0\r\nContent-Length: 99\r\n\r\n"},
		{"trailer of another request", "Transfer-Encoding: chunked\r\n", "0\r\n" + smuggled + "\r\n\r\n"},
		{"Expect", fmt.Sprintf("Expect: 100-continue\r\nContent-Length: %d\r\n", len(smuggled)), smuggled},
		{"odd Expect", fmt.Sprintf("Expect: y 100-continue\r\nContent-Length: %d\r\n", len(smuggled)), smuggled},
		{"Upgrade", fmt.Sprintf("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\nContent-Length: %d\r\n", len(smuggled)), smuggled},
		{"WebSocket that is none", "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 777\r\n", ""},
	} {
		for _, method := range []string{"POST", "GET"} {
			target := fmt.Sprintf("/%s/%d", method, i)
			sent[target], sent["/victim"+target] = true, true
			answers := e.exchange(method+" "+target+" HTTP/1.1\r\nHost: "+testHost+"\r\n"+shape.fields+"\r\n", shape.body)
			if strings.Contains(answers, "/smuggled") {
				t.Errorf("%s, %s: an answer for the hidden request: %q", shape.name, method, answers)
			}
			e.victimGets("/victim"+target, "/victim"+target)
			e.victimGets(target, target)
		}
	}
	// Only here, since the app may see a request after the edge has refused it.
	for _, r := range app.requests() {
		if !sent[r.URL.Path] {
			t.Errorf("the app saw %s %s", r.Method, r.URL)
		}
	}
}

// exchange sends a head and a body, and gives all that comes back until the
// edge closes the connection or has answered everything.
func (e *testEdge) exchange(head, body string) string {
	e.t.Helper()
	c := e.dial()
	defer c.Close()
	io.WriteString(c, head) // errors are the edge's refusals
	io.WriteString(c, body)
	c.(*net.TCPConn).CloseWrite()
	var all bytes.Buffer
	io.Copy(&all, c)
	return all.String()
}

// Pipelined requests of one connection get their own answers, in order,
// whatever the first of them was.
func TestAttackPipelineDesync(t *testing.T) {
	e := newEdge(t, keepingPages(), withApp(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=3600")
		io.WriteString(w, r.Method+r.URL.Path) // the body is not read
	}))
	for _, first := range []string{
		"POST /1 HTTP/1.1\r\nHost: " + testHost + "\r\nContent-Length: 10\r\n\r\n0123456789",
		"GET /1 HTTP/1.1\r\nHost: " + testHost + "\r\nContent-Length: 10\r\n\r\n0123456789",
		"HEAD /1 HTTP/1.1\r\nHost: " + testHost + "\r\n\r\n",
		"POST /1 HTTP/1.1\r\nHost: " + testHost + "\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
	} {
		c := e.dial()
		io.WriteString(c, first+request11("GET", "/2"))
		r := bufio.NewReader(c)
		method, _, _ := strings.Cut(first, " ")
		if a := readAnswer(t, r, method); method != "HEAD" && a.body != method+"/1" {
			t.Errorf("%q: the first answer is %q", first, a.body)
		}
		if a := readAnswer(t, r, "GET"); a.body != "GET/2" {
			t.Errorf("%q: the second answer is %q", first, a.body)
		}
		c.Close()
	}
}

// Answers that an app was made to split or to send ahead of the question never
// reach the next visitor: bytes that nobody asked for end the connection.
func TestAttackResponseQueue(t *testing.T) {
	const stray = "HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\nContent-Length: 4\r\n\r\nevil"
	answered, written := make(chan struct{}), make(chan struct{})
	app := newRawSocket(t, func(c net.Conn) {
		r := bufio.NewReader(c)
		for {
			req, err := http.ReadRequest(r)
			if err != nil {
				return
			}
			answer := fmt.Sprintf("HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\nContent-Length: %d\r\n\r\n%s", len(req.URL.Path), req.URL.Path)
			if req.URL.Path == "/split" {
				answer += stray // in one write: both are there at once
			}
			io.WriteString(c, answer)
			if req.URL.Path == "/late" {
				<-answered
				io.WriteString(c, stray)
				close(written)
			}
		}
	})
	e := newEdge(t, keepingPages(), withOrigin(app))
	e.get("/split").is(t, 200, "/split")
	e.victimGets("/a", "/a")
	e.get("/late").is(t, 200, "/late")
	close(answered) // the connection is idle by then, or about to be
	<-written
	for i := range 10 {
		target := "/b" + itoa(i)
		e.victimGets(target, target)
	}
}
