package e2e

import (
	"strings"
	"testing"
)

const hawaii = "/region/info/Hawaii"

// diskRows are pages that Rails cached to disk: who finds which file.
func diskRows(w *world) []row {
	cached := func(path string) func(testing.TB) { return func(t testing.TB) { w.publish(t, path) } }
	page := func(name, target, path, holds string) row {
		return row{name: name, before: cached(path), req: get(target), status: 200, holds: holds}
	}
	const title = "<h1>Hawaii</h1>"
	rows := []row{
		page("cached page with a fragment", hawaii, hawaii, `<button>log in</button>`),
		page("name with a space", "/region/info/New%20York", "/region/info/New%20York", "<h1>New York</h1>"),
		page("name in UTF-8", "/region/info/S%C3%A3o-Paulo", "/region/info/S%C3%A3o-Paulo", "<h1>São-Paulo</h1>"),
		page("escapes in lower case", "/region/info/S%c3%a3o-Paulo", "/region/info/S%C3%A3o-Paulo", "<h1>São-Paulo</h1>"),
		page("home", "/", "/", "<h1>Regions</h1>"),
		page("home by its name", "/index.html", "/", "<h1>Regions</h1>"),
		page("home without the suffix", "/index", "/", "<h1>Regions</h1>"),
		page("page that is a directory too", "/region", "/region", "<h1>Regions</h1>"),
		page("page with its suffix", hawaii+".html", hawaii, title),
		page("trailing slash", hawaii+"/", hawaii, title),
		page("several trailing slashes", hawaii+"///", hawaii, title),
		page("trailing slash on a directory", "/region/", "/region", "<h1>Regions</h1>"),
		page("double slashes", "//region//info///Hawaii", hawaii, title),
		page("single dots", "/./region/./info/Hawaii", hawaii, title),
		page("dot at the end", hawaii+"/.", hawaii, title),
		page("double dots", "/region/x/../info/Hawaii", hawaii, title),
		page("escaped unreserved characters", "/%72egion/info/%48awaii", hawaii, title),
		page("escaped dot segment", "/region/x/%2e%2e/info/Hawaii", hawaii, title),
		page("query, as page caching ignores it", hawaii+"?page=2", hawaii, title),
		page("empty query", hawaii+"?", hawaii, title),
		page("slash and query", hawaii+"/?a=1", hawaii, title),
		page("absolute form", "http://"+host+hawaii, hawaii, title),
		page("xml", hawaii+".xml", hawaii+".xml", "<name>Hawaii</name>"),
		page("json", hawaii+".json", hawaii+".json", `"name":"Hawaii"`),
		{name: "directory without an index", before: cached(hawaii), req: get("/region/info"), status: 404, holds: "no such page (origin)"},
		{name: "directory with an index", req: get("/section"), status: 200, holds: "index of the section"},
		{name: "directory with an index and a slash", req: get("/section/"), status: 200, holds: "index of the section"},
	}
	signedIn := page("cached page, signed in", hawaii, hawaii, "Welcome back <b>ann</b>")
	signedIn.req.fields = []string{w.session}
	dotted := page("name with a dot", "/region/info/St.Louis", "/region/info/St.Louis", `<button>log in</button>`)
	dotted.differs = "Rails gives that file no suffix; it is text/html here, and its includes run; nginx has no type for it and leaves them as they are"
	old := page("cached page, HTTP/1.0", hawaii, hawaii, title)
	old.req.proto = "HTTP/1.0"
	cold := row{name: "page that is not cached", before: func(t testing.TB) { w.remove(t, "/region/info/Maui") }, req: get("/region/info/Maui"), status: 200, holds: "<h1>Maui</h1>"}
	coldSlash := row{name: "page that is not cached, with a slash", before: func(t testing.TB) { w.remove(t, "/region/info/Oahu") }, req: get("/region/info/Oahu/"), status: 200, holds: "<h1>Oahu</h1>"}
	return append(rows, signedIn, dotted, old, cold, coldSlash)
}

