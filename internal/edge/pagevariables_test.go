package edge

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ssiedge/ssiedge/internal/realtest"
	"github.com/ssiedge/ssiedge/ssi"
)

var changed = time.Date(2024, 3, 10, 12, 34, 56, 0, time.UTC)

// redate gives a file of the root a time.
func redate(t *testing.T, root, name string) {
	t.Helper()
	if err := os.Chtimes(filepath.Join(root, name), changed, changed); err != nil {
		t.Fatal(err)
	}
}

// TestApacheVariables: V1 in the apache dialect. The variables of the document
// are the page's; QUERY_STRING is that of the nearest include that has one, and
// the page's again after it.
func TestApacheVariables(t *testing.T) {
	names := []string{"DOCUMENT_URI", "DOCUMENT_NAME", "DOCUMENT_ARGS", "QUERY_STRING", "QUERY_STRING_UNESCAPED", "LAST_MODIFIED", "SCRIPT_NAME"}
	var echo strings.Builder
	for _, name := range names {
		echo.WriteString(`<!--#echo encoding="none" var="` + name + `" -->|`)
	}
	inner := `[` + echo.String() + `]`
	root := writeFiles(t, map[string]string{
		"p.html":       echo.String() + `<!--#include virtual="/d/f.html?z=%27" --><!--#include virtual="/d/g.html" -->` + echo.String(),
		"d/f.html":     inner + `<!--#include virtual="/d/g.html" -->`,
		"d/g.html":     inner,
		"unasked.html": echo.String(),
	})
	e := newEdge(t, withSite(func(s *Site) { s.SSI.Dialect, s.SSI.Timezone = ssi.DialectApache, time.UTC }), withRoot(root))
	redate(t, root, "p.html")
	redate(t, root, "unasked.html")
	page := func(query, unescaped string) string {
		return `/p.html|p.html|a=1&b=%7e|` + query + `|` + unescaped + `|Sunday, 10-Mar-2024 12:34:56 UTC|/p.html|`
	}
	own, asked := page("a=1&b=%7e", `a=1\&b=\~`), page("z=%27", `z=\'`)
	e.get("/p?a=1&b=%7e").is(t, 200, own+"["+asked+"]["+asked+"]["+own+"]"+own)
	e.get("/unasked").is(t, 200, `/unasked.html|unasked.html|||(none)|Sunday, 10-Mar-2024 12:34:56 UTC|/unasked.html|`)
}

// TestOwner: USER_NAME is the owner of the page's file, in what it includes too.
func TestOwner(t *testing.T) {
	me, err := user.LookupId(strconv.Itoa(os.Getuid()))
	if err != nil {
		realtest.Absent(t, "the user has no name here: "+err.Error())
	}
	app := newRecorder(t, func(string, string) string { return htmlAnswer(`<!--#echo var="USER_NAME" -->`) })
	e := newEdge(t, withOrigin(app.url), withSite(patient), withFiles(t, map[string]string{
		"p.html": `<!--#echo var="USER_NAME" encoding="none" --> <!--#include virtual="/f.html" -->`, "f.html": `<!--#echo var="user_name" encoding="none" -->`,
	}))
	e.get("/p").is(t, 200, me.Username+" "+me.Username)
	e.get("/from-the-app").is(t, 200, "(none)")
}

// TestLastModifiedOfTheApp: it is the field of the app's answer, whether the
// page is kept or not.
func TestLastModifiedOfTheApp(t *testing.T) {
	app := newRecorder(t, func(head, _ string) string {
		field := "Last-Modified: Sun, 10 Mar 2024 12:34:56 GMT"
		if strings.HasPrefix(head, "GET /kept") {
			field += "\r\nCache-Control: max-age=60"
		}
		if strings.HasPrefix(head, "GET /none") {
			field = "X-None: 1"
		}
		return htmlAnswer(`<!--#config timefmt="%s" --><!--#echo var="LAST_MODIFIED" -->`, field)
	})
	e := newEdge(t, withOrigin(app.url), withSite(patient), keepingPages())
	for range 2 {
		e.get("/kept").is(t, 200, "1710074096")
		e.get("/not").is(t, 200, "1710074096")
	}
	e.get("/none").is(t, 200, "(none)")
}

// TestRemoteUser is the name that the visitor gives, as in nginx; the password
// is not shown.
func TestRemoteUser(t *testing.T) {
	e := newEdge(t, withFiles(t, map[string]string{"p.html": `<!--#echo var="REMOTE_USER" -->`}))
	for credentials, want := range map[string]string{
		"Basic YW5hOnNlY3JldA==": "ana", "basic YW5hOg==": "ana", "Basic YW5h": "(none)", "Basic !": "(none)", "Bearer YW5hOnNlY3JldA==": "(none)", "Basic OnNlY3JldA==": "(none)",
	} {
		a := e.get("/p", "Authorization: "+credentials)
		a.is(t, 200, want)
		if want == "ana" && !strings.Contains(a.head, "private") {
			t.Errorf("a page with the visitor's name is not private: %s", a.head)
		}
	}
}

// TestPrintenv: C6. Neither Authorization nor cookies are shown, and the answer
// is the visitor's alone.
func TestPrintenv(t *testing.T) {
	files := withFiles(t, map[string]string{"p.html": `<!--#set var="mine" value="<1>" --><!--#printenv -->`})
	newEdge(t, files).get("/p").is(t, 200, "[error]")
	e := newEdge(t, files, withSite(func(s *Site) { s.SSI.Printenv = true }))
	a := e.get("/p?a=1", "Cookie: a=secret", "Authorization: Basic c2VjcmV0OnNlY3JldA==", "X-Odd-Name: <x>")
	for _, line := range []string{"HTTP_X_ODD_NAME=&lt;x&gt;\n", "MINE=&lt;1&gt;\n", "QUERY_STRING=a=1\n", "DOCUMENT_URI=/p.html\n", "REQUEST_METHOD=GET\n", "DATE_GMT="} {
		if !strings.Contains(a.body, line) {
			t.Errorf("%q is not in %q", line, a.body)
		}
	}
	if strings.Contains(a.body, "COOKIE") || strings.Contains(a.body, "AUTHORIZATION") || strings.Contains(a.body, "c2Vj") || strings.Contains(a.body, "HTTPS") {
		t.Errorf("too much is shown: %q", a.body)
	}
	if !strings.Contains(a.head, "private") {
		t.Errorf("the answer is not private: %s", a.head)
	}
}
