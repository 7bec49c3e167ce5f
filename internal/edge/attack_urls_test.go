package edge

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// parrot is an app that prints what it was asked for, and has it kept.
func parrot(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "max-age=3600")
	io.WriteString(w, r.Host+" "+r.RequestURI)
}

// Parameter cloaking: a parameter that the edge drops from the key hides one
// that the app reads, since the two split a query at other places.
func TestAttackParameterCloaking(t *testing.T) {
	// rack splits at ";" as well, the last one wins; others take the first, or
	// split at a second "?".
	callback := func(query string) string {
		found := "none"
		for _, part := range strings.FieldsFunc(query, func(c rune) bool { return c == '&' || c == ';' || c == '?' }) {
			name, value, _ := strings.Cut(part, "=")
			if name, _ := url.QueryUnescape(name); name == "callback" {
				found = value
			}
		}
		return found
	}
	e := newEdge(t, keepingPages(), withApp(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "public, max-age=3600")
		io.WriteString(w, callback(r.URL.RawQuery))
	}), withRule(Rule{Paths: []string{"/keep*"}, Query: &QueryFilter{Mode: QueryKeep, Names: []string{"callback"}}}),
		withRule(Rule{Paths: []string{"/none*"}, Query: &QueryFilter{Mode: QueryNone}}))
	for i, attack := range []string{
		"callback=good&utm_content=x;callback=evil", "callback=good&utm_content=x%26callback=evil", "utm_content=x;callback=evil&callback=good",
		"callback=good&utm_content;callback=evil", "callback=good&utm_;callback=evil=1", "callback=good&gclid=1;callback=evil",
		"callback=good&utm_content=1?callback=evil", "callback=good&%75tm_content=x;callback=evil", "callback=good&UTM_content=x;callback=evil",
		"callback=good;callback=evil", "callback=good&callback=evil", "callback=evil&callback=good", "callback[]=evil&callback=good",
		"callback=good&call%62ack=evil", "callback=good&Callback=evil", "callback=good&callback%00=evil", "callback=good&callback=evil#",
		"callback=good&=;callback=evil", "&callback=evil&callback=good", "callback=good&utm_x=%0d%0acallback=evil", "callback=good&+callback=evil",
	} {
		for _, path := range []string{"/own", "/keep", "/none"} {
			target := path + itoa(i)
			e.get(target + "?" + attack)
			want := map[string]string{"/own": "good", "/keep": "good", "/none": "none"}[path]
			e.victimGets(target+"?callback=good", want)
			e.victimGets(target, "none")
		}
		if t.Failed() {
			t.Fatalf("that was %s", attack)
		}
	}
}

// Fat GET: a body that the app prefers to the query.
func TestAttackFatGet(t *testing.T) {
	e, app := newPulling(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "public, max-age=3600")
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s%s", r.URL.RawQuery, body)
	}, withRule(forAnHour("/rule*")))
	fat := 0
	for i, field := range []string{
		"", "Content-Type: application/x-www-form-urlencoded", "X-HTTP-Method-Override: POST", "Content-Type: application/json",
	} {
		for _, path := range []string{"/own", "/rule"} {
			target := path + itoa(i)
			fields := []string{"X-None: 1"}
			if field != "" {
				fields = append(fields, field)
			}
			e.post("GET", target+"?a=good", "&a=evil", fields...)
			e.send(request11("GET", target+"?a=good", append(fields, "Transfer-Encoding: chunked")...) + "7\r\n&a=evil\r\n0\r\n\r\n")
			e.post("HEAD", target+"?a=good", "&a=evil", fields...)
			e.victimGets(target+"?a=good", "a=good")
			e.post("GET", target+"?a=good", "&a=evil", fields...) // of a page that is kept
			e.victimGets(target+"?a=good", "a=good")
			fat += 3
		}
	}
	if n := len(app.requests()); n < fat {
		t.Errorf("the app was asked %d times, want the attacks, too: %d", n, fat)
	}
}

