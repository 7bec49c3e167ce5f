package e2e

import (
	"strings"
)

// fileRows are files below the root that are no pages with directives.
func fileRows(*world) []row {
	png, css := published["images/dot.png"], published["stylesheets/site.css"]
	ranged := func(name, ranges string, status int, holds string) row {
		return row{name: "range, " + name, req: get("/images/dot.png", "Range: "+ranges), status: status, holds: holds, fields: []string{"Content-Range", "Content-Length"}}
	}
	again := func(field, from string) func(answer) request {
		return func(a answer) request { return get("/stylesheets/site.css", field+": "+a.header.Get(from)) }
	}
	ranges := []row{
		ranged("first bytes", "bytes=0-9", 206, png[:10]),
		ranged("from the middle", "bytes=100-", 206, png[100:]),
		ranged("last bytes", "bytes=-7", 206, png[len(png)-7:]),
		ranged("longer than the file", "bytes=1700-99999", 206, png[1700:]),
		ranged("all of it", "bytes=0-", 206, png),
		ranged("another unit", "lines=0-9", 200, png),
		ranged("suffix longer than the file", "bytes=-99999", 206, png),
	}
	several := row{name: "range, several", req: get("/images/dot.png", "Range: bytes=0-9,20-29"), status: 206, holds: png[20:30], pick: dashes}
	beyond := ranged("beyond the end", "bytes=99999-", 416, "")
	beyond.differs, beyond.fields = "each has an error page of its own", []string{"Content-Range"}
	backwards := ranged("backwards", "bytes=9-5", 200, png)
	backwards.differs, backwards.fields = "RFC 9110 section 14.1.2: an invalid range is ignored; nginx answers 416", nil
	lifetime := []string{"Cache-Control"}
	rows := []row{
		{name: "image with expires", req: get("/images/dot.png"), status: 200, holds: png, fields: []string{"Cache-Control", "Content-Length", "Last-Modified", "Accept-Ranges"}},
		{name: "style sheet, its directives are text", req: get("/stylesheets/site.css"), status: 200, holds: css, fields: lifetime},
		{name: "script, its directives are text", req: get("/javascripts/app.js"), status: 200, holds: "var='uri'", fields: lifetime},
		{name: "style sheet with a query", req: get("/stylesheets/site.css?v=3"), status: 200, holds: css, fields: lifetime},
		{name: "text", req: get("/humans.txt"), status: 200, holds: "<!--# include", fields: []string{"Content-Length", "Cache-Control"}},
		{name: "JSON", req: get("/data/list.json"), status: 200, holds: `[1, 2, 3]`},
		{name: "space in the name", req: get("/Name%20with%20space.txt"), status: 200, holds: "spaced"},
		{name: "UTF-8 in the name", req: get("/Caf%C3%A9.css"), status: 200, holds: "color: red"},
		{name: "no directive in the page", req: get("/plain"), status: 200, holds: "no directive"},
		{name: "empty page", req: get("/empty"), status: 200},
		{name: "several dots", req: get("/page.with.dots"), status: 200, holds: "dots"},
		{name: "archive", req: get("/download.zip"), status: 200, holds: "not really zipped", fields: []string{"Content-Encoding"}},
		{name: "well-known", req: get("/.well-known/security.txt"), status: 200, holds: "Contact:"},
		{name: "same tag", req: get("/stylesheets/site.css"), then: again("If-None-Match", "Etag"), status: 304},
		{name: "another tag", req: get("/stylesheets/site.css", `If-None-Match: "x", W/"y"`), status: 200, holds: css},
		{name: "same date", req: get("/stylesheets/site.css"), then: again("If-Modified-Since", "Last-Modified"), status: 304},
		{name: "older date", req: get("/stylesheets/site.css", "If-Modified-Since: Mon, 02 Jan 2006 15:04:05 GMT"), status: 200, holds: css},
		{name: "unmodified since an older date", req: get("/stylesheets/site.css", "If-Unmodified-Since: Mon, 02 Jan 2006 15:04:05 GMT"), status: 412, differs: "each has an error page of its own"},
		{name: "range of the same file", req: get("/stylesheets/site.css"), then: func(a answer) request {
			return get("/stylesheets/site.css", "Range: bytes=0-3", "If-Range: "+a.header.Get("Etag"))
		}, status: 206, holds: css[:4]},
		{name: "range of another file", req: get("/stylesheets/site.css", "Range: bytes=0-3", `If-Range: "other"`), status: 200, holds: css},
		{name: "image with a query, not the page beside it", req: get("/images/dot.png?html"), status: 200, holds: png},
	}
	return append(append(rows, ranges...), several, beyond, backwards)
}

