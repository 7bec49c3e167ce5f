package edge

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestWhatAFragmentRequestCarries(t *testing.T) {
	app := newRecorder(t, func(head, _ string) string { return htmlAnswer("F") })
	e := newEdge(t, withSite(patient), withOrigin(app.url), withFiles(t, map[string]string{"p.html": `<!--#include virtual="/f" -->`}))
	e.get("/p", `Cookie: a=1;b=2; =d; e="q;r"`, "Cookie: c=3", "Authorization: Basic x", "User-Agent: test/1", "Accept-Language: pt",
		"Accept-Encoding: gzip", "Range: bytes=0-1", "If-Range: \"x\"", "If-None-Match: \"x\"", "If-Modified-Since: Thu, 01 Jan 2026 00:00:00 GMT",
		"If-Match: *", "If-Unmodified-Since: Thu, 01 Jan 2099 00:00:00 GMT", "Content-Type: text/plain", "Content-Length: 0", "X-Forwarded-For: 6.6.6.6",
		"X-Request-Id: abc", "Traceparent: t").is(t, 200, "F")
	head := app.last(t)
	if !strings.HasPrefix(head, "GET /f HTTP/1.1\r\n") {
		t.Errorf("asked by %q", head)
	}
	sameLines(t, fieldsOf(head),
		"Host: "+testHost, `Cookie: a=1;b=2; =d; e="q;r"`, "Cookie: c=3", "Authorization: Basic x", "User-Agent: test/1", "Accept-Language: pt",
		"Accept-Encoding: identity", `Surrogate-Capability: ssiedge="SSI/1.0"`, "X-Real-Ip: 127.0.0.1", "X-Forwarded-For: 127.0.0.1",
		"X-Forwarded-Proto: http", "X-Forwarded-Host: "+testHost, "X-Request-Id: abc", "Traceparent: t", "Via: 1.1 ssiedge")
}

// TestFailedFragments: exactly one thing stands for a failed fragment.
func TestFailedFragments(t *testing.T) {
	app := newRawApp(t, func(c net.Conn) {
		r := bufio.NewReader(c)
		for {
			q, err := http.ReadRequest(r)
			if err != nil {
				return
			}
			switch q.URL.Path {
			case "/404":
				io.WriteString(c, "HTTP/1.1 404 No\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\nno 404")
			case "/500":
				io.WriteString(c, "HTTP/1.1 500 No\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\nno 500")
			case "/302":
				io.WriteString(c, "HTTP/1.1 302 Found\r\nLocation: /ok\r\nContent-Length: 5\r\n\r\nmoved")
			case "/204":
				io.WriteString(c, "HTTP/1.1 204 No Content\r\n\r\n")
			case "/empty":
				io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
			case "/short":
				io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
				return
			case "/reset":
				return
			case "/slow":
				io.Copy(io.Discard, c)
				return
			case "/large":
				io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n"+strings.Repeat("x", 2000))
			case "/larger":
				io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7d0\r\n"+strings.Repeat("x", 2000)+"\r\n0\r\n\r\n")
			case "/unknown":
				io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Encoding: x-odd\r\nContent-Length: 3\r\n\r\nodd")
			case "/broken":
				io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nodd")
			default:
				io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
			}
		}
	})
	settings := withSite(func(s *Site) {
		patient(s)
		s.SSI.MaxFragment = 1000
	})
	slow := withRule(Rule{Paths: []string{"/slow"}, Timeout: ptr(50 * time.Millisecond)})
	tests := []struct {
		url, plain, stub, pasted string
	}{
		{"/ok", "ok", "ok", "ok"},
		{"/302", "moved", "moved", "moved"},
		{"/204", "", "stub", ""},
		{"/empty", "", "stub", ""},
		{"/404", "[error]", "stub", "no 404"},
		{"/500", "[error]", "stub", "no 500"},
		{"/short", "[error]", "stub", "half"},
		{"/reset", "[error]", "stub", "[error]"},
		{"/slow", "[error]", "stub", "[error]"},
		{"/large", "[error]", "stub", "[error]"},
		{"/larger", "[error]", "stub", "[error]"},
		{"/unknown", "[error]", "stub", "[error]"},
		{"/broken", "[error]", "stub", "[error]"},
		{"/../x", "[error]", "stub", "[error]"},
		{"/%00", "[error]", "stub", "[error]"},
		{"/a/..%2fx", "[error]", "stub", "[error]"},
		{"/internal", "ok", "ok", "ok"},
	}
	files := map[string]string{}
	for i, test := range tests {
		files[fmt.Sprintf("plain%d.html", i)] = `<<!--#include virtual="` + test.url + `" -->>`
		files[fmt.Sprintf("stub%d.html", i)] = `<!--#block name="s" -->stub<!--#endblock --><<!--#include virtual="` + test.url + `" stub="s" -->>`
	}
	internal := withRule(Rule{Paths: []string{"/internal"}, Internal: ptr(true)})
	e := newEdge(t, withOrigin(app), withFiles(t, files), settings, slow, internal)
	paste := newEdge(t, withOrigin(app), withFiles(t, files), settings, slow, internal, withSite(func(s *Site) { s.SSI.PasteErrors = true }))
	for i, test := range tests {
		a := e.get(fmt.Sprintf("/plain%d", i))
		a.is(t, 200, "<"+test.plain+">")
		want := ""
		if test.plain == "[error]" {
			want = "no-store"
		}
		a.has(t, "Cache-Control", want)
		e.get(fmt.Sprintf("/stub%d", i)).is(t, 200, "<"+test.stub+">")
		paste.get(fmt.Sprintf("/plain%d", i)).is(t, 200, "<"+test.pasted+">")
	}
	if log := e.log.String(); !strings.Contains(log, "/404") || !strings.Contains(log, "plain4.html:1:2") {
		t.Errorf("the log does not tell what failed and where:\n%s", log)
	}
}

