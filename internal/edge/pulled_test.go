package edge

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// keepingPages turns pulled pages on, as the configuration has it by default.
func keepingPages() func(*Options) {
	return withSite(func(s *Site) {
		s.Cache.NotKeepable, s.Cache.FillWait, s.Cache.SoftWindow = time.Minute, patience, time.Hour
		s.Cache.StaleIfError = 10 * time.Minute
	})
}

// forAnHour is a rule that keeps what matches for an hour, whatever it says.
func forAnHour(paths ...string) Rule {
	return Rule{Paths: paths, Cache: &Lifetime{For: time.Hour}}
}

// tally is an app that remembers what it was asked.
type tally struct {
	answer http.HandlerFunc

	mu    sync.Mutex
	asked []*http.Request
}

func (a *tally) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	a.asked = append(a.asked, r)
	a.mu.Unlock()
	a.answer(w, r)
}

// requests are those so far.
func (a *tally) requests() []*http.Request {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]*http.Request(nil), a.asked...)
}

// was fails the test unless the app was asked n times.
func (a *tally) was(t testing.TB, n int) {
	t.Helper()
	if got := len(a.requests()); got != n {
		t.Errorf("the app was asked %d times, want %d", got, n)
	}
}

// newPulling starts an edge that pulls pages, before an app.
func newPulling(t testing.TB, answer http.HandlerFunc, changes ...func(*Options)) (*testEdge, *tally) {
	t.Helper()
	app := &tally{answer: answer}
	return newEdge(t, append([]func(*Options){keepingPages(), withApp(t, app.ServeHTTP)}, changes...)...), app
}

// says is an app whose every answer has those fields, "Name: value", and that body.
func says(body string, fields ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for _, f := range fields {
			name, value, _ := strings.Cut(f, ": ")
			w.Header().Add(name, value)
		}
		io.WriteString(w, body)
	}
}

// hit fails the test unless the answer is a hit of that tier, of a page that is
// fresh.
func (a *answer) hit(t testing.TB, tier string) {
	t.Helper()
	if s := a.Header.Get("Cache-Status"); !regexp.MustCompile(`^ssiedge; hit; ttl=\d+; detail=` + tier + `$`).MatchString(s) {
		t.Errorf("Cache-Status is %q, want a hit of %s", s, tier)
	}
}

func TestPulledPage(t *testing.T) {
	made := time.Now().Add(-30 * time.Second).UTC().Format(http.TimeFormat)
	e, app := newPulling(t, says("page", "Cache-Control: max-age=3600", "Content-Type: text/plain", `Etag: "1"`,
		"Date: "+made, "Via: 1.0 inner", "X-Own: 1", "X-Own: 2", "SSIEdge-Cache-Control: max-age=7200", "Surrogate-Control: max-age=5",
		"X-Accel-Buffering: no", "CDN-Cache-Control: max-age=1"))
	first := e.get("/p")
	first.is(t, 200, "page")
	first.has(t, "Cache-Status", "ssiedge; fwd=uri-miss; stored")
	second := e.get("/p?utm_source=x")
	second.is(t, 200, "page")
	second.hit(t, "memory")
	if ttl := regexp.MustCompile(`ttl=71[67]\d;`); !ttl.MatchString(second.Header.Get("Cache-Status")) {
		t.Errorf("%q, want what is left of two hours", second.Header.Get("Cache-Status"))
	}
	if age, _ := strconv.Atoi(second.Header.Get("Age")); age < 30 || age > 50 {
		t.Errorf("Age is %q, want some 30 s", second.lines("Age"))
	}
	for _, a := range []*answer{first, second} {
		a.has(t, "Date", made)
		a.has(t, "Via", "1.0 inner, 1.1 ssiedge")
		a.has(t, "Etag", `"1"`)
		a.has(t, "Cache-Control", "max-age=3600")
		a.has(t, "Cdn-Cache-Control", "max-age=1")
		a.has(t, "Content-Length", "4")
		for _, name := range []string{"SSIEdge-Cache-Control", "Surrogate-Control", "X-Accel-Buffering"} {
			a.has(t, name, "")
		}
		if own := a.lines("X-Own"); len(own) != 2 {
			t.Errorf("X-Own is %q, want both lines", own)
		}
	}
	app.was(t, 1)
}

