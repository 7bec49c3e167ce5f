package pagecache

import (
	"bytes"
	"strings"
	"testing"
)

func TestValidateKey(t *testing.T) {
	for _, good := range []string{"{path}", "{raw_path}", ":1:{path}", "{scheme}://{host}{raw_path}?{query}", "100% {path}", "}{path}}", "{path}{path}", "ключ{path}"} {
		if err := ValidateKey(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for bad, cure := range map[string]string{
		"":                                  `"{path}"`,
		"{pth}":                             "one of {path} {raw_path} {query} {host} {scheme}",
		"{path":                             "}",
		"{path}{":                           "}",
		"{}{path}":                          "one of {path}",
		"{PATH}":                            "one of {path}",
		"{{path}":                           "one of {path}",
		"home":                              "add {path} or {raw_path}",
		"{host}?{query}":                    "add {path} or {raw_path}",
		"\x7f{path}":                        "0x7f",
		strings.Repeat("x", 251) + "{path}": "at most 250",
		strings.Repeat("% ", 50) + "{path}": "at most 250", // escaped it is longer
	} {
		err := ValidateKey(bad)
		if err == nil || !strings.Contains(err.Error(), cure) {
			t.Errorf("%q: error %v, want %q in it", bad, err, cure)
		}
	}
}

// Escaping is that of nginx's memcached_pass: bytes up to the space, and "%".
// What is escaped already is not escaped again.
func TestKeys(t *testing.T) {
	k := PublishedKey{
		Path:    []byte("/mc/São Paulo/50%\x01"),
		RawPath: []byte("/mc/S%C3%A3o%20Paulo/50%25%01"),
		Query:   []byte("q=a%20b&c=\x02"),
		Host:    []byte("www.example.com:8080"),
		Scheme:  "https",
	}
	for template, want := range map[string]string{
		"{path}":           "/mc/São%20Paulo/50%25%01",
		"{raw_path}":       "/mc/S%C3%A3o%20Paulo/50%25%01",
		"{query}|{path}":   "q=a%20b&c=%02|/mc/São%20Paulo/50%25%01",
		"{host}{raw_path}": "www.example.com:8080/mc/S%C3%A3o%20Paulo/50%25%01",
		"{scheme}:{path}":  "https:/mc/São%20Paulo/50%25%01",
		":1:{raw_path}":    ":1:/mc/S%C3%A3o%20Paulo/50%25%01",
		"100% sure:{path}": "100%25%20sure:/mc/São%20Paulo/50%25%01",
		"\t\xff{path}}":    "%09\xff/mc/São%20Paulo/50%25%01}",
		"{path}{path}":     "/mc/São%20Paulo/50%25%01/mc/São%20Paulo/50%25%01",
	} {
		tmpl, err := parseKey(template)
		if err != nil {
			t.Errorf("%q: %v", template, err)
			continue
		}
		if got := tmpl.appendKey([]byte("before"), &k); string(got) != "before"+want {
			t.Errorf("%q: key %q, want %q", template, got, want)
		}
		if tmpl.query != strings.Contains(template, "{query}") {
			t.Errorf("%q: names the query: %v", template, tmpl.query)
		}
	}
}

func TestValidKey(t *testing.T) {
	for key, want := range map[string]bool{
		"": false, "/a": true, strings.Repeat("k", 250): true, strings.Repeat("k", 251): false, "/a\x7f": false, "/S\xc3\xa3o": true,
	} {
		if got := validKey([]byte(key)); got != want {
			t.Errorf("%.20q: %v", key, got)
		}
	}
}

// Whatever the template and the path, a key that is asked for is one that
// memcached can read, and never two words of its protocol.
func FuzzKey(f *testing.F) {
	f.Add("{path}", "/a b", "/a%20b", "q=1")
	f.Add(":1:{raw_path}?{query}", "/\r\n\x00%", "/%0D%0A%00%25", "\r\nflush_all")
	f.Fuzz(func(t *testing.T, template, path, raw, query string) {
		tmpl, err := parseKey(template)
		if err != nil {
			return
		}
		k := PublishedKey{Path: []byte(path), RawPath: []byte(raw), Query: []byte(query)}
		key := tmpl.appendKey(nil, &k)
		if !validKey(key) {
			return
		}
		if bytes.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
			t.Errorf("%q: key %q", template, key)
		}
	})
}

// A valid path names something below the root in every pattern, and is cleaned
// to itself.
func FuzzValidPath(f *testing.F) {
	for _, s := range []string{"/", "/a", "/a/", "/../x", "/.well-known/x", "//", "/a\x00", "/.well-known/..", "a"} {
		f.Add(s)
	}
	order, err := newTry(append(DefaultTry(), "sub{path}.html"))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if !validPath([]byte(path)) {
			return
		}
		for _, p := range order.order([]byte(path)) {
			name := string(p.appendName(nil, []byte(path)))
			if name[0] != '/' || strings.IndexByte(name, 0) != len(name)-1 {
				t.Fatalf("%q: name %q", path, name)
			}
			for segment := range strings.SplitSeq(name[1:len(name)-1], "/") {
				dot := strings.HasPrefix(segment, ".") && !strings.HasPrefix(path, "/.well-known/")
				if segment == "" || segment == "." || segment == ".." || dot {
					t.Fatalf("%q: name %q", path, name)
				}
			}
		}
	})
}

func TestTypeByName(t *testing.T) {
	for name, want := range map[string]string{
		"/a.html": typeHTML, "/a.htm": typeHTML, "/a.shtml": typeHTML, "/foot.inc": typeHTML, "/a.ssi": typeHTML,
		"/a": typeHTML, "/": typeHTML, "": typeHTML, "/St.Louis": typeHTML, "/a.css/b": typeHTML, "/v1.2": typeHTML, "/a.": typeHTML, "/a.css/": typeHTML,
		"/a.css": "text/css; charset=utf-8", "/a.CSS": "text/css; charset=utf-8", "/a.js": "text/javascript; charset=utf-8",
		"/a.mjs": "text/javascript; charset=utf-8", "/a.json": "application/json; charset=utf-8", "/a.xml": "text/xml; charset=utf-8",
		"/a.svg": "image/svg+xml; charset=utf-8", "/a.txt": "text/plain; charset=utf-8", "/feed.atom": "application/atom+xml; charset=utf-8",
		"/a.jpg": "image/jpeg", "/a.JPEG": "image/jpeg", "/a.png": "image/png", "/a.woff2": "font/woff2", "/a.pdf": "application/pdf",
		"/app.css.gz": "application/gzip", "/app.css.br": "application/octet-stream", "/a.webmanifest": "application/manifest+json; charset=utf-8",
	} {
		if got := TypeByName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	for suffix, mediaType := range mediaTypes {
		if suffix != strings.ToLower(suffix) || len(suffix) > longestSuffix || TypeByName("/x."+suffix) != mediaType {
			t.Errorf("suffix %q is not found", suffix)
		}
		text := strings.HasPrefix(mediaType, "text/") || strings.Contains(mediaType, "json") || strings.Contains(mediaType, "xml;")
		if text && !strings.HasSuffix(mediaType, "; charset=utf-8") {
			t.Errorf("suffix %q: %q is a text without a charset", suffix, mediaType)
		}
	}
}
