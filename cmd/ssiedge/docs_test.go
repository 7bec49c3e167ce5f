package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ssiedge/ssiedge/conf"
	"github.com/ssiedge/ssiedge/internal/realtest"
)

// document reads a file of the repository.
func document(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(realtest.Root(t), filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// blocks are the code blocks of a document in a language, in order.
func blocks(t *testing.T, name, language string) []string {
	t.Helper()
	var found []string
	for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(document(t, name), -1) {
		found = append(found, m[1])
	}
	if len(found) == 0 {
		t.Fatalf("%s has no block of %s", name, language)
	}
	return found
}

// TestConfigurationsInDocs: whoever copies one gets neither mistake nor warning.
func TestConfigurationsInDocs(t *testing.T) {
	dir := t.TempDir()
	for _, folder := range []string{"public", "srv/app/current/public", "srv/app/shared/public"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"README.md", "docs/operations.md", "docs/ssi.md", "docs/from-nginx.md", "docs/from-apache.md"} {
		for _, block := range blocks(t, name, "toml") {
			src := strings.ReplaceAll(block, `"/srv/`, `"`+dir+`/srv/`)
			cfg, err := conf.Parse(filepath.Join(dir, "ssiedge.toml"), []byte(src), os.LookupEnv)
			if err != nil {
				t.Errorf("%s: %v\n%s", name, err, block)
				continue
			}
			for _, w := range cfg.Warnings {
				t.Errorf("%s: warning: %v\n%s", name, w, block)
			}
		}
	}
}

// TestMetricsInDocs: every metric is in docs/operations.md, and no other.
func TestMetricsInDocs(t *testing.T) {
	names := func(pattern, text string) []string {
		var found []string
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
			found = append(found, strings.TrimPrefix(m[1], "ssiedge_"))
		}
		slices.Sort(found)
		return slices.Compact(found)
	}
	defined := names(`(?:desc\(|Name: +)"(\w+)"`, document(t, "internal/edge/metrics.go"))
	described := names("`(ssiedge_\\w+)[`{]", document(t, "docs/operations.md"))
	if len(defined) == 0 || !slices.Equal(defined, described) {
		t.Errorf("metrics.go defines\n%s\ndocs/operations.md describes\n%s", defined, described)
	}
}

// TestGoAppOfReadme builds the app that the README shows, runs it behind the edge
// with the configuration that stands beside it, and asks for what it promises.
func TestGoAppOfReadme(t *testing.T) {
	app, edge, admin := realtest.FreeAddr(t), realtest.FreeAddr(t), realtest.FreeAddr(t)
	startReadmeApp(t, app)
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "public"), 0o777); err != nil {
		t.Fatal(err)
	}
	src := replaced(t, blocks(t, "README.md", "toml")[1], "127.0.0.1:3000", app)
	src = replaced(t, src, ":8080", edge) + "\n[admin]\nlisten = \"" + admin + "\"\n"
	cfg, err := conf.Parse(filepath.Join(dir, "ssiedge.toml"), []byte(src), os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	serveFor(t, cfg)

	promise := regexp.MustCompile(`curl -b name=(\w+) http://127\.0\.0\.1:8080/ +# (.*)`).FindStringSubmatch(document(t, "README.md"))
	if promise == nil {
		t.Fatal("the README shows no curl line for the app")
	}
	if got := getWith(t, "http://"+edge+"/", "name="+promise[1]); got != promise[2] {
		t.Errorf("got %q, the README promises %q", got, promise[2])
	}
	if err := os.WriteFile(filepath.Join(dir, "public", "news.html"), []byte("from a file"), 0o666); err != nil {
		t.Fatal(err)
	}
	if got := getWith(t, "http://"+edge+"/news", ""); got != "from a file" {
		t.Errorf("/news is %q, want the file that was written", got)
	}
}

// startReadmeApp runs the program of the README on another address.
func startReadmeApp(t *testing.T, addr string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":  "module news\n\ngo 1.26\n",
		"main.go": replaced(t, blocks(t, "README.md", "go")[0], "127.0.0.1:3000", addr),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-o", "news", ".")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("the program of the README does not build: %v\n%s", err, out)
	}
	realtest.Start(t, exec.Command(filepath.Join(dir, "news")))
	realtest.Eventually(t, "the app of the README listens", func() bool {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
}

func replaced(t *testing.T, text, old, with string) string {
	t.Helper()
	if strings.Count(text, old) != 1 {
		t.Fatalf("want %q once in\n%s", old, text)
	}
	return strings.Replace(text, old, with, 1)
}

// serveFor serves by cfg until the end of the test.
func serveFor(t *testing.T, cfg *conf.Config) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan struct{}), make(chan int, 1)
	stderr := newSaid()
	go func() {
		ended <- serve(ctx, cfg, serveOptions{
			stdout: io.Discard, stderr: stderr, ready: func([]net.Addr) { close(ready) },
		})
	}()
	t.Cleanup(func() {
		cancel()
		if code := <-ended; code != exitDone {
			t.Errorf("serve ended with %d, want %d:\n%s", code, exitDone, stderr)
		}
	})
	select {
	case <-ready:
	case code := <-ended:
		ended <- code
		t.Fatalf("serve did not start:\n%s", stderr)
	}
}

func getWith(t *testing.T, url, cookie string) string {
	t.Helper()
	req, err := http.NewRequest("GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if cookie != "" {
		req.Header.Set("Cookie", cookie)
	}
	res, err := visitor(t).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	return body(t, res, http.StatusOK)
}
