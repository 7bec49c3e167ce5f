package edge

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/ssiedge/ssiedge/internal/realtest"
	"github.com/ssiedge/ssiedge/pagecache"
)

// An unsafe method removes the pages of the URLs on this host that its answer
// names, too (RFC 9111, section 4.4).
func TestInvalidateNamed(t *testing.T) {
	for _, test := range []struct {
		reference string
		gone      bool
	}{
		{"/other", true},
		{"/other/", true},
		{"/%6fther", true},
		{"/a/../other?utm_source=x", true},
		{"other", true},
		{"../other", true},
		{"//" + testHost + "/other", true},
		{"http://WWW.example.com:80/other#top", true},
		{"http://" + testHost + "/other?x=1", false},
		{"https://" + testHost + "/other", false},
		{"http://" + testHost + ":81/other", false},
		{"http://www.example.org/other", false},
		{"//www.example.org/other", false},
		{"/others", false},
		{"", false},
		{"http://[/other", false},
		{"/%00other", false},
	} {
		for _, field := range []string{"Location", "Content-Location"} {
			for _, cookies := range []bool{false, true} {
				rule := forAnHour("*")
				if cookies { // then the key holds more than the URL
					rule.Cookies = &Cookies{Mode: CookiesListed, Names: []string{"lang"}}
				}
				e, app := newScripted(t, []step{{body: "page"}, {status: 303, fields: []string{field + ": " + test.reference}}, {body: "page"}}, withRule(rule))
				e.get("/other", "Cookie: lang=de")
				e.post("POST", "/some", "x")
				e.get("/other", "Cookie: lang=de")
				want := 2
				if test.gone {
					want = 3
				}
				if got := len(app.requests()); got != want {
					t.Errorf("%s: %q, cookies in the key %v: the app was asked %d times, want %d", field, test.reference, cookies, got, want)
				}
			}
		}
	}
}

// A failure names nothing that changed, and a rule may say that nothing does.
func TestInvalidateNamedNot(t *testing.T) {
	off := false
	for name, test := range map[string]struct {
		status int
		rule   Rule
	}{
		"500":                {500, forAnHour("*")},
		"404":                {404, forAnHour("*")},
		"invalidate = false": {303, Rule{Paths: []string{"/other"}, Cache: &Lifetime{For: time.Hour}, Invalidate: &off}},
	} {
		e, app := newScripted(t, []step{{body: "page"}, {status: test.status, fields: []string{"Location: /other"}}}, withRule(test.rule))
		e.get("/other")
		e.post("POST", "/some", "x")
		e.get("/other").hit(t, "memory")
		if len(app.requests()) != 2 {
			t.Errorf("%s: the app was asked again", name)
		}
	}
}

// deaf is a tier that does not do what it is asked to: memcached, behind a
// network that fails.
type deaf struct{ pagecache.Tier }

func (deaf) Delete([]byte) error { return errors.New("provoked by a test") }

// What a POST removes is not used after a restart either where memcached did not
// confirm that it is gone.
func TestInvalidateUnconfirmedOutlivesRestart(t *testing.T) {
	m := realtest.Memcached(t)
	state := t.TempDir()
	app := new(counting)
	url := newApp(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			app.ServeHTTP(w, r)
		}
	})
	start := func(t *testing.T) *testEdge {
		return newEdge(t, withKeeping(), withOrigin(url), func(o *Options) {
			o.State = state
			o.Memcache = &pagecache.MemcacheOptions{Servers: []string{m.Addr}, Timeout: patience}
		})
	}
	var removed, kept string
	t.Run("first", func(t *testing.T) {
		e := start(t)
		removed, kept = e.visit("/removed?q=1"), e.visit("/kept?q=1")
		s := e.state.Load().store
		s.pulled = pagecache.NewPulled(s.memory, pagecache.NamedTier{Name: "memcache", Tier: deaf{s.tier}})
		e.post("POST", "/removed?q=1", "x")
	})
	t.Run("second", func(t *testing.T) {
		e := start(t)
		e.get("/kept?q=1").is(t, 200, kept)
		if got := e.visit("/removed?q=1"); got == removed {
			t.Errorf("after a restart the visitor gets %q, from before the POST", got)
		}
	})
}
