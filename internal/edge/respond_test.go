package edge

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"mime"
	mimeparts "mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// noise is text that no part of resembles another.
func noise(size int) string {
	r := rand.New(rand.NewPCG(1, uint64(size)))
	b := make([]byte, size)
	for i := range b {
		b[i] = "abcdefghijklmnopqrstuvwxyz012345"[r.Uint32()&31]
	}
	return string(b)
}

var lastModified = written.UTC().Format(http.TimeFormat)

func TestPublishedFileHead(t *testing.T) {
	e := newEdge(t, withFiles(t, map[string]string{
		"p.html": "page", "app.css": "css", "i.png": "png", "St.Louis": "town", "d/index.html": "index", "x.json": "{}",
	}))
	tests := []struct{ target, contentType, body string }{
		{"/p", "text/html; charset=utf-8", "page"},
		{"/p.html", "text/html; charset=utf-8", "page"},
		{"/app.css", "text/css; charset=utf-8", "css"},
		{"/i.png", "image/png", "png"},
		{"/St.Louis", "text/html; charset=utf-8", "town"},
		{"/d", "text/html; charset=utf-8", "index"},
		{"/x.json", "application/json; charset=utf-8", "{}"},
	}
	for _, test := range tests {
		a := e.get(test.target)
		a.is(t, 200, test.body)
		a.has(t, "Content-Type", test.contentType)
		a.has(t, "Content-Length", itoa(len(test.body)))
		a.has(t, "Last-Modified", lastModified)
		a.has(t, "Accept-Ranges", "bytes")
		a.has(t, "Cache-Status", "ssiedge; hit; detail=file")
		a.has(t, "Via", "1.1 ssiedge")
		for _, name := range []string{"Server", "Cache-Control", "Expires", "Vary", "Content-Encoding", "Age"} {
			a.has(t, name, "")
		}
		if tag := a.Header.Get("Etag"); !regexp.MustCompile(`^"[^"]+"$`).MatchString(tag) {
			t.Errorf("%s: entity-tag %q, want a strong one", test.target, tag)
		}
		date, err := http.ParseTime(a.Header.Get("Date"))
		if err != nil || len(a.lines("Date")) != 1 || time.Since(date).Abs() > time.Minute {
			t.Errorf("%s: Date %q, want one, of this moment", test.target, a.lines("Date"))
		}
		h := e.do("HEAD", test.target)
		h.is(t, 200, "")
		if want := withoutDate(a.head); withoutDate(h.head) != want {
			t.Errorf("%s: head of HEAD\n%swant that of GET\n%s", test.target, h.head, want)
		}
	}
}

// withoutDate is a head but for its Date, which may be of the next second.
func withoutDate(head string) string {
	return regexp.MustCompile(`(?m)^Date: .*\r\n`).ReplaceAllString(head, "")
}

func TestConditionsOnFile(t *testing.T) {
	e := newEdge(t, withFiles(t, map[string]string{"p.html": "page"}),
		withRule(Rule{Paths: []string{"*"}, Expires: ptr(time.Hour)}))
	tag := e.get("/p").Header.Get("Etag")
	earlier := written.Add(-time.Hour).UTC().Format(http.TimeFormat)
	tests := []struct {
		field  string
		status int
	}{
		{"If-None-Match: " + tag, 304},
		{"If-None-Match: W/" + tag, 304},
		{`If-None-Match: "x", ` + tag, 304},
		{"If-None-Match: *", 304},
		{`If-None-Match: "x"`, 200},
		{"If-Modified-Since: " + lastModified, 304},
		{"If-Modified-Since: " + earlier, 200},
		{"If-Modified-Since: yesterday", 200},
		{"If-Match: " + tag, 200},
		{"If-Match: *", 200},
		{`If-Match: "x"`, 412},
		{"If-Match: W/" + tag, 412},
		{"If-Unmodified-Since: " + lastModified, 200},
		{"If-Unmodified-Since: " + earlier, 412},
	}
	for _, method := range []string{"GET", "HEAD"} {
		for _, test := range tests {
			a := e.do(method, "/p", test.field)
			body := ""
			if test.status == 200 && method == "GET" {
				body = "page"
			}
			a.is(t, test.status, body)
			a.has(t, "Cache-Status", "ssiedge; hit; detail=file")
			a.has(t, "Via", "1.1 ssiedge")
			if test.status == 412 {
				a.has(t, "Etag", "")
				a.has(t, "Last-Modified", "")
				a.has(t, "Expires", "")
				continue
			}
			a.has(t, "Etag", tag)
			a.has(t, "Last-Modified", lastModified)
			a.has(t, "Cache-Control", "max-age=3600")
		}
	}
	// The tag goes before the date.
	e.get("/p", `If-None-Match: "x"`, "If-Modified-Since: "+lastModified).is(t, 200, "page")
}

