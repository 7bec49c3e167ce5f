package conformance

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// Section 24: interim answers.

func TestINT_1(t *testing.T) {
	t.Parallel()
	final := message(200, "body", cc("max-age=60"))
	w := given(t, raw("HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\nX-Early: 1\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </b>\r\n\r\n"+final))
	g := w.fetched("/p").is(200, "body")
	if len(g.interim) != 3 || !strings.HasPrefix(g.interim[0], "HTTP/1.1 102 ") || !strings.Contains(g.interim[1], "Link: </a>; rel=preload\r\n") ||
		!strings.Contains(g.interim[1], "X-Early: 1\r\n") || !strings.Contains(g.interim[2], "Link: </b>\r\n") {
		t.Errorf("interim answers: %q", g.interim)
	}
	if g := w.send("GET /old HTTP/1.0\r\nHost: www.example.com\r\n\r\n"); len(g.interim) != 0 || g.body != "body" {
		t.Errorf("HTTP/1.0: %q, %q", g.interim, g.body)
	}
}

// A 100 of the app is about the edge's own request; the visitor has had his.
func TestINT_2(t *testing.T) {
	t.Parallel()
	w := given(t, raw("HTTP/1.1 100 Continue\r\n\r\n"+message(200, "body")))
	if g := w.fetched("/p").is(200, "body"); len(g.interim) != 0 {
		t.Errorf("interim answers: %q", g.interim)
	}
	g := w.post("POST", "/p", "x", "Expect: 100-continue").is(200, "body")
	if len(g.interim) != 1 || !strings.HasPrefix(g.interim[0], "HTTP/1.1 100 ") {
		t.Errorf("to Expect: %q, want one 100", g.interim)
	}
}

func TestINT_3(t *testing.T) {
	t.Parallel()
	w := given(t, raw("HTTP/1.1 103 Early Hints\r\nX-Early: 1\r\nCache-Control: no-store\r\n\r\n"+message(200, "body", cc("max-age=60"))))
	w.fetched("/p").is(200, "body").has("X-Early", "").has("Cache-Control", "max-age=60")
	if g := w.reused("/p").is(200, "body").has("X-Early", ""); len(g.interim) != 0 {
		t.Errorf("on a hit: %q", g.interim)
	}
}

func TestINT_5(t *testing.T) {
	t.Parallel()
	w := given(t, inTurn(raw("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\nCache-Control: max-age=60\r\n\r\nhello"), ok("page", cc("max-age=60"))))
	c, err := net.Dial("tcp", w.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	fmt.Fprint(c, request("GET", "/p", "Connection: Upgrade", "Upgrade: echo"))
	r := bufio.NewReader(c)
	if head, _ := readHead(r); !strings.HasPrefix(head, "HTTP/1.1 101 ") {
		t.Errorf("head %q", head)
	}
	hello := make([]byte, 5)
	if _, err := io.ReadFull(r, hello); err != nil || string(hello) != "hello" {
		t.Errorf("through the tunnel: %q, %v", hello, err)
	}
	w.fetched("/p").is(200, "page")
	w.on("/bad", raw("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n"))
	if g := w.get("/bad"); g.status != 502 {
		t.Errorf("a 101 that nobody asked for: %d", g.status)
	}
}
