package origin

import (
	"bufio"
	"bytes"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"
)

// parsedRequest is a request as a visitor sent it.
func parsedRequest(t testing.TB, raw string) *fasthttp.Request {
	t.Helper()
	r := new(fasthttp.Request)
	if err := r.Header.Read(bufio.NewReader(strings.NewReader(raw))); err != nil {
		t.Fatal(err)
	}
	r.Header.SetNoDefaultContentType(true)
	return r
}

func TestRequestHead(t *testing.T) {
	const crlf = "\r\n"
	some := strings.NewReader("")
	for _, c := range []struct {
		name string
		raw  string // the visitor's, lines ended by LF
		x    Exchange
		want string
	}{
		{"as it is: target, cookies, duplicates, odd escapes",
			"GET //a/../%2F%zz?b=%20&& HTTP/1.1\nHost: WWW.Example.com:80\nCookie: a=1;b=2; =d; e=\"q;r\"\nCookie: z\nX-A: 1\nX-A: 2\nAccept: */*\n",
			Exchange{},
			"GET //a/../%2F%zz?b=%20&& HTTP/1.1\nHost: WWW.Example.com:80\nCookie: a=1;b=2; =d; e=\"q;r\"\nCookie: z\nX-A: 1\nX-A: 2\nAccept: */*\n"},
		{"nothing added", "GET / HTTP/1.1\nHost: a\n", Exchange{}, "GET / HTTP/1.1\nHost: a\n"},
		{"ours is HTTP/1.1", "GET / HTTP/1.0\nHost: a\nConnection: close\n", Exchange{}, "GET / HTTP/1.1\nHost: a\n"},
		{"no Host: an empty one", "GET / HTTP/1.0\n", Exchange{}, "GET / HTTP/1.1\nHost: \n"},
		{"no body, no length", "DELETE /a HTTP/1.1\nHost: a\n", Exchange{}, "DELETE /a HTTP/1.1\nHost: a\n"},
		{"no body, length said", "DELETE /a HTTP/1.1\nHost: a\nContent-Length: 0\n", Exchange{}, "DELETE /a HTTP/1.1\nHost: a\nContent-Length: 0\n"},
		{"no body, length expected", "POST /a HTTP/1.1\nHost: a\n", Exchange{}, "POST /a HTTP/1.1\nHost: a\nContent-Length: 0\n"},
		{"length", "POST /a HTTP/1.1\nHost: a\nContent-Length: 9\n", Exchange{Body: some, BodySize: 7}, "POST /a HTTP/1.1\nHost: a\nContent-Length: 7\n"},
		{"body of GET", "GET /a HTTP/1.1\nHost: a\n", Exchange{Body: some, BodySize: 7}, "GET /a HTTP/1.1\nHost: a\nContent-Length: 7\n"},
		{"empty body", "PATCH /a HTTP/1.1\nHost: a\n", Exchange{Body: some}, "PATCH /a HTTP/1.1\nHost: a\nContent-Length: 0\n"},
		{"unknown length", "POST /a HTTP/1.1\nHost: a\nTransfer-Encoding: chunked\nTrailer: X-T\n", Exchange{Body: some, BodySize: -1},
			"POST /a HTTP/1.1\nHost: a\nTransfer-Encoding: chunked\n"},
		{"length of a stream is ours", "POST /a HTTP/1.1\nHost: a\nTransfer-Encoding: chunked\n", Exchange{Body: some, BodySize: 3},
			"POST /a HTTP/1.1\nHost: a\nContent-Length: 3\n"},
		{"upgrade", "GET /ws HTTP/1.1\nHost: a\nConnection: Upgrade\nUpgrade: websocket\n", Exchange{Upgrade: true},
			"GET /ws HTTP/1.1\nHost: a\nConnection: Upgrade\nUpgrade: websocket\n"},
		{"absolute form", "GET http://b/a HTTP/1.1\nHost: a\n", Exchange{}, "GET http://b/a HTTP/1.1\nHost: a\n"},
		{"asterisk", "OPTIONS * HTTP/1.1\nHost: a\n", Exchange{}, "OPTIONS * HTTP/1.1\nHost: a\n"},
	} {
		c.x.Request = parsedRequest(t, strings.ReplaceAll(c.raw, "\n", crlf)+crlf)
		before := c.x.Request.Header.String()
		got, err := appendRequestHead(nil, &c.x)
		if want := strings.ReplaceAll(c.want, "\n", crlf) + crlf; err != nil || string(got) != want {
			t.Errorf("%s: got\n%s\nerror %v, want\n%s", c.name, got, err, want)
		}
		if after := c.x.Request.Header.String(); after != before {
			t.Errorf("%s: the request was changed from\n%s\nto\n%s", c.name, before, after)
		}
	}
}

// fasthttp's default Content-Type is none of the visitor's.
func TestRequestHeadDefaultType(t *testing.T) {
	x := withBody(exchange("POST", "/"), "hello", 5)
	x.Request.Header.SetContentLength(5)
	got, err := appendRequestHead(nil, x)
	if err != nil || bytes.Contains(got, []byte("Content-Type")) {
		t.Errorf("got\n%s\nerror %v", got, err)
	}
	x.Request.Header.SetContentType("a/b")
	if got, _ = appendRequestHead(nil, x); !bytes.Contains(got, []byte("\r\nContent-Type: a/b\r\n")) {
		t.Errorf("Content-Type is lost:\n%s", got)
	}
}

// What would end the line, or the head, early never leaves.
func TestRequestInvalid(t *testing.T) {
	p := poolOf(t, refused(t))
	for name, change := range map[string]func(h *fasthttp.RequestHeader){
		"target with a space":   func(h *fasthttp.RequestHeader) { h.SetRequestURI("/a b") },
		"target with a NUL":     func(h *fasthttp.RequestHeader) { h.SetRequestURI("/a\x00") },
		"host with a space":     func(h *fasthttp.RequestHeader) { h.SetHost("a b") },
		"method with a space":   func(h *fasthttp.RequestHeader) { h.SetMethod("GET /x") },
		"method out of letters": func(h *fasthttp.RequestHeader) { h.SetMethod("GÉT") },
		"CONNECT":               func(h *fasthttp.RequestHeader) { h.SetMethod("CONNECT") },
	} {
		x := exchange("GET", "/")
		change(&x.Request.Header)
		_, err := answer(p, x)
		if e := wantError(t, err, Invalid); e.Sent || e.Timeout() {
			t.Errorf("%s: %+v", name, e)
		}
	}
	// Names and values that hold a line end of their own.
	x := exchange("GET", "/")
	x.Request.Header.Set("X-A\r\nX-B: 1", "v\r\nX-C: 1")
	x.Request.Header.Set("Transfer-Encoding:x", "chunked")
	head, err := appendRequestHead(nil, x)
	if err != nil || bytes.Contains(head, []byte("\nX-B")) || bytes.Contains(head, []byte("\nX-C")) || bytes.Contains(bytes.ToLower(head), []byte("transfer-encoding")) {
		t.Errorf("fields got through:\n%s%v", head, err)
	}
}
