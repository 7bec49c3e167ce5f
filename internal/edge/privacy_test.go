package edge

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ssiedge/ssiedge/pagecache"
)

// TestPrivacy: on any site, with any app, nobody gets what was made for another,
// unless the app has said in so many words that it is for all.
//
// What a visitor may see: each part of an answer that his own request has shaped,
// or that nobody's has. What another's has shaped only where the app's answer was
// "open" in that respect: see manner.open.
func TestPrivacy(t *testing.T) {
	app := &privacyApp{}
	e := newEdge(t, withApp(t, app.ServeHTTP), withSite(func(s *Site) { s.Cache = privacyCache() }), func(o *Options) {
		o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	run := 0
	rapid.Check(t, func(t *rapid.T) {
		run++
		w := &privacyWorld{edge: e, app: app, host: fmt.Sprintf("n%d.example", run), cookies: map[string]string{}}
		w.build(t)
		defer w.leave()
		for range rapid.IntRange(3, 12).Draw(t, "steps") {
			w.step(t)
		}
	})
}

func privacyCache() Cache {
	return Cache{
		Policy:      pagecache.Policy{MaxVariants: 16, StaleIfError: time.Minute},
		SoftWindow:  time.Hour,
		NotKeepable: 50 * time.Millisecond, // so that marks come and go
		FillWait:    patience,
	}
}

// privacyWorld is one site, its app and its visitors.
type privacyWorld struct {
	edge   *testEdge
	app    *privacyApp
	host   string
	rules  map[string]Rule
	people []*person
	client map[*person]*http.Client

	mu      sync.Mutex
	cookies map[string]string // who got a Set-Cookie, by its value
}

// build draws the site and its visitors, and has the edge serve it.
func (w *privacyWorld) build(t *rapid.T) {
	w.rules = map[string]Rule{}
	site := w.edge.options.Sites[0]
	site.Hosts, site.Rules = []string{w.host}, nil
	for _, path := range privacyPaths {
		rule := drawRule(t, path)
		w.rules[path] = rule
		site.Rules = append(site.Rules, rule)
	}
	w.app.mu.Lock()
	w.app.manners, w.app.rules = map[string]manner{}, w.rules
	w.app.mu.Unlock()
	for _, path := range privacyPaths {
		w.app.set(path, drawManner(t, path))
	}
	options := w.edge.options
	options.Sites = []Site{site}
	if err := w.edge.Reload(options); err != nil {
		t.Fatal(err)
	}
	w.client = map[*person]*http.Client{}
	for i, name := range []string{"ann", "bob", "eve"} {
		p := drawPerson(t, name, i)
		w.people = append(w.people, p)
		dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "tcp", w.edge.addr)
		}
		w.client[p] = &http.Client{
			Transport:     &http.Transport{DialContext: dial, DisableCompression: true},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Timeout:       patience,
		}
	}
}

func (w *privacyWorld) leave() {
	for _, c := range w.client {
		c.CloseIdleConnections()
	}
}

func drawRule(t *rapid.T, path string) Rule {
	r := Rule{Where: "test.toml:" + path, Paths: []string{path}}
	switch rapid.SampledFrom([]string{"", "", "ruled", "ruled", "off"}).Draw(t, path+" cache") {
	case "ruled":
		r.Cache = &Lifetime{For: time.Hour}
	case "off":
		r.Cache = &Lifetime{Off: true}
	}
	r.Cookies = rapid.SampledFrom([]*Cookies{
		nil, nil, {Mode: CookiesNone}, {Mode: CookiesAll},
		{Mode: CookiesListed, Names: []string{"session"}}, {Mode: CookiesListed, Names: []string{"lang"}}, {Mode: CookiesListed, Names: []string{"lang", "session"}},
	}).Draw(t, path+" cookies")
	r.KeyHeaders = rapid.SampledFrom([][]string{nil, nil, {"X-Team"}}).Draw(t, path+" headers")
	r.SetCookie = rapid.SampledFrom([]*pagecache.CookiePolicy{nil, {Strip: true}, {Keep: []string{"lang"}}}).Draw(t, path+" set_cookie")
	if rapid.IntRange(0, 5).Draw(t, path+" bypass") == 0 {
		r.Bypass = &Bypass{Cookies: []string{"session"}}
	}
	if rapid.IntRange(0, 3).Draw(t, path+" windows") == 0 {
		r.StaleWhileRevalidate = ptr(time.Minute)
	}
	return r
}

func drawManner(t *rapid.T, path string) manner {
	m := manner{
		status: rapid.SampledFrom([]int{200, 200, 200, 200, 200, 301, 404, 500}).Draw(t, path+" status"),
		reads:  rapid.SliceOfDistinct(rapid.SampledFrom(inputs), rapid.ID[string]).Draw(t, path+" reads"),
		states: rapid.SampledFrom(statements).Draw(t, path+" states"),
		vary:   rapid.SampledFrom([][]string{nil, nil, {"Cookie"}, {"X-Team"}, {"X-Secret", "Authorization"}, {"*"}}).Draw(t, path+" vary"),
	}
	m.old = strings.Contains(m.states.value, "max-age=1,")
	m.tagged = rapid.Bool().Draw(t, path+" tagged")
	m.takes = rapid.SampledFrom([]time.Duration{0, 0, 2 * time.Millisecond}).Draw(t, path+" takes")
	m.setCookies = rapid.SampledFrom([][]string{nil, nil, {"session"}, {"lang"}, {"lang", "session"}}).Draw(t, path+" sets")
	if path == "/including" || path == "/other" {
		m.includes = "/fragment"
	}
	return m
}

