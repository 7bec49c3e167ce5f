package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// redmineRounds is how often each user signs in, works and signs out. Once will
// do under the race detector, which takes minutes: it is there for the edge's
// goroutines, not for Redmine's sessions.
func redmineRounds() int {
	if realtest.Race {
		return 1
	}
	return 2
}

// TestRedmine: users of a large application work at the same time, behind a
// configuration that keeps all it may, and behind one that keeps what is
// public. Every page of Redmine sets a cookie.
func TestRedmine(t *testing.T) {
	users := []string{"alice", "bertram"}
	app := realtest.Redmine(t, 2, users...)
	site := fmt.Sprintf("[[site]]\n[site.origin]\nservers = [%q]\ntimeout = %s\n", "http://"+app.Addr, waits)
	const everything = "[[site.rule]]\npath = [\"/*\"]\ncache = \"1h\"\n"
	const public = everything + `set_cookie = "strip"
bypass = {cookies = ["Redmine"]}
[[site.rule]]
path = ["/login*", "/account/*", "/my/*"]
cache = "off"
`
	for _, test := range []struct {
		name, rules string
		hits        bool
	}{
		{"one rule for everything", everything, false},
		{"public pages", public, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			edge := realtest.Edge(t, realtest.EdgeOptions{Config: site + test.rules})
			r := &redmine{url: edge.URL, sessions: map[string]string{}}
			r.work(t, users)
			why := call(t, http.MethodGet, edge.Admin+"/explain?url="+url.QueryEscape(edge.URL+"/projects/project-1"))
			if says := strings.Contains(why.body, `"reason":"set-cookie"`); why.status != http.StatusOK || says == test.hits {
				t.Errorf("explain gives %d %s, want set-cookie as a reason: %v", why.status, short(why.body), !test.hits)
			}
			for _, path := range []string{"/", "/projects/project-1", "/issues/1"} {
				stranger := r.visitor(t, "a late stranger")
				stranger.get(path)
				fresh := r.visitor(t, "another late stranger")
				if hit := strings.HasPrefix(fresh.get(path).header.Get("Cache-Status"), "ssiedge; hit"); hit != test.hits {
					t.Errorf("%s is a hit for a stranger: %v, want %v", path, hit, test.hits)
				}
			}
		})
	}
}

// redmine is Redmine as its users see it.
type redmine struct {
	url string

	mu       sync.Mutex
	sessions map[string]string // who was given a session, by its cookie
}

// redmineVisitor is one browser.
type redmineVisitor struct {
	*redmine
	t      *testing.T
	who    string
	login  string // signed in as; "": not
	others []string
	client *http.Client
	token  string // of the page seen last, for its forms
}

func (r *redmine) visitor(t *testing.T, who string) *redmineVisitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := new(http.Transport)
	t.Cleanup(transport.CloseIdleConnections)
	client := &http.Client{Jar: jar, Transport: transport, Timeout: 5 * time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &redmineVisitor{redmine: r, t: t, who: who, client: client}
}