func TestRanges(t *testing.T) {
	small, large := noise(1000), noise(largeBody*2)
	e := newEdge(t, withFiles(t, map[string]string{"s.txt": small, "l.bin": large}),
		withRule(Rule{Paths: []string{"*"}, Expires: ptr(time.Hour)}))
	for target, body := range map[string]string{"/s.txt": small, "/l.bin": large} {
		n := len(body)
		tag := e.get(target).Header.Get("Etag")
		tests := []struct {
			fields []string
			status int
			body   string
			part   string // Content-Range
		}{
			{[]string{"Range: bytes=0-0"}, 206, body[:1], fmt.Sprintf("bytes 0-0/%d", n)},
			{[]string{"Range: bytes=10-19"}, 206, body[10:20], fmt.Sprintf("bytes 10-19/%d", n)},
			{[]string{"Range: bytes=5-"}, 206, body[5:], fmt.Sprintf("bytes 5-%d/%d", n-1, n)},
			{[]string{"Range: bytes=-7"}, 206, body[n-7:], fmt.Sprintf("bytes %d-%d/%d", n-7, n-1, n)},
			{[]string{"Range: bytes=900-99999999"}, 206, body[900:], fmt.Sprintf("bytes 900-%d/%d", n-1, n)},
			{[]string{fmt.Sprintf("Range: bytes=%d-", n)}, 416, "", fmt.Sprintf("bytes */%d", n)},
			{[]string{"Range: bytes=-0"}, 416, "", fmt.Sprintf("bytes */%d", n)},
			{[]string{"Range: bytes=9-1"}, 200, body, ""},
			{[]string{"Range: lines=1-2"}, 200, body, ""},
			{[]string{"Range: bytes=1-2", "If-Range: " + tag}, 206, body[1:3], fmt.Sprintf("bytes 1-2/%d", n)},
			{[]string{"Range: bytes=1-2", "If-Range: " + lastModified}, 206, body[1:3], fmt.Sprintf("bytes 1-2/%d", n)},
			{[]string{"Range: bytes=1-2", `If-Range: "other"`}, 200, body, ""},
			{[]string{"Range: bytes=1-2", "If-Range: W/" + tag}, 200, body, ""},
			{[]string{"Range: bytes=1-2", "If-None-Match: " + tag}, 304, "", ""},
			{[]string{"Range: bytes=1-2", `If-Match: "x"`}, 412, "", ""},
		}
		for _, test := range tests {
			a := e.get(target, test.fields...)
			a.is(t, test.status, test.body)
			a.has(t, "Content-Range", test.part)
			if a.StatusCode == 416 || a.StatusCode == 412 {
				a.has(t, "Cache-Control", "")
				a.has(t, "Expires", "")
			} else {
				a.has(t, "Cache-Control", "max-age=3600")
				a.has(t, "Etag", tag)
			}
		}
		h := e.do("HEAD", target, "Range: bytes=0-0")
		h.is(t, 200, "")
		h.has(t, "Content-Length", itoa(n))
		checkMultipart(t, e.get(target, "Range: bytes=0-4,-5,10-19"), body, [][2]int{{0, 5}, {n - 5, n}, {10, 20}})
	}
}

func checkMultipart(t *testing.T, a *answer, body string, parts [][2]int) {
	t.Helper()
	if a.StatusCode != 206 || a.err != nil {
		t.Fatalf("%d (%v), want 206", a.StatusCode, a.err)
	}
	a.has(t, "Content-Range", "")
	a.has(t, "Content-Length", itoa(len(a.body)))
	media, params, err := mime.ParseMediaType(a.Header.Get("Content-Type"))
	if err != nil || media != "multipart/byteranges" {
		t.Fatalf("Content-Type %q (%v)", a.Header.Get("Content-Type"), err)
	}
	r := mimeparts.NewReader(strings.NewReader(a.body), params["boundary"])
	for _, want := range parts {
		p, err := r.NextPart()
		if err != nil {
			t.Fatal(err)
		}
		got, _ := io.ReadAll(p)
		if string(got) != body[want[0]:want[1]] {
			t.Errorf("part %v is %.40q", want, got)
		}
		if cr := fmt.Sprintf("bytes %d-%d/%d", want[0], want[1]-1, len(body)); p.Header.Get("Content-Range") != cr {
			t.Errorf("Content-Range %q, want %q", p.Header.Get("Content-Range"), cr)
		}
	}
	if _, err := r.NextPart(); err != io.EOF {
		t.Errorf("after the last part: %v", err)
	}
}