// Whatever the key holds makes another page, and nothing else does.
func TestPulledKey(t *testing.T) {
	e, app := newPulling(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		fmt.Fprint(w, r.Host, r.URL)
	}, withTrust("127.0.0.0/8"))
	for i, test := range []struct {
		target string
		fields []string
		want   string
		asked  int
	}{
		{"/a", nil, "www.example.com/a", 1},
		{"/a/", []string{"Host: WWW.Example.com:80", "User-Agent: x"}, "www.example.com/a", 1},
		{"/%61?gclid=1", nil, "www.example.com/a", 1},
		{"/a?x=1", nil, "www.example.com/a?x=1", 2},
		{"/a?x=1&utm_x=2", nil, "www.example.com/a?x=1", 2},
		{"/a", []string{"Host: other.example"}, "other.example/a", 3},
		{"/a", []string{"Host: www.example.com:8080"}, "www.example.com:8080/a", 4},
		{"/a", []string{"X-Forwarded-Proto: https"}, "www.example.com/a", 5},
		{"/A", nil, "www.example.com/A", 6},
	} {
		e.get(test.target, test.fields...).is(t, 200, test.want)
		if n := len(app.requests()); n != test.asked {
			t.Fatalf("case %d: the app was asked %d times, want %d", i, n, test.asked)
		}
	}
}

func TestPulledConditionsAndRanges(t *testing.T) {
	const modified = "Mon, 01 Jan 2024 00:00:00 GMT"
	e, app := newPulling(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		if r.URL.Path == "/gone" {
			w.WriteHeader(404)
			io.WriteString(w, "no such page")
			return
		}
		w.Header().Set("Etag", `"v1"`)
		w.Header().Set("Last-Modified", modified)
		w.Header().Set("Cdn-Cache-Control", "max-age=60")
		w.Header().Set("Expires", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
		io.WriteString(w, "0123456789")
	})
	for _, target := range []string{"/p", "/p", "/gone", "/gone"} { // from the origin, then from memory
		for _, test := range []struct {
			fields []string
			status int
			body   string
		}{
			{[]string{`If-None-Match: "v1"`}, 304, ""},
			{[]string{`If-None-Match: W/"v1", "x"`}, 304, ""},
			{[]string{`If-None-Match: "v2"`}, 200, "0123456789"},
			{[]string{"If-None-Match: *"}, 304, ""},
			{[]string{"If-Modified-Since: " + modified}, 304, ""},
			{[]string{"If-Modified-Since: Sun, 31 Dec 2023 00:00:00 GMT"}, 200, "0123456789"},
			{[]string{"Range: bytes=2-4"}, 206, "234"},
			{[]string{"Range: bytes=-2", `If-Range: "v1"`}, 206, "89"},
			{[]string{"Range: bytes=-2", `If-Range: "v2"`}, 200, "0123456789"},
			{[]string{"Range: bytes=99-"}, 416, ""},
		} {
			if target == "/gone" { // conditions and ranges are of a 200
				test.status, test.body = 404, "no such page"
			}
			a := e.get(target, test.fields...)
			if a.StatusCode != test.status || a.body != test.body {
				t.Errorf("%s %q: %d %q, want %d %q", target, test.fields, a.StatusCode, a.body, test.status, test.body)
			}
			if a.StatusCode == 416 { // nothing by which another cache would keep it
				for _, name := range []string{"Cache-Control", "Cdn-Cache-Control", "Expires", "Etag", "Last-Modified"} {
					a.has(t, name, "")
				}
			}
		}
	}
	for _, r := range app.requests() {
		if r.Header.Get("Range")+r.Header.Get("If-Range")+r.Header.Get("If-None-Match")+r.Header.Get("If-Modified-Since") != "" {
			t.Errorf("a fill has a condition or a range: %v", r.Header)
		}
	}
	app.was(t, 2)
	// Conditions that only the app may judge go to it.
	e.get("/p", `If-Match: "v2"`).has(t, "Cache-Status", "ssiedge; fwd=uri-miss")
	app.was(t, 3)
	if got := app.requests()[2].Header.Get("If-Match"); got != `"v2"` {
		t.Errorf("If-Match is %q", got)
	}
}

