package pagecache

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestOpenFilesErrors(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	os.WriteFile(file, nil, 0o644)
	for _, c := range []struct {
		o    FilesOptions
		want []string
	}{
		{FilesOptions{Root: filepath.Join(dir, "gone")}, []string{"gone", "no such file", "want a directory"}},
		{FilesOptions{Root: file}, []string{file, "not a directory"}},
		{FilesOptions{Root: dir, Try: []string{"index.html"}}, []string{`"index.html"`, "{path}"}},
	} {
		_, err := OpenFiles(c.o, NewMemory(0), nil)
		for _, w := range c.want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%+v: error %v, want %q in it", c.o, err, w)
			}
		}
	}
}

func TestFilesTry(t *testing.T) {
	s := newSite(t, FilesOptions{},
		"index.html=home", "a.html=a.html", "a=a", "b/index.html=b/index", "b.txt=b.txt", "c=c",
		"images/foo.jpg=jpeg", "images/foo.jpg.html=page of the jpeg", "St.Louis.html=city", "New York.html=ny",
		"São-Paulo.html=sp", "d.html/index.html=a directory has this name", "d=d", "x/y.HTML=upper",
		".well-known/acme/token=t", ".well-known/.dot=dot", "both/index.html=i", "both.html=f", "q?x.html=question",
	)
	s.want("default order",
		"/=home", "/index=home", "/index.html=home", "/a=a.html", "/a.html=a.html", "/b=b/index", "/b.txt=b.txt", "/b/index=b/index",
		"/c=c", "/images/foo.jpg=jpeg", "/St.Louis=city", "/New York=ny", "/São-Paulo=sp", "/d=d", "/d.html=a directory has this name",
		"/x/y.HTML=upper", "/x/y=none", "/x=none", "/nothing=none", "/both=f", "/q?x=question",
		"/.well-known/acme/token=t", "/.well-known/.dot=dot")
	s.want("a slash that was kept is a directory's",
		"/b/=b/index", "/both/=i", "/a/=none", "/c/=none", "/b.txt/=none", "/nothing/=none")
}

func TestFilesTryOptions(t *testing.T) {
	files := []string{"index.html=home", "a.html=plain", "cache/a.html=cached", "cache/index.html=cached home", "cache/b/index.htm=b", "a=itself"}
	for _, c := range []struct {
		try  []string
		want []string
	}{
		{[]string{"cache{path}.html", "{path}.html"}, []string{"/a=cached", "/=home", "/cache/index=cached home"}},
		{[]string{"/cache/{path}.html"}, []string{"/a=cached", "/index=cached home", "/=home"}},
		{[]string{"/cache{path}/index.html", "{path}"}, []string{"/=cached home", "/a=itself", "/a.html=plain"}},
		{[]string{"cache{path}/index.htm"}, []string{"/b=b", "/b/=b", "/=home"}},
		{[]string{"{path}", "{path}.html"}, []string{"/a=itself", "/index=home"}},
		{[]string{}, []string{"/a=none", "/=home"}},
	} {
		s := newSite(t, FilesOptions{Try: c.try}, files...)
		s.want(fmt.Sprint(c.try), c.want...)
	}
}

