package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bradfitz/gomemcache/memcache"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// world is what stands behind the servers under test: one folder of published
// pages, one memcached, one Rails app that writes to both.
type world struct {
	rails     *realtest.RailsServer
	app       *http.Client // straight to Rails
	root      string
	memcached string
	store     *memcache.Client
	session   string // the Cookie field of ann, who is signed in
}

// newWorld starts memcached and Rails, over TCP or a unix socket, and writes
// files of all kinds into the root.
func newWorld(t testing.TB, unix bool) *world {
	t.Helper()
	w := &world{memcached: realtest.Memcached(t).Addr}
	w.rails = realtest.Rails(t, unix, "ORIGIN_MEMCACHED="+w.memcached)
	w.app = realtest.Client(w.rails.Addr)
	w.root = w.rails.Cache
	w.store = memcache.New(w.memcached)
	w.store.Timeout = time.Minute // the machine may be busy
	t.Cleanup(func() {
		w.app.CloseIdleConnections()
		w.store.Close()
	})
	w.session = w.signIn(t, "ann")
	writeTree(t, w.root, published)
	if err := os.Symlink("/etc/hostname", filepath.Join(w.root, "outside.txt")); err != nil {
		t.Fatal(err)
	}
	settle(t)
	return w
}

// origin gives the app's address as ssiedge's configuration has it.
func (w *world) origin() string {
	if strings.HasPrefix(w.rails.Addr, "/") {
		return "unix:" + w.rails.Addr
	}
	return "http://" + w.rails.Addr
}

// upstream gives the app's address as nginx has it.
func (w *world) upstream() string { return strings.TrimPrefix(w.origin(), "http://") }

// published are files of the root that Rails did not write.
var published = map[string]string{
	"images/dot.png":                  "\x89PNG\r\n\x1a\n" + strings.Repeat("\x00\xff\x01dot", 300),
	"images/dot.png.html":             "<p>the page named like the image</p>\n",
	"stylesheets/site.css":            "body { color: #123 }\n/* <!--#echo var=\"uri\" --> */\n",
	"javascripts/app.js":              "document.title = \"<!--#echo var='uri' -->\";\n",
	"humans.txt":                      "by humans <!--# include virtual=\"/humans.txt\" -->\n",
	"data/list.json":                  `{"list": [1, 2, 3]}`,
	"Name with space.txt":             "spaced\n",
	"Café.css":                        "p { color: red }\n",
	"plain.html":                      "<p>no directive in here</p>\n",
	"empty.html":                      "",
	"foot.html":                       "<footer>foot of <!--# echo var=\"uri\" --></footer>\n",
	"foot.inc":                        "v<!--#set var=\"n\" value=\"1\" --><!--#echo var=\"n\" -->",
	"climbing.html":                   "<!--#include virtual=\"/section/../foot.html\" -->",
	"inc.html":                        "<!--#include virtual=\"/foot.inc\" -->",
	"vars.html":                       variables,
	"logic.html":                      logic,
	"includes.html":                   includes,
	"deep/er/relative.html":           "<!--# include virtual=\"side.html\" --><!--# include file=\"side.html\" --><!--# include virtual=\"/foot.html\" -->",
	"deep/er/side.html":               "[side of <!--# echo var=\"document_uri\" -->]",
	"section/index.html":              "<h1>index of the section</h1>\n",
	"broken.html":                     "a<!--#include -->b<!--#include wait=\"yes\" -->c<!--#echo -->d<!--#set var=\"x\" -->e",
	"list.html":                       "<!--#include virtual=\"/plain.html\" file=\"foot.html\" -->",
	".env":                            "SECRET=1\n",
	".well-known/security.txt":        "Contact: mailto:security@example.com\n",
	"page.with.dots.html":             "<p>dots</p>\n",
	"attributes.html":                 "<meta content=\"on <!--#include virtual=\"/plain.html\" -->, at\"><script>var u = '<!--# include virtual='/plain.html' -->';</script>",
	strings.Repeat("n", 200) + ".txt": "a long name\n",
	"download.zip":                    "not really zipped",
	"unclosed-directive-ok.html":      "before <!-- # not one --> <!-- plain comment --> after\n",
}

const variables = `<p><!--#echo var="uri" --> <!--#echo var="request_method" --> <!--#echo var="http_host" --> <!--#echo var="args" default="no args" --></p>
<p><!--#echo var="nobody" --> <!--#echo var="nobody" default="nothing" --> <!--#echo var="arg_name" default="-" --> <!--#echo var="cookie_lang" default="no cookie" --></p>
<!--#set var="shout" value="<b>$arg_name & ${uri}</b>" --><p><!--#echo var="shout" --> <!--#echo var="shout" encoding="none" --> <!--#echo var="shout" encoding="url" --></p>
<!--#config timefmt="%Y" --><p><!--#echo var="date_gmt" --></p>
`

const logic = `<!--#set var="a" value="one" --><!--#if expr="$a = one" -->equal<!--#else -->not<!--#endif -->
<!--#if expr="$a != one" -->unequal<!--#elif expr="$a = /^o(.)e\$/" -->matched<!--#else -->else<!--#endif -->
<!--#if expr="$nobody" -->set<!--#else -->unset<!--#endif -->
<!--#if expr="$http_x_flag = on" -->flag on<!--#else -->flag off<!--#endif -->
<!--#if expr="$a = two" --><!--#include virtual="/fragments/status/500" --><!--#endif -->
`

