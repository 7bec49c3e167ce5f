package pagecache

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// newYoungSite is a site whose files are young, and stay so however often they
// are written.
func newYoungSite(t *testing.T, files ...string) *site {
	s := newSite(t, FilesOptions{}, files...)
	var names []string
	for _, f := range files {
		name, _, _ := strings.Cut(f, "=")
		names = append(names, name)
	}
	s.young(names...)
	return s
}

// A young file that stays the same is served after one pause, and not kept.
func TestYoungFileIsServedNotKept(t *testing.T) {
	s := newYoungSite(t, "a.html=young")
	for i := range 2 {
		h, ok := s.Get([]byte("/a"), false)
		if !ok || h.Memory || h.Page.Kept || string(h.Page.Body) != "young" {
			t.Errorf("%v %+v", ok, h)
		}
		if n := s.clock.pauses.Load(); n != int64(i+1) {
			t.Errorf("%d pauses", n)
		}
	}
	if st := s.memory.Stats(); st.Pages != 0 {
		t.Errorf("a young page was kept: %+v", st)
	}
	s.clock.advance(time.Second)
	h, ok := s.Get([]byte("/a"), false)
	if !ok || !h.Page.Kept || s.clock.pauses.Load() != 2 {
		t.Errorf("a second old: %v %+v after %d pauses", ok, h, s.clock.pauses.Load())
	}
	if h, ok := s.Get([]byte("/a"), false); !ok || !h.Memory {
		t.Errorf("then from memory: %v %+v", ok, h)
	}
}

// A page in memory whose file has become young is not served from memory, nor
// kept on.
func TestYoungFileInPlaceOfAKeptOne(t *testing.T) {
	s := newSite(t, FilesOptions{}, "a.html=old")
	s.want("kept", "/a=old")
	s.write("a.html", "new")
	s.young("a.html")
	s.want("young", "/a=new")
	if st := s.memory.Stats(); st.Pages != 0 {
		t.Errorf("%+v", st)
	}
}

// Each pause shows one more part of the file; when it is complete it is
// served, whole.
func TestYoungFileIsWaitedFor(t *testing.T) {
	for parts := range 4 {
		s := newYoungSite(t, "a.html=part 0\n")
		written := 0
		s.clock.onWait = func() {
			if written++; written <= parts {
				f, _ := os.OpenFile(s.path("a.html"), os.O_APPEND|os.O_WRONLY, 0)
				fmt.Fprintf(f, "part %d\n", written)
				f.Close()
			}
		}
		want := "none"
		if parts < writeLooks {
			want = "part 0\n"
			for i := range parts {
				want += fmt.Sprintf("part %d\n", i+1)
			}
		}
		s.want(fmt.Sprint(parts, " parts to come"), "/a="+want)
		if n, want := s.clock.pauses.Load(), int64(min(parts+1, writeLooks)); n != want {
			t.Errorf("%d parts to come: %d pauses, want %d", parts, n, want)
		}
		s.clock.onWait = nil
		s.want("at once after it, nothing is remembered", "/a="+mustRead(t, s.path("a.html")))
	}
}

// What becomes shorter is read again.
func TestFileThatShrinksWhileItIsRead(t *testing.T) {
	s := newYoungSite(t, "a.html="+strings.Repeat("x", 1000))
	s.clock.onWait = func() { s.clock.onWait = nil; os.Truncate(s.path("a.html"), 10) }
	s.want("shrunk", "/a="+strings.Repeat("x", 10))
}

// A young file that is replaced or removed while it is waited for was whole
// when it was asked for.
func TestYoungFileThatIsReplaced(t *testing.T) {
	s := newYoungSite(t, "a.html=first")
	s.clock.onWait = func() { s.clock.onWait = nil; s.rename("a.html", "second") }
	s.want("replaced", "/a=first", "/a=second")
	s.clock.onWait = func() { s.remove("a.html") }
	s.want("removed", "/a=second", "/a=none")
}

func TestEmptyFile(t *testing.T) {
	s := newYoungSite(t, "a.html=", "b.html=", "b/index.html=lower")
	s.want("young", "/a=none", "/b=lower")
	if n := s.clock.pauses.Load(); n != 1 { // for b/index.html
		t.Errorf("%d pauses", n)
	}
	s.write("a.html", "text")
	s.want("not remembered as absent", "/a=text")
	s.write("a.html", "")
	s.clock.advance(time.Second)
	h, ok := s.Get([]byte("/a"), false)
	if !ok || h.Page.Length != 0 || !h.Page.Kept {
		t.Errorf("a second old: %v %+v", ok, h)
	}
}

// A file that was just cut off may still have its old times: what seems to be
// old and empty is looked at as often as a young file.
func TestFileThatWasJustCutOff(t *testing.T) {
	for pause := range writeLooks {
		s := newSite(t, FilesOptions{}, "a.html=")
		left := pause + 1
		s.clock.onWait = func() {
			if left--; left == 0 {
				s.write("a.html", "text")
			}
		}
		want := "text"
		if pause == writeLooks-1 {
			want = "none" // no look is left
		}
		s.want(fmt.Sprint("written in pause ", pause), "/a="+want, "/a=text")
	}
}

// A time more than a second ahead is that of another clock.
func TestFileOfTheFuture(t *testing.T) {
	s := newSite(t, FilesOptions{}, "a.html=a", "b.html=b")
	s.dated("a.html", s.clock.now().Add(time.Hour))
	if h, ok := s.Get([]byte("/a"), false); !ok || !h.Page.Kept {
		t.Errorf("an hour ahead: %v %+v", ok, h)
	}
	s.dated("b.html", s.clock.now().Add(900*time.Millisecond))
	if h, ok := s.Get([]byte("/b"), false); !ok || h.Page.Kept {
		t.Errorf("less than a second ahead: %v %+v", ok, h)
	}
}

func TestYoung(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	at := func(d time.Duration) int64 { return now.Add(d).UnixNano() }
	for _, c := range []struct {
		mtime, change time.Duration
		want          bool
	}{
		{-time.Hour, -time.Hour, false},
		{-time.Second, -time.Second, false},
		{-time.Second + 1, -time.Hour, true},
		{-time.Hour, -time.Second + 1, true}, // written with an older time, as rsync does
		{0, 0, true},
		{time.Second - 1, -time.Hour, true},
		{time.Second, -time.Hour, false},
		{time.Hour, time.Hour, false},
		{time.Hour, 0, true}, // its other time tells
	} {
		st := fileStat{id: fileID{mtime: at(c.mtime), change: at(c.change)}}
		if got := st.young(now); got != c.want {
			t.Errorf("written %v, changed %v: young %v", c.mtime, c.change, got)
		}
	}
}

// Large files are waited for too; they are handed out open.
func TestYoungLargeFile(t *testing.T) {
	s := newSite(t, FilesOptions{MaxKeep: 10}, "a.txt=more than ten bytes")
	s.young("a.txt")
	h, ok := s.Get([]byte("/a.txt"), false)
	if !ok || h.File == nil || h.Page.Kept || s.clock.pauses.Load() != 1 {
		t.Fatalf("%v %+v", ok, h)
	}
	if body := bodyOf(t, h); body != "more than ten bytes" {
		t.Errorf("body %q", body)
	}
	s.clock.onWait = func() { s.write("a.txt", strings.Repeat("y", 100+int(s.clock.pauses.Load()))) }
	s.want("never at rest", "/a.txt=none")
}

func mustRead(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