// Host tricks: a Host that leads to the same site, but not to the same page.
func TestAttackHost(t *testing.T) {
	e := newEdge(t, keepingPages(), withApp(t, parrot))
	for i, host := range []string{
		"WWW.EXAMPLE.COM", "www.example.com.", "www.example.com:80", "www.example.com:", "www.example.com:1337", "www.example.com:0080",
		"evil.example", "www.example.com@evil.example", "evil.example#www.example.com", "www.example.com:80@evil.example", "evil.example/www.example.com",
		"www.example.com:evil", "www.example.com,evil.example", "www.example.com evil.example", "\twww.example.com", "www.example.com%00.evil.example",
		"www.example.com\\evil", "\"www.example.com\"", "www..example.com", "<script>", "[::1]", "www.example.com:443", "www.example.com:080",
	} {
		target := "/host/" + itoa(i)
		e.get(target, "Host: "+host)
		e.victimGets(target, testHost+" "+target)
		if t.Failed() {
			t.Fatalf("that was Host: %s", host)
		}
	}
	for i, raw := range []string{
		"GET %s HTTP/1.1\r\nHost: evil.example\r\nHost: " + testHost + "\r\n", "GET %s HTTP/1.1\r\nHost: " + testHost + "\r\nHost: evil.example\r\n",
		"GET http://evil.example%s HTTP/1.1\r\nHost: " + testHost + "\r\n", "GET http://" + testHost + "%s HTTP/1.1\r\nHost: evil.example\r\n",
		"GET https://" + testHost + "%s HTTP/1.1\r\nHost: " + testHost + "\r\n", "GET http://" + testHost + ":80%s HTTP/1.1\r\nHost: " + testHost + ":1337\r\n",
		"GET http://user@" + testHost + "%s HTTP/1.1\r\nHost: " + testHost + "\r\n", "GET %s HTTP/1.1\r\nHost : evil.example\r\nHost: " + testHost + "\r\n",
		"GET %s HTTP/1.1\r\n Host: evil.example\r\nHost: " + testHost + "\r\n", "GET %s HTTP/1.1\r\nHost:\r\n\tevil.example\r\n", "GET @evil.example%s HTTP/1.1\r\nHost: " + testHost + "\r\n",
		"GET %s HTTP/1.0\r\nX-Host: evil.example\r\n", "GET //evil.example%s HTTP/1.1\r\nHost: " + testHost + "\r\n",
	} {
		target := "/raw/" + itoa(i)
		e.send(fmt.Sprintf(raw, target) + "Connection: close\r\n\r\n")
		e.victimGets(target, testHost+" "+target)
		if t.Failed() {
			t.Fatalf("that was %q", raw)
		}
	}
}

// Path confusion: each way to write a path is either another page, or the app
// is asked for it in the one form that is in the key.
func TestAttackPathNormalization(t *testing.T) {
	e, app := newPulling(t, parrot)
	for _, written := range []string{
		"//a", "/./a", "/x/../a", "/a/.", "/%61", "/%2e/a", "/x/%2e%2e/a", "/a//", "///a///", "/a/./.", "/x/y/../../a",
		"/a%2f", "/%2fa", "/a%5c", "/\\a", "/a\\", "/a%2F..%2Fb", "/a/..%2fa", "/x%2f%2e%2e%2fa", "/a/..;/a", "/..;/a", "/a;x", "/a;/x", "/a%3bx", "/a%00", "/a%00.css", "/a%0a", "/a%0d%0aX:1", "/a%20", "/a%23", "/a%3fx",
		"/a%3Fx=1", "/a%25", "/a%252e%252e", "/%c0%af/a", "/a%ff", "/\xc3\xa9", "/a%zz", "/a%", "/a.", "/a..", "/A", "/a|b", "/a\"b", "/a<b>", "/a'b", "/a`b", "/a{b}", "/a^b",
		"/a?", "/a??", "/a?#", "/a#b", "/../a", "/%2e%2e/a", "//evil.example/%2e%2e", "/\\evil.example", "//evil.example", "/%09//evil.example", "/.%2e/a", "/%2e./a", "/a/%2e%2e%5ca",
	} {
		before := len(app.requests())
		e.get(written)
		for _, r := range app.requests()[before:] {
			if c := new(canonical); c.parse([]byte(r.RequestURI), StripSlash, &keepAll) != nil || string(c.raw) != strings.SplitN(r.RequestURI, "?", 2)[0] {
				t.Errorf("%q came to the app as %q, which is not canonical", written, r.RequestURI)
			}
			if strings.HasPrefix(r.RequestURI, "//") {
				t.Errorf("%q came to the app as %q, which it may take for a host", written, r.RequestURI)
			}
			// Whoever asks in that form gets that page, and no other is touched.
			e.victimGets(r.RequestURI, testHost+" "+r.RequestURI)
		}
		e.victimGets("/a", testHost+" /a")
		e.victimGets("/", testHost+" /")
	}
}

