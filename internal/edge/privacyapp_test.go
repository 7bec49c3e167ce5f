package edge

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// privacyPaths are the pages. Those before the last include fragments, which are
// pages like others.
var privacyPaths = []string{"/plain", "/including", "/other", "/fragment"}

// inputs are the parts of a request that may tell one visitor from another.
var inputs = []string{"session", "lang", "authorization", "team", "secret", "address"}

// inputFields are the fields that they come in; address is what the edge says.
var inputFields = map[string]string{
	"session": "Cookie", "lang": "Cookie", "authorization": "Authorization", "team": "X-Team", "secret": "X-Secret", "address": "X-Real-Ip",
}

// statement is what an answer says of how it may be kept, and whether that says
// too that cookies, and Authorization, make no difference to it.
type statement struct {
	name, value                     string
	cookiesOpen, authorizationsOpen bool
}

var statements = []statement{
	{"Cache-Control", "max-age=60", false, false},
	{"Cache-Control", "public, max-age=60", true, true},
	{"Cache-Control", "s-maxage=60", true, true},
	{"Cache-Control", "max-age=60, must-revalidate", false, true},
	{"Cache-Control", "private, max-age=60", false, false},
	{"Cache-Control", "no-store", false, false},
	{"Cache-Control", "no-cache, max-age=60", false, false},
	{"Cache-Control", "max-age=0", false, false},
	{"Cache-Control", "public, max-age=0", true, true},
	{"Cache-Control", "public, no-cache", true, true},
	{"Cache-Control", "", false, false},
	{"SSIEdge-Cache-Control", "max-age=60", true, false},
	{"Cache-Control", "public, max-age=1, stale-while-revalidate=60, stale-if-error=60", true, true},
	{"Cache-Control", "max-age=1, stale-while-revalidate=60, stale-if-error=60", false, false},
}

// manner is how the app answers a path, until it changes its mind.
type manner struct {
	status     int
	reads      []string // inputs that shape the body
	states     statement
	old        bool     // it comes with an Age, so that only a window is left of a lifetime of a second
	vary       []string // fields
	setCookies []string // names
	includes   string   // path of a fragment; "": none
	tagged     bool     // it has an entity-tag, which tells its body from every other
	takes      time.Duration
}

// privacyApp answers by manners.
type privacyApp struct {
	mu      sync.Mutex
	manners map[string]manner
	rules   map[string]Rule

	serial atomic.Int64
}

func (a *privacyApp) set(path string, m manner) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.manners[path] = m
}

// ServeHTTP says what it has seen, as records; see record.
func (a *privacyApp) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	m, rule := a.manners[r.URL.Path], a.rules[r.URL.Path]
	a.mu.Unlock()
	time.Sleep(m.takes) // so that others join
	serial := a.serial.Add(1)
	h := w.Header()
	h.Set("Content-Type", "text/html")
	if m.states.value != "" {
		h.Set(m.states.name, m.states.value)
	}
	if m.old {
		h.Set("Age", "30")
	}
	for _, field := range m.vary {
		h.Add("Vary", field)
	}
	for _, name := range m.setCookies {
		h.Add("Set-Cookie", fmt.Sprintf("%s=%s.%d", name, orNobody(inputOf(r, "session")), serial))
	}
	if m.status == http.StatusMovedPermanently {
		h.Set("Location", "/elsewhere")
	}
	var body []byte
	for _, input := range m.reads {
		body = fmt.Append(body, record{r.URL.Path, input, inputOf(r, input), m.open(input, &rule), m.unkeepable(&rule)})
	}
	if m.includes != "" {
		body = fmt.Appendf(body, "<!--#include virtual=%q -->", m.includes)
	}
	if m.tagged {
		tag := fmt.Sprintf(`"%d-%x"`, m.status, sha256.Sum256(body))
		if h.Set("Etag", tag); strings.Contains(r.Header.Get("If-None-Match"), tag) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	w.WriteHeader(m.status)
	w.Write(body)
}

// inputOf is an input of a request, as it came to the app.
func inputOf(r *http.Request, input string) string {
	if field := inputFields[input]; field != "Cookie" {
		return r.Header.Get(field)
	}
	c, err := r.Cookie(input)
	if err != nil {
		return ""
	}
	return c.Value
}

func orNobody(session string) string {
	if session == "" {
		return "nobody"
	}
	return session
}

// open says whether the app's answer says, or lets HTTP take it for said, that
// it is the same whatever the input is. The edge may then give it to anybody.
func (m *manner) open(input string, rule *Rule) bool {
	field := inputFields[input]
	if slices.Contains(m.vary, field) || rule.keyed(input) {
		return false
	}
	switch field {
	case "Cookie":
		return m.states.cookiesOpen
	case "Authorization":
		return m.states.authorizationsOpen
	}
	// Other fields shape a page only by Vary, unless a rule says that the page
	// is everybody's.
	return rule.Cache == nil
}

// unkeepable says whether the edge may keep the answer on no account.
func (m *manner) unkeepable(rule *Rule) bool {
	return m.states.value == "no-store" || len(m.setCookies) > 0 && rule.SetCookie == nil
}

// keyed says whether the rule has the input in the key.
func (r *Rule) keyed(input string) bool {
	if inputFields[input] == "Cookie" {
		return r.Cookies != nil && slices.Contains(r.Cookies.Names, input)
	}
	return slices.Contains(r.KeyHeaders, inputFields[input])
}

// record is one part of a request that shaped one part of an answer.
type record struct {
	path, input, value string
	open, unkeepable   bool
}

func (r record) String() string {
	return fmt.Sprintf("<%s|%s|%s|%v|%v>", r.path, r.input, r.value, r.open, r.unkeepable)
}

var recordPattern = regexp.MustCompile(`<([^|>]*)\|([^|>]*)\|([^|>]*)\|(true|false)\|(true|false)>`)

// records finds them in an answer.
func records(body string) []record {
	var all []record
	for _, m := range recordPattern.FindAllStringSubmatch(body, -1) {
		all = append(all, record{m[1], m[2], m[3], m[4] == "true", m[5] == "true"})
	}
	return all
}

// person is a visitor with what tells him from others.
type person struct {
	name   string
	inputs map[string]string // an input that is missing he does not send
}

// request is what he sends.
func (p *person) request(method, url string) (*http.Request, error) {
	r, err := http.NewRequest(method, url, nil)
	if err != nil {
		return nil, err
	}
	var cookies []string
	for _, name := range []string{"session", "lang"} {
		if value := p.inputs[name]; value != "" {
			cookies = append(cookies, name+"="+value)
		}
	}
	if len(cookies) > 0 {
		r.Header.Set("Cookie", strings.Join(cookies, "; "))
	}
	for _, name := range []string{"authorization", "team", "secret"} {
		if value := p.inputs[name]; value != "" {
			r.Header.Set(inputFields[name], value)
		}
	}
	r.Header.Set("X-Forwarded-For", p.inputs["address"])
	return r, nil
}
