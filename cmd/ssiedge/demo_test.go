package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ssiedge/ssiedge/internal/demo"
	"github.com/ssiedge/ssiedge/internal/realtest"
)

// said is what a program wrote, and a sign that it wrote something more.
type said struct {
	mu   sync.Mutex
	text strings.Builder
	more chan struct{} // holds one value
}

func newSaid() *said { return &said{more: make(chan struct{}, 1)} }

func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.more <- struct{}{}:
	default:
	}
	return s.text.Write(b)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// running is a demo in this process.
type running struct {
	dir, base, admin string
	announced        string
	stop             func() int // ends it, once or more often; gives the exit code
}

// startDemo runs the demo until the end of the test, which it must leave with 0.
func startDemo(t *testing.T) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	stdout, stderr := newSaid(), newSaid()
	ended := make(chan int, 1)
	go func() { ended <- runDemo(ctx, stdout, stderr) }()
	r := &running{stop: sync.OnceValue(func() int {
		cancel()
		select {
		case code := <-ended:
			return code
		case <-time.After(time.Minute):
			t.Error("the demo does not end")
			return -1
		}
	})}
	t.Cleanup(func() {
		if code := r.stop(); code != exitDone {
			t.Errorf("the demo ended with %d, want %d", code, exitDone)
		}
		if t.Failed() {
			t.Logf("stderr:\n%s", stderr)
		}
	})
	select {
	case <-stdout.more:
	case <-time.After(time.Minute):
		t.Fatal("the demo says nothing")
	}
	r.read(t, stdout.String())
	return r
}

// read takes from what the demo printed all that a reader of it needs.
func (r *running) read(t *testing.T, text string) {
	t.Helper()
	r.announced = text
	for pattern, to := range map[string]*string{
		`\n  cd (\S+)\n`:                    &r.dir,
		`\n  (http://127\.0\.0\.1:\d+)/ `:   &r.base,
		`(http://127\.0\.0\.1:\d+)/metrics`: &r.admin,
	} {
		m := regexp.MustCompile(pattern).FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("the demo prints nothing like %s:\n%s", pattern, text)
		}
		*to = m[1]
	}
}

// TestDemoCommands does what the demo says to do, line by line, in a shell.
func TestDemoCommands(t *testing.T) {
	realtest.Require(t, "curl")
	r := startDemo(t)
	lines := strings.Split(r.announced, "\n")
	commands := 0
	for i, line := range lines {
		shows, ok := strings.CutPrefix(line, "  # shows: ")
		if !ok {
			continue
		}
		commands++
		command := strings.TrimSpace(lines[i-1])
		cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
		cmd.Dir = r.dir
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), shows) {
			t.Errorf("%s\ngave %q (%v), want %q in it", command, out, err, shows)
		}
	}
	if want := len(demo.Tour("", "")); commands != want || want < 8 {
		t.Errorf("%d commands printed, want %d", commands, want)
	}
}

// visitor is a browser that keeps cookies and follows redirects.
func visitor(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Jar: jar, Transport: transport, Timeout: time.Minute}
}

// get gives the body of a page that must be there.
func get(t *testing.T, c *http.Client, url string) string {
	t.Helper()
	res, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	return body(t, res, http.StatusOK)
}

// post sends a form from a page, as a browser does.
func post(t *testing.T, c *http.Client, target, from string, form url.Values) string {
	t.Helper()
	req, err := http.NewRequest("POST", target, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(from)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Referer", from)
	req.Header.Set("Origin", u.Scheme+"://"+u.Host)
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	res, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	return body(t, res, http.StatusOK)
}

func body(t *testing.T, res *http.Response, status int) string {
	t.Helper()
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("%s: %v", res.Request.URL, err)
	}
	if res.StatusCode != status {
		t.Fatalf("%s: status %d, want %d:\n%s", res.Request.URL, res.StatusCode, status, b)
	}
	return string(b)
}

