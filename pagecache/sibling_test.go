package pagecache

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// sibling gives the body of a page's precompressed copy, or "none".
func (s *site) sibling(path, coding string) string {
	s.t.Helper()
	h, ok := s.Get([]byte(path), false)
	if !ok {
		s.t.Fatalf("%s: no page", path)
	}
	sib, ok := s.Sibling(h, coding)
	if !ok {
		return "none"
	}
	return bodyOf(s.t, sib)
}

func TestSiblings(t *testing.T) {
	s := newSite(t, FilesOptions{}, "a.html=page", "a.html.br=br", "a.html.zst=zst", "a.html.gz=gz",
		"app.css=css", "app.css.gz=css gz", "plain.html=plain", "empty.html=e", "empty.html.gz=", "dir.html=d", "dir.html.gz/x=x")
	for coding, want := range map[string]string{"br": "br", "zstd": "zst", "gzip": "gz", "deflate": "none", "": "none", "identity": "none"} {
		for range 2 {
			if got := s.sibling("/a", coding); got != want {
				t.Errorf("%q: %q, want %q", coding, got, want)
			}
		}
	}
	for path, want := range map[string]bool{"/a": true, "/app.css": true, "/plain": false, "/empty": false, "/dir": false} {
		h, _ := s.Get([]byte(path), false)
		if got := s.HasSiblings(h); got != want {
			t.Errorf("%s has siblings: %v", path, got)
		}
		if got := s.sibling(path, "gzip"); (got != "none") != want {
			t.Errorf("%s: gzip gives %q", path, got)
		}
	}
	if s.HasSiblings(Hit{}) || s.HasSiblings(Hit{Page: testPage("from elsewhere")}) {
		t.Error("a page that is no file has siblings")
	}
	if _, ok := s.Sibling(Hit{Page: testPage("from elsewhere")}, "gzip"); ok {
		t.Error("a page that is no file has a sibling")
	}
}

func TestSiblingHead(t *testing.T) {
	s := newSite(t, FilesOptions{}, "app.css=same size", "app.css.gz=SAME SIZE")
	at := time.Date(2024, 5, 1, 12, 0, 0, 5, time.UTC)
	s.dated("app.css", at)
	s.dated("app.css.gz", at)
	page, _ := s.Get([]byte("/app.css"), false)
	sib, ok := s.Sibling(page, "gzip")
	if !ok || sib.Memory {
		t.Fatalf("%v %+v", ok, sib)
	}
	want := "HTTP/1.1 200 OK\r\nContent-Type: text/css; charset=utf-8\r\nContent-Encoding: gzip\r\nVary: Accept-Encoding\r\n" +
		"Last-Modified: Wed, 01 May 2024 12:00:00 GMT\r\nETag: " + fmt.Sprintf(`"%x-9-gzip"`, at.UnixNano()) + "\r\nAccept-Ranges: bytes\r\n\r\n"
	if string(sib.Page.Head) != want {
		t.Errorf("head %q, want %q", sib.Page.Head, want)
	}
	if sib.Page.ETag == page.Page.ETag || sib.Page.Type != page.Page.Type || sib.Page.Name != "/app.css.gz" {
		t.Errorf("sibling %+v of %+v", sib.Page, page.Page)
	}
	if again, ok := s.Sibling(page, "gzip"); !ok || !again.Memory || again.Page != sib.Page {
		t.Errorf("second: %v %+v", ok, again)
	}
}

// A copy that was made of an older page is a leftover.
func TestSiblingOlderThanThePage(t *testing.T) {
	at := time.Date(2024, 5, 1, 12, 0, 10, 0, time.UTC)
	for _, c := range []struct {
		page, sibling time.Duration
		want          bool
	}{
		{0, 0, true}, {0, time.Hour, true}, {0, -time.Second, true}, {0, -2 * time.Second, false}, {0, -time.Hour, false},
		{999 * time.Millisecond, -time.Second, true}, // whole seconds are compared: gzip keeps no others
		{999 * time.Millisecond, -time.Second - 1, false},
	} {
		s := newSite(t, FilesOptions{}, "a.html=page", "a.html.gz=gz")
		s.dated("a.html", at.Add(c.page))
		s.dated("a.html.gz", at.Add(c.sibling))
		h, _ := s.Get([]byte("/a"), false)
		if _, ok := s.Sibling(h, "gzip"); ok != c.want || s.HasSiblings(h) != c.want {
			t.Errorf("page %v, copy %v: found %v", c.page, c.sibling, ok)
		}
	}
}

func TestSiblingsSeeChanges(t *testing.T) {
	s := newSite(t, FilesOptions{}, "a.html=page")
	if got := s.sibling("/a", "gzip"); got != "none" {
		t.Errorf("none yet: %q", got)
	}
	s.write("a.html.gz", "one")
	if got := s.sibling("/a", "gzip"); got != "none" {
		t.Errorf("remembered for a second: %q", got)
	}
	s.clock.advance(time.Second)
	if got := s.sibling("/a", "gzip") + s.sibling("/a", "br"); got != "onenone" {
		t.Errorf("after a second: %q", got)
	}
	s.write("a.html.gz", "two")
	if got := s.sibling("/a", "gzip"); got != "two" {
		t.Errorf("changed, at once: %q", got)
	}
	s.dated("a.html", time.Now().Add(30*time.Second)) // the page is newer now
	if got := s.sibling("/a", "gzip"); got != "none" {
		t.Errorf("older than the changed page: %q", got)
	}
	s.dated("a.html.gz", time.Now().Add(30*time.Second))
	s.clock.advance(time.Second)
	if got := s.sibling("/a", "gzip"); got != "two" {
		t.Errorf("made anew: %q", got)
	}
	s.remove("a.html.gz")
	if got := s.sibling("/a", "gzip"); got != "none" {
		t.Errorf("removed, at once: %q", got)
	}
}

// A copy goes through the same safe opening, waiting and limits as a page.
func TestSiblingIsAFileLikeAnyOther(t *testing.T) {
	s := newSite(t, FilesOptions{MaxKeep: 100}, "a.html=page", "b.html=page", "c.html=page", "b.html.gz="+strings.Repeat("x", 200), "c.html.gz=gz")
	s.link("/etc/passwd", "a.html.gz")
	s.dated("a.html", time.Unix(1, 0))
	if got := s.sibling("/a", "gzip"); got != "none" {
		t.Errorf("outside root: %q", got)
	}
	h, _ := s.Get([]byte("/b"), false)
	sib, ok := s.Sibling(h, "gzip")
	if !ok || sib.File == nil || sib.Page.Body != nil {
		t.Errorf("large: %v %+v", ok, sib)
	} else if len(bodyOf(t, sib)) != 200 {
		t.Error("large: body is not whole")
	}
	s.young("c.html.gz")
	h, _ = s.Get([]byte("/c"), false)
	if sib, ok := s.Sibling(h, "gzip"); !ok || sib.Page.Kept || sib.Memory {
		t.Errorf("young: %v %+v", ok, sib)
	}
}
