package pagecache

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestPublishedDelete(t *testing.T) {
	tests := []struct {
		key  string // template
		of   PublishedKey
		gone string // keys in memcached that go
	}{
		{"{path}", keyOf("/p"), "/p"},
		{"{host}{path}", keyOf("/p"), "www.example.com/p"},
		{"{host}{path}", PublishedKey{Path: []byte("/p")}, ""},
		{"{scheme}{path}", keyOf("/p"), "http/p"},
		{"{scheme}{path}", PublishedKey{Path: []byte("/p")}, "http/p https/p"},
		{"{path}?{query}", PublishedKey{Path: []byte("/p"), Query: []byte("a")}, "/p?a"},
		{"{path}", PublishedKey{Path: []byte("/p"), Query: []byte("a")}, ""},
		{"{path}", PublishedKey{Path: []byte("/" + strings.Repeat("p", 250))}, ""},
	}
	for _, test := range tests {
		s := newShelf(t, PublishedOptions{Keys: []string{test.key, "other:{path}"}}, 1<<20)
		keys := []string{"/p", "/q", "www.example.com/p", "http/p", "https/p", "/p?a", "/p?"}
		for _, key := range keys {
			s.set(key, key)
		}
		if err := s.Delete(test.of); err != nil {
			t.Errorf("%s: %v", test.key, err)
		}
		var gone []string
		for _, key := range keys {
			if _, _, err := s.client.Get(key); err == ErrMiss {
				gone = append(gone, key)
			}
		}
		if got := strings.Join(gone, " "); got != test.gone {
			t.Errorf("%s of %+v: %q is gone, want %q", test.key, test.of, got, test.gone)
		}
	}
}

func TestPublishedDeleteForgetsTheCopy(t *testing.T) {
	s := newShelf(t, PublishedOptions{}, 1<<20)
	s.set("/p", "page")
	if got := text(s.Get(keyOf("/p"))); got != "page" {
		t.Fatalf("got %q", got)
	}
	if err := s.Delete(keyOf("/p")); err != nil {
		t.Fatal(err)
	}
	if got := text(s.Get(keyOf("/p"))); got != "none" {
		t.Errorf("after Delete: %q", got)
	}
	s.set("/p", "new")
	s.clock.advance(time.Second)
	if got := text(s.Get(keyOf("/p"))); got != "new" {
		t.Errorf("published again: %q", got)
	}
	s.server.Stop()
	if err := s.Delete(keyOf("/p")); err == nil || !strings.Contains(err.Error(), `"/p"`) {
		t.Errorf("without memcached: %v, want an error that names the key", err)
	}
	if page, _ := s.Peek(keyOf("/p")); page != nil {
		t.Error("the copy is used although its value was to be deleted")
	}
}

// A value that was asked for before it was deleted, and comes after, is not
// kept.
func TestPublishedDeleteWhileAsking(t *testing.T) {
	s := newShelf(t, PublishedOptions{}, 1<<20)
	s.set("/p", "page")
	proxy := newHoldingProxy(t, s.server.Addr)
	p := s.over(PublishedOptions{}, proxy.addr, patient)
	answer := make(chan string, 1)
	go func() { answer <- text(p.Get(keyOf("/p"))) }()
	<-proxy.held
	if err := p.Delete(keyOf("/p")); err != nil {
		t.Fatal(err)
	}
	close(proxy.release)
	if got := <-answer; got != "page" {
		t.Errorf("who asked before got %q", got)
	}
	if got := text(p.Get(keyOf("/p"))); got != "none" {
		t.Errorf("after Delete: %q", got)
	}
}

// holdingProxy stands before memcached and holds the answers to get back.
type holdingProxy struct {
	addr    string
	held    chan struct{} // one for each answer
	release chan struct{} // closed by the test
}

func newHoldingProxy(t *testing.T, server string) *holdingProxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &holdingProxy{addr: l.Addr().String(), held: make(chan struct{}, 10), release: make(chan struct{})}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			up, err := net.Dial("tcp", server)
			if err != nil {
				c.Close()
				continue
			}
			wg.Go(func() { p.pass(c, up, t.Context().Done()) })
		}
	})
	t.Cleanup(func() { l.Close(); wg.Wait() }) // the client's own Close comes before
	return p
}