// TestDemoPages opens every page that is printed, and every one that those lead to.
func TestDemoPages(t *testing.T) {
	r := startDemo(t)
	c := visitor(t)
	link := regexp.MustCompile(`(?:href|src)="(/[^"]*)"`)
	seen := map[string]bool{}
	var todo []string
	add := func(path string) {
		if !seen[path] {
			seen[path] = true
			todo = append(todo, path)
		}
	}
	for _, p := range demo.Places() {
		if !strings.Contains(r.announced, "  "+r.base+p.Path+" ") {
			t.Errorf("%s is not printed:\n%s", p.Path, r.announced)
		}
		add(p.Path)
	}
	for len(todo) > 0 {
		path := todo[0]
		todo = todo[1:]
		page := get(t, c, r.base+path)
		if filepath.Ext(path) != "" {
			continue
		}
		checkPage(t, path, page)
		for _, m := range link.FindAllStringSubmatch(page, -1) {
			add(m[1])
		}
	}
	for _, path := range []string{"/login", "/towns/kestrel-bay", "/images/coast.svg", "/style.css"} {
		if !seen[path] {
			t.Errorf("no page leads to %s", path)
		}
	}
}

// checkPage looks for what every page must have once its holes are filled.
func checkPage(t *testing.T, path, page string) {
	t.Helper()
	for _, bad := range []string{"<!--#", "an error occurred", "{{", "(none)"} {
		if strings.Contains(page, bad) {
			t.Errorf("%s holds %q:\n%s", path, bad, page)
		}
	}
	for _, want := range []string{"</html>", `<a href="/login">Sign in</a>`, "What just happened?"} {
		if !strings.Contains(page, want) {
			t.Errorf("%s holds no %q:\n%s", path, want, page)
		}
	}
	if n := strings.Count(page, `aria-current="page"`); n > 1 || n == 0 && strings.HasPrefix(path, "/towns") {
		t.Errorf("%s: %d links of the menu are marked as the current page", path, n)
	}
}

func TestDemoSignIn(t *testing.T) {
	r := startDemo(t)
	ana, stranger := visitor(t), visitor(t)
	const greeting = "Welcome back, <strong>Ana</strong>"

	page := post(t, ana, r.base+"/login", r.base+"/login", url.Values{"user": {"Ana"}})
	if !strings.Contains(page, greeting) || !strings.Contains(page, "Three towns, one light") {
		t.Errorf("after signing in, the front page greets nobody:\n%s", page)
	}
	page = post(t, ana, r.base+"/towns/kestrel-bay", r.base+"/towns/kestrel-bay", url.Values{})
	if !strings.Contains(page, `<li><a href="/towns/kestrel-bay">Kestrel Bay</a></li>`) {
		t.Errorf("Kestrel Bay was added and is not on the trip:\n%s", page)
	}
	for _, path := range []string{"/", "/towns", "/today", "/how"} {
		if page := get(t, ana, r.base+path); !strings.Contains(page, greeting) {
			t.Errorf("%s does not greet:\n%s", path, page)
		}
		if page := get(t, stranger, r.base+path); strings.Contains(page, "Ana") {
			t.Errorf("%s names Ana to a stranger:\n%s", path, page)
		}
	}
	page = post(t, ana, r.base+"/logout", r.base+"/towns", url.Values{})
	if strings.Contains(page, "Ana") || !strings.Contains(page, "<h1>Towns</h1>") {
		t.Errorf("after signing out from /towns:\n%s", page)
	}
}

