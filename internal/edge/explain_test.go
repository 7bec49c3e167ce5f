package edge

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ssiedge/ssiedge/internal/realtest"
	"github.com/ssiedge/ssiedge/pagecache"
)

// pulling makes a site keep pages.
func pulling(s *Site) {
	s.Cache.FillWait, s.Cache.NotKeepable = patience, time.Hour
	s.Cache.SoftWindow = time.Hour
}

// explained explains a URL of testHost, with no error.
func (e *testEdge) explained(url string, fields ...string) Explanation {
	e.t.Helper()
	x, err := e.Explain(ExplainRequest{URL: url, Fields: append([]string{"Host: " + testHost}, fields...)})
	if err != nil {
		e.t.Fatalf("%s: %v", url, err)
	}
	return x
}

// tier gives what an explanation says of a tier.
func (x *Explanation) tier(name string) (t ExplainedTier) {
	for _, t := range x.Tiers {
		if t.Tier == name {
			return t
		}
	}
	return ExplainedTier{}
}

// reply gives what an explanation says of an answer of the origin.
func (x *Explanation) reply(name string) string {
	for _, r := range x.Origin.Replies {
		if r.Reply == name {
			return fmt.Sprintf("kept=%v ttl=%d stripped=%v %s", r.Kept, r.TTL, r.Stripped, r.Reason)
		}
	}
	return "none"
}

// TestExplain compares what is explained with what serving then does. The app
// counts its requests: explaining makes none.
func TestExplain(t *testing.T) {
	m := realtest.Memcached(t)
	memcachedSet(t, m.Addr, "/pub", 0, "published")
	memcachedSet(t, m.Addr, "/ruby", 1, "marshalled")
	asked := 0
	e := newEdge(t, withSite(pulling), withMemcached(m.Addr, "{path}"),
		withFiles(t, map[string]string{"f.html": "file", "style.css": "css"}),
		withApp(t, func(w http.ResponseWriter, r *http.Request) {
			asked++
			if r.URL.Path == "/kept" {
				w.Header().Set("Cache-Control", "max-age=3600")
			}
			io.WriteString(w, "app")
		}),
		withRule(Rule{Paths: []string{"/off*"}, Cache: &Lifetime{Off: true}}),
		withRule(Rule{Paths: []string{"/internal"}, Internal: ptr(true)}),
		withRule(Rule{Paths: []string{"/moved"}, Redirect: ptr("https://elsewhere{uri}")}),
		withRule(Rule{Paths: []string{"/by*"}, Bypass: &Bypass{Cookies: []string{"admin"}, Headers: []string{"X-Preview"}}}),
		func(o *Options) { o.HealthPath = "/up" })
	for _, target := range []string{"/kept", "/app"} {
		e.get(target).is(t, 200, "app")
	}
	before := asked
	for _, test := range []struct {
		url, field             string
		by, reason, asks, says string
		tier, state            string
	}{
		{"/f", "", "file", "", "no", "outranks", "file", "hit"},
		{"/style.css?v=1", "", "file", "", "no", "", "file", "hit"},
		{"/f?page=2", "", "origin", "", "fill", "no tier has", "file", "miss"},
		{"/pub", "", "published", "", "no", "outranks", "published", "hit"},
		{"/ruby", "", "origin", "", "fill", "", "published", "miss"},
		{"/kept/?utm_source=x", "", "memory", "", "no", "fresh for 3", "memory", "hit"},
		{"/new", "", "origin", "", "fill", "no tier has a fresh page", "memory", "miss"},
		{"/app", "", "origin", "not-keepable", "fill", "could not be kept", "memory", "miss"},
		{"/app", "Cookie: a=1", "origin", "not-keepable", "forward", "could not be kept", "memory", "miss"},
		{"/off", "", "origin", "", "forward", `cache = "off" at test.toml:100`, "memory", "off"},
		{"/by", "Cookie: x=1; admin=2", "origin", "bypass", "forward", "bypass at test.toml:103: the request has the cookie admin", "", ""},
		{"/by", "X-Preview: 1", "origin", "bypass", "forward", "the header X-Preview", "", ""},
		{"/by", "Cookie: x=1", "origin", "", "fill", "", "memory", "miss"},
		{"/new", "Content-Length: 3", "origin", "", "forward", "with a body", "memory", "miss"},
		{"/internal", "", "internal", "", "", "internal at test.toml:101", "", ""},
		{"/moved?a=1", "", "redirect", "", "", "redirect at test.toml:102", "", ""},
		{"/up", "", "health", "", "", "health_path", "", ""},
	} {
		var fields []string
		if test.field != "" {
			fields = append(fields, test.field)
		}
		x := e.explained(test.url, fields...)
		asks := ""
		if x.Origin != nil {
			asks = x.Origin.Asked
		}
		if x.Answer.By != test.by || x.Answer.Reason != test.reason || asks != test.asks || !strings.Contains(x.Answer.Why, test.says) {
			t.Errorf("%s %s: answer %+v, origin asked %q, want by %q, %q, %q, %q", test.url, test.field, x.Answer, asks, test.by, test.reason, test.asks, test.says)
		}
		if got := x.tier(test.tier); test.tier != "" && got.State != test.state {
			t.Errorf("%s %s: tier %+v, want state %s", test.url, test.field, got, test.state)
		}
		if test.tier == "" && len(x.Tiers) > 0 {
			t.Errorf("%s %s: tiers %+v, want none", test.url, test.field, x.Tiers)
		}
	}
	if asked != before {
		t.Errorf("the app was asked %d times", asked-before)
	}
	if x := e.explained("/moved?a=1"); x.Answer.Status != 308 || x.Answer.Location != "https://elsewhere/moved?a=1" {
		t.Errorf("redirect: %+v", x.Answer)
	}
	if x := e.explained("/kept"); *x.tier("memory").TTL > 3600 || *x.tier("memory").TTL < 3000 || x.tier("memory").Bytes != 3 || x.tier("memory").Status != 200 {
		t.Errorf("memory: %+v", x.tier("memory"))
	}
}

