package conformance

import (
	"strings"
	"testing"
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
