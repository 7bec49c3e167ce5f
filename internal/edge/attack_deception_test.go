package edge

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/ssiedge/ssiedge/pagecache"
)

// loose is an app that serves a visitor's account under any path that some
// framework takes for /account: it undoes escapes (twice), takes backslashes
// for slashes, cuts at delimiters, resolves dots, and ignores what follows. It
// says headers of an answer that it thinks nobody keeps.
type loose struct{ headers []string }

func (l loose) route(target string) string {
	p := target
	for range 2 {
		if q, err := url.PathUnescape(p); err == nil {
			p = q
		}
	}
	p = strings.ReplaceAll(p, "\\", "/")
	for _, delimiter := range []string{"?", "#", "\x00", "\n", "\r", "\t", " ", "!", "$", "~", "@", ",", "|", "^", "<", "{", "%"} {
		p, _, _ = strings.Cut(p, delimiter)
	}
	segments := strings.Split(p, "/")
	for i, s := range segments {
		segments[i], _, _ = strings.Cut(s, ";")
	}
	return path.Clean("/" + strings.ToLower(strings.Join(segments, "/")))
}

func (l loose) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for _, h := range l.headers {
		name, value, _ := strings.Cut(h, ": ")
		w.Header().Add(name, value)
	}
	c, err := r.Cookie("session")
	switch at := l.route(r.RequestURI); {
	case !strings.HasPrefix(at, "/account"):
		io.WriteString(w, "public "+at)
	case err != nil && r.Header.Get("Authorization") == "":
		io.WriteString(w, "please sign in")
	case err != nil:
		io.WriteString(w, "secret of "+r.Header.Get("Authorization"))
	default:
		io.WriteString(w, "secret of "+c.Value)
	}
}

// deceptions are URLs that look like something that everybody gets, and are a
// visitor's own to some app.
var deceptions = []string{
	"/account", "/account/", "/account/x.css", "/account/x.js", "/account.css", "/account/a/b/c.png", "/account/.css", "/account/x.CSS", "/account/x.avif", "/account/x.ico", "/account/robots.txt",
	"/account;x.css", "/account;.css", "/account/;x.css", "/account%3bx.css", "/account%3Bx.css", "/account;jsessionid=1.css",
	"/account%00.css", "/account%00x.css", "/account%0ax.css", "/account%0A.css", "/account%0d%0ax.css", "/account%09x.css", "/account%20x.css", "/account%20.css",
	"/account%2fx.css", "/account%2f.css", "/account%2F..%2fstatic.css", "/account%2f%2e%2e%2fstatic%2fx.css", "/account/..%2fstatic/x.css", "/account/%2e%2e%2fstatic/x.css",
	"/account%3f.css", "/account%3fx.css", "/account%3Fname=x.css", "/account%23.css", "/account%23x.css", "/account?x.css", "/account?/x.css", "/account?a=b/x.css", "/account#x.css",
	"/account!x.css", "/account$x.css", "/account~x.css", "/account@x.css", "/account,x.css", "/account|x.css", "/account^x.css", "/account%7cx.css", "/account%5ex.css", "/account%21x.css", "/account%24x.css", "/account%2cx.css", "/account%40x.css", "/account%7bx.css",
	"/static/..%2faccount", "/static/..%2Faccount/x.css", "/static/%2e%2e/account", "/static/%2e%2e%2faccount", "/static/../account", "/static/..;/account", "/static/..%3b/account", "/static/..%5caccount", "/static/..\\account", "/static/..%5Caccount/x.css", "/static/.%2e/account", "/static//..//account",
	"/static/%252e%252e/account", "/static/..%252faccount", "/static/..%252faccount.css", "/account%252fx.css", "/account%253bx.css", "/account%2500.css",
	"//account/x.css", "/./account/x.css", "/x/../account/x.css", "/account//x.css", "/account/./x.css", "/ACCOUNT/x.css", "/Account/x.css", "/%61ccount/x.css", "/account/%78.css", "/account./x.css", "/account.", "/account../x.css", "/account/x.css.",
	"/account/x.css?utm_source=1", "/account/x.css?gclid=1", "/account\\x.css", "/account%5cx.css", "/account%5c..%5cstatic.css", "/account/%5c../static.css", "/account/x.css/", "/account/x.css//", "/account%u002fx.css", "/account/x%2ecss", "/account%2ecss", "/account%2Ecss",
	"/account/favicon.ico", "/account/sitemap.xml", "/account/index.html", "/account/x.woff2?v=1", "/account/x.css;.html", "/account.html", "/account.json", "/account.js?callback=x",
}

// deceived has a victim follow each link, then asks for it as the attacker who
// sent it: as nobody, with a session of his own, and with a name of his own.
func deceived(t *testing.T, e *testEdge, victim string) {
	t.Helper()
	for _, link := range deceptions {
		e.get(link, victim)
		for _, attacker := range []string{"X-Nobody: 1", "Cookie: session=mallory", "Authorization: mallory"} {
			if a := e.get(link, attacker); strings.Contains(a.body, "victim") {
				t.Errorf("%s gives %q the victim's %q: %s", link, attacker, a.body, a.Header.Get("Cache-Status"))
			}
		}
	}
}

