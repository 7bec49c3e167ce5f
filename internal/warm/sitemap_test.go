package warm

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func index(urls ...string) string {
	return "<sitemapindex><sitemap><loc>" + strings.Join(urls, "</loc></sitemap>\n<sitemap><loc>") + "</loc></sitemap></sitemapindex>"
}

func urlset(urls ...string) string {
	return "<urlset><url><loc>" + strings.Join(urls, "</loc></url>\n<url><loc>") + "</loc></url></urlset>"
}

// newSite serves sitemaps by path; SITE in them is its URL.
func newSite(t *testing.T, files map[string]string) (url string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if to, moved := strings.CutPrefix(body, "moved "); moved {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		body = strings.ReplaceAll(body, "SITE", "http://"+r.Host)
		if strings.HasSuffix(r.URL.Path, ".gz") {
			body = gz(t, body)
		}
		if r.URL.Query().Has("encoded") {
			if r.Header.Get("Accept-Encoding") != "gzip" {
				t.Error("a sitemap is asked for without compression")
			}
			w.Header().Set("Content-Encoding", "gzip")
			body = gz(t, body)
		}
		io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// sitemapEntries runs a source, and puts SITE for site.
func sitemapEntries(t *testing.T, s Source, site string, change func(*limits)) []string {
	t.Helper()
	w := newWarmer(t, Options{Edge: "http://edge.example"})
	if change != nil {
		change(&w.limits)
	}
	f := newFetcher(w)
	defer f.close()
	got := entries(t, s, f)
	for i := range got {
		got[i] = strings.ReplaceAll(got[i], site, "SITE")
	}
	return got
}

func TestSitemaps(t *testing.T) {
	site := newSite(t, map[string]string{
		"/index.xml": index("SITE/one.xml", "SITE/two.gz", "SITE/none.xml", "/relative.xml", "SITE/index.xml", "SITE/one.xml", "SITE/deep.xml", "SITE/broken.xml",
			"SITE/odd.txt", "SITE/moved.xml", "SITE/encoded.xml?encoded", "ftp://a/s.xml", "SITE/%zz"),
		"/one.xml":     urlset("http://a/1?x=1&amp;y=2", "a/2", "https://b:8443/3"),
		"/two.gz":      urlset("http://a/two"),
		"/deep.xml":    index("SITE/deeper.xml"),
		"/deeper.xml":  urlset("http://a/deep"),
		"/broken.xml":  "<urlset><url><loc>http://a/before</loc></url>\n<url><lo",
		"/odd.txt":     "http://a/x\n",
		"/moved.xml":   "moved /new.xml",
		"/new.xml":     urlset("http://a/moved"),
		"/encoded.xml": urlset("http://a/encoded"),
	})
	want := []string{
		"SITE/one.xml:1 a /1?x=1&y=2",
		"bad-entry: SITE/one.xml:2: a/2: an absolute URL is wanted, like https://www.example.com/page",
		"SITE/one.xml:3 b:8443 /3",
		"SITE/two.gz:1 a /two",
		"bad-sitemap: SITE/index.xml:3: SITE/none.xml: status 404, 200 is wanted",
		"bad-sitemap: SITE/index.xml:4: /relative.xml: an absolute URL is wanted, like https://www.example.com/page",
		"SITE/deeper.xml:1 a /deep",
		"SITE/broken.xml:1 a /before",
		"bad-sitemap: SITE/broken.xml:2: unexpected EOF",
		"bad-sitemap: SITE/odd.txt:1: a sitemap in XML is wanted; a list of lines goes in as a list",
		"SITE/moved.xml:1 a /moved",
		"SITE/encoded.xml?encoded:1 a /encoded",
		"bad-sitemap: SITE/index.xml:12: ftp://a/s.xml: an http or https URL is wanted",
		"bad-sitemap: SITE/index.xml:13: SITE/%zz: invalid URL escape \"%zz\"",
	}
	if diff := cmp.Diff(want, sitemapEntries(t, SitemapURL(site+"/index.xml"), site, nil)); diff != "" {
		t.Error(diff)
	}
	file := strings.NewReader(gz(t, index(site+"/two.gz")))
	if diff := cmp.Diff([]string{"SITE/two.gz:1 a /two"}, sitemapEntries(t, SitemapFile("s.xml.gz", file), site, nil)); diff != "" {
		t.Error(diff)
	}
	want = []string{"bad-sitemap: SITE/none: status 404, 200 is wanted"}
	if diff := cmp.Diff(want, sitemapEntries(t, SitemapURL(site+"/none"), site, nil)); diff != "" {
		t.Error(diff)
	}
}

// TestSitemapPassword: it opens the door, and is not printed.
func TestSitemapPassword(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "me" || password != "secret" {
			http.Error(w, "who?", http.StatusUnauthorized)
			return
		}
		io.WriteString(w, urlset("relative"))
	}))
	defer s.Close()
	host := strings.TrimPrefix(s.URL, "http://")
	for password, want := range map[string]string{
		"secret": "bad-entry: http://me:xxxxx@SITE:1: relative: an absolute URL is wanted, like https://www.example.com/page",
		"wrong":  "bad-sitemap: http://me:xxxxx@SITE: status 401, 200 is wanted",
	} {
		if diff := cmp.Diff([]string{want}, sitemapEntries(t, SitemapURL("http://me:"+password+"@"+host), host, nil)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestSitemapBounds(t *testing.T) {
	files := map[string]string{"/8.xml": urlset("http://a/8"), "/many.xml": index("SITE/8.xml", "SITE/7.xml", "SITE/6.xml")}
	for i := range 8 {
		files[fmt.Sprintf("/%d.xml", i)] = index(fmt.Sprintf("SITE/%d.xml", i+1))
	}
	site := newSite(t, files)
	for _, c := range []struct {
		file   string
		change func(*limits)
		want   []string
	}{
		{"/4.xml", nil, []string{"SITE/8.xml:1 a /8"}},
		{"/3.xml", nil, []string{"bad-sitemap: SITE/7.xml:1: SITE/8.xml: sitemaps nested deeper than 4"}},
		{"/many.xml", func(l *limits) { l.sitemaps = 2 }, []string{"SITE/8.xml:1 a /8", "bad-sitemap: SITE/many.xml:2: SITE/7.xml: more than 2 sitemaps: the rest is left out"}},
		{"/8.xml", func(l *limits) { l.bytes = 20 }, []string{"bad-sitemap: SITE/8.xml: a sitemap of at most 20 bytes is wanted"}},
		{"/8.xml", func(l *limits) { l.bytes = int64(len(files["/8.xml"])) }, []string{"SITE/8.xml:1 a /8"}},
	} {
		if diff := cmp.Diff(c.want, sitemapEntries(t, SitemapURL(site+c.file), site, c.change)); diff != "" {
			t.Errorf("%s: %s", c.file, diff)
		}
	}
}