// work has all users work at once, while strangers read. A goroutine that fails
// ends; the others go on.
func (r *redmine) work(t *testing.T, users []string) {
	t.Helper()
	var working, reading sync.WaitGroup
	done := make(chan struct{})
	for i, user := range users {
		v := r.visitor(t, user)
		v.others = append(append(v.others, users[:i]...), users[i+1:]...)
		working.Go(func() {
			for round := range redmineRounds() {
				v.day(fmt.Sprintf("work of %s in round %d", user, round))
			}
		})
	}
	for i := range 2 {
		reading.Go(func() {
			for n := 0; ; n++ {
				v := r.visitor(t, fmt.Sprintf("stranger %d.%d", i, n))
				v.others = users
				for _, path := range redminePages {
					v.get(path)
					v.get(path) // with the cookie of the answer before
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	working.Wait()
	close(done)
	reading.Wait()
}

// redminePages are pages that everybody may see, each with the name of whoever
// is signed in.
var redminePages = []string{"/", "/projects/project-0", "/projects/project-0/issues", "/issues/1", "/projects/project-0/activity"}

// day is what a user does.
func (v *redmineVisitor) day(subject string) {
	v.get("/login")
	v.submit("/login", url.Values{"username": {v.who}, "password": {realtest.RedminePassword(v.who)}}, v.who)
	v.get("/my/page")
	if a := v.get("/my/account"); !strings.Contains(a.body, v.who+"@example.com") {
		v.t.Errorf("the account of %s lacks the address", v.who)
	}
	for _, path := range redminePages {
		v.get(path)
	}
	v.get("/projects/project-0/issues/new")
	issue := v.submit("/projects/project-0/issues", url.Values{"issue[tracker_id]": {"1"}, "issue[subject]": {subject}}, v.who)
	if a := v.get(issue); !strings.Contains(a.body, subject) {
		v.t.Errorf("%s does not see the issue just made at %s: %s", v.who, issue, short(a.body))
	}
	note := "a note on " + subject
	v.submit(issue, url.Values{"_method": {"patch"}, "issue[notes]": {note}}, v.who)
	if a := v.get(issue); !strings.Contains(a.body, note) {
		v.t.Errorf("%s does not see the note just made at %s", v.who, issue)
	}
	for _, path := range redminePages {
		v.get(path)
	}
	v.submit("/logout", nil, "")
	for _, path := range redminePages {
		v.get(path)
	}
}

// submit posts a form with the token of the page seen last, and gives the path
// that the answer redirects to. login is who is signed in from then on.
func (v *redmineVisitor) submit(path string, fields url.Values, login string) string {
	if fields == nil {
		fields = url.Values{}
	}
	fields.Set("authenticity_token", v.token)
	a := v.do(http.MethodPost, path, strings.NewReader(fields.Encode()))
	target, err := url.Parse(a.header.Get("Location"))
	if a.status != http.StatusFound || err != nil {
		v.t.Errorf("%s posts %s and gets %d %s, want 302", v.who, path, a.status, short(a.body))
		return path
	}
	v.login = login
	return target.Path
}

var (
	redmineOwner = regexp.MustCompile(`id="loggedas">Logged in as <a[^>]*>([^<]*)</a>`)
	redmineToken = regexp.MustCompile(`name="csrf-token" content="([^"]*)"`)
)

// get opens a page, which must be the visitor's own.
func (v *redmineVisitor) get(path string) answer {
	a := v.do(http.MethodGet, path, nil)
	owner := ""
	if m := redmineOwner.FindStringSubmatch(a.body); m != nil {
		owner = m[1]
	}
	if a.status != http.StatusOK || owner != v.login || (owner == "") != strings.Contains(a.body, `href="/login"`) {
		v.t.Errorf("%s, signed in as %q, opens %s and gets %d, made for %q (%s)", v.who, v.login, path, a.status, owner, a.header.Get("Cache-Status"))
	}
	if m := redmineToken.FindStringSubmatch(a.body); m != nil {
		v.token = m[1]
	}
	return a
}

// do sends a request and looks at what must never come back: another's address,
// which only an account shows, or another's session.
func (v *redmineVisitor) do(method, path string, body io.Reader) answer {
	r, err := http.NewRequest(method, v.url+path, body)
	if err != nil {
		v.t.Error(err)
		return answer{}
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	in, err := v.client.Do(r)
	if err != nil {
		v.t.Errorf("%s: %s %s: %v", v.who, method, path, err)
		return answer{}
	}
	defer in.Body.Close()
	text, err := io.ReadAll(in.Body)
	if err != nil {
		v.t.Errorf("%s: %s %s: %v", v.who, method, path, err)
	}
	a := answer{status: in.StatusCode, header: in.Header, body: string(text)}
	for _, other := range v.others {
		if strings.Contains(a.body, other+"@example.com") {
			v.t.Errorf("%s gets the account of %s at %s", v.who, other, path)
		}
	}
	v.own(in.Cookies(), path)
	return a
}

// own notes the sessions that an answer gives: each is one visitor's.
func (v *redmineVisitor) own(cookies []*http.Cookie, path string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, c := range cookies {
		if owner, ok := v.sessions[c.Value]; ok && owner != v.who {
			v.t.Errorf("%s is given the session of %s at %s", v.who, owner, path)
		}
		v.sessions[c.Value] = v.who
	}
}
