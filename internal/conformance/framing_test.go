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

// Section 23: where a body ends.

const kept = "Cache-Control: max-age=60\r\n"

func TestFRM_1(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	for _, test := range []struct{ answer, body string }{
		{"HTTP/1.1 200 OK\r\n" + kept + "Content-Length: 4\r\n\r\nbody", "body"},
		{"HTTP/1.1 200 OK\r\n" + kept + "Transfer-Encoding: chunked\r\n\r\n" + chunked("body"), "body"},
		{"HTTP/1.1 200 OK\r\n" + kept + "\r\nbody until close", "body until close"},
		{"HTTP/1.0 200 OK\r\n" + kept + "\r\nbody until close", "body until close"},
		{"HTTP/1.1 204 No Content\r\n" + kept + "\r\n", ""},
		{"HTTP/1.1 200 OK\r\n" + kept + "Content-Length: 0\r\n\r\n", ""},
	} {
		target := w.target(raw(test.answer))
		first, second := w.fetched(target), w.reused(target)
		if first.body != test.body || second.body != test.body || first.err != nil || second.err != nil {
			t.Errorf("%q: %q, then %q", test.answer, first.body, second.body)
		}
	}
	w.on("/head", raw("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"))
	w.do("HEAD", "/head").is(200, "").has("Content-Length", "99")
	w.on("/none", inTurn(ok("x", cc("no-store"), `ETag: "a"`), raw("HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n")))
	w.fetched("/none")
	w.fetched("/none", inm(`"a"`)).is(304, "")
}

func TestFRM_2(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	long := strings.Repeat("x", 100_000)
	for _, answer := range []string{
		"Content-Length: 10\r\n\r\n01234", "Transfer-Encoding: chunked\r\n\r\n5\r\n01234\r\n", "Transfer-Encoding: chunked\r\n\r\n5\r\n0123",
		"Content-Length: 10\r\n\r\n01234" + reset, "Content-Length: 200000\r\n\r\n" + long, "Transfer-Encoding: chunked\r\n\r\n186a0\r\n" + long + "\r\n" + reset,
	} {
		for _, control := range []string{kept, "Cache-Control: no-store\r\n"} {
			target := w.target(inTurn(raw("HTTP/1.1 200 OK\r\n"+control+answer), ok("whole", cc("max-age=60"))))
			if g := w.get(target); g.status == 200 && g.err == nil {
				t.Errorf("%.80q: %d bytes were given as a whole answer", answer, len(g.body))
			}
			w.fetched(target).is(200, "whole")
		}
	}
}

// What is beyond the length belongs to nobody, and to no other request.
func TestFRM_3(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	target := w.target(raw("HTTP/1.1 200 OK\r\n" + kept + "Content-Length: 4\r\n\r\nbodyHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"))
	w.fetched(target).is(200, "body").has("Content-Length", "4")
	w.reused(target).is(200, "body")
	w.on("/next", ok("next"))
	w.fetched("/next").is(200, "next")
}

func TestFRM_4(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	for _, lengths := range []string{"Content-Length: 4\r\nContent-Length: 5\r\n", "Content-Length: 4, 5\r\n", "Content-Length: +4\r\n", "Content-Length: 4x\r\n", "Content-Length: -4\r\n"} {
		target := w.target(raw("HTTP/1.1 200 OK\r\n" + kept + lengths + "\r\nbody"))
		if g := w.get(target); g.status != 502 {
			t.Errorf("%q: %d %q, want 502", lengths, g.status, g.body)
		}
	}
	w.on("/same", raw("HTTP/1.1 200 OK\r\n"+kept+"Content-Length: 4\r\nContent-Length: 4\r\n\r\nbody"))
	if g := w.get("/same"); g.status != 502 { // an equal repeat may also be refused
		g.is(200, "body").has("Content-Length", "4")
	}
}

func TestFRM_5(t *testing.T) {
	t.Parallel()
	w := given(t, raw("HTTP/1.1 200 OK\r\n"+kept+"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"+chunked("body")))
	if g := w.get("/p"); g.status != 502 {
		g.is(200, "body")
	}
	if n := w.get("/p"); n.status != 502 && n.body != "body" {
		t.Errorf("the next one got %d %q", n.status, n.body)
	}
}

// A coding that the edge does not know: 502 is the safe answer.
func TestFRM_6(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	for _, coding := range []string{"gzip", "x-own", "chunked, gzip", "gzip, chunked", "chunked, chunked", "identity, chunked x"} {
		target := w.target(raw("HTTP/1.1 200 OK\r\n" + kept + "Transfer-Encoding: " + coding + "\r\n\r\n" + chunked("body")))
		if g := w.get(target); g.status != 502 {
			t.Errorf("%s: %d %q, want 502", coding, g.status, g.body)
		}
	}
}

func TestFRM_7(t *testing.T) {
	t.Parallel()
	w := given(t, inTurn(raw("HTTP/1.1 200 OK\r\n"+kept+"\r\nhalf"+reset), ok("whole", cc("max-age=60"))))
	if g := w.get("/p"); g.status == 200 && g.err == nil {
		t.Errorf("%q was given as a whole answer", g.body)
	}
	w.fetched("/p").is(200, "whole")
}

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

// Section 25: statuses.

func TestSTA_1(t *testing.T) {
	t.Parallel()
	w := given(t, nil, guessing)
	old := unchanged(1000 * time.Hour)
	for status := 200; status < 600; status++ {
		switch status {
		case 206, 304, 401: // never kept; answers to a condition; nothing special
			continue
		case 200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 451, 501:
			w.keepsIt(say(status, "", old, "Location: /x"), status)
		case 201, 202, 205, 302, 303, 307, 400, 403, 409, 418, 499, 500, 502, 503, 504, 599:
			w.asksAgainAfter(say(status, "", old, "Location: /x"), status)
			w.keepsIt(say(status, "", old, cc("public"), "Location: /x"), status, "public")
		}
	}
}

// What is about the request itself, its head, its size or its rate, is kept for
// nobody; of 428, 429, 431 and 511 RFC 6585 says so.
func TestSTA_2(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	for _, status := range []int{302, 303, 307, 400, 401, 403, 404, 418, 500, 502, 503, 504} {
		w.keepsIt(say(status, "x", cc("max-age=60"), "Location: /x"), status).is(status, "x")
		w.keepsIt(say(status, "x", expires(time.Hour), "Location: /x"), status).is(status, "x")
	}
	for _, status := range []int{408, 413, 417, 428, 429, 431, 511} {
		w.asksAgainAfter(say(status, "x", cc("max-age=60")), status)
	}
}

func TestSTA_3(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	w.keepsIt(say(204, "", cc("max-age=60"))).is(204, "").has("Content-Length", "")
	w.keepsIt(say(301, "moved", cc("max-age=60"), "Location: /x?a=b")).is(301, "moved").has("Location", "/x?a=b")
	w.keepsIt(say(307, "", cc("max-age=60"), "Location: https://other.example/")).is(307, "").has("Location", "https://other.example/")
}

// An unknown status counts as the x00 of its class: 299 and 399 are success,
// 499 and 599 are not.
func TestSTA_5(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	for status, kept := range map[int]bool{299: false, 399: false, 499: true, 599: true} {
		if w.unsafely("POST", status) != kept {
			t.Errorf("POST answered %d: the page is kept: %v", status, !kept)
		}
		w.on("/p", say(status, "x"))
		w.fetched("/p").is(status, "x")
	}
	w.on("/999", say(999, "x"))
	if g := w.get("/999"); g.status != 999 && g.status != 502 {
		t.Errorf("999 is %d", g.status)
	}
}
