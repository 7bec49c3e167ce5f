package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// warmEdge is a server that plays the edge for the warmer, and its sitemaps'
// server.
type warmEdge struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

func newWarmEdge(t *testing.T) *warmEdge {
	t.Helper()
	e := &warmEdge{}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/sitemap.xml" {
			fmt.Fprintf(w, "<urlset><url><loc>http://www.example.com/kept?a=1&amp;b=2</loc></url>\n<url><loc>/bad</loc></url></urlset>")
			return
		}
		e.mu.Lock()
		e.asked = append(e.asked, strings.Join([]string{r.Host, r.RequestURI, r.UserAgent(), r.Header.Get("X-A"), r.Header.Get("Cookie")}, " "))
		e.mu.Unlock()
		switch {
		case strings.HasPrefix(r.URL.Path, "/kept"):
			w.Header().Set("Cache-Status", "ssiedge; fwd=uri-miss; stored")
		case r.URL.Path == "/cookie":
			w.Header().Set("Cache-Status", "ssiedge; fwd=uri-miss; detail=set-cookie")
		case r.URL.Path == "/missing":
			http.NotFound(w, r)
		case r.URL.Path == "/slow":
			<-r.Context().Done()
		}
	}))
	t.Cleanup(e.Close)
	return e
}

func (e *warmEdge) requests() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]string(nil), e.asked...)
}

// writeFile writes a file of the test and gives its path.
func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWarmRefusesWrongCalls(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, `ssiedge: warm: --edge "": a URL is wanted, like http://127.0.0.1:8080`},
		{[]string{"--edge", "localhost:80", "--urls", "-"}, `ssiedge: warm: --edge "localhost:80": a URL is wanted, like http://127.0.0.1:8080`},
		{[]string{"--edge", "http://a"}, "ssiedge: warm: which pages? Give --sitemap URL|FILE, or --urls FILE (- is standard input)"},
		{[]string{"--edge", "http://a", "--urls", "-", "--sitemap", "x"}, "ssiedge: warm: --sitemap and --urls exclude each other: one source is wanted"},
		{[]string{"--edge", "http://a", "--urls", dir + "/none"}, "ssiedge: warm: open " + dir + "/none: no such file or directory"},
		{[]string{"--edge", "http://a", "--sitemap", dir}, `ssiedge: warm: "` + dir + `" is a directory, a file is wanted`},
		{[]string{"--edge", "http://a", "--urls", "-", "--concurrency", "0"}, "ssiedge: warm: --concurrency 0: a number from 1 to 1000 is wanted"},
		{[]string{"--edge", "http://a", "--urls", "-", "--concurrency", "-1"}, "ssiedge: warm: --concurrency -1: a number from 1 to 1000 is wanted"},
		{[]string{"--edge", "http://a", "--urls", "-", "--rate", "-1"}, "ssiedge: warm: --rate -1: requests a second are wanted, from 0.001 to 1000000, or 0 for no bound"},
		{[]string{"--edge", "http://a", "--urls", "-", "--header", "x"}, `ssiedge: warm: --header "x": a field is wanted, like "Name: value"`},
		{[]string{"--edge", "http://a", "--urls", "-", "--header", "Host: x"}, `ssiedge: warm: --header "Host: x": the host has a setting of its own`},
		{[]string{"--edge", "http://a", "--urls", "-", "--cookie", "x"}, `ssiedge: warm: --cookie "x": one cookie is wanted, like "name=value"`},
		{[]string{"--edge", "http://a", "--urls", "-", "--host", "http://b"}, `ssiedge: warm: --host "http://b": a host name is wanted, with or without a port`},
		{[]string{"--edge", "http://a", "--crawl", "http://a"}, "ssiedge: warm: unknown flag: --crawl; see ssiedge warm --help"},
		{[]string{"--edge", "http://a", "more"}, `ssiedge: warm: unexpected argument "more"; see ssiedge warm --help`},
	} {
		var stdout, stderr bytes.Buffer
		code := run(append([]string{"warm"}, c.args...), &stdout, &stderr)
		if code != exitUsage || stdout.Len() > 0 || stderr.String() != c.want+"\n" {
			t.Errorf("%q: exit %d, stdout %q, stderr\n%swant\n%s", c.args, code, stdout.String(), stderr.String(), c.want)
		}
	}
}