func TestParsePattern(t *testing.T) {
	for _, good := range append(DefaultTry(), "/{path}", "public/{path}.html", "{path}.cached.html", "a b{path}") {
		if _, err := parsePattern(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"", "index.html", "{path}{path}", "{uri}.html", "{path", "../{path}", "{path}/../x", ".cache{path}.html",
		"{path}/.html", "a//b{path}", "{path}//index.html", "{path}\x00", "{path}/" + strings.Repeat("x", 256)} {
		if _, err := parsePattern(bad); err == nil || !strings.Contains(err.Error(), "{path}.html") {
			t.Errorf("%q: error %v, want one with the cure", bad, err)
		}
	}
}

// O5: the file that a path with a known suffix names is found with one look.
func TestFilesKnownSuffixFirst(t *testing.T) {
	s := newSite(t, FilesOptions{}, "images/foo.jpg=jpeg", "images/foo.jpg.html=html")
	for _, path := range []string{"/images/foo.jpg", "/images/foo.JPG", "/a.css", "/x.html"} {
		if order := s.try.order([]byte(path)); !order[0].exact() || len(order) != 3 {
			t.Errorf("%s: order %q", path, order)
		}
	}
	for _, path := range []string{"/St.Louis", "/images/foo", "/a.css/b", "/v1.2", "/dot.", "/x.abcdefghijklmnop"} {
		if order := s.try.order([]byte(path)); order[0].exact() {
			t.Errorf("%s: order %q", path, order)
		}
	}
	h, ok := s.Get([]byte("/images/foo.jpg"), false)
	if !ok || h.Page.Type != "image/jpeg" || h.Page.Name != "/images/foo.jpg" || h.Page.rank != 0 {
		t.Errorf("found %v, %+v", ok, h.Page)
	}
}

func TestFilesExactOnly(t *testing.T) {
	s := newSite(t, FilesOptions{MaxKeep: 100},
		"index.html=home", "a.html=a", "b/index.html=b", "c=c", "both.html=page", "both=file", "app.css=css", "big="+strings.Repeat("x", 200))
	for path, want := range map[string]bool{
		"/": false, "/index.html": true, "/a": false, "/a.html": true, "/b": false, "/b/": false, "/c": true,
		"/both":    false, // its page is both.html, which may not answer; the file is not its page
		"/app.css": true, "/big": true, "/none": false,
	} {
		for range 2 { // from disk, then from memory
			h, ok := s.Get([]byte(path), true)
			if ok != want {
				t.Errorf("%s with a query: answered %v, want %v", path, ok, want)
			}
			if h.File != nil {
				h.File.Close()
			}
			if s.get(path) == "none" && path != "/none" {
				t.Errorf("%s without a query: none", path)
			}
		}
	}
}

func TestFilesHit(t *testing.T) {
	s := newSite(t, FilesOptions{}, "region/info/Hawaii.html=<p>Aloha</p>", "feed.xml=<rss/>", "empty.html=")
	at := time.Date(2024, 2, 29, 23, 59, 58, 123456789, time.UTC)
	s.dated("region/info/Hawaii.html", at)
	h, ok := s.Get([]byte("/region/info/Hawaii"), false)
	if !ok || h.Memory || h.File != nil {
		t.Fatalf("first: %v %+v", ok, h)
	}
	p := h.Page
	tag := fmt.Sprintf(`"%x-c"`, at.UnixNano())
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n" +
		"Last-Modified: Thu, 29 Feb 2024 23:59:58 GMT\r\nETag: " + tag + "\r\nAccept-Ranges: bytes\r\n\r\n"
	if string(p.Head) != head {
		t.Errorf("head %q, want %q", p.Head, head)
	}
	if p.Status != 200 || string(p.Body) != "<p>Aloha</p>" || p.Length != 12 || p.Type != typeHTML || p.ETag != tag ||
		p.Modified != at.Unix() || p.Name != "/region/info/Hawaii.html" || !p.Kept {
		t.Errorf("page %+v", p)
	}
	again, ok := s.Get([]byte("/region/info/Hawaii"), false)
	if !ok || !again.Memory || again.Page != p {
		t.Errorf("second: %v %+v", ok, again)
	}
	if h, ok := s.Get([]byte("/empty"), false); !ok || h.Page.Body == nil || h.Page.Length != 0 || h.File != nil {
		t.Errorf("an empty old file: %v %+v", ok, h)
	}
	s.want("none", "/none=none", "/none=none")
	if st := s.Stats(); st != (FilesStats{Hits: 1, Misses: 2, Reads: 2}) {
		t.Errorf("stats %+v", st)
	}
}

// A time ahead of the clock is no Last-Modified (RFC 9110, 8.8.2.1).
func TestFilesModifiedAhead(t *testing.T) {
	s := newSite(t, FilesOptions{}, "a.html=a")
	s.dated("a.html", s.clock.now().Add(time.Hour))
	h, ok := s.Get([]byte("/a"), false)
	if !ok || h.Page.Modified != 0 || strings.Contains(string(h.Page.Head), "Last-Modified") || !h.Page.Kept {
		t.Errorf("%v %+v", ok, h.Page)
	}
}

func TestFilesNeverOutside(t *testing.T) {
	base := t.TempDir()
	root := filepath.Join(base, "root")
	for name, text := range map[string]string{"secret.html": "secret", "shared/s.html": "shared", "shared/deep/d.html": "deep", "other/o.html": "other", "rooted/x.html": "rooted"} {
		os.MkdirAll(filepath.Dir(filepath.Join(base, name)), 0o755)
		os.WriteFile(filepath.Join(base, name), []byte(text), 0o644)
	}
	os.Symlink(filepath.Join(base, "secret.html"), filepath.Join(base, "shared", "leak.html"))
	os.Symlink("../root/in.html", filepath.Join(base, "shared", "back.html"))
	os.Symlink("shared", filepath.Join(base, "shared-link"))
	s := newSite(t, FilesOptions{Root: root, Links: []string{filepath.Join(base, "shared-link"), filepath.Join(base, "nowhere")}}, "in.html=in", "sub/x.html=x")
	s.link("../secret.html", "relative.html")
	s.link(filepath.Join(base, "secret.html"), "absolute.html")
	s.link("in.html", "inside.html")
	s.link(filepath.Join(root, "in.html"), "inside-absolute.html")
	s.link("../root/in.html", "inside-by-way-of-outside.html")
	s.link("../shared", "shared")
	s.link(filepath.Join(base, "shared", "s.html"), "linked.html")
	s.link(filepath.Join(base, "shared-link", "deep"), "deep")
	s.link("../other", "other")
	s.link("../rooted", "root") // a name that root's own name begins with
	s.link("loop.html", "loop.html")
	s.link("/dev/zero", "zero.html")
	s.link("/etc", "etc")
	s.want("links",
		"/in=in", "/inside=in", "/inside-absolute=in", "/inside-by-way-of-outside=in",
		"/shared/s=shared", "/linked=shared", "/deep/d=deep", "/shared/deep/d=deep", "/shared/back=in",
		"/relative=none", "/absolute=none", "/shared/leak=none", "/other/o=none", "/root/x=none", "/loop=none", "/zero=none", "/etc/passwd=none")
	s.clock.advance(2 * time.Second) // no longer remembered as absent
	s.want("again", "/relative=none", "/other/o=none", "/in=in", "/shared/s=shared")
	if n := s.said.count("/relative.html"); n != 1 {
		t.Errorf("the refused link was logged %d times:\n%s", n, s.said)
	}
	if st := s.Stats(); st.Errors != 0 {
		t.Errorf("counted as trouble: %+v\n%s", st, s.said)
	}
}

func TestFilesRefusesPaths(t *testing.T) {
	long := strings.Repeat("x", 255)
	s := newSite(t, FilesOptions{}, "a.html=a", ".htaccess=h", ".git/config=g", "sub/.hidden.html=h", "b/index.html=b", long+"=long", "..x=dots", ".well-known.html=w", "...=three", "sub/.well-known/x=x")
	absent := []string{"", "a", "a.html", "//a", "/a//", "/b//index.html", "/./a", "/b/../a", "/../root/a.html", "/..", "/.", "/b/.", "/b/..", "/a\x00", "/a\x00.html", "/\x00",
		"/.htaccess", "/.git/config", "/sub/.hidden", "/sub/.hidden.html", "/..x", "/...", "/.well-known", "/sub/.well-known/x",
		"/.well-known/../a", "/.well-known/./a", "/" + long + "x", "/" + long + "/" + long + "x", "/a.html/", "/a.html/b", "/" + strings.Repeat("y/", 2048) + "y"}
	for _, path := range absent {
		if got := s.get(path); got != "none" {
			t.Errorf("%.60q gives %q", path, got)
		}
	}
	s.want("as long as it may be", "/"+long+"=long")
	if s.said.String() != "" || s.Stats().Errors != 0 {
		t.Errorf("logged: %s", s.said)
	}
	for _, path := range absent {
		valid := validPath([]byte(path))
		if want := path == "/a.html/" || path == "/a.html/b"; valid != want {
			t.Errorf("%.60q: goes to the file system: %v", path, valid)
		}
	}
	if !validPath([]byte("/" + strings.Repeat("y/", 2047) + "y")) {
		t.Error("a path of 4096 bytes is refused")
	}
}

// Whatever is no regular file is absent, and nothing blocks on it.
func TestFilesRegularOnly(t *testing.T) {
	s := newSite(t, FilesOptions{Links: []string{"/dev"}}, "dir.html/x=x", "a=behind the fifo")
	if err := unix.Mkfifo(s.path("a.html"), 0o644); err != nil {
		t.Fatal(err)
	}
	unix.Mkfifo(s.path("fifo"), 0o644)
	s.link("fifo", "link.html")
	t.Chdir(s.dir) // the path of a socket must be short
	l, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s.link("/dev/null", "device.txt")
	s.want("no regular file", "/dir=none", "/dir.html=none", "/fifo=none", "/link=none", "/socket=none", "/device.txt=none", "/a=behind the fifo")
}

// A fifo that takes the place of a file between the look and the opening.
func TestLoadDoesNotBlock(t *testing.T) {
	s := newSite(t, FilesOptions{})
	unix.Mkfifo(s.path("fifo"), 0o644)
	if _, out := s.load(s.root.now.Load(), "/fifo\x00", ""); out != missing {
		t.Errorf("outcome %v", out)
	}
}

func TestFilesWithoutPermission(t *testing.T) {
	s := newSite(t, FilesOptions{}, "a.html=a", "dir/b.html=b")
	os.Chmod(s.path("a.html"), 0)
	os.Chmod(s.path("dir"), 0)
	t.Cleanup(func() { os.Chmod(s.path("dir"), 0o755) })
	for dir := s.path(""); dir != filepath.Clean(os.TempDir()) && dir != "/"; dir = filepath.Dir(dir) {
		os.Chmod(dir, 0o755) // the way to root is open
	}
	asNobody(t)
	for range 3 {
		s.want("no permission", "/a=none", "/dir/b=none")
		s.clock.advance(2 * time.Second)
	}
	if n := s.said.count("/a.html"); n != 1 {
		t.Errorf("logged %d times:\n%s", n, s.said)
	}
}

// asNobody takes root's right to read everything off this goroutine, which
// keeps its thread to the end of the test; the thread ends with it.
func asNobody(t *testing.T) {
	if os.Geteuid() != 0 {
		return
	}
	runtime.LockOSThread()
	const nobody = 65534
	if _, err := unix.SetfsuidRetUid(nobody); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.SetfsuidRetUid(0) }) // for the removal of the files; runs on the same goroutine
}