func TestSilentErrorsAndRedirectedInclude(t *testing.T) {
	files := map[string]string{
		"p.html": `<<!--#include virtual="/none" -->>`,
		"r.html": `<!--#block name="s" -->stub<!--#endblock --><<!--#include virtual="/moved" --><!--#include virtual="/moved" stub="s" -->>`,
	}
	e := newEdge(t, withFiles(t, files), withSite(func(s *Site) { s.SSI.SilentErrors = true }),
		withRule(Rule{Paths: []string{"/moved"}, Redirect: ptr("/x")}))
	e.get("/p").is(t, 200, "<>")
	e.get("/r").is(t, 200, "<stub>")
	newEdge(t, withFiles(t, files)).get("/p").is(t, 200, "<[error]>")
}

// TestCodedFragmentsAndPages is O12 of the public bug reports.
func TestCodedFragmentsAndPages(t *testing.T) {
	page := `<p><!--#include virtual="/gzip/f" --><!--#include virtual="/deflate/f" --><!--#include virtual="/br/f" --><!--#include virtual="/zstd/f" --></p>`
	app := newRecorder(t, func(head, _ string) string {
		_, rest, _ := strings.Cut(pathOf(head), "/")
		coding, what, _ := strings.Cut(rest, "/")
		body := map[string]string{"f": "(" + coding + ")", "page": page, "plain": "plain"}[what]
		return htmlAnswer(coded(t, coding, body), "Content-Encoding: "+coding, "ETag: \"coded\"", "Vary: Accept-Encoding")
	})
	e := newEdge(t, withSite(patient), withOrigin(app.url))
	for _, coding := range []string{"gzip", "x-gzip", "deflate", "br", "zstd", "identity"} {
		a := e.get("/"+coding+"/page", "Accept-Encoding: gzip")
		a.is(t, 200, "<p>(gzip)(deflate)(br)(zstd)</p>")
		a.has(t, "Content-Encoding", "")
		a = e.get("/" + coding + "/plain")
		a.is(t, 200, "plain")
		a.has(t, "Content-Encoding", "")
		if coding != "identity" {
			a.has(t, "Etag", "")
		}
	}
	a := e.get("/odd/page")
	a.is(t, 200, page)
	a.has(t, "Content-Encoding", "odd")
	a.has(t, "Etag", `"coded"`)
}

