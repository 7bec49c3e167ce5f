package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/ssiedge/ssiedge/internal/admin"
	"github.com/ssiedge/ssiedge/internal/realtest"
)

// purged is an admin.Purger that notes what it is asked.
type purged struct {
	mu      sync.Mutex
	calls   []admin.PurgeRequest
	receipt admin.PurgeReceipt
	err     error
}

func (p *purged) Purge(_ context.Context, r admin.PurgeRequest) (admin.PurgeReceipt, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = append(p.calls, r)
	return p.receipt, p.err
}

// serveHandler runs a handler on a free port and gives its URL.
func serveHandler(t *testing.T, h http.Handler) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: h}
	done := make(chan struct{})
	go func() { defer close(done); s.Serve(l) }()
	t.Cleanup(func() { s.Close(); <-done })
	return "http://" + l.Addr().String()
}

// command runs a command line.
func command(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = run(args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestPurgeCommand(t *testing.T) {
	for _, tt := range []struct {
		args    []string
		want    admin.PurgeRequest
		receipt admin.PurgeReceipt
		says    string
	}{
		{
			[]string{"/towns", "http://www.example.com/a?b=c", "HTTPS://www.example.com/"},
			admin.PurgeRequest{URLs: []string{"/towns", "http://www.example.com/a?b=c", "HTTPS://www.example.com/"}},
			admin.PurgeReceipt{ID: "5af0-42", Seq: 42, Matched: map[string]int{"memory": 3, "disk": 5}},
			"purged: seq 42, id 5af0-42, matched 5 in disk, 3 in memory\n",
		},
		{
			[]string{"--all"}, admin.PurgeRequest{All: true},
			admin.PurgeReceipt{ID: "5af0-43", Seq: 43}, "purged: seq 43, id 5af0-43, matched not counted\n",
		},
		{
			[]string{"--all", "--site", "www.example.com", "--soft"},
			admin.PurgeRequest{All: true, Site: "www.example.com", Soft: true},
			admin.PurgeReceipt{ID: "5af0-44", Seq: 44}, "purged: seq 44, id 5af0-44, matched not counted\n",
		},
		{
			[]string{"--dry-run", "/a"}, admin.PurgeRequest{URLs: []string{"/a"}, DryRun: true},
			admin.PurgeReceipt{Seq: 44, Matched: map[string]int{"memory": 1}, DryRun: true}, "dry run, nothing purged, matched 1 in memory\n",
		},
		{
			[]string{"/a"}, admin.PurgeRequest{URLs: []string{"/a"}},
			admin.PurgeReceipt{ID: "5af0-45", Seq: 45, Matched: map[string]int{}}, "purged: seq 45, id 5af0-45, matched none\n",
		},
	} {
		p := &purged{receipt: tt.receipt}
		url := serveHandler(t, admin.New(admin.Options{Purge: p}))
		code, stdout, stderr := command(append([]string{"purge", "--admin", url}, tt.args...)...)
		if code != exitDone || stdout != tt.says || stderr != "" {
			t.Errorf("%q: exit %d, %q, %q; want 0, %q", tt.args, code, stdout, stderr, tt.says)
		}
		if len(p.calls) != 1 || !reflect.DeepEqual(p.calls[0], tt.want) {
			t.Errorf("%q: asked %+v, want %+v", tt.args, p.calls, tt.want)
		}
	}
}

// What was left is told apart from the receipt.
func TestPurgeCommandTellsWhatIsLeft(t *testing.T) {
	p := &purged{receipt: admin.PurgeReceipt{ID: "5af0-1", Seq: 1, Left: []string{"/a: the file a.html under root"}}}
	url := serveHandler(t, admin.New(admin.Options{Purge: p}))
	code, stdout, stderr := command("purge", "--admin", url, "/a")
	if code != exitDone || strings.Count(stdout, "\n") != 1 || stderr != "left: /a: the file a.html under root\n" {
		t.Errorf("exit %d, %q, %q", code, stdout, stderr)
	}
}

// Calls that are wrong by themselves reach nobody.
func TestPurgeCommandWrongCalls(t *testing.T) {
	p := new(purged)
	url := serveHandler(t, admin.New(admin.Options{Purge: p}))
	for _, tt := range []struct {
		args []string
		says string
	}{
		{nil, "nothing to purge: name URLs, or say --all"},
		{[]string{"--site", "a"}, "nothing to purge"},
		{[]string{"towns"}, `URL "towns": want http://host/path, or a path that begins with a slash`},
		{[]string{"www.example.com/towns"}, `URL "www.example.com/towns": want http://host/path`},
		{[]string{""}, `URL "": want http://host/path`},
		{[]string{"/a", "http://www.example.com"}, `URL "http://www.example.com": no slash after the host: http://HOST/ is its front page, --all --site HOST all of it`},
		{[]string{"http://www.example.com?a=/b"}, "no slash after the host"},
		{[]string{"http:///a"}, `URL "http:///a": no host`},
		{[]string{"ftp://www.example.com/a"}, `URL "ftp://www.example.com/a": scheme "ftp", want http or https`},
		{[]string{"--tag", "a"}, "unknown flag: --tag"},
		{[]string{"--admin", "127.0.0.1:8081", "/a"}, `--admin "127.0.0.1:8081": want a URL like http://127.0.0.1:8081`},
		{[]string{"--admin", "unix:/run/a", "/a"}, "want a URL like"},
		{[]string{"--admin", "http://127.0.0.1:8081/?a", "/a"}, "want a URL like"},
	} {
		code, stdout, stderr := command(append([]string{"purge", "--admin", url}, tt.args...)...)
		if code != exitUsage || stdout != "" || !strings.HasPrefix(stderr, "ssiedge: ") || !strings.Contains(stderr, tt.says) {
			t.Errorf("%q: exit %d, %q, %q; want 2 and %q", tt.args, code, stdout, stderr, tt.says)
		}
	}
	if len(p.calls) > 0 {
		t.Errorf("asked %+v", p.calls)
	}
}

func TestPurgeCommandToken(t *testing.T) {
	p := &purged{receipt: admin.PurgeReceipt{ID: "5af0-1", Seq: 1}}
	url := serveHandler(t, admin.New(admin.Options{Token: "s3cret", Purge: p}))
	for _, tt := range []struct {
		env  string
		args []string
		code int
		says string // on stderr
	}{
		{"", []string{"--token", "s3cret"}, exitDone, ""},
		{"s3cret", nil, exitDone, ""},
		{"wrong", []string{"--token", "s3cret"}, exitDone, ""},
		{"s3cret", []string{"--token", "wrong"}, exitUsage, "ssiedge: purge: wrong token: give the admin.token of the edge's configuration as --token or in SSIEDGE_ADMIN_TOKEN\n"},
		{"", nil, exitUsage, "ssiedge: purge: no token: give the admin.token of the edge's configuration as --token or in SSIEDGE_ADMIN_TOKEN\n"},
	} {
		p.calls = nil
		t.Setenv(tokenVar, tt.env)
		code, stdout, stderr := command(append([]string{"purge", "--admin", url, "--all"}, tt.args...)...)
		if code != tt.code || stderr != tt.says || (stdout == "") == (tt.code == exitDone) {
			t.Errorf("%q %q: exit %d, %q, %q; want %d, %q", tt.env, tt.args, code, stdout, stderr, tt.code, tt.says)
		}
		if (len(p.calls) == 1) != (tt.code == exitDone) {
			t.Errorf("%q %q: asked %+v", tt.env, tt.args, p.calls)
		}
	}
}

// A refused purge says what the server says.
func TestPurgeCommandRefused(t *testing.T) {
	for _, tt := range []struct {
		purger admin.Purger
		code   int
		says   string
	}{
		{&purged{err: &admin.BadPurge{Reason: `url "/%": malformed escape`, Cure: "write %25"}}, exitUsage, `url "/%": malformed escape; write %25`},
		{&purged{err: &admin.UnrecordedPurge{Err: errors.New("disk full")}}, exitFailed, "the purge cannot be recorded: disk full; nothing was purged; see to"},
		{&purged{err: errors.New("broken")}, exitFailed, "not purged: broken"},
		{nil, exitUsage, "nothing to purge: no pages are kept here"},
	} {
		url := serveHandler(t, admin.New(admin.Options{Purge: tt.purger}))
		code, stdout, stderr := command("purge", "--admin", url+"/", "/%")
		if code != tt.code || stdout != "" || !strings.HasPrefix(stderr, "ssiedge: purge: "+tt.says) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("exit %d, %q, %q; want %d, %q", code, stdout, stderr, tt.code, tt.says)
		}
	}
}

// Servers that are no admin endpoint.
func TestPurgeCommandOfSomethingElse(t *testing.T) {
	reply := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(status)
			io.WriteString(w, body)
		}
	}
	for _, tt := range []struct {
		handler http.Handler
		code    int
		says    string
	}{
		{reply(200, "<html>"), exitFailed, "/purge: the answer is no receipt: "},
		{reply(200, ""), exitFailed, "/purge: the answer is no receipt: "},
		{reply(404, "not found"), exitUsage, "/purge: status 404, and no reason that ssiedge would give: is that its admin endpoint?"},
		{reply(307, ""), exitUsage, "/purge: status 307, and no reason"},
		{reply(502, "bad gateway"), exitFailed, "/purge: status 502, and no reason"},
		{reply(400, `{"error":"bad"}`), exitUsage, "ssiedge: purge: bad\n"},
		{http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }), exitFailed, "/purge: EOF\n"},
	} {
		code, stdout, stderr := command("purge", "--admin", serveHandler(t, tt.handler), "--all")
		if code != tt.code || stdout != "" || !strings.Contains(stderr, tt.says) {
			t.Errorf("exit %d, %q, %q; want %d, %q", code, stdout, stderr, tt.code, tt.says)
		}
	}
}

func TestPurgeCommandNobodyThere(t *testing.T) {
	addr := realtest.FreeAddr(t)
	code, stdout, stderr := command("purge", "--admin", "http://"+addr, "--all")
	want := "ssiedge: purge: http://" + addr + "/purge: connection refused: is ssiedge running there? --admin names another address\n"
	if code != exitFailed || stdout != "" || stderr != want {
		t.Errorf("exit %d, %q, %q; want 1, %q", code, stdout, stderr, want)
	}
}

// An interrupt ends the wait for a server that says nothing.
func TestPurgeInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	url := serveHandler(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // so that the server notices who leaves
		interrupt()
		<-r.Context().Done()
	}))
	var stdout, stderr bytes.Buffer
	code, err := purge(ctx, adminCall{admin: url, doubt: "it may have been purged all the same"}, purgeCall{All: true}, &stdout, &stderr)
	if want := "ssiedge: purge: " + url + "/purge: interrupted: it may have been purged all the same\n"; code != exitFailed || err != nil || stderr.String() != want {
		t.Errorf("exit %d, %v, %q; want 1, %q", code, err, stderr.String(), want)
	}
}