func TestDemoRefusesFormsOfOtherSites(t *testing.T) {
	r := startDemo(t)
	req, err := http.NewRequest("POST", r.base+"/login", strings.NewReader("user=Eve"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", "http://evil.example")
	res, err := visitor(t).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	body(t, res, http.StatusForbidden)
}

// TestDemoFragments reads the page of slow and broken fragments as it comes.
func TestDemoFragments(t *testing.T) {
	r := startDemo(t)
	c := visitor(t)
	// The top has to come before the slowest fragment is ready: the app's ledger,
	// which counts what has ended, tells. A machine that is busy elsewhere may be
	// too slow to ask for the ledger in time, hence the tries.
	page := ""
	realtest.Eventually(t, "the first bytes of /ferries come before its slowest fragment", func() bool {
		before := ledger(t, c, r, "GET /fragments/ferries")
		res, err := c.Get(r.base + "/ferries")
		if err != nil {
			t.Fatal(err)
		}
		top := make([]byte, 64)
		if _, err := io.ReadFull(res.Body, top); err != nil {
			t.Fatal(err)
		}
		early := ledger(t, visitor(t), r, "GET /fragments/ferries") == before
		page = string(top) + body(t, res, http.StatusOK)
		return early
	})
	last := 0
	for _, want := range []string{
		`<p class="figure">`,
		"The harbour office does not answer. Call it on channel 12.",
		`data-from="/fragments/thermometer">no reading</span>`,
		"No word from the buoy.",
		`<th scope="col">Boat</th>`,
	} {
		at := strings.Index(page, want)
		if at < last {
			t.Fatalf("no %q, or not in its place:\n%s", want, page)
		}
		last = at
	}
	for _, bad := range []string{"the radio is on fire", "Nothing there but sea", "The departures are not to be had"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
}

// ledger gives how often the app has answered a route, as the demo's page says.
func ledger(t *testing.T, c *http.Client, r *running, route string) string {
	t.Helper()
	page := get(t, c, r.base+"/how")
	m := regexp.MustCompile(`<code>` + regexp.QuoteMeta(route) + `</code></td><td class="n">(\d+)</td>`).FindStringSubmatch(page)
	if m == nil {
		return "0"
	}
	return m[1]
}

// TestDemoEdits: the files may be edited while they are served.
func TestDemoEdits(t *testing.T) {
	r := startDemo(t)
	c := visitor(t)
	file := filepath.Join(r.dir, "public", "towns.html")
	page := get(t, c, r.base+"/towns")
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.Replace(string(old), "<h1>Towns</h1>", "<h1>Villages</h1>", 1)
	if err := os.WriteFile(file, []byte(edited), 0o666); err != nil {
		t.Fatal(err)
	}
	after := get(t, c, r.base+"/towns")
	if !strings.Contains(page, "<h1>Towns</h1>") || !strings.Contains(after, "<h1>Villages</h1>") {
		t.Errorf("the edit is not to be seen:\n%s", after)
	}
}

// TestDemoReload: a mistake in the demo's configuration changes nothing, and is
// told and counted.
func TestDemoReload(t *testing.T) {
	r := startDemo(t)
	c := visitor(t)
	file := filepath.Join(r.dir, "ssiedge.toml")
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(old, "internel = true\n"...), 0o666); err != nil {
		t.Fatal(err)
	}
	res, err := c.Post(r.admin+"/reload", "application/json", nil)
	if err != nil {
		t.Fatal(err)
	}
	if told := body(t, res, http.StatusUnprocessableEntity); !strings.Contains(told, "internel") {
		t.Errorf("the mistake is not told: %s", told)
	}
	get(t, c, r.base+"/towns")
	for _, want := range []string{`ssiedge_reloads_total{result="done"} 0`, `ssiedge_reloads_total{result="failed"} 1`} {
		if metrics := get(t, c, r.admin+"/metrics"); !strings.Contains(metrics, want) {
			t.Errorf("no %s in\n%s", want, metrics)
		}
	}
}

func TestDemoLeavesNothing(t *testing.T) {
	r := startDemo(t)
	if log, err := os.Stat(filepath.Join(r.dir, "access.log")); err != nil || !log.Mode().IsRegular() {
		t.Errorf("no access.log while the demo runs: %v", err)
	}
	if code := r.stop(); code != exitDone {
		t.Errorf("exit code %d, want %d", code, exitDone)
	}
	if _, err := os.Stat(r.dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is still there (%v)", r.dir, err)
	}
}