const includes = `<!--#block name="spare" -->spare text<!--#endblock -->
<p><!--#include virtual="/foot.html" --></p>
<p><!--#include virtual="/fragments/greet?name=A%20%26%20B" --></p>
<p><!--#include virtual="/fragments/greet?name=shown" stub="spare" --></p>
<p><!--#include virtual="/fragments/nested" wait="yes" --></p>
<p><!--#include virtual="/fragments/greet?name=kept" set="kept" -->[<!--#echo var="kept" encoding="none" -->]</p>
<p><!--#include virtual="/data/list.json" --></p>
`

// writeTree writes files below dir.
func writeTree(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// settle waits until what was written before is older than a second, the age
// from which ssiedge takes a file for finished and a missing one for missing.
func settle(t testing.TB) {
	t.Helper()
	written := time.Now()
	realtest.Eventually(t, "files to be a second old", func() bool { return time.Since(written) > 1100*time.Millisecond })
}

// ask sends a request straight to Rails.
func (w *world) ask(t testing.TB, method, target string) string {
	t.Helper()
	r, err := http.NewRequest(method, "http://"+host+target, nil)
	if err != nil {
		t.Fatal(err)
	}
	in, err := w.app.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Body.Close()
	body, err := io.ReadAll(in.Body)
	if err != nil {
		t.Fatal(err)
	}
	if in.StatusCode >= 300 {
		t.Fatalf("the app answers %s %s with %d", method, target, in.StatusCode)
	}
	return string(body)
}

// publish has Rails write a page to disk.
func (w *world) publish(t testing.TB, target string) {
	t.Helper()
	w.ask(t, http.MethodGet, target)
	name, err := url.PathUnescape(target)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(w.root, w.file(name))); err != nil {
		t.Fatalf("Rails did not cache %s: %v", target, err)
	}
}

// file gives the name of the file that caches_page writes for a path.
func (w *world) file(path string) string {
	switch {
	case path == "/":
		return "index.html"
	case filepath.Ext(path) != "": // of St.Louis, too
		return path
	}
	return path + ".html"
}

// remove has no page of this path on disk.
func (w *world) remove(t testing.TB, path string) {
	t.Helper()
	if err := os.Remove(filepath.Join(w.root, w.file(path))); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
}

// signIn gives the Cookie field of somebody who has signed in.
func (w *world) signIn(t testing.TB, user string) string {
	t.Helper()
	in, err := w.app.PostForm("http://"+host+"/login", url.Values{"user": {user}})
	if err != nil {
		t.Fatal(err)
	}
	in.Body.Close()
	if in.StatusCode != http.StatusSeeOther {
		t.Fatalf("the app answers a login with %d", in.StatusCode)
	}
	return answer{header: in.Header}.cookies()
}

// put stores a raw value in memcached.
func (w *world) put(t testing.TB, key, value string, flags uint32) {
	t.Helper()
	if err := w.store.Set(&memcache.Item{Key: key, Value: []byte(value), Flags: flags}); err != nil {
		t.Fatal(err)
	}
}

// forget has memcached hold nothing under key.
func (w *world) forget(t testing.TB, key string) {
	t.Helper()
	if err := w.store.Delete(key); err != nil && err != memcache.ErrCacheMiss {
		t.Fatal(err)
	}
}

// renders says how often the app has answered "GET /path" itself.
func (w *world) renders(t testing.TB, what string) int {
	t.Helper()
	var n int
	if _, after, ok := strings.Cut(w.ask(t, http.MethodGet, "/admin/renders"), fmt.Sprintf("%q:", what)); ok {
		fmt.Sscanf(after, "%d", &n)
	}
	return n
}

// parityConfig is nginx's configuration of 2008 in ssiedge's words.
func (w *world) parityConfig(ssi string) string {
	return fmt.Sprintf(`
[memcache]
servers = [%q]
timeout = "20s"
[[site]]
root = %q
published = "{path}"
[site.origin]
servers = [%q]
[site.ssi]
timeout = "1m"
%s
[[site.rule]]
path = ["/", "/region*", "/mc/*", "/vars"]
query = "none"
[[site.rule]]
path = ["/images/*", "/javascripts/*", "/stylesheets/*"]
expires = "10y"
`, w.memcached, w.root, w.origin(), ssi)
}

// nginxConfig is the configuration of 2008 as nginx reads it, with the
// "expires" of images, scripts and styles, which it leaves out.
func (w *world) nginxConfig(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(realtest.Shared(t, "rails/nginx.conf.in"))
	if err != nil {
		t.Fatal(err)
	}
	const images = "    location ~ ^/(images|javascripts|stylesheets)/ { expires 10y; try_files $uri @origin; }\n\n    location @origin"
	with := strings.Replace(string(text), "    location @origin", images, 1)
	return strings.NewReplacer("@ORIGIN@", w.upstream(), "@ROOT@", w.root, "@MEMCACHED@", w.memcached).Replace(with)
}

// removeFile removes a file below dir.
func removeFile(t testing.TB, dir, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}