func TestFailedJudges(t *testing.T) {
	s := newSite(t, FilesOptions{})
	for err, want := range map[error]outcome{
		unix.ENOENT: missing, unix.ENOTDIR: missing, unix.ENAMETOOLONG: missing, unix.ELOOP: missing,
		unix.EACCES: missing, unix.EPERM: missing, errOutside: missing,
		unix.EMFILE: trouble, unix.ENFILE: trouble, unix.EIO: trouble, unix.ESTALE: trouble,
		&os.PathError{Op: "openat", Path: "x", Err: unix.ENOENT}: missing,
	} {
		before := s.Stats().Errors
		for range 3 {
			if got := s.failed(err, []byte(fmt.Sprint(err, "\x00"))); got != want {
				t.Errorf("%v: outcome %v, want %v", err, got, want)
			}
		}
		counted := s.Stats().Errors - before
		if (counted == 3) != (want == trouble) {
			t.Errorf("%v: counted %d times", err, counted)
		}
	}
	for _, once := range []string{"permission denied", "too many open files", "leads out of root and links"} {
		if n := s.said.count("error=" + strconv.Quote(once)); n != 1 {
			t.Errorf("%q was logged %d times:\n%s", once, n, s.said)
		}
	}
}

// Without descriptors a page is absent, but not remembered as such; one in
// memory is served on.
func TestFilesOutOfDescriptors(t *testing.T) {
	s := newSite(t, FilesOptions{}, "a.html=a", "b.html=b")
	s.want("before", "/a=a")
	var limit unix.Rlimit
	unix.Getrlimit(unix.RLIMIT_NOFILE, &limit)
	low := limit
	low.Cur = 0
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &low); err != nil {
		t.Fatal(err)
	}
	kept, absent := s.get("/a"), s.get("/b")
	unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)
	if kept != "a" || absent != "none" {
		t.Errorf("kept page %q, other %q", kept, absent)
	}
	if st := s.Stats(); st.Errors != 1 || s.said.count("too many open files") != 1 {
		t.Errorf("stats %+v, log %s", st, s.said)
	}
	s.want("at once after it", "/b=b")
}

