package edge

import (
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
)

// writesListener notes what is written to its connections, each Write apart.
type writesListener struct {
	net.Listener
	mu     sync.Mutex
	writes []string
}

type writesConn struct {
	net.Conn
	listener *writesListener
}

func (l *writesListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &writesConn{c, l}, nil
}

func (c *writesConn) Write(b []byte) (int, error) {
	c.listener.mu.Lock()
	c.listener.writes = append(c.listener.writes, string(b))
	c.listener.mu.Unlock()
	return c.Conn.Write(b)
}

// take gives what was written since the last take.
func (l *writesListener) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	writes := l.writes
	l.writes = nil
	return writes
}

// TestPiecesOfAssembledPage: the head leaves together with the text that is
// ready, and alone where none is; a piece of some kilobytes leaves at once.
func TestPiecesOfAssembledPage(t *testing.T) {
	release := make(chan struct{})
	text := noise(10_000)
	e := newEdge(t, withSite(func(s *Site) { s.SSI.FlushAfter = 0 }),
		withApp(t, func(w http.ResponseWriter, _ *http.Request) {
			<-release
			io.WriteString(w, "slow")
		}),
		withFiles(t, map[string]string{
			"text.html":     text + `<!--#include virtual="/slow" -->` + text,
			"fragment.html": `<!--#include virtual="/slow" -->` + text,
		}))
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &writesListener{Listener: plain}
	e.serve(l)
	const head, firstChunk, lastChunk = "\r\n\r\n", "2710\r\n", "2714\r\n"
	for target, want := range map[string][]string{
		"/text":     {head + firstChunk + text + "\r\n", lastChunk + "slow" + text + "\r\n", "0\r\n\r\n"},
		"/fragment": {head, lastChunk + "slow" + text + "\r\n", "0\r\n\r\n"},
	} {
		l.take()
		c, err := net.Dial("tcp", plain.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(c, request11("GET", target))
		first := make([]byte, 1)
		if _, err := io.ReadFull(c, first); err != nil { // the head has left before the fragment is there
			t.Fatalf("%s: %v", target, err)
		}
		release <- struct{}{}
		io.Copy(io.Discard, c)
		c.Close()
		got := l.take()
		if len(got) > 0 {
			_, body, _ := strings.Cut(got[0], head)
			got[0] = head + body
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d writes %.60q, want %d, %.60q", target, len(got), got, len(want), want)
		}
	}
}
