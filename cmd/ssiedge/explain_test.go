package main

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ssiedge/ssiedge/conf"
	"github.com/ssiedge/ssiedge/internal/admin"
	"github.com/ssiedge/ssiedge/internal/edge"
	"github.com/ssiedge/ssiedge/internal/realtest"
)

// explainedEdge is the admin endpoint of an edge that does not serve.
func explainedEdge(t *testing.T, token string) (url string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "public"), 0o777); err != nil {
		t.Fatal(err)
	}
	cfg, err := conf.Parse(filepath.Join(dir, "ssiedge.toml"), []byte(`
[[site]]
hosts = ["www.example.com"]
root = "public"
[site.origin]
servers = ["http://127.0.0.1:1"]
[[site.rule]]
path = ["/towns*"]
cache = "1h"
cookies = ["lang"]
[[site.rule]]
path = ["/towns/old"]
cache = "2h"
`), os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	options := cfg.Edge
	options.Log = slog.New(slog.DiscardHandler)
	e, err := edge.New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return serveHandler(t, admin.New(admin.Options{Token: token, Explain: explainer{e}}))
}

func TestExplainCommand(t *testing.T) {
	url := explainedEdge(t, "")
	code, stdout, stderr := command("explain", "--admin", url, "-H", "Cookie: lang=pt; _session=x", "--header", "Authorization: Basic x", "http://www.example.com/towns/old/")
	if code != exitDone || stderr != "" {
		t.Fatalf("exit %d, %q", code, stderr)
	}
	text := strings.Join(strings.Fields(stdout), " ")
	for _, want := range []string{
		"url http://www.example.com/towns/old site ",
		"ssiedge.toml:2 (www.example.com)",
		`ssiedge.toml:7 path /towns* cache = "1h" (overruled at `,
		`ssiedge.toml:11 path /towns/old cache = "2h" answer origin: no tier has a fresh page`,
		`key http://www.example.com/towns/old; cookie lang "pt" tier file miss: `,
		"tier memory miss origin ",
		"GET /towns/old Host: www.example.com",
		"Cookie: lang=pt X-", // and nothing else of the visitor
		"cookie lang is keyed cookie _session is withheld auth Authorization is withheld reply 200: kept for 7200 s",
		"with Set-Cookie: not kept, set-cookie",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	code, stdout, _ = command("explain", "--admin", url, "--json", "-H", "Host: www.example.com", "/towns")
	var x edge.Explanation
	if err := json.Unmarshal([]byte(stdout), &x); code != exitDone || err != nil || x.URL != "http://www.example.com/towns" || x.Answer.By != "origin" {
		t.Errorf("exit %d, %v, %s", code, err, stdout)
	}
}

func TestExplainCommandVs(t *testing.T) {
	url := explainedEdge(t, "")
	code, stdout, stderr := command("explain", "--admin", url, "-H", "Cookie: lang=pt; s=1", "--vs", "/towns/new/?utm_source=x&page=2",
		"--vs-header", "Host: www.example.com", "--vs-header", "Cookie: lang=en", "http://www.example.com/towns/new?page=1")
	if code != exitDone || stderr != "" {
		t.Fatalf("exit %d, %q", code, stderr)
	}
	text := strings.Join(strings.Fields(stdout), " ")
	for _, want := range []string{
		"share no: they differ in query page, cookie lang ",
		`apart query page: "page=1", "page=2" the query is in the key as it stands`,
		`cure: if it does not change the page: query = {drop = ["page"]}`,
		`apart cookie lang: "pt", "en" it is in the key: cookies at `,
		`alike path: "/towns/new", "/towns/new/" both are "/towns/new" in canonical form`,
		`alike query utm_source: absent, "utm_source=x" the query filter drops it`,
		`alike cookie s: "1", absent fills go without it`,
		"first http://www.example.com/towns/new?page=1 site ",
		`second http://www.example.com/towns/new?page=2 site `,
		`key http://www.example.com/towns/new?page=2; cookie lang "en" answer origin: `,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	code, stdout, _ = command("explain", "--admin", url, "--json", "--vs-header", "Cookie: s=1", "http://www.example.com/towns")
	var x edge.Comparison
	if err := json.Unmarshal([]byte(stdout), &x); code != exitDone || err != nil || !x.Share || len(x.Differences) != 1 || x.Second.URL != x.First.URL {
		t.Errorf("exit %d, %v, %s", code, err, stdout)
	}
	code, stdout, _ = command("explain", "--admin", url, "--vs", "http://www.example.com/towns/", "http://www.example.com/towns")
	if code != exitDone || !strings.HasPrefix(stdout, "share   yes: they have one key") {
		t.Errorf("exit %d, %s", code, stdout)
	}
}

func TestExplainCommandRefused(t *testing.T) {
	url, guarded := explainedEdge(t, ""), explainedEdge(t, "s3cret")
	other := serveHandler(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "{}") }))
	nobody := "http://" + realtest.FreeAddr(t)
	for _, tt := range []struct {
		args []string
		code int
		says string
	}{
		{nil, exitUsage, "explain: 0 arguments: one URL is wanted"},
		{[]string{"/a", "/b"}, exitUsage, "explain: 2 arguments: one URL is wanted"},
		{[]string{"--admin", "127.0.0.1:8081", "/a"}, exitUsage, `--admin "127.0.0.1:8081": want a URL like`},
		{[]string{"--admin", url, "/a"}, exitUsage, `explain: url "/a": want one host, got 0; give the host once`},
		{[]string{"--admin", url, "http://other.example/"}, exitUsage, "visitors get 421"},
		{[]string{"--admin", url, "-H", "x", "http://www.example.com/"}, exitUsage, `header "x": no field`},
		{[]string{"--admin", guarded, "http://www.example.com/"}, exitUsage, "no token: give the admin.token"},
		{[]string{"--admin", guarded, "--token", "s3cret", "http://www.example.com/"}, exitDone, ""},
		{[]string{"--admin", url, "--vs", "http://other.example/", "http://www.example.com/"}, exitUsage, "the second request: no site here"},
		{[]string{"--admin", other, "--vs", "/b", "/a"}, exitFailed, "the answer is no explanation"},
		{[]string{"--admin", other, "/a"}, exitFailed, "the answer is no explanation"},
		{[]string{"--admin", nobody, "/a"}, exitFailed, "/explain: connection refused: is ssiedge running there?"},
	} {
		code, stdout, stderr := command(append([]string{"explain"}, tt.args...)...)
		if code != tt.code || !strings.Contains(stderr, tt.says) || (stdout == "") == (tt.code == exitDone) {
			t.Errorf("%q: exit %d, %q, %q; want %d, %q", tt.args, code, stdout, stderr, tt.code, tt.says)
		}
	}
}