// pass passes questions and answers, each small enough to come as one, until
// the client leaves or the test has ended.
func (p *holdingProxy) pass(c, up net.Conn, ended <-chan struct{}) {
	defer c.Close()
	defer up.Close()
	buf := make([]byte, 4096)
	for {
		n, err := c.Read(buf)
		if err != nil {
			return
		}
		asks := bytes.HasPrefix(buf[:n], []byte("get"))
		if _, err := up.Write(buf[:n]); err != nil {
			return
		}
		if n, err = up.Read(buf); err != nil {
			return
		}
		if asks {
			p.held <- struct{}{}
			select {
			case <-p.release:
			case <-ended:
				return
			}
		}
		if _, err := c.Write(buf[:n]); err != nil {
			return
		}
	}
}

func TestFilesRemove(t *testing.T) {
	tests := []struct {
		path  string
		exact bool
		name  string
		gone  string // files
	}{
		{"/a", false, "/a.html", "a.html a.html.br a.html.gz"},
		{"/a", true, "", ""},
		{"/a.html", true, "/a.html", "a.html a.html.br a.html.gz"},
		{"/d", false, "/d/index.html", "d/index.html"},
		{"/", false, "/index.html", "index.html"},
		{"/none", false, "", ""},
		{"/../out", false, "", ""},
		{"/.hidden", false, "", ""},
		{"relative", false, "", ""},
	}
	files := []string{"a.html", "a.html.br", "a.html.gz", "d/index.html", "index.html", ".hidden.html", "../out.html"}
	for _, test := range tests {
		s := newSite(t, FilesOptions{Check: time.Hour}, files...)
		for _, file := range files {
			s.dated(file, time.Now().Add(-time.Hour))
		}
		s.Get([]byte("/a.html"), false)
		if h, ok := s.Get([]byte(test.path), test.exact); ok != (test.name != "") {
			t.Fatalf("%s: %+v, %v", test.path, h, ok)
		}
		name, err := s.Remove([]byte(test.path), test.exact)
		if name != test.name || err != nil {
			t.Errorf("%s: removed %q, %v, want %q", test.path, name, err, test.name)
		}
		var gone []string
		for _, file := range files {
			if _, err := os.Lstat(filepath.Join(s.dir, file)); err != nil {
				gone = append(gone, file)
			}
		}
		if got := strings.Join(gone, " "); got != test.gone {
			t.Errorf("%s: %q is gone, want %q", test.path, got, test.gone)
		}
		if _, ok := s.Get([]byte(test.path), test.exact); ok {
			t.Errorf("%s is still found", test.path)
		}
		if _, ok := s.Get([]byte("/a.html"), false); ok != !strings.Contains(test.gone, "a.html ") {
			t.Errorf("%s: /a.html is found: %v", test.path, ok)
		}
	}
}

func TestFilesRemoveNeverOutside(t *testing.T) {
	outside := t.TempDir()
	for _, name := range []string{"s.html", "d.html"} {
		if err := os.WriteFile(filepath.Join(outside, name), []byte("shared"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s := newSite(t, FilesOptions{Links: []string{outside}})
	s.link(filepath.Join(outside, "s.html"), "link.html")
	s.link(outside, "dir")
	if name, err := s.Remove([]byte("/link"), false); name != "/link.html" || err != nil {
		t.Errorf("of a link: %q, %v, want the link removed", name, err)
	}
	if _, err := os.Lstat(s.path("link.html")); err == nil {
		t.Error("the link is still there")
	}
	if name, err := s.Remove([]byte("/dir/d"), false); name != "/dir/d.html" || err == nil {
		t.Errorf("of a file outside: %q, %v, want its name and an error", name, err)
	}
	for _, name := range []string{"s.html", "d.html"} {
		if _, err := os.Stat(filepath.Join(outside, name)); err != nil {
			t.Errorf("outside root: %v", err)
		}
	}
}