func TestPulledHead(t *testing.T) {
	e, app := newPulling(t, says("page", "Cache-Control: max-age=60", "Content-Type: text/plain"))
	e.do("HEAD", "/p").has(t, "Cache-Status", "ssiedge; fwd=uri-miss")
	e.get("/p").has(t, "Cache-Status", "ssiedge; fwd=uri-miss; stored")
	a := e.do("HEAD", "/p")
	a.is(t, 200, "")
	a.has(t, "Content-Length", "4")
	a.hit(t, "memory")
	app.was(t, 2)
	if m := app.requests()[0].Method; m != "HEAD" {
		t.Errorf("the app got %s, want HEAD", m)
	}
}

func TestPulledStatuses(t *testing.T) {
	e, app := newPulling(t, func(w http.ResponseWriter, r *http.Request) {
		status, _ := strconv.Atoi(r.URL.Query().Get("s"))
		if strings.HasPrefix(r.URL.Path, "/own") {
			w.Header().Set("Cache-Control", "max-age=60")
		}
		if status >= 300 && status < 400 {
			w.Header().Set("Location", "/elsewhere")
		}
		w.WriteHeader(status)
	}, withRule(forAnHour("/rule*")))
	for _, test := range []struct {
		path   string
		status int
		kept   bool
		reason string
	}{
		{"/own", 200, true, ""}, {"/own", 404, true, ""}, {"/own", 410, true, ""}, {"/own", 301, true, ""},
		{"/own", 302, true, ""}, {"/own", 204, true, ""}, {"/own", 500, true, ""},
		{"/rule", 200, true, ""}, {"/rule", 301, true, ""}, {"/rule", 308, true, ""},
		{"/rule", 302, false, "status"}, {"/rule", 404, false, "status"}, {"/rule", 204, false, "status"},
		{"/rule", 500, false, "status"}, {"/none", 200, false, "no-lifetime"}, {"/none", 404, false, "no-lifetime"},
	} {
		target := fmt.Sprintf("%s?s=%d", test.path, test.status)
		before := len(app.requests())
		first, second := e.get(target), e.get(target)
		if first.StatusCode != test.status || second.StatusCode != test.status {
			t.Errorf("%s: %d, then %d", target, first.StatusCode, second.StatusCode)
		}
		if test.kept {
			first.has(t, "Cache-Status", "ssiedge; fwd=uri-miss; stored")
			second.hit(t, "memory")
		} else {
			first.has(t, "Cache-Status", "ssiedge; fwd=uri-miss; detail="+test.reason)
			second.has(t, "Cache-Status", "ssiedge; fwd=uri-miss; detail="+test.reason)
		}
		if asked := len(app.requests()) - before; asked != 1 && test.kept || asked != 2 && !test.kept {
			t.Errorf("%s: the app was asked %d times", target, asked)
		}
	}
}

// Each refusal has its reason, and the page is nobody else's.
func TestNotKeptReasons(t *testing.T) {
	for _, test := range []struct {
		reason string
		app    []string // fields of the answer
		fields []string // of the request
		rule   *Rule
	}{
		{reason: "set-cookie", app: []string{"Cache-Control: max-age=60", "Set-Cookie: a=1"}},
		{reason: "set-cookie", app: []string{"Set-Cookie: a=1"}, rule: ptr(forAnHour("*"))},
		{reason: "private", app: []string{"Cache-Control: private, max-age=60"}},
		{reason: "no-store", app: []string{"Cache-Control: no-store"}, rule: ptr(forAnHour("*"))},
		{reason: "no-cache", app: []string{"Cache-Control: no-cache, max-age=60"}},
		{reason: "no-lifetime"},
		{reason: "expired", app: []string{"Cache-Control: max-age=0"}},
		{reason: "cookies", app: []string{"Cache-Control: max-age=60"}, fields: []string{"Cookie: a=1"}},
		{reason: "authorization", app: []string{"Cache-Control: max-age=60"}, fields: []string{"Authorization: Basic eDp5"}},
		{reason: "vary", app: []string{"Cache-Control: max-age=60", "Vary: *"}},
		{reason: "vary", app: []string{"Cache-Control: max-age=60", "Vary: X-Forwarded-For"}},
		{reason: "vary", app: []string{"Cache-Control: max-age=60", "Vary: x-real-ip"}},
	} {
		var changes []func(*Options)
		if test.rule != nil {
			changes = append(changes, withRule(*test.rule))
		}
		e, app := newPulling(t, says("page", test.app...), changes...)
		a := e.get("/p", test.fields...)
		a.is(t, 200, "page")
		a.has(t, "Cache-Status", "ssiedge; fwd=uri-miss; detail="+test.reason)
		if test.fields != nil {
			e.get("/p", test.fields...).has(t, "Cache-Status", "ssiedge; fwd=uri-miss; detail=not-keepable")
			e.get("/p").has(t, "Cache-Status", "ssiedge; fwd=uri-miss; stored") // the mark goes
			e.get("/p", test.fields...).hit(t, "memory")
			app.was(t, 3)
			continue
		}
		e.get("/p").has(t, "Cache-Status", "ssiedge; fwd=uri-miss; detail="+test.reason)
		app.was(t, 2)
	}
}

