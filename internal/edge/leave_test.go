package edge

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// silentApp answers nothing, and tells when it was asked and when the edge gave
// the request up.
func silentApp(t testing.TB) (url string, asked, givenUp chan struct{}) {
	asked, givenUp = make(chan struct{}, 100), make(chan struct{}, 100)
	return newRawApp(t, func(c net.Conn) {
		if _, err := http.ReadRequest(bufio.NewReader(c)); err != nil {
			return
		}
		asked <- struct{}{}
		io.Copy(io.Discard, c) // until the edge closes it
		givenUp <- struct{}{}
	}), asked, givenUp
}

// TestVisitorLeavesWhileWaiting: nothing is written to him, and yet what he waits
// for is given up: with the head still here, and after it has left.
func TestVisitorLeavesWhileWaiting(t *testing.T) {
	for name, required := range map[string]bool{"head left": false, "head held": true} {
		app, asked, givenUp := silentApp(t)
		e := newEdge(t, withOrigin(app), withFiles(t, map[string]string{"p.html": `first<!--#include virtual="/f" -->`}),
			withRule(Rule{Paths: []string{"/f"}, Required: ptr(required)}), withSite(func(s *Site) { s.SSI.Timeout = 10 * patience }))
		c := e.dial()
		io.WriteString(c, request11("GET", "/p"))
		if !required {
			r := bufio.NewReader(c)
			rawHead(t, r)
			readChunk(t, r)
		}
		<-asked
		c.Close()
		within(t, name+": the fragment is given up", func() { <-givenUp })
		realtest.Eventually(t, name+": the visitor's connection is closed", func() bool { return e.open() == 0 })
		if log := e.log.String(); strings.Contains(log, "WARN") {
			t.Errorf("%s: that a visitor leaves is no problem of the page:\n%s", name, log)
		}
		if n := e.metrics.requests[sourceFile][4].Load(); required && n != 1 {
			t.Errorf("%s: counted as 499 %d times, want once", name, n)
		}
	}
}

// TestVisitorStays: the connection serves on after answers that had to wait, also
// for a request that came meanwhile.
func TestVisitorStays(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	e := newEdge(t, withFiles(t, map[string]string{"p.html": `first <!--#include virtual="/f" -->`}), withApp(t, func(w http.ResponseWriter, _ *http.Request) {
		entered <- struct{}{}
		<-release
		io.WriteString(w, "F")
	}))
	const request = "GET /p HTTP/1.1\r\nHost: a\r\n\r\n"
	c := e.dial()
	r := bufio.NewReader(c)
	for range 3 {
		io.WriteString(c, request)
		<-entered
		release <- struct{}{}
		readAnswer(t, r, "GET").is(t, 200, "first F")
	}
	io.WriteString(c, request)
	<-entered
	io.WriteString(c, request)
	release <- struct{}{}
	readAnswer(t, r, "GET").is(t, 200, "first F")
	<-entered
	release <- struct{}{}
	readAnswer(t, r, "GET").is(t, 200, "first F")
}

// TestLeaderOfFragmentLeaves: what others wait for goes on, and is asked for
// once.
func TestLeaderOfFragmentLeaves(t *testing.T) {
	g := newGated(includes(says("F", "Cache-Control: max-age=60")))
	e, app := newPulling(t, g.ServeHTTP)
	e.get("/page-x")
	c := e.dial()
	io.WriteString(c, request11("GET", "/page-slow"))
	<-g.entered
	follower := e.begin("/page-slow")
	c.Close()
	realtest.Eventually(t, "the first visitor is gone", func() bool { return e.open() == 1 })
	close(g.release)
	follower.answer().is(t, 200, "page F")
	if n := app.fragments("/slow"); n != 1 {
		t.Errorf("asked %d times, want once", n)
	}
}

// TestLeaderLeavesWithTheRest: the reply to the leader's question may not be
// kept. He leaves while its body comes, which ends with him.
func TestLeaderLeavesWithTheRest(t *testing.T) {
	begun, givenUp := make(chan struct{}), make(chan struct{})
	var once sync.Once
	app := newRawApp(t, func(c net.Conn) {
		if _, err := http.ReadRequest(bufio.NewReader(c)); err != nil {
			return
		}
		io.WriteString(c, "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 100\r\n\r\nhalf")
		once.Do(func() { close(begun) })
		io.Copy(io.Discard, c)
		close(givenUp)
	})
	e := newEdge(t, keepingPages(), withOrigin(app), withFiles(t, map[string]string{"p.html": `first<!--#include virtual="/f" -->`}),
		withSite(func(s *Site) { s.SSI.Timeout = 10 * patience }))
	c := e.dial()
	io.WriteString(c, request11("GET", "/p"))
	r := bufio.NewReader(c)
	rawHead(t, r)
	readChunk(t, r)
	<-begun
	c.Close()
	within(t, "the answer is given up", func() { <-givenUp })
}

// TestVisitorLeavesUnwatched: one whose request has a body is not watched, so that
// he has left is seen when a write fails. That is no problem of the page, either.
func TestVisitorLeavesUnwatched(t *testing.T) {
	never, gone := make(chan struct{}), make(chan struct{})
	app := newRawApp(t, func(c net.Conn) {
		q, err := http.ReadRequest(bufio.NewReader(c))
		if err != nil {
			return
		}
		switch q.URL.Path {
		case "/p":
			io.Copy(io.Discard, q.Body)
			io.WriteString(c, htmlAnswer(`first<!--#include virtual="/fast" --><!--#include virtual="/never" -->`, "Connection: close"))
			return
		case "/fast":
			<-gone
			io.WriteString(c, htmlAnswer("fast"))
		default:
			close(never)
		}
		io.Copy(io.Discard, c) // until the edge closes it
	})
	e := newEdge(t, withOrigin(app), withSite(func(s *Site) { s.SSI.Timeout = 10 * patience }))
	c := e.dial()
	io.WriteString(c, request11("POST", "/p", "Content-Length: 1")+"x")
	r := bufio.NewReader(c)
	rawHead(t, r)
	readChunk(t, r)
	<-never
	c.(*net.TCPConn).SetLinger(0) // a reset: the next write fails
	c.Close()
	close(gone)
	realtest.Eventually(t, "the visitor's connection is closed", func() bool { return e.open() == 0 })
	if log := e.log.String(); strings.Contains(log, "WARN") {
		t.Errorf("that a visitor leaves is no problem of the page:\n%s", log)
	}
}
