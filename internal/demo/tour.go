package demo

import "path/filepath"

// Stop is one command to try, and what is to be seen in its output.
type Stop struct {
	Says    string // what it is about
	Command string // for a shell; needs curl
	Shows   string // a part of its output, to the letter
}

// Tour is the commands that "ssiedge demo" prints. base and admin are the URLs
// of the edge and of its admin listener, without a slash at the end. The
// commands leave two files in Dir, a cookie jar and a page, and nothing
// elsewhere.
func (d *Demo) Tour(base, admin string) []Stop {
	jar := filepath.Join(d.Dir, "cookies")
	page := filepath.Join(d.Root, "hello.html")
	curl := "curl -sS "
	return []Stop{
		{"A page that is a file: the app was asked for its holes only.",
			curl + "-i " + base + "/towns | grep -i cache-status", "ssiedge; hit"},
		{"One page, whatever slashes are on it.",
			curl + base + "//towns/ | grep '<h1>'", "<h1>Towns</h1>"},
		{"Sign in on a published page; the same file then greets you.",
			curl + "-L -c " + jar + " -b " + jar + " -d user=Ana " + base + "/login | grep -o 'Welcome back, <strong>.*</strong>'", "Welcome back, <strong>Ana</strong>"},
		{"A form posts to the address of a published page, and reaches the app.",
			curl + "-d q=market " + base + "/towns | grep 'towns match'", "2 towns match"},
		{"The top of a page leaves before its slow holes are ready.",
			curl + "-o " + devNull + " -w 'first byte after %{time_starttransfer} s, last after %{time_total} s' " + base + "/ferries", "first byte after 0."},
		{"A fragment that fails is replaced by its stub.",
			curl + base + "/ferries | grep 'class=\"stub\"'", "The harbour office does not answer."},
		{"Pieces are for includes only.",
			curl + "-o " + devNull + " -w '%{http_code}' " + base + "/fragments/login", "404"},
		{"Publish a page: write a file.",
			"echo '<p>Hello, <!--# echo var=\"remote_addr\" --></p>' > " + page + " && " + curl + base + "/hello", "<p>Hello, 127.0.0.1</p>"},
		{"Pictures may be kept by the visitor for ten years.",
			curl + "-I " + base + "/images/coast.svg | grep -i cache-control", "max-age=315360000"},
		{"What the edge did so far.",
			curl + admin + "/metrics | grep ^ssiedge_requests_total", "ssiedge_requests_total"},
	}
}

const devNull = "/dev/null"