func TestTooLargeToKeep(t *testing.T) {
	large := strings.Repeat("x", 5000)
	for _, length := range []string{"5000", ""} {
		e, app := newPulling(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "max-age=60")
			w.Header().Set("Content-Type", "video/mp4")
			if r.Header.Get("Range") != "" {
				w.Header().Set("Content-Range", "bytes 0-1/5000")
				w.WriteHeader(206)
				io.WriteString(w, "xx")
				return
			}
			if w.Header().Set("Content-Length", length); length == "" {
				w.Header().Del("Content-Length")
				w.(http.Flusher).Flush()
			}
			io.WriteString(w, large)
		}, func(o *Options) { o.Limits.MaxKeep = 1000 })
		a := e.get("/v")
		a.is(t, 200, large)
		// One of unknown length may have left before it is known to be too large.
		if s := a.Header.Get("Cache-Status"); length != "" || s != "ssiedge; fwd=uri-miss; stored" {
			a.has(t, "Cache-Status", "ssiedge; fwd=uri-miss; detail=too-large")
		}
		// What is known as not keepable can be had in parts.
		e.get("/v", "Range: bytes=0-1").is(t, 206, "xx")
		app.was(t, 2)
	}
}

func TestVariants(t *testing.T) {
	e, app := newPulling(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		w.Header().Set("Vary", "Accept-Encoding, Accept-Language")
		fmt.Fprint(w, r.Header.Get("Accept-Language"))
	}, withSite(func(s *Site) { s.Cache.MaxVariants = 2 }))
	get := func(lang string, asked int, fields ...string) {
		t.Helper()
		if lang != "" {
			fields = append(fields, "Accept-Language: "+lang)
		}
		e.get("/p", fields...).is(t, 200, lang)
		app.was(t, asked)
	}
	get("de", 1)
	get("de", 1, "Accept-Encoding: gzip")
	get("en", 2)
	get("en", 2)
	get("de", 2)
	get("", 3) // the oldest has to go for it
	get("de", 4)
	// A field that Connection names does not reach the app, and counts as absent.
	get("", 4)
	e.get("/p", "Accept-Language: fr", "Connection: accept-language").is(t, 200, "")
	app.was(t, 4)
	get("fr", 5)
}

func TestHeadersInTheKey(t *testing.T) {
	r := forAnHour("*")
	r.KeyHeaders = []string{"X-Shop"}
	e, app := newPulling(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "shop %s, other %s", r.Header.Get("X-Shop"), r.Header.Get("X-Other"))
	}, withRule(r))
	for i, test := range []struct {
		want   string
		asked  int
		fields []string
	}{
		{"shop a, other ", 1, []string{"X-Shop: a", "X-Other: 1"}},
		{"shop a, other ", 1, []string{"x-shop: a"}},
		{"shop b, other ", 2, []string{"X-Shop: b"}},
		{"shop , other ", 3, nil},
		{"shop , other ", 3, []string{"X-Shop: c", "Connection: X-Shop"}},
		{"shop c, other ", 4, []string{"X-Shop: c"}},
	} {
		e.get("/p", test.fields...).is(t, 200, test.want)
		if n := len(app.requests()); n != test.asked {
			t.Errorf("case %d: asked %d times, want %d", i, n, test.asked)
		}
	}
}