// Web cache deception: the app's page of the victim under a URL that the edge
// might take for a file's. Nothing is kept by the look of its URL; a rule that
// keeps by it has the app asked as nobody.
func TestAttackCacheDeception(t *testing.T) {
	static := []string{"*.css", "*.js", "*.png", "*.ico", "*.avif", "*.txt", "*.xml", "*.html", "*.json", "*.woff2", "/static/*", "/account*"}
	for name, headers := range map[string][]string{
		"nothing said": nil, "max-age": {"Cache-Control: max-age=3600"}, "last-modified": {"Last-Modified: Thu, 01 Jan 2015 00:00:00 GMT"},
		"must-revalidate": {"Cache-Control: max-age=3600, must-revalidate"}, "validated": {"Cache-Control: no-cache", "Etag: \"1\""},
	} {
		for config, change := range map[string]func(*Options){
			"as the app says":             func(*Options) {},
			"a rule by names":             withRule(forAnHour(static...)),
			"a rule by names, one cookie": withRule(Rule{Paths: static, Cache: &Lifetime{For: time.Hour}, Cookies: &Cookies{Mode: CookiesListed, Names: []string{"lang"}}}),
			"its session is in the key":   withRule(Rule{Paths: static, Cache: &Lifetime{For: time.Hour}, Cookies: &Cookies{Mode: CookiesListed, Names: []string{"session"}}}),
			"cookies are stripped":        withRule(Rule{Paths: static, SetCookie: &pagecache.CookiePolicy{Strip: true}}),
			"negative and heuristic":      withSite(func(s *Site) { s.Cache.Negative, s.Cache.Heuristic = time.Hour, true }),
		} {
			t.Run(name+"/"+config, func(t *testing.T) {
				e := newEdge(t, keepingPages(), withApp(t, loose{headers}.ServeHTTP), change)
				deceived(t, e, "Cookie: lang=pt; session=victim; a=b")
			})
		}
	}
	e := newEdge(t, keepingPages(), withApp(t, loose{[]string{"Cache-Control: max-age=3600"}}.ServeHTTP), withRule(Rule{Paths: []string{"/static/*"}, Cache: &Lifetime{For: time.Hour}}))
	deceived(t, e, "Authorization: victim")
}

// Deception by an app's published pages: a victim's page is never a file of
// another name.
func TestAttackDeceptionOfPublishedPages(t *testing.T) {
	e := newEdge(t, keepingPages(), withApp(t, loose{}.ServeHTTP), withFiles(t, map[string]string{
		"static/x.css": "css", "index.html": "home", "account.html.orig": "left over", ".env": "secret of victim", "static/.htpasswd": "secret of victim",
	}))
	deceived(t, e, "Cookie: session=victim")
	for _, target := range []string{"/.env", "/%2eenv", "/static/../.env", "/static/.htpasswd", "/static/%2ehtpasswd", "/static%2f.htpasswd", "/x/..%2f.env", "/.env%00.css", "/.env;x.css", "/.env/", "//.env", "/static/x.css/../../.env"} {
		if a := e.get(target); strings.Contains(a.body, "victim") {
			t.Errorf("%s: %q", target, a.body)
		}
	}
}

// A rule for some paths is not escaped by writing them otherwise: cache = "off"
// and internal hold however the path is spelt, if the app is asked for it.
func TestAttackRuleEscape(t *testing.T) {
	e, app := newPulling(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "public, max-age=3600")
		fmt.Fprint(w, "app")
	}, withRule(Rule{Paths: []string{"/off/*"}, Cache: &Lifetime{Off: true}}), withRule(Rule{Paths: []string{"/internal/*"}, Internal: ptr(true)}))
	for _, dir := range []string{"off", "internal"} {
		for _, written := range []string{
			"/%s/a", "//%s/a", "/./%s/a", "/x/../%s/a", "/%s//a", "/%%2e/%s/a", "/x/%%2e%%2e/%s/a", "/%s/./a", "/%s/x/../a", "///%s///a/", "/%s/%%61", "http://" + testHost + "/%s/a", "http://" + testHost + "//%s/a",
		} {
			target := fmt.Sprintf(written, dir)
			before := len(app.requests())
			for range 2 {
				if a := e.get(target); dir == "internal" && a.StatusCode != 404 || strings.Contains(a.Header.Get("Cache-Status"), "hit") {
					t.Errorf("%s: %d, %s", target, a.StatusCode, a.Header.Get("Cache-Status"))
				}
			}
			if n := len(app.requests()) - before; n != map[string]int{"off": 2, "internal": 0}[dir] {
				t.Errorf("%s: the app was asked %d times", target, n)
			}
		}
	}
	// What does not match is asked for in a form that no app should take for
	// the other; one that does (see loose) is the app's own hole.
	for _, target := range []string{"/internal%2fa", "/INTERNAL/a", "/internal;/a", "/internal%5ca"} {
		e.get(target)
		for _, r := range app.requests() {
			if strings.HasPrefix(r.RequestURI, "/internal/") {
				t.Errorf("%s came as %s", target, r.RequestURI)
			}
		}
	}
}