// TestWarmFlagsAreDocumented compares the flags with docs/warm.md, both ways.
func TestWarmFlagsAreDocumented(t *testing.T) {
	docs, err := os.ReadFile("../../docs/warm.md")
	if err != nil {
		t.Fatal(err)
	}
	var code int
	flags := func(pattern, text string) (names []string) {
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
			names = append(names, m[1])
		}
		slices.Sort(names)
		return names
	}
	want := flags(`(?m)^ +--([a-z-]+)`, warmCommand(nil, nil, &code).Flags().FlagUsages())
	got := flags("(?m)^\\| `--([a-z-]+)", string(docs))
	if len(want) != 10 {
		t.Errorf("flags %q", want)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// warmTable is the table of numbers, without the line that tells the time.
func warmTable(text string) string {
	_, table, _ := strings.Cut(text, "\n\n")
	return table
}

func TestWarmList(t *testing.T) {
	edge := newWarmEdge(t)
	file := writeFile(t, "urls.txt", "/kept\n/cookie # its own cookie\n/cookie\nhttp://a.example/kept\nrelative\n/out/1\n/a.pdf?x\n/missing\n")
	var stdout, stderr bytes.Buffer
	code := run([]string{"warm", "--edge", edge.URL, "--urls", file, "--concurrency", "1", "--rate", "100000",
		"--header", "X-A: 1", "--cookie", "b=2", "--cookie", "c=3", "--exclude", "/out/*", "--exclude", "*.pdf"}, &stdout, &stderr)
	if code != exitFailed {
		t.Errorf("exit %d, want 1", code)
	}
	if want := file + ":5: relative: a URL or a path is wanted, like https://www.example.com/page or /page\n"; stderr.String() != want {
		t.Errorf("stderr %q, want %q", stderr.String(), want)
	}
	want := `kept           2
already there  0
not kept       1
  set-cookie   1
failed         2
  bad-entry    1
  status-404   1
excluded       2
named again    1

first failures:
  ` + file + `:5: relative: a URL or a path is wanted, like https://www.example.com/page or /page
  ` + file + `:8: /missing: status 404 Not Found
`
	if diff := cmp.Diff(want, warmTable(stdout.String())); diff != "" {
		t.Error(diff)
	}
	addr := strings.TrimPrefix(edge.URL, "http://")
	tail := " ssiedge-warm/" + version() + " 1 b=2; c=3"
	if diff := cmp.Diff([]string{addr + " /kept" + tail, addr + " /cookie" + tail, "a.example /kept" + tail, addr + " /missing" + tail}, edge.requests()); diff != "" {
		t.Error(diff)
	}
}

func TestWarmStandardInput(t *testing.T) {
	edge := newWarmEdge(t)
	var stdout, stderr bytes.Buffer
	code := -1
	root := rootCommand(&stdout, &stderr, &code)
	root.SetArgs([]string{"warm", "--edge", edge.URL, "--urls", "-", "--host", "www.example.com"})
	root.SetIn(strings.NewReader("/kept\n/cookie\n"))
	if err := root.Execute(); err != nil || code != exitDone || stderr.Len() > 0 {
		t.Errorf("%v, exit %d, stderr %q, want 0: a page not kept for a reason is no failure", err, code, stderr.String())
	}
	if got := edge.requests(); len(got) != 2 || !strings.HasPrefix(got[0], "www.example.com /") {
		t.Errorf("asked for %q", got)
	}
}

func TestWarmSitemapJSON(t *testing.T) {
	edge := newWarmEdge(t)
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	fmt.Fprintf(w, "<sitemapindex><sitemap><loc>%s/sitemap.xml</loc></sitemap></sitemapindex>", edge.URL)
	w.Close()
	file := writeFile(t, "index.xml.gz", b.String())
	for _, sitemap := range []string{file, edge.URL + "/sitemap.xml"} {
		var stdout, stderr bytes.Buffer
		code := run([]string{"warm", "--edge", edge.URL, "--sitemap", sitemap, "--json"}, &stdout, &stderr)
		bad := edge.URL + "/sitemap.xml:2: /bad: an absolute URL is wanted, like https://www.example.com/page\n"
		if code != exitFailed || stderr.String() != bad {
			t.Errorf("%s: exit %d, stderr %q, want 1, %q", sitemap, code, stderr.String(), bad)
		}
		var got map[string]any
		if err := json.Unmarshal(stdout.Bytes(), &got); err != nil {
			t.Fatalf("%s: %v: %s", sitemap, err, stdout.String())
		}
		if got["urls"] != 2.0 || got["kept"] != 1.0 || got["failed"] != 1.0 || got["edge"] != edge.URL {
			t.Errorf("%s: %s", sitemap, stdout.String())
		}
	}
	if got := edge.requests(); len(got) != 2 || !strings.HasPrefix(got[0], "www.example.com /kept?a=1&b=2 ") {
		t.Errorf("asked for %q, want one page in each run", got)
	}
}

// TestWarmRealEdge warms published pages of a real ssiedge.
func TestWarmRealEdge(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"index.html", "about.html", "style.css"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	edge := realtest.Edge(t, realtest.EdgeOptions{Config: "[[site]]\nhosts = ['www.example.com']\nroot = '" + root + "'\ntrailing_slash = 'redirect'\n"})
	file := writeFile(t, "urls", "/\n/about\n/about/\n/style.css?v=1\nhttps://www.example.com/about?utm_source=x\n/none\n")
	var stdout, stderr bytes.Buffer
	code := run([]string{"warm", "--edge", edge.URL, "--urls", file, "--host", "www.example.com", "--concurrency", "1"}, &stdout, &stderr)
	want := `kept           0
already there  4
not kept       1
  redirect     1
failed         1
  status-404   1

first failures:
  ` + file + `:6: /none: status 404 Not Found
`
	if diff := cmp.Diff(want, warmTable(stdout.String())); diff != "" || code != exitFailed || stderr.Len() > 0 {
		t.Errorf("exit %d, stderr %q\n%s", code, stderr.String(), diff)
	}
}

// TestWarmInterrupted: Ctrl-C ends the real program in order, though it waits
// for the edge and for its standard input.
func TestWarmInterrupted(t *testing.T) {
	edge := newWarmEdge(t)
	cmd := exec.Command(realtest.EdgeBinary(t), "warm", "--edge", edge.URL, "--urls", "-", "--json", "--concurrency", "1")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	p := realtest.Start(t, cmd)
	fmt.Fprint(stdin, "/kept\n/slow\n/kept2\n")
	realtest.Eventually(t, "the warmer waits for the slow page", func() bool { return len(edge.requests()) == 2 })
	p.Signal(syscall.SIGINT)
	if code := p.Exit(t); code != exitFailed {
		t.Errorf("exit %d, want 1", code)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(p.Stdout.String()), &got); err != nil {
		t.Fatalf("%v: %s", err, p.Stdout.String())
	}
	if got["interrupted"] != true || got["urls"] != 1.0 || got["kept"] != 1.0 || got["failed"] != 0.0 {
		t.Errorf("%s, want one page kept, and interrupted", p.Stdout.String())
	}
}
