package edge

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// The tests of attack_*_test.go each play one attack that is described in
// public. An attacker sends what he likes; then a victim asks, and must get
// what he would have got without the attacker.

// victimGets fails the test unless a plain request gets that page, twice.
func (e *testEdge) victimGets(target, body string, fields ...string) {
	e.t.Helper()
	for range 2 {
		if a := e.get(target, fields...); a.StatusCode != 200 || a.body != body {
			e.t.Errorf("after the attack %s is %d %.200q, want 200 %q", target, a.StatusCode, a.body, body)
			return
		}
	}
}

// posing are fields that somebody's framework, server or library takes for
// part of the URL, the method or the asker.
var posing = []string{
	"X-Forwarded-Host: evil.example", "X-Forwarded-Scheme: evil", "X-Forwarded-Proto: evil", "X-Forwarded-Port: evil",
	"X-Forwarded-Server: evil.example", "X-Forwarded-Ssl: evil", "X-Forwarded-Prefix: /evil", "X-Forwarded-Path: /evil",
	"X-Forwarded-Uri: /evil", "X-Forwarded-By: evil", "X-Forwarded-For: 6.6.6.6", "Forwarded: host=evil.example;proto=evil;for=6.6.6.6",
	"X-Host: evil.example", "X-Real-Host: evil.example", "X-Original-Host: evil.example", "X-Backend-Host: evil.example",
	"X-Http-Host-Override: evil.example", "Proxy-Host: evil.example", "X-Proxy-Host: evil.example", "X-Server-Name: evil.example", "X-Forwarded-Host : evil.example",
	"X-Original-Url: /evil", "X-Original-Uri: /evil", "X-Rewrite-Url: /evil", "X-Override-Url: /evil", "X-Http-Destinationurl: /evil",
	"X-Http-Path-Override: /evil", "Base-Url: http://evil.example", "Request-Uri: /evil", "Http-Url: /evil", "X-Proxy-Url: http://evil.example",
	"X-Script-Name: /evil", "X-Envoy-Original-Path: /evil", "X-Matched-Path: /evil", "X-Now-Route-Matches: evil", "X-Invoke-Path: /evil", "X-Invoke-Status: evil",
	"X-Middleware-Subrequest: evil", "X-Middleware-Rewrite: /evil", "X-Scheme: evil", "X-Proto: evil", "X-Url-Scheme: evil", "Front-End-Https: evil",
	"X-Http-Method: EVIL", "X-Http-Method-Override: EVIL", "X-Method-Override: EVIL", "X-Method: EVIL",
	"X-Sendfile-Type: evil", "X-Accel-Mapping: /=/evil", "X-Accel-Redirect: /evil",
	"Client-Ip: evil", "X-Client-Ip: evil", "True-Client-Ip: evil", "Cf-Connecting-Ip: evil", "X-Cluster-Client-Ip: evil", "X-Real-Ip: evil",
	"X-Originating-Ip: evil", "X-Remote-Addr: evil", "X_Forwarded_Host: evil.example", "X_Original_Url: /evil",
	"Content-Type: evil", "Content-Encoding: evil", "Max-Forwards: 0", "Range: bytes=evil", "If-Range: evil", "If-Match: \"evil\"",
	"If-None-Match: \"evil\"", "If-Modified-Since: evil", "Te: evil", "Trailer: Evil", "Proxy-Connection: evil", "Surrogate-Capability: evil",
}

// gullible is an app that prints all that it is sent, but for the names that
// the test's own tools send, and fails for the odder of it.
func gullible(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "max-age=3600")
	var body strings.Builder
	for name, values := range r.Header {
		for _, v := range values {
			if plain := strings.ToLower(name + v); strings.Contains(plain, "evil") || strings.Contains(v, "6.6.6.6") || name == "Max-Forwards" {
				fmt.Fprintf(&body, "%s=%s ", name, v)
			}
		}
	}
	switch {
	case body.Len() > 0 && strings.HasPrefix(r.URL.Path, "/lost"):
		w.Header().Del("Cache-Control")
		w.WriteHeader(http.StatusNotFound)
	case body.Len() > 0 && strings.HasPrefix(r.URL.Path, "/away"):
		w.Header().Set("Location", "http://evil.example/")
		w.WriteHeader(http.StatusMovedPermanently)
	}
	io.WriteString(w, body.String()+"page of "+r.Host)
}

