package edge

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// fragile is an app with the limits of usual servers, whose framework marks all
// it says as good for an hour, errors too.
func fragile(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "max-age=3600")
	size := 0
	odd := false
	for name, values := range r.Header {
		for _, v := range values {
			size += len(name) + len(v) + 4
			odd = odd || strings.ContainsFunc(v, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f })
		}
	}
	status := 200
	switch {
	case size > 8190 && strings.HasPrefix(r.URL.Path, "/apache"):
		status = http.StatusBadRequest
	case size > 8190 && strings.HasPrefix(r.URL.Path, "/waf"):
		status = http.StatusForbidden
	case size > 8190 && strings.HasPrefix(r.URL.Path, "/large"):
		status = http.StatusRequestEntityTooLarge
	case size > 8190:
		status = http.StatusRequestHeaderFieldsTooLarge
	case odd:
		status = http.StatusBadRequest
	case r.Header.Get("Range") != "":
		status = http.StatusRequestedRangeNotSatisfiable
	case r.Header.Get("If-Match") != "":
		status = http.StatusPreconditionFailed
	case r.Header.Get("Expect") != "":
		status = http.StatusExpectationFailed
	case r.Header.Get("X-Limit") != "":
		status = http.StatusTooManyRequests
	case r.Header.Get("Accept") == "evil":
		status = http.StatusUnsupportedMediaType
	}
	w.WriteHeader(status)
	fmt.Fprintf(w, "%d", status)
}

// Cache-poisoned denial of service by a head that the edge takes and the app
// does not (CPDoS, HHO).
func TestAttackHeaderOversize(t *testing.T) {
	e := newEdge(t, keepingPages(), withApp(t, fragile), withRule(forAnHour("/rule*")))
	for _, target := range []string{"/nginx", "/apache", "/waf", "/large", "/rule"} {
		for i, fields := range [][]string{
			{"X-Oversized: " + strings.Repeat("x", 9000)},
			{"X-One: " + strings.Repeat("x", 4500), "X-Two: " + strings.Repeat("y", 4500)},
			{"User-Agent: " + strings.Repeat("x", 12000)},
			{"X-Oversized: " + strings.Repeat("x", 20000)}, // over our own limit
		} {
			at := target + itoa(i)
			e.get(at, fields...)
			e.victimGets(at, "200")
		}
	}
	e.get("/login", "Cookie: a="+strings.Repeat("x", 9000))
	e.victimGets("/login", "200")
}

// The same by control characters, at which the app takes offence (CPDoS, HMC).
func TestAttackMetaCharacters(t *testing.T) {
	e := newEdge(t, keepingPages(), withApp(t, fragile))
	for c := range byte(0x80) {
		if c >= ' ' && c != 0x7f || c == '\n' {
			continue
		}
		for _, value := range []string{"evil %s evil", "%s", "%sevil", "evil is a long value indeed%s"} {
			target := fmt.Sprintf("/%d", c)
			a := e.get(target, "X-Meta: "+fmt.Sprintf(value, string(rune(c))))
			if c != '\t' && c != '\r' && a.StatusCode != http.StatusBadRequest {
				t.Errorf("%q passes: %d", c, a.StatusCode)
			}
			e.victimGets(target, "200")
		}
	}
}

// The same by fields that ask for what the app cannot give.
func TestAttackProvokedErrors(t *testing.T) {
	e := newEdge(t, keepingPages(), withApp(t, fragile))
	for i, field := range []string{
		"Range: bytes=9-0", "Range: evil", "If-Match: \"evil\"", "Expect: evil", "X-Limit: 1", "Accept: evil",
		"Expect: 100-continue", "If-Unmodified-Since: Thu, 01 Jan 1970 00:00:00 GMT", "Upgrade: evil", "Content-Length: 5",
	} {
		target := "/" + itoa(i)
		if field == "Content-Length: 5" {
			e.post("GET", target, "12345")
		} else {
			e.get(target, field)
		}
		e.victimGets(target, "200")
	}
}

// Range poisoning: a part is never taken for the page, whatever the app says.
func TestAttackRange(t *testing.T) {
	page := strings.Repeat("page ", 100)
	e := newEdge(t, keepingPages(), withSite(func(s *Site) { s.SSI.Enabled = false }), withApp(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "public, max-age=3600")
		if spec := r.Header.Get("Range"); spec != "" || r.URL.Path == "/always" {
			w.Header().Set("Content-Range", "bytes 0-3/500")
			status := http.StatusPartialContent
			if r.URL.Path == "/lies" {
				status = http.StatusOK
			}
			w.WriteHeader(status)
			io.WriteString(w, "page")
			return
		}
		io.WriteString(w, page)
	}))
	for _, spec := range []string{"bytes=0-3", "bytes=0-3,5-8", "bytes=-4", "bytes=0-", "lines=0-3", "bytes=0-3, "} {
		for _, target := range []string{"/p", "/lies"} {
			e.get(target, "Range: "+spec)
			e.victimGets(target, page)
		}
	}
	for range 2 {
		if status := e.get("/always").Header.Get("Cache-Status"); !strings.Contains(status, "fwd=") || strings.Contains(status, "stored") {
			t.Errorf("a part that nobody asked for: %s", status)
		}
	}
}

// An attacker's error does not take the page away that is there, nor does his
// HEAD, his OPTIONS or his POST put one in its place.
func TestAttackOtherMethods(t *testing.T) {
	e := newEdge(t, keepingPages(), withSite(func(s *Site) { s.Cache.Negative = time.Hour }), withApp(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "public, max-age=3600")
		io.WriteString(w, r.Method)
	}))
	for _, method := range []string{"HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "PROPFIND", "TRACE", "CONNECT", "get", "Get", "PURGE", "GETT", "QUERY"} {
		e.do(method, "/"+method)
		e.victimGets("/"+method, "GET")
		e.do(method, "/"+method)
		e.victimGets("/"+method, "GET")
	}
}
