package demo

// Place is a page to open.
type Place struct {
	Path string
	Says string // what is to be seen there
}

// Places are the pages that "ssiedge demo" names.
func Places() []Place {
	return []Place{
		{"/", "files with holes in them; sign in, and reload"},
		{"/towns", "a form that posts to the address of a published page"},
		{"/ferries", "fragments that are slow, broken, missing or silent"},
		{"/today", "a page of the app, with holes like those of a file"},
		{"/how", "what just happened, and what the app was asked"},
	}
}

// Stop is one command to try, and what is to be seen in its output.
type Stop struct {
	Says    string // what it is about
	Command string // for a shell that is in Dir; needs curl
	Shows   string // a part of its output, to the letter
}

// Tour is the commands that "ssiedge demo" prints, to be run one after the
// other in Dir. base and admin are the URLs of the edge and of its admin
// listener, without a slash at the end. All that the commands leave behind, a
// cookie jar and a page, is in Dir.
func Tour(base, admin string) []Stop {
	return []Stop{
		{"A page that is a file: the app was asked for its holes only.",
			"curl -sSi " + base + "/towns | grep Cache-Status", "ssiedge; hit; detail=file"},
		{"Slashes make no other page of it.",
			"curl -sS " + base + "//towns/ | grep '<h1>'", "<h1>Towns</h1>"},
		{"Sign in on a published page; then the same files greet you.",
			"curl -sSL -c cookies -d user=Ana " + base + "/login | grep -o 'Welcome back, <strong>.*</strong>'", "Welcome back, <strong>Ana</strong>"},
		{"With the cookie a page takes a hole in that strangers do not have.",
			"curl -sS -b cookies " + base + "/ | grep 'Nothing on it'", "Nothing on it yet, Ana."},
		{"A form posts to the address of a published page, and reaches the app.",
			"curl -sS -d q=market " + base + "/towns | grep 'towns match'", "2 towns match"},
		{"The top of a page leaves long before its slowest hole is filled.",
			"curl -sS -o page -w 'first byte after %{time_starttransfer} s, last after %{time_total} s' " + base + "/ferries", "first byte after"},
		{"A fragment that fails is replaced by its stub.",
			"grep -o 'The harbour office does not answer' page", "The harbour office does not answer"},
		{"Pieces of pages are not for visitors.",
			"curl -sS -o page -w '%{http_code}' " + base + "/fragments/login", "404"},
		{"Publish a page: write a file.",
			"echo 'Hello, <!--# echo var=\"remote_addr\" -->' > public/hello.html; curl -sS " + base + "/hello", "Hello, 127.0.0.1"},
		{"Pictures may be kept by the visitor for ten years.",
			"curl -sSI " + base + "/images/coast.svg | grep Cache-Control", "max-age=315360000"},
		{"Change ssiedge.toml, and have it taken up.",
			"curl -sS -X POST -H 'Content-Type: application/json' " + admin + "/reload", `"reloaded":true`},
		{"What the edge did so far.",
			"curl -sS " + admin + "/metrics | grep ^ssiedge_requests_total", `outcome="file"`},
	}
}