// methodRows are what is not GET, on the URL of a page that is cached.
func methodRows(w *world) []row {
	cached := func(t testing.TB) { w.publish(t, hawaii) }
	absent := func(t testing.TB) { w.remove(t, hawaii) }
	search := form(hawaii, "q=sur")
	const hit = `<li class="hit">surf</li>`
	slash, twice, chunked, query := search, search, search, search
	slash.target, twice.target, chunked.chunk, query.target = hawaii+"/", "/"+hawaii, true, hawaii+"?q=other"
	upload := form(hawaii, "q="+strings.Repeat("0123456789abcdef", 60_000))
	uploadChunked := upload
	uploadChunked.chunk = true
	only := func(method string, fields ...string) request {
		return request{method: method, target: hawaii, fields: fields}
	}
	const static = "nginx has only files behind that URL, and a file knows GET and HEAD; ssiedge sends every other method to the app"
	return []row{
		{name: "search posted to a cached page", before: cached, req: search, status: 200, holds: hit},
		{name: "search posted with a slash", before: cached, req: slash, status: 200, holds: hit},
		{name: "search posted with two slashes", before: cached, req: twice, status: 200, holds: hit},
		{name: "search posted in chunks", before: cached, req: chunked, status: 200, holds: hit},
		{name: "search posted with a query", before: cached, req: query, status: 200, holds: "<p>query: other</p>"},
		{name: "search posted to a page not cached", before: absent, req: search, status: 200, holds: hit},
		{name: "search posted by a visitor who is signed in", before: cached, req: request{method: "POST", target: hawaii, body: "q=sur", fields: append(search.fields, w.session)}, status: 200, holds: "Welcome back <b>ann</b>"},
		{name: "POST without a body", before: cached, req: only("POST"), status: 200, holds: "<p>query: </p>"},
		{name: "HEAD of a cached page", before: cached, req: only("HEAD"), status: 200},
		{name: "HEAD of a page not cached", before: absent, req: only("HEAD"), status: 200},
		{name: "HEAD of a file", req: request{method: "HEAD", target: "/images/dot.png"}, status: 200, fields: []string{"Content-Length", "Content-Type", "Last-Modified"}},
		{name: "HEAD of nothing", req: request{method: "HEAD", target: "/nothing"}, status: 404},
		{name: "DELETE of a page not cached", before: absent, req: only("DELETE"), status: 204},
		{name: "DELETE of a cached page", before: cached, req: only("DELETE"), status: 204, differs: static},
		{name: "PUT to a cached page", before: cached, req: only("PUT"), status: 404, holds: "no such page (origin)", differs: static},
		{name: "OPTIONS of a cached page", before: cached, req: only("OPTIONS"), status: 404, differs: static},
		{name: "a method of one's own", before: cached, req: only("PURGE"), status: 405, differs: static},
		{name: "TRACE", before: cached, req: only("TRACE", "X-Secret: s"), status: 405, lacks: "X-Secret", differs: "each has an error page of its own"},
		{name: "expire one page", before: cached, req: form("/admin/sweep", "path="+hawaii), status: 204},
		{name: "expire, then ask again", before: cached, req: form("/admin/sweep", "path="+hawaii), then: func(answer) request { return get(hawaii) }, status: 200, holds: "<h1>Hawaii</h1>"},
		{name: "sign in", req: form("/login", "user=ann&back="+hawaii), status: 303, fields: []string{"Location"}, pick: nothing},
		{name: "sign in, then ask", before: cached, req: form("/login", "user=bob"), then: func(a answer) request { return get(hawaii, a.cookies()) }, status: 200, holds: "Welcome back <b>bob</b>"},
		{name: "sign out", req: request{method: "POST", target: "/logout", fields: []string{w.session}}, status: 303, fields: []string{"Location"}},
		{name: "sign out, then ask", before: cached, req: request{method: "POST", target: "/logout", fields: []string{w.session}}, then: func(a answer) request { return get(hawaii, a.cookies()) }, status: 200, holds: "log in"},
		{name: "upload", req: upload, status: 200, holds: "<p>query: 0123456789abcdef"},
		{name: "upload in chunks", req: uploadChunked, status: 200, holds: "<p>query: 0123456789abcdef"},
		{name: "GET with a body", req: request{method: "GET", target: "/fragments/echo", body: "a body", fields: []string{"Content-Type: text/plain"}}, status: 200, pick: echoed("method", "body"), holds: "a body"},
	}
}

// nothing is for bodies that do not count.
func nothing(string) string { return "" }
