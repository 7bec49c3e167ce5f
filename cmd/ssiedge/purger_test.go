package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ssiedge/ssiedge/conf"
	"github.com/ssiedge/ssiedge/internal/admin"
	"github.com/ssiedge/ssiedge/internal/edge"
	"github.com/ssiedge/ssiedge/internal/realtest"
)

// TestPurgeRealEdge purges a running edge by the command and by PURGE.
func TestPurgeRealEdge(t *testing.T) {
	var asked atomic.Int64
	app := serveHandler(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=600")
		fmt.Fprint(w, asked.Add(1))
	}))
	public, adminAddr := realtest.FreeAddr(t), realtest.FreeAddr(t)
	dir := t.TempDir()
	src := fmt.Sprintf("listen = [%q]\nstate = %q\n[admin]\nlisten = %q\n[[site]]\nhosts = [\"127.0.0.1\"]\norigin = {servers = [%q]}\n",
		public, filepath.Join(dir, "state"), adminAddr, app)
	cfg, err := conf.Parse(filepath.Join(dir, "ssiedge.toml"), []byte(src), func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	serveFor(t, cfg)
	page := func() string { return getWith(t, "http://"+public+"/towns", "") }
	purge := func(args ...string) (int, string, string) {
		return command(append([]string{"purge", "--admin", "http://" + adminAddr}, args...)...)
	}
	steps := []struct {
		args []string
		code int
		says string // on stdout or stderr
		page string // after it
	}{
		{[]string{"/other"}, exitDone, "seq 1,", "1"},
		{[]string{"--dry-run", "/towns/"}, exitDone, "matched 1 in memory", "1"},
		{[]string{"http://" + public + "/towns/"}, exitDone, "matched 1 in memory", "2"},
		{[]string{"http://elsewhere.example/towns"}, exitUsage, "no site here has this host name", "2"},
		{[]string{"--all", "--site", "127.0.0.1"}, exitDone, "seq 3,", "3"},
		{[]string{"--all", "--site", "elsewhere.example"}, exitUsage, "no site here has this host name", "3"},
	}
	for _, step := range steps {
		page()
		code, stdout, stderr := purge(step.args...)
		if code != step.code || !strings.Contains(stdout+stderr, step.says) {
			t.Errorf("%q: %d %q %q, want %d and %q", step.args, code, stdout, stderr, step.code, step.says)
		}
		if got := page(); got != step.page {
			t.Errorf("after %q the page is %q, want %q", step.args, got, step.page)
		}
	}
	req, err := http.NewRequest("PURGE", "http://"+adminAddr+"/towns", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = public
	res, err := visitor(t).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if got := body(t, res, http.StatusOK); !strings.Contains(got, `"seq":4,"matched":{"memory":1}`) {
		t.Errorf("PURGE: %s", got)
	}
	if got := page(); got != "4" {
		t.Errorf("after PURGE the page is %q, want 4", got)
	}
	metrics := getWith(t, "http://"+adminAddr+"/metrics", "")
	for _, line := range []string{`ssiedge_purges_total{result="done"} 4`, "ssiedge_purge_seq 4", "ssiedge_fills_total 4"} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("no %q in the metrics", line)
		}
	}
}

func TestPurgerErrors(t *testing.T) {
	e, err := edge.New(edge.Options{Sites: []edge.Site{{}}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = purger{e}.Purge(context.Background(), admin.PurgeRequest{URLs: []string{"x"}})
	if _, ok := errors.AsType[*admin.BadPurge](err); !ok {
		t.Errorf("a URL that is none: %v, want a BadPurge", err)
	}
	e.Close() // and with it the journal
	_, err = purger{e}.Purge(context.Background(), admin.PurgeRequest{URLs: []string{"/x"}})
	if _, ok := errors.AsType[*admin.UnrecordedPurge](err); !ok {
		t.Errorf("a journal that takes nothing: %v, want an UnrecordedPurge", err)
	}
}