// TestIncludeURLs: what of a URL goes out how.
func TestIncludeURLs(t *testing.T) {
	app := newRecorder(t, func(head, _ string) string { return htmlAnswer(pathOf(head)) })
	tests := []struct{ url, asked string }{
		{"/f?b=2&a=%7e&utm_source=1&&x", "/f?b=2&a=%7e&utm_source=1&&x"},
		{"/f?q=a b", "/f?q=a%20b"},
		{"/f?q=ü", "/f?q=\xc3\xbc"},
		{"/f?a?b", "/f?a?b"},
		{"/f#frag", "/f%23frag"},
		{"/f?a#b", "/f?a%23b"},
		{"/a b/ü", "/a%20b/%C3%BC"},
		{"/%7Eu/%41%2f%2Fb", "/~u/A%2F%2Fb"},
		{"/a/./b//c/../d/", "/a/b/d"},
		{"rel?x", "/dir/rel?x"},
		{"../up", "/up"},
		{"?q", "/dir?q"},
		{"http://evil.example/x", "/dir/http:/evil.example/x"},
		{"//evil.example/x", "/evil.example/x"},
		{"/a;p=1/b:c@d", "/a;p=1/b:c@d"},
	}
	files := map[string]string{}
	for i, test := range tests {
		files[fmt.Sprintf("dir/p%d.html", i)] = `<!--#include virtual="` + test.url + `" -->`
	}
	e := newEdge(t, withSite(patient), withOrigin(app.url), withFiles(t, files))
	for i, test := range tests {
		a := e.get(fmt.Sprintf("/dir/p%d?page=1", i))
		if a.body == test.asked {
			t.Errorf("%s: answered with a query left", test.url)
		}
		a = e.get(fmt.Sprintf("/dir/p%d", i))
		if a.body != test.asked {
			t.Errorf("%q: the app was asked for %q, want %q", test.url, a.body, test.asked)
		}
		if hosts := fieldLines(app.last(t), "Host"); len(hosts) != 1 || hosts[0] != testHost {
			t.Errorf("%q: asked of %q", test.url, hosts)
		}
	}
}

// TestNestedAndRelative has O6 and O8 of the public bug reports.
func TestNestedAndRelative(t *testing.T) {
	e := newEdge(t, withFiles(t, map[string]string{
		"p.html":              `<!--#include virtual="/foot.inc" -->`,
		"foot.inc":            `v<!--#set var="n" value="1" --><!--#echo var="n" -->`,
		"a/p.html":            `<!--#block name="shush" --><!--#endblock --><!--# include virtual="../header.html" stub="shush" -->|<!--# include virtual="nested/" -->|<!--#include virtual="x.html" -->`,
		"header.html":         "head",
		"a/nested/index.html": `in <!--#include virtual="deep.html" -->`,
		"a/nested/deep.html":  `deep <!--#include virtual="/a/x" -->`,
		"a/x.html":            `x@<!--#echo var="document_uri" -->`,
		"a/index.html":        `<!--#include virtual="x.html" -->`,
		"t.txt":               `<!--#echo var="uri" -->`,
		"raw.html":            `<!--#include virtual="/t.txt" -->`,
		"attr.html":           `<meta content="on <!--#include virtual="/header" -->, at"><script>var u = '<!--#include virtual='/header' -->';</script>`,
	}))
	tests := []struct{ target, body string }{
		{"/p", "v1"},
		{"/a/p", "head|in deep x@/a/x.html|x@/a/x.html"},
		{"/a", "x@/a/x.html"},
		{"/a/", "x@/a/x.html"},
		{"/raw", `<!--#echo var="uri" -->`},
		{"/attr", `<meta content="on head, at"><script>var u = 'head';</script>`},
	}
	for _, test := range tests {
		e.get(test.target).is(t, 200, test.body)
	}
}
