package e2e

// ssiRows are pages with directives, on disk and from the app.
func ssiRows(w *world) []row {
	const pasted = "a fragment that failed is not shown: the error text, or the stub, stands for it; nginx pastes the error page"
	return []row{
		{name: "variables", req: get("/vars"), status: 200, holds: "<p>/vars.html GET " + host + " no args</p>"},
		{name: "variables, a query and a cookie", req: get("/vars?name=%3Cann%3E&x=1", "Cookie: lang=de; b=1"), status: 200, holds: "de</p>"},
		{name: "variables, a query under the file's own name", req: get("/vars.html?name=ann"), status: 200, holds: "ann"},
		{name: "conditions", req: get("/logic"), status: 200, holds: "equal\nmatched\nunset\nflag off\n"},
		{name: "conditions, a header", req: get("/logic", "X-Flag: on"), status: 200, holds: "flag on"},
		{name: "includes", req: get("/includes"), status: 200, holds: "<p>Hello, shown!</p>"},
		{name: "relative includes", req: get("/deep/er/relative"), status: 200, holds: "[side of /deep/er/side.html][side of /deep/er/side.html]<footer>"},
		{name: "directives that are wrong", req: get("/broken"), status: 200, holds: "a[an error occurred while processing the directive]b"},
		{name: "list of includes", req: get("/list"), status: 200, holds: "<p>no directive in here</p>", differs: "all of a list are printed, as in Apache; nginx takes one URL"},
		{name: "include in an attribute and in a script", req: get("/attributes"), status: 200, holds: `content="on <p>no directive in here</p>`},
		{name: "comments", req: get("/unclosed-directive-ok"), status: 200, holds: "before <!-- # not one --> <!-- plain comment --> after"},
		{name: "directives in an include of another type", req: get("/inc"), status: 200, holds: "v1", differs: "a .inc file is text/html here; nginx has no type for it and leaves its directives as they are"},
		{name: "include that climbs", req: get("/climbing"), status: 200, holds: "foot of /foot.html", differs: "an include's path is made canonical like any other; nginx refuses two dots in it"},
		{name: "range of a page with directives", req: get("/includes", "Range: bytes=0-3"), status: 200, holds: "Hello"},
		{name: "search, its answer holds directives", req: form("/region/info/Hawaii", "q=<!--# include virtual=\"/fragments/greet\" -->"), status: 200, holds: "&lt;!--# include"},
		{name: "nested, from the app", req: get("/fragments/nested"), status: 200, holds: "[outer Hello, inner!]"},
		{name: "every include, from the app", req: get("/pages/all"), status: 200, holds: `<p id="stub">spare text</p>`, lacks: "status 503", differs: pasted, pastes: true},
		{name: "every include, signed in", req: get("/pages/all", w.session), status: 200, holds: "Welcome back <b>ann</b>", differs: pasted, pastes: true},
	}
}