// TestLargeFiles has bodies that are written in pieces, kept ones and those
// over max_keep.
func TestLargeFiles(t *testing.T) {
	sizes := []int{largeBody - 1, largeBody, largeBody + 1, 3<<20 + 17}
	files := map[string]string{}
	for _, n := range sizes {
		files[fmt.Sprintf("%d.bin", n)] = noise(n)
	}
	e := newEdge(t, withFiles(t, files), withSite(func(s *Site) { s.Files.MaxKeep = 1 << 20 }))
	c := realtest.Client(e.addr) // one connection for all
	for range 2 {
		for name, want := range files {
			response, err := c.Get("http://" + testHost + "/" + name)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(response.Body)
			response.Body.Close()
			if err != nil || string(got) != want || response.ContentLength != int64(len(want)) {
				t.Errorf("%s: %d bytes (%v), want %d", name, len(got), err, len(want))
			}
		}
	}
	c.CloseIdleConnections()
}

// TestFileThatShrinks breaks an answer off visibly: its length is promised.
func TestFileThatShrinks(t *testing.T) {
	const size = 64 << 20
	root := t.TempDir()
	path := filepath.Join(root, "l.bin")
	if err := os.WriteFile(path, make([]byte, size), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, written, written); err != nil {
		t.Fatal(err)
	}
	e := newEdge(t, withRoot(root))
	c := e.dial()
	io.WriteString(c, request11("GET", "/l.bin"))
	first := make([]byte, 4096)
	if _, err := io.ReadFull(c, first); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 100); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.Copy(io.Discard, c)
	if rest >= size-4096 {
		t.Errorf("%d bytes came, want the answer to break off", rest)
	}
}

func gzipped(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, s)
	w.Close()
	return b.String()
}

func TestSiblings(t *testing.T) {
	plain := strings.Repeat("text ", 100)
	gz := gzipped(plain)
	e := newEdge(t, withFiles(t, map[string]string{
		"p.html": plain, "p.html.gz": gz, "p.html.br": "(br)", "p.html.zst": "(zstd)",
		"g.css": plain, "g.css.gz": gz,
		"n.js":   plain,
		"d.html": `<!--#echo var="uri" -->`, "d.html.gz": gz,
	}))
	const vary = "Accept-Encoding"
	tests := []struct {
		target, accept, coding, body, vary string
	}{
		{"/p", "", "", plain, vary},
		{"/p", "gzip", "gzip", gz, vary},
		{"/p", "gzip, deflate, br, zstd", "br", "(br)", vary},
		{"/p", "gzip, zstd", "zstd", "(zstd)", vary},
		{"/p", "br;q=0, gzip;q=0.1", "gzip", gz, vary},
		{"/p", "br;q=0.000, *", "zstd", "(zstd)", vary},
		{"/p", "*;q=0", "", plain, vary},
		{"/p", "*", "br", "(br)", vary},
		{"/p", "GZIP", "gzip", gz, vary},
		{"/p", "identity", "", plain, vary},
		{"/g.css", "br", "", plain, vary},
		{"/g.css", "br, gzip", "gzip", gz, vary},
		{"/n.js", "gzip", "", plain, ""},
		{"/d", "gzip", "", "/d.html", ""},
	}
	tags := map[string]string{}
	for _, test := range tests {
		var fields []string
		if test.accept != "" {
			fields = append(fields, "Accept-Encoding: "+test.accept)
		}
		a := e.get(test.target, fields...)
		a.is(t, 200, test.body)
		a.has(t, "Content-Encoding", test.coding)
		a.has(t, "Vary", test.vary)
		key := test.target + " " + test.coding
		tag := a.Header.Get("Etag")
		if old, ok := tags[key]; ok && old != tag {
			t.Errorf("%s: entity-tag %s, before %s", key, tag, old)
		}
		tags[key] = tag
		if test.target == "/d" {
			continue
		}
		n := e.get(test.target, append(fields, "If-None-Match: "+tag)...)
		n.is(t, 304, "")
		n.has(t, "Vary", test.vary)
		n.has(t, "Etag", tag)
		e.get(test.target, append(fields, "Range: bytes=1-2")...).is(t, 206, test.body[1:3])
	}
	seen := map[string]string{}
	for key, tag := range tags {
		target, _, _ := strings.Cut(key, " ")
		if other := seen[target+tag]; other != "" {
			t.Errorf("%s and %s share the entity-tag %s", key, other, tag)
		}
		seen[target+tag] = key
	}
}