// Unkeyed headers: one that shapes the answer, but not the key.
func TestAttackUnkeyedHeaders(t *testing.T) {
	e := newEdge(t, keepingPages(), withApp(t, gullible), withRule(forAnHour("/rule/*")),
		withSite(func(s *Site) { s.Cache.Negative = time.Hour }))
	for i, field := range posing {
		for _, kind := range []string{"own", "rule", "lost", "away"} {
			target := fmt.Sprintf("/%s/%d", kind, i)
			e.get(target, field)
			e.victimGets(target, "page of "+testHost)
			if t.Failed() {
				t.Fatalf("that was %q", field)
			}
		}
	}
	// All at once, in other cases, twice, and with a host that is trusted by
	// nobody.
	e.get("/own/all", posing...)
	e.victimGets("/own/all", "page of "+testHost)
	for _, field := range []string{"x-forwarded-host: evil.example", "X-FORWARDED-HOST: evil.example", "x-oRiGinal-url: /evil"} {
		e.get("/own/case", field, field)
		e.victimGets("/own/case", "page of "+testHost)
	}
}

// With a rule's lifetime nothing of the visitor shapes the page: not what
// browsers send either.
func TestAttackReflectedHeaders(t *testing.T) {
	e := newEdge(t, keepingPages(), withApp(t, gullible), withRule(forAnHour("*")))
	for i, field := range []string{
		"User-Agent: evil", "Referer: http://evil.example", "Origin: http://evil.example", "Accept: evil", "Accept-Language: evil",
		"Cookie: evil=1", "Authorization: evil", "X-Requested-With: evil", "X-Evil: 1", "Via: evil", "Cache-Control: evil", "Pragma: evil",
		"Traceparent: evil", "X-Request-Id: evil", "Purpose: evil", "Save-Data: evil", "Sec-Fetch-Dest: evil", "Accept-Encoding: evil", "Accept-Charset: evil",
	} {
		target := "/" + itoa(i)
		e.get(target, field)
		e.victimGets(target, "page of "+testHost)
	}
}

// Unkeyed cookies: an app that prints one, and says max-age but not public.
func TestAttackUnkeyedCookie(t *testing.T) {
	e := newEdge(t, keepingPages(), withApp(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=3600")
		if c, err := r.Cookie("theme"); err == nil {
			io.WriteString(w, c.Value)
		}
	}), withRule(Rule{Paths: []string{"/keyed"}, Cookies: &Cookies{Mode: CookiesListed, Names: []string{"theme"}}}))
	for _, cookie := range []string{"theme=evil", "a=1; theme=evil", "theme=evil; theme=good", "theme=evil;", " theme=evil"} {
		for _, target := range []string{"/all", "/keyed"} {
			e.get(target, "Cookie: "+cookie)
			e.victimGets(target, "")
		}
		e.victimGets("/keyed", "good", "Cookie: theme=good")
	}
}