// TestExplainPurged: pages that a purge takes, wholly or softly.
func TestExplainPurged(t *testing.T) {
	for _, test := range []struct {
		soft       bool
		softWindow time.Duration
		by         string
		stale      bool
		asks       string
		state, why string
	}{
		{true, time.Hour, "memory", true, "background", tierStale, "purged softly; may be served while one fill runs"},
		{true, 0, "origin", false, "fill", tierStale, "purged softly; may be served where the origin fails"},
		{false, time.Hour, "origin", false, "fill", tierMiss, "it was purged"},
	} {
		e := newEdge(t, withSite(pulling), withSite(func(s *Site) {
			s.Cache.SoftWindow, s.Cache.StaleIfError = test.softWindow, time.Hour
		}), withApp(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "max-age=5000")
		}))
		e.get("/a").has(t, "Cache-Status", "ssiedge; fwd=uri-miss; stored")
		if x := e.explained("/a"); x.Answer.By != "memory" || x.Answer.Stale || x.Origin.Asked != "no" {
			t.Errorf("after a fill: %+v, %+v", x.Answer, x.Origin)
		}
		if _, _, err := e.state.Load().store.purges.Add([]pagecache.Record{{Kind: pagecache.KindAll, Soft: test.soft}}); err != nil {
			t.Fatal(err)
		}
		x := e.explained("/a")
		if x.Answer.By != test.by || x.Answer.Stale != test.stale || x.Origin.Asked != test.asks {
			t.Errorf("%+v: answer %+v, origin asked %s", test, x.Answer, x.Origin.Asked)
		}
		if m := x.tier("memory"); m.State != test.state || !strings.Contains(m.Why, test.why) {
			t.Errorf("%+v: memory %+v", test, m)
		}
	}
}

// TestExplainMemcacheTier: a page that only memcached has is told, and stays
// there alone. Without memcached it is a miss.
func TestExplainMemcacheTier(t *testing.T) {
	m := realtest.Memcached(t)
	e := newEdge(t, withSite(pulling), func(o *Options) {
		o.Memcache = &pagecache.MemcacheOptions{Servers: []string{m.Addr}, Timeout: 5 * time.Second}
		o.Memory = 0
	}, withApp(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=5000")
		io.WriteString(w, "app")
	}))
	e.get("/a").is(t, 200, "app")
	x := e.explained("/a")
	if x.Answer.By != "memcache" || x.tier("memory").State != tierMiss || x.tier("memcache").State != tierHit || x.tier("memcache").Bytes != 3 {
		t.Errorf("%+v, tiers %+v", x.Answer, x.Tiers)
	}
	m.Stop()
	if x := e.explained("/a"); x.Answer.By != "origin" || x.tier("memcache").State != tierMiss {
		t.Errorf("without memcached: %+v, tiers %+v", x.Answer, x.Tiers)
	}
}

// TestExplainChangesNothing: no tier, no mark, no metric that counts requests.
func TestExplainChangesNothing(t *testing.T) {
	e := newEdge(t, withSite(pulling), withFiles(t, map[string]string{"f.html": "file"}), withApp(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
	}))
	e.get("/kept")
	store := e.state.Load().store
	before := store.memory.Stats()
	for _, url := range []string{"/f", "/kept", "/none"} {
		e.explained(url, "Cookie: a=1")
	}
	if after := store.memory.Stats(); after != before {
		t.Errorf("memory was %+v, is %+v", before, after)
	}
	if n := e.metrics.fills.Load(); n != 1 {
		t.Errorf("%d fills, want the one before", n)
	}
	if log := e.log.String(); log != "" {
		t.Errorf("logged %s", log)
	}
	e.get("/none").has(t, "Cache-Status", "ssiedge; fwd=uri-miss; stored")
}