func TestExpires(t *testing.T) {
	app := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		for _, f := range r.URL.Query()["f"] {
			name, value, _ := strings.Cut(f, ": ")
			w.Header().Add(name, value)
		}
		status := 200
		fmt.Sscan(r.URL.Query().Get("s"), &status)
		w.WriteHeader(status)
	}
	const year = 365 * 24 * time.Hour
	e := newEdge(t, withApp(t, app), withFiles(t, map[string]string{"images/i.png": "png"}),
		withRule(Rule{Paths: []string{"/images/*", "/app"}, Expires: ptr(10 * year)}),
		withRule(Rule{Paths: []string{"/none/*"}, Expires: ptr(time.Duration(0))}))
	const ten = "max-age=315360000"
	a := e.get("/images/i.png")
	a.has(t, "Cache-Control", ten)
	expires, err := http.ParseTime(a.Header.Get("Expires"))
	if d := time.Until(expires); err != nil || d > 10*year || d < 10*year-time.Minute {
		t.Errorf("Expires %q (%v), want in ten years", a.Header.Get("Expires"), err)
	}
	tests := []struct{ query, cacheControl string }{
		{"s=200", ten}, {"s=201", ten}, {"s=204", ten}, {"s=301", ten}, {"s=304", ten}, {"s=308", ten},
		{"s=302", ""}, {"s=303", ""}, {"s=307", ""}, {"s=404", ""}, {"s=410", ""}, {"s=500", ""},
		{"f=Cache-Control:+max-age%3D5", ten},
		{"f=Cache-Control:+public", ten},
		{"f=Cache-Control:+private", "private"},
		{"f=Cache-Control:+max-age%3D5,+Private", "max-age=5, Private"},
		{"f=Cache-Control:+no-store", "no-store"},
		{"f=Cache-Control:+no-cache", "no-cache"},
		{"f=Set-Cookie:+a%3Db", ""},
	}
	for _, test := range tests {
		a := e.get("/app?" + test.query)
		a.has(t, "Cache-Control", test.cacheControl)
		if has := a.Header.Get("Expires") != ""; has != (test.cacheControl == ten) {
			t.Errorf("%s: Expires %q", test.query, a.Header.Get("Expires"))
		}
	}
	e.get("/none/x").has(t, "Cache-Control", "max-age=0")
	e.get("/other").has(t, "Cache-Control", "")
}

func TestResponseHeaders(t *testing.T) {
	app := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Powered-By", "app")
		w.Header().Set("Content-Type", r.URL.Query().Get("t"))
		io.WriteString(w, "text")
	}
	e := newEdge(t, withApp(t, app), withFiles(t, map[string]string{"p.html": "p", "s.html": `<!--#echo var="uri" -->`}),
		withRule(Rule{Paths: []string{"*"}, Headers: &HeaderEdits{
			Set:    []Field{{"X-Frame-Options", "DENY"}, {"x-two", "2"}},
			Remove: []string{"x-powered-by", "Last-Modified"},
		}}))
	for _, target := range []string{"/p", "/s", "/live?t=text/plain", "/live?t=text/html"} {
		a := e.get(target)
		a.has(t, "X-Frame-Options", "DENY")
		a.has(t, "X-Two", "2")
		a.has(t, "X-Powered-By", "")
		a.has(t, "Last-Modified", "")
	}
}

// TestQueryOnPublishedPage is O2 of the public bug reports.
func TestQueryOnPublishedPage(t *testing.T) {
	const app = "app"
	answers := func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, app) }
	files := map[string]string{"blog.html": "first page", "app.css": "css", "index.html": "home"}
	e := newEdge(t, withApp(t, answers), withFiles(t, files))
	none := newEdge(t, withApp(t, answers), withFiles(t, files), withSite(func(s *Site) { s.Query = QueryFilter{Mode: QueryNone} }))
	alone := newEdge(t, withFiles(t, files))
	tests := []struct {
		e            *testEdge
		target, body string
	}{
		{e, "/blog?page=2", app}, {e, "/blog", "first page"}, {e, "/blog?utm_source=x", "first page"}, {e, "/blog?", "first page"},
		{e, "/blog.html?page=2", "first page"}, {e, "/app.css?v=3", "css"}, {e, "/?page=2", app}, {e, "/", "home"},
		{none, "/blog?page=2", "first page"}, {none, "/?x", "home"},
		{alone, "/blog?page=2", "first page"}, {alone, "/?page=2", "home"},
	}
	for _, test := range tests {
		test.e.get(test.target).is(t, 200, test.body)
	}
}
