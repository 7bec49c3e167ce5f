package e2e

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// appRows are answers of the app that nobody keeps.
func appRows(w *world) []row {
	status := func(code string, want int) row {
		return row{name: "status " + code + " of the app", req: get("/fragments/status/" + code), status: want}
	}
	tag := w.tagOf("/pages/fresh")
	rows := []row{
		{name: "404 of the app", req: get("/nothing"), status: 404, holds: "no such page (origin)"},
		{name: "404 with a slash", req: get("/nothing/"), status: 404, holds: "no such page (origin)"},
		{name: "404 of an action", req: get("/region/info/Missing"), status: 404, holds: "no such page (origin)"},
		{name: "500 of the app", req: get("/fragments/status/500"), status: 500, holds: "status 500"},
		{name: "500 that Rails makes of an exception", req: get("/fragments/big?kb=1&sleep_ms[]=x"), status: 500, holds: "the origin failed"},
		{name: "redirect", req: get("/fragments/redirect"), status: 302, holds: "redirected", fields: []string{"Location"}},
		{name: "cookie set by the app", req: get("/pages/cookie"), status: 200, holds: "sets a cookie", fields: []string{"Set-Cookie"}},
		{name: "cookies sent to the app", req: get("/fragments/echo", "Cookie: a=1; b=2;c=\"x y\"", "Accept-Language: de"), status: 200, pick: echoedHeaders("COOKIE", "ACCEPT_LANGUAGE", "HOST"), holds: `b=2;c=\"x y\"`},
		{name: "query sent to the app", req: get("/fragments/echo?b=2&a=1&a=3&c"), status: 200, pick: echoed("method", "url"), holds: "?b=2&a=1&a=3&c"},
		{name: "query with odd escapes", req: get("/fragments/greet?name=%e4%F6%2f%3F"), status: 400},
		{name: "query with a broken escape", req: get("/fragments/greet?name=%zz"), status: 400},
		{name: "query with bytes over 127", req: get("/fragments/greet?name=S\xc3\xa3o"), status: 200, holds: "Hello, São!"},
		{name: "body of 3 MB", req: get("/fragments/big?kb=3000"), status: 200, holds: strings.Repeat("x", 79)},
		{name: "body of 3 MB, HTTP/1.0", req: request{target: "/fragments/big?kb=3000", proto: "HTTP/1.0"}, status: 200, holds: strings.Repeat("x", 79)},
		{name: "every byte", req: get("/fragments/binary"), status: 200, holds: "\x00\x01\x02"},
		{name: "conditional, not modified", req: get("/pages/fresh", "If-None-Match: "+tag), status: 304},
		{name: "conditional, modified", req: get("/pages/fresh", `If-None-Match: "other"`), status: 200, holds: "304 me"},
		{name: "not modified since", req: get("/pages/fresh", "If-Modified-Since: Wed, 01 Jan 2020 00:00:00 GMT"), status: 304},
		{name: "file of the app's own", req: get("/robots.txt"), status: 200, holds: "Disallow: /admin/"},
		{name: "gzip accepted, SSI is on", req: get("/fragments/greet?name=gzip", "Accept-Encoding: gzip, br"), status: 200, holds: "Hello, gzip!", fields: []string{"Content-Encoding"}},
	}
	for code, want := range map[string]int{"201": 201, "204": 204, "304": 304, "400": 400, "403": 403, "410": 410, "418": 418, "422": 422, "503": 503} {
		rows = append(rows, status(code, want))
	}
	return rows
}

// tagOf gives the ETag that the app has for a page.
func (w *world) tagOf(target string) string {
	in, err := w.app.Get("http://" + host + target)
	if err != nil {
		return ""
	}
	in.Body.Close()
	return in.Header.Get("Etag")
}

// echoed picks members of what /fragments/echo says reached the app.
func echoed(names ...string) func(string) string {
	return func(body string) string {
		var all map[string]any
		if err := json.Unmarshal([]byte(body), &all); err != nil {
			return body
		}
		return pickFrom(all, names)
	}
}