// TestExplainWhatIsForwarded compares the fields with those that the app gets.
func TestExplainWhatIsForwarded(t *testing.T) {
	app := newRecorder(t, func(head, _ string) string { return htmlAnswer("F") })
	e := newEdge(t, withSite(pulling), withOrigin(app.url),
		withRule(Rule{Paths: []string{"/rule"}, Cache: &Lifetime{For: time.Hour}}),
		withRule(Rule{Paths: []string{"/listed"}, Cache: &Lifetime{For: time.Hour}, Cookies: &Cookies{Mode: CookiesListed, Names: []string{"lang", "size"}}, KeyHeaders: []string{"Accept-Language"}}))
	fields := []string{"Cookie: lang=pt; _session=x; lang=en", "Authorization: Basic x", "Accept-Language: pt", "User-Agent: test/1",
		"Accept-Encoding: gzip", "If-None-Match: \"x\"", "X-Forwarded-For: 6.6.6.6"}
	for _, test := range []struct {
		url, lang, session, authorization string
		withSetCookie, plain, cached      string
	}{
		{"/own", sentForwarded, sentForwarded, sentForwarded, "set-cookie", "no-lifetime", "cookies"},
		{"/rule", sentWithheld, sentWithheld, sentWithheld, "set-cookie", "", ""},
		{"/listed", sentKeyed, sentWithheld, sentWithheld, "set-cookie", "", ""},
	} {
		x := e.explained(test.url, fields...)
		o := x.Origin
		want := []ExplainedCookie{{"lang", test.lang}, {"_session", test.session}}
		if !slices.Equal(o.Cookies, want) || o.Authorization != test.authorization {
			t.Errorf("%s: cookies %v, Authorization %s; want %v, %s", test.url, o.Cookies, o.Authorization, want, test.authorization)
		}
		for reply, reason := range map[string]string{
			"200, Cache-Control: public, max-age=60, with Set-Cookie": test.withSetCookie,
			"200": test.plain, "200, Cache-Control: max-age=60": test.cached,
		} {
			if got := x.reply(reply); !strings.HasSuffix(got, " "+reason) || strings.HasPrefix(got, "kept=true") != (reason == "") {
				t.Errorf("%s: %s would be %s, want %q", test.url, reply, got, reason)
			}
		}
		e.get(test.url, fields...)
		var lines []string
		for _, line := range o.Fields {
			lines = append(lines, sentLine(line))
		}
		sameLines(t, fieldsOf(app.last(t), "X-Request-Id", "Traceparent"), lines...)
	}
	x := e.explained("/listed", fields...)
	key := fmt.Sprint(len(x.Key.Parts), x.Key.Parts[0].Name, *x.Key.Parts[0].Value, x.Key.Parts[1].Value == nil, x.Key.Parts[2].Kind, *x.Key.Parts[2].Value)
	if key != "3langpttrueheaderpt" {
		t.Errorf("key is %s: %+v", key, x.Key)
	}
}

// sentLine is an explained line as fasthttp sends it, for the test's visitor.
func sentLine(line string) string {
	line = strings.ReplaceAll(line, "192.0.2.1", "127.0.0.1")
	return strings.Replace(line, "X-Real-IP:", "X-Real-Ip:", 1)
}

func TestExplainedRules(t *testing.T) {
	e := newEdge(t, withSite(pulling), withApp(t, func(http.ResponseWriter, *http.Request) {}),
		withRule(Rule{Paths: []string{"/a*", "/b"}, Cache: &Lifetime{For: time.Hour}, Expires: ptr(48 * time.Hour)}),
		withRule(Rule{Paths: []string{"/c"}, Internal: ptr(true)}),
		withRule(Rule{Paths: []string{"/a/*"}, Cache: &Lifetime{Off: true}}))
	e.get("/") // a server that never served cannot be stopped
	x := e.explained("/%61/./x?utm_source=1&b=2", "X-Forwarded-Proto: https")
	if want := "http://" + testHost + "/a/x?b=2"; x.URL != want || x.Site.Where != "test.toml:1" {
		t.Errorf("URL %s at %s, want %s", x.URL, x.Site.Where, want)
	}
	want := []ExplainedRule{
		{"test.toml:100", []string{"/a*", "/b"}, []ExplainedSetting{{"cache", `"1h"`, "test.toml:102"}, {"expires", `"2d"`, ""}}},
		{"test.toml:102", []string{"/a/*"}, []ExplainedSetting{{"cache", `"off"`, ""}}},
	}
	if !reflect.DeepEqual(x.Rules, want) {
		t.Errorf("rules are %+v, want %+v", x.Rules, want)
	}
	if x, err := e.Explain(ExplainRequest{URL: "HTTPS://Www.Example.com:443"}); err != nil || x.URL != "https://www.example.com/" {
		t.Errorf("%s %v", x.URL, err)
	}
}

