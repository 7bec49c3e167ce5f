package edge

import (
	"regexp"
	"strings"
	"testing"
)

// TestVariables looks up every variable in a page and in a fragment of it.
func TestVariables(t *testing.T) {
	tests := []struct {
		name, page, fragment string // regular expressions, whole
	}{
		{"uri", "/dir/p.html", "/dir/f.html"},
		{"document_uri", "/dir/p.html", "/dir/f.html"},
		{"document_name", "p.html", ""},
		{"document_args", "a=1&b=%7e&utm_source=x", ""},
		{"query_string_unescaped", `a=1\\&b=\\~\\&utm_source=x`, `c=3\\&b=q`},
		{"last_modified", "Sunday, 10-Mar-2024 12:34:56 UTC", ""},
		{"script_name", "/dir/p.html", ""},
		{"gateway_interface", "CGI/1.1", ""},
		{"path_info", `\(none\)`, ""},
		{"args", "a=1&b=%7e&utm_source=x", "c=3&b=q"},
		{"query_string", "a=1&b=%7e&utm_source=x", "c=3&b=q"},
		{"is_args", `\?`, `\?`},
		{"arg_a", "1", `\(none\)`},
		{"arg_b", "%7e", "q"},
		{"arg_utm_source", "x", `\(none\)`},
		{"arg_C", `\(none\)`, "3"},
		{"request_uri", `/dir//p/\?a=1&b=%7e&utm_source=x`, ""},
		{"request_method", "GET", ""},
		{"request", `GET /dir//p/\?a=1&b=%7e&utm_source=x HTTP/1.1`, ""},
		{"host", "www.example.com", ""},
		{"http_host", "WWW.Example.com:8080", ""},
		{"server_name", "www.example.com", ""},
		{"scheme", "http", ""},
		{"request_scheme", "http", ""},
		{"https", "", ""},
		{"server_protocol", "HTTP/1.1", ""},
		{"server_software", "ssiedge", ""},
		{"server_addr", "127.0.0.1", ""},
		{"server_port", "[0-9]+", ""},
		{"remote_addr", "127.0.0.1", ""},
		{"remote_port", "[0-9]+", ""},
		{"request_id", "abc", ""},
		{"msec", `[0-9]+\.[0-9]{3}`, ""},
		{"time_iso8601", `[0-9-]{10}T[0-9:]{8}\+00:00`, ""},
		{"time_local", `[0-9]{2}/[A-Z][a-z]{2}/[0-9]{4}:[0-9:]{8} \+0000`, ""},
		{"cookie_a", "one", ""},
		{"COOKIE_Q", `"x y"`, ""},
		{"cookie_last", "3", ""},
		{"cookie_blanks", "b c", ""},
		{"cookie_comma", "4", ""},
		{"cookie_lasting", `\(none\)`, ""},
		{"cookie_none", `\(none\)`, ""},
		{"content_type", `\(none\)`, ""},
		{"content_length", `\(none\)`, ""},
		{"arg_", `\(none\)`, ""},
		{"http_cookie", `a=one;q="x y"; =d; last=3;  Blanks = b c; x=1, comma=4`, ""},
		{"http_user_agent", "test/1", ""},
		{"HTTP_X_TWICE", "1, 2", ""},
		{"http_x_empty", "", ""},
		{"http_referer", "http://x/", ""},
		{"http_none", `\(none\)`, ""},
		{"http_x_under_score", `\(none\)`, ""},
		{"http_authorization", `\(none\)`, ""},
		{"http_proxy_authorization", `\(none\)`, ""},
		{"authorization", `\(none\)`, ""},
		{"remote_user", `\(none\)`, ""},
		{"no_such_variable", `\(none\)`, ""},
	}
	var page, fragment strings.Builder
	for _, test := range tests {
		directive := `<!--#echo var="` + test.name + `" encoding="none" -->` + "\n"
		page.WriteString(directive)
		fragment.WriteString(directive)
	}
	root := writeFiles(t, map[string]string{
		"dir/p.html": page.String() + `<!--#include virtual="f.html?c=3&b=q" -->`, "dir/f.html": fragment.String(),
	})
	redate(t, root, "dir/p.html")
	e := newEdge(t, withRoot(root))
	a := e.get("/dir//p/?a=1&b=%7e&utm_source=x", "Host: WWW.Example.com:8080",
		`Cookie: a=one;q="x y"; =d`, "Cookie: last=3;  Blanks = b c; x=1, comma=4", "User-Agent: test/1", "X-Twice: 1", "X-Twice: 2", "X-Empty:", "Referer: http://x/",
		"X-Request-Id: abc", "X_Under_Score: 1", "Authorization: Basic secret", "Proxy-Authorization: Basic secret")
	lines := strings.Split(a.body, "\n")
	if len(lines) != 2*len(tests)+1 {
		t.Fatalf("%d lines, want %d: %q", len(lines), 2*len(tests)+1, a.body)
	}
	for i, test := range tests {
		if test.fragment == "" {
			test.fragment = test.page
		}
		for where, pair := range map[string][2]string{"page": {lines[i], test.page}, "fragment": {lines[i+len(tests)], test.fragment}} {
			if !regexp.MustCompile(`\A(?:` + pair[1] + `)\z`).MatchString(pair[0]) {
				t.Errorf("%s in the %s is %q, want %s", test.name, where, pair[0], pair[1])
			}
		}
	}
	if strings.Contains(a.body, "secret") {
		t.Error("a page shows Authorization")
	}
}
