package edge

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// fieldsOf are the field lines of a head, sorted; without those of a name in
// skip.
func fieldsOf(head string, skip ...string) []string {
	var lines []string
	for _, line := range strings.Split(strings.TrimSpace(head), "\r\n")[1:] {
		name, _, _ := strings.Cut(line, ":")
		if !slices.ContainsFunc(skip, func(s string) bool { return strings.EqualFold(s, name) }) {
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	return lines
}

func sameLines(t *testing.T, got []string, want ...string) {
	t.Helper()
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("fields\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

func TestWhatTheOriginGets(t *testing.T) {
	app := newRecorder(t, nil)
	e := newEdge(t, withOrigin(app.url))
	e.get("/a//b/?utm_source=x&q=%7e", "Host: WWW.Example.com:8080",
		"User-Agent: test/1", "Accept: text/html", "Accept-Encoding: gzip, br", "Accept-Language: pt",
		`Cookie: a=1;b=2; =d; e="q;r"`, "Cookie: z=%20 ", "Referer: http://x/",
		"If-None-Match: \"x\"", "Range: bytes=0-5", "Authorization: Basic eDp5", "X-Empty:", "x-lower: 1", "X-Twice: 1", "X-Twice: 2",
		"Connection: X-Listed, Cache-Control", "X-Listed: 1", "Cache-Control: no-cache",
		"Keep-Alive: 5", "TE: trailers", "Trailer: X", "Upgrade: h2c", "Proxy-Connection: close", "Proxy-Authorization: Basic x",
		"X_Real_IP: 10.0.0.1", "X_Forwarded_For: 10.0.0.1",
		"X-Real-IP: 10.0.0.1", "X-Forwarded-For: 10.0.0.1", "X-Forwarded-Proto: https", "X-Forwarded-Host: evil",
		"X-Forwarded-Port: 1", "X-Forwarded-Server: evil", "Forwarded: for=10.0.0.1",
		"Surrogate-Capability: x=\"ESI/1.0\"",
		"Via: 1.0 one", "Via: 1.1 two, 1.1 three",
		"X-Request-Id: abc", "Traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	head := app.last(t)
	if line, _, _ := strings.Cut(head, "\r\n"); line != "GET /a/b?q=%7e HTTP/1.1" {
		t.Errorf("request line %q", line)
	}
	sameLines(t, fieldsOf(head),
		"Host: WWW.Example.com:8080", "User-Agent: test/1", "Accept: text/html", "Accept-Language: pt",
		`Cookie: a=1;b=2; =d; e="q;r"`, "Cookie: z=%20", "Referer: http://x/",
		`If-None-Match: "x"`, "Range: bytes=0-5", "Authorization: Basic eDp5", "X-Empty: ", "X-Lower: 1", "X-Twice: 1", "X-Twice: 2",
		"Cache-Control: no-cache",
		"Accept-Encoding: identity", `Surrogate-Capability: ssiedge="SSI/1.0"`,
		"X-Real-Ip: 127.0.0.1", "X-Forwarded-For: 127.0.0.1", "X-Forwarded-Proto: http", "X-Forwarded-Host: WWW.Example.com:8080",
		"Via: 1.0 one, 1.1 two, 1.1 three, 1.1 ssiedge",
		"X-Request-Id: abc", "Traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
}

func TestNothingIsAddedForTheOrigin(t *testing.T) {
	app := newRecorder(t, nil)
	e := newEdge(t, withOrigin(app.url), withSite(func(s *Site) { s.SSI.Enabled = false }))
	e.get("/", "Accept-Encoding: gzip")
	sameLines(t, fieldsOf(app.last(t), "X-Request-Id", "Traceparent"),
		"Host: "+testHost, "Accept-Encoding: gzip", "X-Real-Ip: 127.0.0.1", "X-Forwarded-For: 127.0.0.1",
		"X-Forwarded-Proto: http", "X-Forwarded-Host: "+testHost, "Via: 1.1 ssiedge")
	id := fieldLines(app.last(t), "X-Request-Id")
	trace := fieldLines(app.last(t), "Traceparent")
	if len(id) != 1 || !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(id[0]) {
		t.Errorf("X-Request-Id %q, want 32 hex digits", id)
	}
	if len(trace) != 1 || !regexp.MustCompile(`^00-[0-9a-f]{32}-[0-9a-f]{16}-00$`).MatchString(trace[0]) {
		t.Errorf("Traceparent %q", trace)
	}
	e.get("/")
	if again := fieldLines(app.last(t), "X-Request-Id"); again[0] == id[0] {
		t.Errorf("two requests with the id %q", id)
	}
	// HTTP/1.0 knows no Host, yet what goes out is HTTP/1.1 and needs one.
	e.send("GET /x HTTP/1.0\r\n\r\n").is(t, 200, "ok")
	if hosts := fieldLines(app.last(t), "Host"); len(hosts) != 1 {
		t.Errorf("Host %q, want one", hosts)
	}
	if via := fieldLines(app.last(t), "Via"); len(via) != 1 || via[0] != "1.0 ssiedge" {
		t.Errorf("Via %q, want the version that the visitor speaks", via)
	}
}

func TestTrustedProxy(t *testing.T) {
	app := newRecorder(t, nil)
	trust := func(o *Options) {
		o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("10.0.0.0/8")}
		o.Sites[0].Hosts = []string{"public.example"}
	}
	e := newEdge(t, withOrigin(app.url), trust)
	e.get("/", "Host: inner", "X-Forwarded-For: 6.6.6.6, 192.0.2.7, 10.1.1.1", "X-Forwarded-Proto: https", "X-Forwarded-Host: Public.Example").is(t, 200, "ok")
	sameLines(t, fieldsOf(app.last(t), "X-Request-Id", "Traceparent", "Accept-Encoding", "Surrogate-Capability", "Via"),
		"Host: public.example", "X-Forwarded-Host: public.example", "X-Forwarded-Proto: https",
		"X-Real-Ip: 192.0.2.7", "X-Forwarded-For: 192.0.2.7, 10.1.1.1, 127.0.0.1")
	e.get("/", "Host: public.example", "Forwarded: for=192.0.2.9;proto=https").is(t, 200, "ok")
	sameLines(t, fieldsOf(app.last(t), "X-Request-Id", "Traceparent", "Accept-Encoding", "Surrogate-Capability", "Via"),
		"Host: public.example", "X-Forwarded-Host: public.example", "X-Forwarded-Proto: https",
		"X-Real-Ip: 192.0.2.9", "X-Forwarded-For: 192.0.2.9, 127.0.0.1")
}

func TestUploadReachesTheOrigin(t *testing.T) {
	app := newRecorder(t, echoApp)
	e := newEdge(t, withOrigin(app.url))
	e.post("POST", "/a//b/../c/?x=1&utm_source=q", "k=v", "Content-Type: application/x-www-form-urlencoded").
		is(t, 200, "POST /a//b/../c/?x=1&utm_source=q HTTP/1.1\nk=v")
	sameLines(t, fieldsOf(app.last(t), "X-Request-Id", "Traceparent", "Accept-Encoding", "Surrogate-Capability", "Via", "X-Real-Ip",
		"X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host"),
		"Host: "+testHost, "Content-Type: application/x-www-form-urlencoded", "Content-Length: 3")
	e.post("POST", "/form", "--x\r\nContent-Disposition: form-data; name=a\r\n\r\nv\r\n--x--\r\n", "Content-Type: multipart/form-data; boundary=x").
		is(t, 200, "POST /form HTTP/1.1\n--x\r\nContent-Disposition: form-data; name=a\r\n\r\nv\r\n--x--\r\n")
	chunked := request11("PUT", "/c", "Transfer-Encoding: chunked", "Trailer: X") + "3\r\nabc\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n"
	e.send(chunked).is(t, 200, "PUT /c HTTP/1.1\nabc0123456789abcdef")
	if te := fieldLines(app.last(t), "Transfer-Encoding"); len(te) != 1 || te[0] != "chunked" {
		t.Errorf("Transfer-Encoding %q", te)
	}
	e.send(request11("POST", "/e", "Expect: 100-continue", "Content-Length: 2")+"ok").is(t, 100, "")
	e.post("POST", "/none", "").is(t, 200, "POST /none HTTP/1.1\n")
	if n := fieldLines(app.last(t), "Content-Length"); len(n) != 1 || n[0] != "0" {
		t.Errorf("Content-Length of an empty POST is %q, want 0", n)
	}
	e.post("GET", "/body", "in a GET").is(t, 200, "GET /body HTTP/1.1\nin a GET")
}

func TestWhatTheVisitorGets(t *testing.T) {
	app := newRecorder(t, func(head, _ string) string {
		return "HTTP/1.1 203 Fine By Me\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\nServer: app/1\r\nAge: 7\r\nContent-Type: text/plain\r\n" +
			"Content-Length: 2\r\nConnection: X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\nProxy-Connection: x\r\n" +
			"Set-Cookie: a=1; Path=/; HttpOnly\r\nSet-Cookie: a=2\r\nSet-Cookie: b=\"q\"\r\n" +
			"X-Twice: 1\r\nX-Twice: 2\r\nETag: W/\"e\"\r\nVary: Accept\r\nVary: Cookie\r\n" +
			"X-Accel-Expires: 5\r\nX-Accel-Redirect: /x\r\nX-Accel-Buffering: no\r\nX-Accel-Charset: x\r\nX-Accel-Limit-Rate: 1\r\n" +
			"Surrogate-Control: max-age=5\r\nSSIEdge-Cache-Control: max-age=5\r\nCDN-Cache-Control: max-age=6\r\n" +
			"Cache-Status: inner; hit\r\nCache-Status: other; fwd=miss\r\nVia: 1.0 inner\r\nWarning: 199 x\r\n\r\nok"
	})
	e := newEdge(t, withOrigin(app.url))
	a := e.get("/")
	a.is(t, 203, "ok")
	if !strings.HasPrefix(a.head, "HTTP/1.1 203 ") {
		t.Errorf("status line of %q", a.head)
	}
	sameLines(t, fieldsOf(a.head, "Connection"),
		"Date: Thu, 01 Jan 2026 00:00:00 GMT", "Server: app/1", "Age: 7", "Content-Type: text/plain", "Content-Length: 2",
		"Set-Cookie: a=1; Path=/; HttpOnly", "Set-Cookie: a=2", `Set-Cookie: b="q"`,
		"X-Twice: 1", "X-Twice: 2", `Etag: W/"e"`, "Vary: Accept", "Vary: Cookie",
		"Cdn-Cache-Control: max-age=6", "Cache-Status: inner; hit, other; fwd=miss, ssiedge; fwd=uri-miss", "Via: 1.0 inner, 1.1 ssiedge",
		"Warning: 199 x")
}

func TestAnswerWithoutDate(t *testing.T) {
	app := newRecorder(t, func(string, string) string { return "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" })
	a := newEdge(t, withOrigin(app.url)).get("/")
	a.is(t, 200, "ok")
	if len(a.lines("Date")) != 1 {
		t.Errorf("Date %q: RFC 9110, section 6.6.1 wants one of the time of receipt", a.lines("Date"))
	}
	a.has(t, "Content-Type", "")
}

func TestStatusesOfTheApp(t *testing.T) {
	app := newRecorder(t, func(head, _ string) string {
		status := strings.Split(strings.Fields(head)[1], "/")[1]
		switch status {
		case "204":
			return "HTTP/1.1 204 No Content\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\nX-A: 1\r\n\r\n"
		case "304":
			return "HTTP/1.1 304 Not Modified\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\nETag: \"e\"\r\n\r\n"
		}
		body := "body"
		if strings.HasPrefix(head, "HEAD") {
			body = ""
		}
		return "HTTP/1.1 " + status + " Odd\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\nContent-Type: text/plain\r\nETag: \"e\"\r\nContent-Length: 4\r\n\r\n" + body
	})
	e := newEdge(t, withOrigin(app.url))
	for _, status := range []int{200, 201, 299, 300, 302, 400, 404, 418, 499, 500, 503, 599, 999} {
		a := e.get("/" + itoa(status))
		a.is(t, status, "body")
		h := e.do("HEAD", "/"+itoa(status))
		h.is(t, status, "")
		h.has(t, "Content-Length", "4")
		h.has(t, "Etag", `"e"`)
	}
	a := e.get("/204")
	a.is(t, 204, "")
	a.has(t, "X-A", "1")
	a.has(t, "Content-Length", "")
	a = e.get("/304", `If-None-Match: "e"`)
	a.is(t, 304, "")
	a.has(t, "Etag", `"e"`)
	for head := range slices.Values(app.all()) {
		if strings.HasPrefix(head, "HEAD") != strings.Contains(head[:5], "HEAD") {
			t.Errorf("HEAD asked as %q", head)
		}
	}
}

// TestHeadOfDocument: nobody knows whether a GET would have directives.
func TestHeadOfDocument(t *testing.T) {
	app := newRecorder(t, func(string, string) string {
		return "HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\nContent-Type: text/html\r\nETag: \"e\"\r\nLast-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\nContent-Length: 4\r\n\r\n"
	})
	e := newEdge(t, withOrigin(app.url))
	h := e.do("HEAD", "/")
	h.is(t, 200, "")
	for _, name := range []string{"Etag", "Content-Length", "Last-Modified"} {
		h.has(t, name, "")
	}
	if line, _, _ := strings.Cut(app.last(t), "\r\n"); line != "HEAD / HTTP/1.1" {
		t.Errorf("asked by %q", line)
	}
}

func TestOriginDown(t *testing.T) {
	e := newEdge(t, withOrigin(realtest.FreeAddr(t)))
	a := e.get("/x")
	if a.StatusCode != 502 || !strings.Contains(a.body, "502 Bad Gateway") {
		t.Errorf("%d %q, want our 502", a.StatusCode, a.body)
	}
	a.has(t, "Content-Type", "text/html; charset=utf-8")
	a.has(t, "Cache-Control", "no-store")
	if n := len(a.lines("Date")); n != 1 {
		t.Errorf("%d Date fields", n)
	}
	if a := e.post("POST", "/x", "body"); a.StatusCode != 502 {
		t.Errorf("POST: %d, want 502", a.StatusCode)
	}
	if log := e.log.String(); !strings.Contains(log, "problem=origin") || !strings.Contains(log, "/x") {
		t.Errorf("the log does not tell: %s", log)
	}
}

func TestOriginSlow(t *testing.T) {
	silent := newRawApp(t, func(c net.Conn) { io.Copy(io.Discard, c) })
	e := newEdge(t, withOrigin(silent), withRule(Rule{Paths: []string{"*"}, Timeout: ptr(30 * time.Millisecond)}))
	if a := e.get("/x"); a.StatusCode != 504 || !strings.Contains(a.body, "504 Gateway Timeout") {
		t.Errorf("%d %q, want our 504", a.StatusCode, a.body)
	}
}

// TestOriginSlowerThanAWrite: what counts is the time that writing takes.
func TestOriginSlowerThanAWrite(t *testing.T) {
	app := func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(1300 * time.Millisecond) // the app's own slowness
		io.WriteString(w, "late")
	}
	e := newEdge(t, withApp(t, app), func(o *Options) { o.Limits.WriteTimeout = time.Second })
	e.get("/x").is(t, 200, "late")
}

func TestRedirectsOfTheApp(t *testing.T) {
	app := newRecorder(t, func(head, _ string) string {
		return "HTTP/1.1 302 Found\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\nLocation: /login?next=%2Fa\r\nSet-Cookie: s=1\r\nContent-Length: 0\r\n\r\n"
	})
	e := newEdge(t, withOrigin(app.url))
	a := e.get("/a")
	a.is(t, 302, "")
	a.has(t, "Location", "/login?next=%2Fa")
	a.has(t, "Set-Cookie", "s=1")
}

// slashApp redirects every page to the form with a slash, as many do.
func slashApp(location func(r *http.Request) string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/") {
			w.Header().Set("Location", location(r))
			w.WriteHeader(http.StatusMovedPermanently)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "%s?%s", r.URL.Path, r.URL.RawQuery)
	}
}

func TestAppThatWantsSlashes(t *testing.T) {
	for name, location := range map[string]func(r *http.Request) string{
		"path": func(r *http.Request) string {
			return strings.Replace(r.URL.RequestURI(), r.URL.Path, r.URL.Path+"/", 1)
		},
		"absolute": func(r *http.Request) string {
			return "http://" + r.Host + strings.Replace(r.URL.RequestURI(), r.URL.Path, r.URL.Path+"/", 1)
		},
	} {
		for _, mode := range []TrailingSlash{StripSlash, RedirectSlash} {
			t.Run(name, func(t *testing.T) {
				var seen []string
				slash := slashApp(location)
				app := func(w http.ResponseWriter, r *http.Request) {
					seen = append(seen, r.URL.RequestURI())
					slash(w, r)
				}
				e := newEdge(t, withApp(t, app), withSite(func(s *Site) { s.TrailingSlash = mode }),
					withFiles(t, map[string]string{"p.html": `[<!--#include virtual="/f?a=1&utm_source=2" -->]`}))
				e.get("/a?q=1&utm_source=x").is(t, 200, "/a/?q=1")
				e.get("/a?q=1").is(t, 200, "/a/?q=1")
				e.get("/p").is(t, 200, "[/f/?a=1&utm_source=2]")
				e.get("/p").is(t, 200, "[/f/?a=1&utm_source=2]")
				want := []string{"/a?q=1", "/a/?q=1", "/a/?q=1", "/f?a=1&utm_source=2", "/f/?a=1&utm_source=2", "/f/?a=1&utm_source=2"}
				if !slices.Equal(seen, want) {
					t.Errorf("the app was asked for %q, want %q", seen, want)
				}
			})
		}
	}
}

func TestAppThatChangesItsMind(t *testing.T) {
	wants := true
	app := func(w http.ResponseWriter, r *http.Request) {
		has := strings.HasSuffix(r.URL.Path, "/")
		switch {
		case wants && !has:
			http.Redirect(w, r, r.URL.Path+"/", http.StatusMovedPermanently)
		case !wants && has:
			http.Redirect(w, r, strings.TrimSuffix(r.URL.Path, "/"), http.StatusMovedPermanently)
		default:
			io.WriteString(w, r.URL.Path)
		}
	}
	e := newEdge(t, withApp(t, app))
	e.get("/a").is(t, 200, "/a/")
	wants = false
	e.get("/a/").is(t, 200, "/a")
	e.get("/a").is(t, 200, "/a")
}

// TestRedirectsThatAreNotOurs go to the visitor.
func TestRedirectsThatAreNotOurs(t *testing.T) {
	var location string
	app := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", location)
		w.WriteHeader(301)
	}
	e := newEdge(t, withApp(t, app))
	keep := newEdge(t, withApp(t, app), withSite(func(s *Site) { s.TrailingSlash = KeepSlash }))
	for _, location = range []string{
		"/b/", "/a/?q=2", "http://other.example/a/", "https://" + testHost + "/a/", "//" + testHost + "/a/", "/a/#top", "a/", "/", "",
	} {
		a := e.get("/a")
		if a.StatusCode != 301 || a.Header.Get("Location") != location {
			t.Errorf("%q: %d to %q, want it passed on", location, a.StatusCode, a.Header.Get("Location"))
		}
	}
	location = "/a/"
	keep.get("/a").has(t, "Location", "/a/")
	e.post("POST", "/a", "x").has(t, "Location", "/a/")
	// An app that redirects either form is a loop of its own making.
	location = "/a"
	e.get("/a").has(t, "Location", "/a")
}

// TestPartOfDocument: a part of a page whose directives have to be run is of no
// use, so all of it is asked for.
func TestPartOfDocument(t *testing.T) {
	body := `<p><!--#include virtual="/f" --></p>`
	app := newRecorder(t, func(head, _ string) string {
		if strings.HasPrefix(head, "GET /f ") {
			return "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1\r\n\r\nF"
		}
		kind := "text/html"
		if strings.HasPrefix(head, "GET /plain ") {
			kind = "text/plain"
		}
		if strings.Contains(head, "Range: ") {
			return "HTTP/1.1 206 Partial Content\r\nContent-Type: " + kind + "\r\nContent-Range: bytes 0-4/" + itoa(len(body)) + "\r\nContent-Length: 5\r\n\r\n" + body[:5]
		}
		return "HTTP/1.1 200 OK\r\nContent-Type: " + kind + "\r\nContent-Length: " + itoa(len(body)) + "\r\n\r\n" + body
	})
	e := newEdge(t, withOrigin(app.url))
	a := e.get("/page", "Range: bytes=0-4", "If-Range: \"x\"")
	a.is(t, 200, "<p>F</p>")
	a.has(t, "Content-Range", "")
	e.get("/plain", "Range: bytes=0-4").is(t, 206, body[:5])
	for _, head := range app.all() {
		if strings.HasPrefix(head, "GET /f ") && strings.Contains(head, "Range") {
			t.Errorf("a fragment was asked for in part: %q", head)
		}
	}
}