// dashes leaves out the white space and the field order in which two servers
// write the parts of a multipart answer.
func dashes(body string) string {
	lines := strings.Split(strings.TrimSpace(body), "\r\n")
	var kept []string
	for _, line := range lines {
		if !strings.HasPrefix(line, "Content-Type:") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

// targetRows are paths that somebody might try.
func targetRows(*world) []row {
	const own = "each has an error page of its own"
	refused := func(name, target string) row {
		return row{name: name, req: get(target), status: 400, differs: own}
	}
	passed := func(name, target string, status int, holds string) row {
		return row{name: name, req: get(target), status: status, holds: holds}
	}
	const slash = "an encoded slash is no slash: such a path never matches a file, and the app gets it as it is"
	slashed := passed("encoded slash in a page's path", "/stylesheets%2Fsite.css", 404, "no such page (origin)")
	slashed.differs = slash
	hidden := passed("dot file", "/.env", 404, "no such page (origin)")
	hidden.lacks, hidden.differs = "SECRET", "names that begin with a dot are never published, but for /.well-known/"
	link := passed("symlink that leaves the root", "/outside.txt", 404, "no such page (origin)")
	link.differs = "a symlink leads out of the root only into the folders of links"
	dots := refused("encoded slash beside a dot segment", "/region/..%2F..%2Fetc/passwd")
	dots.differs = "such a path means different files to different servers: it is refused"
	back := refused("encoded backslash beside a dot segment", "/region/..%5C..%5Cetc/passwd")
	back.differs = dots.differs
	large := row{name: "head of 40 kB", req: get("/"+strings.Repeat("a", 40_000), "X-More: 1"), status: 431, differs: "nginx says 414; fasthttp says 431 to every head that is too large"}
	return []row{
		refused("NUL", "/region%00.html"),
		refused("NUL in the middle of a name", "/region/info/Ha%00waii"),
		refused("broken escape", "/region/%zz"),
		refused("cut escape", "/region/%4"),
		refused("above the root", "/../etc/passwd"),
		refused("above the root, escaped", "/%2e%2e/%2e%2e/etc/passwd"),
		refused("above the root, from below", "/region/../../etc/passwd"),
		slashed, hidden, link, dots, back, large,
		passed("three dots", "/.../x", 404, "no such page (origin)"),
		passed("name of 204 bytes", "/"+strings.Repeat("n", 200)+".txt", 200, "a long name"),
		passed("name of 300 bytes", "/"+strings.Repeat("n", 300), 404, "no such page (origin)"),
		passed("name too long for the app's cache", "/region/info/"+strings.Repeat("n", 300), 500, "the origin failed"),
		passed("path of 4000 bytes", strings.Repeat("/abcdefg", 500), 404, "no such page (origin)"),
		passed("semicolon", "/plain;jsessionid=1", 404, "no such page (origin)"),
		passed("plus is no space", "/Name+with+space.txt", 404, "no such page (origin)"),
		passed("escaped question mark", "/plain%3Fx", 404, "no such page (origin)"),
		passed("a blank at the end", "/plain%20", 404, "no such page (origin)"),
		passed("upper case is another page", "/PLAIN", 404, "no such page (origin)"),
		passed("suffix twice", "/plain.html.html", 404, "no such page (origin)"),
		passed("file as a folder", "/plain.html/x", 404, "no such page (origin)"),
		passed("file with a slash", "/humans.txt/", 200, "by humans"),
		passed("escape sequence twice", "/plain%252e", 404, "no such page (origin)"),
	}
}