// TestEverySettingIsExplained: a rule that sets one field has one setting.
func TestEverySettingIsExplained(t *testing.T) {
	typ := reflect.TypeFor[Rule]()
	explained := 0
	for i := range typ.NumField() {
		f := typ.Field(i)
		if f.Name == "Where" || f.Name == "Paths" {
			continue
		}
		var r Rule
		v := reflect.ValueOf(&r).Elem().Field(i)
		if f.Type.Kind() == reflect.Slice {
			v.Set(reflect.MakeSlice(f.Type, 0, 0))
		} else {
			v.Set(reflect.New(f.Type.Elem()))
		}
		n := 0
		for _, row := range ruleSettings {
			if value, set := row.value(&r); set {
				n++
				if value == "" {
					t.Errorf("%s: no value", row.name)
				}
			}
		}
		if n != 1 {
			t.Errorf("%s: %d settings, want 1", f.Name, n)
		}
		explained += n
	}
	if explained != len(ruleSettings) {
		t.Errorf("%d settings for %d rows", explained, len(ruleSettings))
	}
}

func TestExplainedValues(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{explainTime(0), `"0s"`},
		{explainTime(90 * time.Minute), `"1h30m"`},
		{explainTime(30 * time.Second), `"30s"`},
		{explainTime(10 * time.Minute), `"10m"`},
		{explainTime(72 * time.Hour), `"3d"`},
		{explainTime(1500 * time.Millisecond), `"1.5s"`},
		{explainQuery(QueryFilter{Mode: QueryAll}), `"all"`},
		{explainQuery(QueryFilter{Mode: QueryNone}), `"none"`},
		{explainQuery(QueryFilter{Mode: QueryKeep, Names: []string{"a"}, Sort: true}), `{keep = ["a"], sort = true}`},
		{explainQuery(QueryFilter{Mode: QueryAll, Sort: true}), `{sort = true}`},
		{explainCookies(Cookies{Mode: CookiesListed, Names: []string{"a", "b"}}), `["a", "b"]`},
		{explainSetCookie(pagecache.CookiePolicy{Keep: []string{"*"}}), `{keep = ["*"]}`},
		{explainHeaders(HeaderEdits{Set: []Field{{"A", "b"}}, Remove: []string{"C"}}), `{set = {A = "b"}, remove = ["C"]}`},
	} {
		if test.got != test.want {
			t.Errorf("%s, want %s", test.got, test.want)
		}
	}
}

func TestExplainRefuses(t *testing.T) {
	e := newEdge(t, withSite(func(s *Site) { s.Hosts = []string{testHost} }))
	e.get("/") // a server that never served cannot be stopped
	for _, test := range []struct {
		url    string
		fields []string
		reason string
	}{
		{"", nil, "no http URL"},
		{"towns", nil, "no http URL"},
		{"ftp://" + testHost + "/", nil, "no http URL"},
		{"/towns", nil, "want one host, got 0"},
		{"http://" + testHost + "/", []string{"Host: " + testHost}, "want one host, got 2"},
		{"http:///a", nil, "want one host, got 0"},
		{"http://" + testHost + "/a b", nil, "a space or control character"},
		{"http://" + testHost + "/\r\nX: y", nil, "a space or control character"},
		{"http://" + testHost + "/%zz", nil, "malformed escape"},
		{"http://" + testHost + "/../a", nil, "above the root"},
		{"http://" + testHost + "/#top", nil, "fragment"},
		{"http://user@" + testHost + "/", nil, "refused with 400"},
		{"http://other.example/", nil, "visitors get 421"},
		{"http://" + testHost + "/", []string{"Cookie"}, "no field"},
		{"http://" + testHost + "/", []string{"A: b\r\nC: d"}, "no field"},
		{"http://" + testHost + "/", []string{"A b: c"}, "no field"},
		{"http://" + testHost + "/", []string{"Content-Length: x"}, "refused with 400"},
	} {
		_, err := e.Explain(ExplainRequest{URL: test.url, Fields: test.fields})
		bad, ok := errors.AsType[*BadExplain](err)
		if !ok || !strings.Contains(bad.Reason, test.reason) || bad.Cure == "" {
			t.Errorf("%q %q: %v, want %q", test.url, test.fields, err, test.reason)
		}
	}
}
