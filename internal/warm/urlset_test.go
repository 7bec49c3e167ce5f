package warm

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"testing"
)

// gz compresses with real gzip.
func gz(t testing.TB, s string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(s)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// scanned gives what a sitemap names, one a line, and the error with its line.
func scanned(src string, limit int64) string {
	var b strings.Builder
	line, err := scanSitemap(strings.NewReader(src), limit, func(l loc) bool {
		fmt.Fprintf(&b, "%d %q", l.line, l.text)
		if l.index {
			b.WriteString(" index")
		}
		b.WriteString("\n")
		return true
	})
	if err != nil {
		fmt.Fprintf(&b, "%d error: %v\n", line, err)
	}
	return b.String()
}

const namespace = ` xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"`

func TestScanSitemap(t *testing.T) {
	f := func(name, src, want string) {
		t.Helper()
		if got := scanned(src, 1<<20); got != want {
			t.Errorf("%s: got\n%swant\n%s", name, got, want)
		}
	}
	f("plain", `<?xml version="1.0" encoding="UTF-8"?>
<urlset`+namespace+`>
  <url><loc>http://a/1</loc><lastmod>2024-01-01</lastmod></url>
  <url>
    <priority>0.5</priority>
    <loc>http://a/2</loc>
  </url>
</urlset>`, "3 \"http://a/1\"\n6 \"http://a/2\"\n")
	f("entities, CDATA, white space, comments",
		"<urlset><url><loc>http://a/?a=1&amp;b=2&#x26;c&#61;3</loc></url>\n<url><loc>\n\t <![CDATA[ http://a/?a=1&b=<2> ]]>\r\n</loc></url>\n<url><loc>http://a<!-- x -->/b<![CDATA[&]]>c</loc></url></urlset>",
		"1 \"http://a/?a=1&b=2&c=3\"\n2 \"http://a/?a=1&b=<2>\"\n5 \"http://a/b&c\"\n")
	f("an ampersand alone", "<urlset><url><loc>http://a/?a=1&b=2&copy=3&&lt=4</loc></url></urlset>",
		"1 \"http://a/?a=1&b=2&copy=3&&lt=4\"\n")
	f("index", "<sitemapindex"+namespace+">\n<sitemap><loc>http://a/s.xml</loc></sitemap>\n</sitemapindex>", "2 \"http://a/s.xml\" index\n")
	f("prefixes", `<s:urlset xmlns:s="http://www.google.com/schemas/sitemap/0.84"><s:url><s:loc>http://a/</s:loc></s:url></s:urlset>`, "1 \"http://a/\"\n")
	f("extensions are no pages", `<urlset`+namespace+` xmlns:i="image" xmlns:x="http://www.w3.org/1999/xhtml">
<url><loc>http://a/</loc><i:image><i:loc>http://a/i.png</i:loc></i:image><i:loc>http://a/j.png</i:loc>
<x:link rel="alternate" hreflang="de" href="http://a/de"/><url><loc>http://a/inner</loc></url></url>
<loc>http://a/astray</loc><i:url><loc>http://a/i</loc></i:url></urlset>`, "2 \"http://a/\"\n")
	f("each loc", "<urlset><url><loc>http://a/1</loc><loc>http://a/2</loc></url></urlset>", "1 \"http://a/1\"\n1 \"http://a/2\"\n")
	f("BOM", utf8BOM+"<urlset><url><loc>http://a/ü</loc></url></urlset>", "1 \"http://a/ü\"\n")
	f("BOM and declaration", utf8BOM+"<?xml version='1.0' encoding='utf-8'?><urlset><url><loc>x</loc></url></urlset>", "1 \"x\"\n")
	f("other names of UTF-8", "<?xml version='1.0' encoding='UTF8'?><urlset><url><loc>x</loc></url></urlset>", "1 \"x\"\n")
	f("without loc", "<urlset>\n<url><priority>1</priority></url>\n<url/>\n<url><loc> </loc></url>\n<url><loc/></url></urlset>",
		"2 \"\"\n3 \"\"\n4 \"\"\n5 \"\"\n")
	f("nothing", "<urlset/>", "")
	f("after its end", "<urlset></urlset><urlset><url><loc>x</loc></url></urlset> &", "")
	f("white space before", " \n<urlset>\n<url><loc>x</loc></url></urlset>", "3 \"x\"\n")
	f("too long", "<urlset><url><loc>"+strings.Repeat(" ", maxURL)+"http://a/"+strings.Repeat("x", 3*maxURL)+"</loc></url></urlset>",
		fmt.Sprintf("1 %q\n", "http://a/"+strings.Repeat("x", maxURL-8)))
	f("gzip", gz(t, "<urlset>\n<url><loc>x</loc></url></urlset>"), "2 \"x\"\n")
	f("gzip in two members", gz(t, "<urlset>\n<url><loc>x")+gz(t, "</loc></url></urlset>"), "2 \"x\"\n")
}

func TestScanSitemapErrors(t *testing.T) {
	f := func(name, src, want string) {
		t.Helper()
		if got := scanned(src, 4096); got != want {
			t.Errorf("%s: got\n%.300swant\n%s", name, got, want)
		}
	}
	const page = "<urlset>\n<url><loc>x</loc></url>\n"
	f("empty", "", "1 error: a urlset or sitemapindex is wanted, there is nothing\n")
	f("blank", " \n ", "2 error: a urlset or sitemapindex is wanted, there is nothing\n")
	f("a list", "http://a/\nhttp://b/\n", "1 error: a sitemap in XML is wanted; a list of lines goes in as a list\n")
	f("a page", "<!DOCTYPE html>\n<html>", "2 error: a urlset or sitemapindex is wanted, not \"html\"\n")
	f("a feed", "<rss><channel>", "1 error: a urlset or sitemapindex is wanted, not \"rss\"\n")
	f("cut off", page+"<url><loc>y</lo", "2 \"x\"\n3 error: unexpected EOF\n")
	f("cut off between", page, "2 \"x\"\n3 error: unexpected EOF\n")
	f("latin-1", "<?xml version='1.0' encoding='ISO-8859-1'?>\n<urlset>", "1 error: a sitemap in UTF-8 is wanted, not in \"ISO-8859-1\"\n")
	f("UTF-16", "\xff\xfe<\x00u\x00", "1 error: a sitemap in UTF-8 is wanted, not in \"UTF-16\"\n")
	f("UTF-16, big end first", "\x00<\x00u", "1 error: a sitemap in UTF-8 is wanted, not in \"UTF-16\"\n")
	f("no UTF-8", page+"<url><loc>\xff</loc>", "2 \"x\"\n3 error: invalid UTF-8\n")
	f("too long", page+strings.Repeat("<url/>\n", 1000), scanned(page+strings.Repeat("<url/>\n", 580)+"</urlset>", 1<<20)+"583 error: a sitemap of at most 4096 bytes is wanted\n")
	f("too long once decompressed", gz(t, "<urlset>"+strings.Repeat(" ", 5000)), "1 error: a sitemap of at most 4096 bytes is wanted\n")
	f("too deep", "<urlset>"+strings.Repeat("<a>", 100), "1 error: elements nested deeper than 32\n")
	f("gzip cut off", gz(t, page)[:20], "2 error: unexpected EOF\n")
	f("gzip broken", "\x1f\x8b\x08\x00 nothing of the kind", "1 error: flate: corrupt input before offset 1\n")
	f("gzip of nothing, endlessly", strings.Repeat(gz(t, ""), 400), "1 error: unexpected EOF\n")
	f("entities are not expanded", "<!DOCTYPE u [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><urlset><url><loc>&b;</loc></url></urlset>", "1 \"&b;\"\n")
	for _, src := range []string{"<urlset " + strings.Repeat("a='' ", maxToken/5), "<urlset><!--" + strings.Repeat("x", maxToken), "<urlset><url><loc>" + strings.Repeat("x", maxToken+1)} {
		if got, want := scanned(src, 50<<20), "1 error: a tag, text or comment of at most 1048576 bytes is wanted\n"; got != want {
			t.Errorf("%.20q...: got\n%.300swant\n%s", src, got, want)
		}
	}
}

func TestScanSitemapStops(t *testing.T) {
	n := 0
	_, err := scanSitemap(strings.NewReader("<urlset><url><loc>1</loc></url><url><loc>2</loc></url>"), 1<<20, func(loc) bool {
		n++
		return false
	})
	if n != 1 || err != nil {
		t.Errorf("%d entries, %v, want 1, and no look at the rest", n, err)
	}
}

// FuzzSitemap: no bytes make the scanner panic, hand over text beyond its bounds
// or lines out of order; and compressed they name the same.
func FuzzSitemap(f *testing.F) {
	for _, s := range []string{
		"<urlset><url><loc>http://a/?a&amp;b</loc></url></urlset>",
		"<s:sitemapindex xmlns:s='x'>\n<s:sitemap><s:loc><![CDATA[http://a]]></s:loc></s:sitemap></s:sitemapindex>",
		"<?xml version='1.0' encoding='ascii'?><urlset><url></loc></url></urlset>", "</a><urlset></url><url><loc>x</url></urlset>", utf8BOM,
		"\x1f\x8b", "<!DOCTYPE a [<!ENTITY b 'c'>]><urlset>&b;",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		last := 0
		scanSitemap(strings.NewReader(s), 1<<20, func(l loc) bool {
			if len(l.text) > maxURL+1 || l.text != strings.TrimSpace(l.text) {
				t.Errorf("text %q", l.text)
			}
			if l.line < 1 || l.line < last {
				t.Errorf("line %d after %d", l.line, last)
			}
			last = l.line
			return true
		})
		if strings.HasPrefix(s, "\x1f\x8b") || len(s) > 1<<19 {
			return
		}
		if plain, packed := scanned(s, 1<<20), scanned(gz(t, s), 1<<20); plain != packed {
			t.Errorf("%q: plain\n%scompressed\n%s", s, plain, packed)
		}
	})
}