// What a fill sends: by a rule's lifetime nothing of the visitor, else nothing
// that would have the app take the request for another one.
func TestFillSends(t *testing.T) {
	o := newRecorder(t, nil)
	e := newEdge(t, keepingPages(), withOrigin(o.url), withRule(forAnHour("/rule")), withTrust("127.0.0.0/8"))
	visitor := []string{
		"Host: WWW.Example.com:80", "Cookie: s=secret", "Authorization: Basic secret", "User-Agent: secret", "X-Any: secret",
		"X-Forwarded-For: 192.0.2.7", "X-Http-Method-Override: DELETE", "X-Original-Url: /secret", "X-Rewrite-Url: /secret",
		"X-Forwarded-Scheme: secret", "X-Forwarded-Ssl: secret", "X-Host: secret", "X-Request-Id: secret", "Traceparent: secret",
		"Range: bytes=0-0", "If-None-Match: \"x\"", "Accept-Encoding: br", "Accept-Language: secret",
	}
	e.get("/rule?utm_x=1", visitor...)
	head := o.all()[0]
	if !strings.HasPrefix(head, "GET /rule HTTP/1.1\r\nHost: www.example.com\r\n") {
		t.Errorf("the fill of a rule begins %q", head)
	}
	for _, no := range []string{"secret", "192.0.2.7", "DELETE", "Range", "If-None-Match", "127.0.0.1"} {
		if strings.Contains(head, no) {
			t.Errorf("the fill of a rule has %q:\n%s", no, head)
		}
	}
	for name, want := range map[string]string{
		"Accept-Encoding": "identity", "Surrogate-Capability": `ssiedge="SSI/1.0"`, "Via": "1.1 ssiedge",
		"X-Forwarded-Proto": "http", "X-Forwarded-Host": "www.example.com",
	} {
		if got := fieldLines(head, name); len(got) != 1 || got[0] != want {
			t.Errorf("the fill of a rule: %s is %q, want %q", name, got, want)
		}
	}

	e.get("/own", visitor...)
	head = o.last(t)
	for name, want := range map[string]string{
		"Host": "www.example.com", "Cookie": "s=secret", "Authorization": "Basic secret", "User-Agent": "secret", "X-Any": "secret",
		"X-Forwarded-For": "192.0.2.7, 127.0.0.1", "X-Request-Id": "secret", "Accept-Encoding": "identity",
		"X-Http-Method-Override": "", "X-Original-Url": "", "X-Rewrite-Url": "", "X-Forwarded-Scheme": "", "X-Forwarded-Ssl": "",
		"X-Host": "", "Range": "", "If-None-Match": "",
	} {
		got := fieldLines(head, name)
		if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || got[0] != want) {
			t.Errorf("a fill: %s is %q, want %q", name, got, want)
		}
	}
}

// The app's own slash costs a request once, and its redirect is never kept: not
// even for a visitor who writes the host in another way.
func TestSlashRedirectIsNotKept(t *testing.T) {
	e, app := newPulling(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/loop", r.URL.Path == "/loop/":
			other := map[string]string{"/loop": "/loop/", "/loop/": "/loop"}[r.URL.Path]
			http.Redirect(w, r, other, http.StatusMovedPermanently)
		case !strings.HasSuffix(r.URL.Path, "/"):
			http.Redirect(w, r, "http://"+r.Host+r.URL.Path+"/", http.StatusMovedPermanently)
		default:
			io.WriteString(w, r.URL.Path)
		}
	}, withRule(forAnHour("*")))
	e.get("/a", "Host: WWW.Example.COM:80").is(t, 200, "/a/")
	e.get("/a").is(t, 200, "/a/")
	e.get("/a/").hit(t, "memory")
	app.was(t, 2)
	for range 2 {
		e.get("/loop").has(t, "Cache-Status", "ssiedge; fwd=uri-miss; detail=status")
	}
}