func TestFilesClose(t *testing.T) {
	s := newSite(t, FilesOptions{}, "a.html=a", "b.html=b")
	s.want("open", "/a=a")
	h, _ := s.Get([]byte("/a"), false)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("closed again: %v", err)
	}
	s.want("closed", "/a=none", "/b=none")
	s.clock.advance(time.Hour)
	s.want("closed for an hour", "/a=none")
	if _, ok := s.Sibling(h, "gzip"); ok || s.HasSiblings(h) {
		t.Error("a closed site has siblings")
	}
}

// A file looks the same by name, by descriptor and by path: else every copy
// would seem changed.
func TestStatWaysAgree(t *testing.T) {
	s := newSite(t, FilesOptions{}, "a.html=a")
	h := s.root.now.Load()
	byName, errno := h.stat("a.html\x00")
	f, err := os.Open(s.path("a.html"))
	if err != nil || errno != 0 {
		t.Fatal(err, errno)
	}
	defer f.Close()
	byFile, err := fstat(int(f.Fd()))
	byPath, err2 := statPath(s.path("a.html"))
	if err != nil || err2 != nil || byName != byFile || byName != byPath {
		t.Errorf("by name %+v, by descriptor %+v, by path %+v", byName, byFile, byPath)
	}
	if _, errno := h.stat("none\x00"); errno != unix.ENOENT {
		t.Errorf("errno %v", errno)
	}
}