func drawPerson(t *rapid.T, name string, i int) *person {
	p := &person{name: name, inputs: map[string]string{"address": fmt.Sprintf("10.0.0.%d", i+1)}}
	for _, input := range []string{"session", "authorization", "team", "secret"} {
		if rapid.Bool().Draw(t, name+" has "+input) {
			p.inputs[input] = name + "-" + input
		}
	}
	if rapid.Bool().Draw(t, name+" has lang") {
		p.inputs["lang"] = rapid.SampledFrom([]string{"de", "en"}).Draw(t, name+" lang")
	}
	return p
}

// step has some visitors ask at once; before that the app may change its mind.
func (w *privacyWorld) step(t *rapid.T) {
	if rapid.IntRange(0, 3).Draw(t, "changes") == 0 {
		path := rapid.SampledFrom(privacyPaths).Draw(t, "changed")
		w.app.set(path, drawManner(t, path))
	}
	path := rapid.SampledFrom(privacyPaths).Draw(t, "path")
	var wg sync.WaitGroup
	var complaints []string
	for range rapid.IntRange(1, 4).Draw(t, "at once") {
		p := rapid.SampledFrom(w.people).Draw(t, "who")
		method := rapid.SampledFrom([]string{"GET", "GET", "GET", "GET", "HEAD", "POST"}).Draw(t, "method")
		wg.Go(func() {
			found := w.ask(p, method, path)
			w.mu.Lock()
			defer w.mu.Unlock()
			complaints = append(complaints, found...)
		})
	}
	wg.Wait()
	for _, c := range complaints {
		t.Error(c)
	}
}

// ask sends one request and says what is wrong with the answer.
func (w *privacyWorld) ask(p *person, method, path string) (complaints []string) {
	r, err := p.request(method, "http://"+w.host+path)
	if err != nil {
		return []string{err.Error()}
	}
	in, err := w.client[p].Do(r)
	if err != nil {
		return []string{err.Error()}
	}
	defer in.Body.Close()
	body, err := io.ReadAll(in.Body)
	if err != nil {
		return []string{err.Error()}
	}
	for _, c := range slices.Concat(w.judgeBody(p, path, in, string(body)), w.judgeCookies(p, path, in)) {
		complaints = append(complaints, fmt.Sprintf("%s, who sends %v, asks %s %s and gets %d %v %q: %s", p.name, p.inputs, method, path, in.StatusCode, in.Header, body, c))
	}
	return complaints
}

// judgeBody says which part of a body is another's.
func (w *privacyWorld) judgeBody(p *person, path string, in *http.Response, body string) (complaints []string) {
	control := in.Header.Get("Cache-Control")
	bound := strings.Contains(control, "private") || strings.Contains(control, "no-store")
	vary, status := strings.Join(in.Header.Values("Vary"), ", "), in.Header.Get("Cache-Status")
	page := slices.ContainsFunc([]string{"hit", "stored", "invalidated", "stale-if-error"}, func(word string) bool { return strings.Contains(status, word) })
	for _, rec := range records(body) {
		own := p.inputs[rec.input]
		switch {
		case rec.value != "" && rec.value != own && !rec.open:
			complaints = append(complaints, "another's: "+rec.String())
		case rec.value == "" && own != "" && credential(rec.input) && (rec.unkeepable || rec.path == path && !page):
			complaints = append(complaints, "an answer to nobody that is no page: "+rec.String())
		case rec.value != "" && !rec.open && credential(rec.input) && rec.path != path && !bound && !strings.Contains(vary, inputFields[rec.input]) && !strings.Contains(vary, "*"):
			complaints = append(complaints, "a personal part, in a page that says it is for all: "+rec.String())
		}
	}
	return complaints
}

// credential says whether an input is withheld as one: an answer that is not kept
// is then given to nobody who sent it.
func credential(input string) bool {
	return inputFields[input] == "Cookie" || inputFields[input] == "Authorization"
}

// judgeCookies says which Set-Cookie was not made for this visitor.
func (w *privacyWorld) judgeCookies(p *person, path string, in *http.Response) (complaints []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range in.Cookies() {
		if c.Name != "session" {
			continue // the rules let it be kept
		}
		owner, _, _ := strings.Cut(c.Value, ".")
		if owner != orNobody(p.inputs["session"]) {
			complaints = append(complaints, "signs in or out: "+c.String())
		}
		if _, ok := w.cookies[c.Value]; ok {
			complaints = append(complaints, "given before: "+c.String())
		}
		w.cookies[c.Value] = p.name
	}
	return complaints
}