// echoedHeaders picks header fields of it, by the names that Rack gives them.
func echoedHeaders(names ...string) func(string) string {
	return func(body string) string {
		var all struct{ Headers map[string]any }
		if err := json.Unmarshal([]byte(body), &all); err != nil {
			return body
		}
		return pickFrom(all.Headers, names)
	}
}

// pickFrom prints some members of an object, in the order of their names.
func pickFrom(all map[string]any, names []string) string {
	picked := map[string]any{}
	for _, name := range names {
		picked[name] = all[name]
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(picked); err != nil {
		return err.Error()
	}
	return b.String()
}

// memcachedRows are pages that the app, or somebody else, put into memcached.
func memcachedRows(w *world) []row {
	const path = "/mc" + hawaii
	stored := func(key, value string, flags uint32) func(testing.TB) {
		return func(t testing.TB) { w.put(t, key, value, flags) }
	}
	const page = "<p>from memcached, <!--# include virtual=\"/fragments/login\" --></p>"
	const marshalled = "\x04\x08\x49\x22\x0apage\x06:\x06ET"
	return []row{
		{name: "memcached, stored by Rails at once", before: func(t testing.TB) { w.forget(t, path) }, req: get(path), then: func(answer) request { return get(path) }, status: 200, holds: "<h1>Hawaii</h1>"},
		{name: "memcached, signed in", before: func(t testing.TB) { w.ask(t, "GET", path) }, req: get(path, w.session), status: 200, holds: "Welcome back <b>ann</b>"},
		{name: "memcached, a page put by hand", before: stored("/mc/p", page, 0), req: get("/mc/p"), status: 200, holds: "<p>from memcached, <form method=\"post\" action=\"/login\">"},
		{name: "memcached, a query", before: stored("/mc/p", page, 0), req: get("/mc/p?page=2"), status: 200, holds: "from memcached"},
		{name: "memcached, 200 kB", before: stored("/mc/large", strings.Repeat("large ", 34_000), 0), req: get("/mc/large"), status: 200, holds: "large large"},
		{name: "memcached, JSON", before: stored("/mc/p.json", `{"a":1}`, 0), req: get("/mc/p.json"), status: 200, holds: `{"a":1}`},
		{name: "memcached, escaped key", before: stored("/mc/a%20b", "blank in the key", 0), req: get("/mc/a%20b"), status: 200, holds: "blank in the key"},
		{name: "memcached, UTF-8 key", before: stored("/mc/São", "decoded key", 0), req: get("/mc/S%C3%A3o"), status: 200, holds: "decoded key"},
		{name: "memcached, nothing there", before: func(t testing.TB) { w.forget(t, "/mc/nothing") }, req: get("/mc/nothing"), status: 404, holds: "no such page (origin)"},
		{name: "memcached, every byte", before: stored("/mc/bytes.png", "\x00\xff\r\n<!--#echo -->", 0), req: get("/mc/bytes.png"), status: 200, holds: "\x00\xff\r\n<!--#echo -->"},
		{name: "memcached, POST", before: stored("/mc/p", page, 0), req: form("/mc/p", "a=1"), status: 404, lacks: "from memcached"},
		{name: "memcached, HEAD", before: stored("/mc/p", page, 0), req: request{method: http.MethodHead, target: "/mc/p"}, status: 200, differs: "nginx sends HEAD to the app, which has no such page; ssiedge answers it as it would answer GET"},
		{name: "memcached, slash", before: stored("/mc/p", page, 0), req: get("/mc/p/"), status: 200, holds: "from memcached", differs: "nginx asks memcached with the slash in the key; ssiedge has one canonical path"},
		{name: "memcached, marshalled by Ruby", before: stored("/mc"+hawaii, marshalled, 1), req: get(path), status: 200, holds: "<h1>Hawaii</h1>", differs: "flags that are not 0 say that the value is no raw page; nginx sends it out"},
		{name: "memcached, empty value", before: stored("/mc"+hawaii, "", 0), req: get(path), status: 200, holds: "<h1>Hawaii</h1>", differs: "an empty value is no page; nginx sends an empty answer"},
	}
}