// Response splitting: line ends in what the app or the edge puts into a head.
func TestAttackResponseSplitting(t *testing.T) {
	e := newEdge(t, keepingPages(), withApp(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=3600")
		w.Header().Set("X-Path", r.URL.Path) // decoded: net/http makes spaces of line ends
		http.Redirect(w, r, r.URL.Path+"!", http.StatusMovedPermanently)
	}), withSite(func(s *Site) { s.TrailingSlash = RedirectSlash }), withRule(Rule{Paths: []string{"/moved*"}, Redirect: ptr("https://" + testHost + "{uri}")}))
	for _, path := range []string{
		"/a%0d%0aX-Evil:1", "/a%0aX-Evil:1", "/a%0d%0a%0d%0a<script>", "/a%0d%0aSet-Cookie:evil=1/", "/moved%0d%0aX-Evil:1", "/moved?%0d%0aX-Evil:1",
		"/a%E5%98%8A%E5%98%8DX-Evil:1/", "/a%c0%8d%c0%8aX-Evil:1", "/moved%E5%98%8A%E5%98%8DX-Evil:1", "/%0d%0aX-Evil:1//",
	} {
		for range 2 {
			a := e.get(path)
			if a.Header.Get("X-Evil") != "" || a.Header.Get("Set-Cookie") != "" || strings.Contains(a.head, "\nX-Evil") || strings.Count(a.head, "HTTP/1.1") != 1 {
				t.Errorf("%s: %q", path, a.head)
			}
			if l := a.Header.Get("Location"); strings.ContainsAny(l, "\r\n") || strings.HasPrefix(l, "//") {
				t.Errorf("%s leads to %q", path, l)
			}
		}
	}
	for _, field := range []string{"X-A: b\rX-Evil: 1", "X-A: b\n\nX-Evil: 1", "X-A\rX-Evil: 1"} {
		if a := e.get("/a", field); strings.Contains(strings.ToLower(a.head), "evil") || a.StatusCode != 400 && strings.Contains(field, "\r") {
			t.Errorf("%q: %q", field, a.head)
		}
	}
}

// Open redirects: what the edge itself answers never leads to another host.
func TestAttackOpenRedirect(t *testing.T) {
	e := newEdge(t, keepingPages(), withApp(t, parrot), withSite(func(s *Site) { s.TrailingSlash = RedirectSlash }),
		withRule(Rule{Paths: []string{"/moved*"}, Redirect: ptr("https://" + testHost + "{uri}")}))
	for _, target := range []string{
		"//evil.example/", "///evil.example/", "/\\evil.example/", "/%5cevil.example/", "/%2fevil.example/", "/.//evil.example/", "/x/..//evil.example/", "/@evil.example/", "/.evil.example/", "/%09/evil.example/",
		"/moved@evil.example", "/moved.evil.example", "/moved//evil.example",
	} {
		a := e.get(target)
		l := a.Header.Get("Location")
		if l == "" {
			continue
		}
		u, err := url.Parse(l)
		if err != nil || u.Host != "" && u.Host != testHost || strings.HasPrefix(l, "//") || strings.HasPrefix(l, "/\\") {
			t.Errorf("%s leads to %q", target, l)
		}
	}
}