// Hop-by-hop fields: Connection names fields that the next hop then lacks, so
// that the app answers as if they had not been sent.
func TestAttackHopByHop(t *testing.T) {
	app := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=3600")
		if strings.HasPrefix(r.URL.Path, "/varies") {
			w.Header().Set("Vary", "Accept-Language")
		}
		theme, lang := "none", r.Header.Get("Accept-Language")
		if c, err := r.Cookie("theme"); err == nil {
			theme = c.Value
		}
		fmt.Fprintf(w, "%s %s %s %s %s", theme, lang, r.Host, r.Header.Get("X-Forwarded-Proto"), r.Header.Get("X-Forwarded-Host"))
	}
	keyed := Rule{Paths: []string{"/keyed*"}, Cookies: &Cookies{Mode: CookiesListed, Names: []string{"theme"}}, KeyHeaders: []string{"Accept-Language"}}
	e := newEdge(t, keepingPages(), withApp(t, app), withRule(keyed))
	for i, connection := range []string{
		"Cookie", "Accept-Language", "close, Cookie, Accept-Language", "Host", "X-Forwarded-Proto, X-Forwarded-Host", "Cache-Control",
		"cookie", "ACCEPT-LANGUAGE", " ,Cookie ,", "Connection", "Via, X-Request-Id", "Content-Length, Transfer-Encoding",
	} {
		for _, path := range []string{"/keyed", "/varies"} {
			target := path + itoa(i)
			theme := "none"
			var cookie []string
			if path == "/keyed" {
				theme, cookie = "dark", []string{"Cookie: theme=dark"}
			}
			visitor := append([]string{"Accept-Language: pt"}, cookie...)
			e.get(target, append(visitor, "Connection: "+connection)...)
			e.victimGets(target, theme+" pt "+testHost+" http "+testHost, visitor...)
			e.victimGets(target, "none  "+testHost+" http "+testHost)
		}
		if t.Failed() {
			t.Fatalf("that was Connection: %s", connection)
		}
	}
}

// Method override: a GET that the app takes for another method (CPDoS, HMO).
func TestAttackMethodOverride(t *testing.T) {
	e := newEdge(t, keepingPages(), withSite(func(s *Site) { s.Cache.Negative = time.Hour }), withApp(t, func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{"X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"} {
			if m := r.Header.Get(name); m != "" {
				w.Header().Set("Cache-Control", "public, max-age=3600")
				w.WriteHeader(http.StatusNotFound)
				io.WriteString(w, m)
				return
			}
		}
		w.Header().Set("Cache-Control", "max-age=3600")
		io.WriteString(w, "page")
	}))
	for i, method := range []string{"POST", "DELETE", "HEAD", "PUT", "OPTIONS", "TRACE", "evil"} {
		for j, name := range []string{"X-HTTP-Method-Override", "X-HTTP-Method", "x-method-override"} {
			target := fmt.Sprintf("/%d/%d", i, j)
			e.get(target, name+": "+method)
			e.victimGets(target, "page")
		}
	}
}

// Vary tricks: an attacker who asks for variants without end takes neither the
// memory nor the page of those who ask as usual.
func TestAttackVary(t *testing.T) {
	e, app := newPulling(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=3600")
		w.Header().Set("Vary", map[string]string{"/star": "*", "/lang": "Accept-Language", "/two": "Accept-Language, X-Theme", "/odd": "Accept Language"}[r.URL.Path])
		io.WriteString(w, r.Header.Get("Accept-Language")+r.Header.Get("X-Theme"))
	}, withSite(func(s *Site) { s.Cache.MaxVariants = 4 }))
	for _, path := range []string{"/lang", "/two", "/star", "/odd"} {
		for i := range 40 {
			e.get(path, fmt.Sprintf("Accept-Language: evil%d", i))
		}
		e.victimGets(path, "pt", "Accept-Language: pt")
		e.victimGets(path, "")
		e.victimGets(path, "pt", "Accept-Language:  pt ")
		if path == "/two" {
			e.victimGets(path, "ptdark", "Accept-Language: pt", "X-Theme: dark")
			e.victimGets(path, "dark", "X-Theme: dark")
		}
	}
	if n := e.state.Load().store.memory.Stats().Pages; n > 2*(4+1) {
		t.Errorf("%d pages are kept, want 4 variants and their list for two paths", n)
	}
	if len(app.requests()) < 40 {
		t.Error("the attack did not reach the app")
	}
}
