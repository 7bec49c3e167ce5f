package ssi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// slow answers each include after a time, in synctest's clock: URLs are /name?duration.
type slow struct {
	mu   sync.Mutex
	log  []string // "+name" asked, "-name" answered
	hook func(ctx context.Context, name string) (Fragment, bool)
}

func (s *slow) note(e string) {
	s.mu.Lock()
	s.log = append(s.log, e)
	s.mu.Unlock()
}

func (s *slow) Lookup(inc *Include) (Fragment, bool) { inc.Memo = inc.URL; return Fragment{}, false }

func (s *slow) Fetch(ctx context.Context, inc *Include) Fragment {
	name, wait, _ := strings.Cut(inc.Memo.(string)[1:], "?")
	s.note("+" + name)
	defer s.note("-" + name)
	if s.hook != nil {
		if f, ok := s.hook(ctx, name); ok {
			return f
		}
	}
	d, _ := time.ParseDuration(wait)
	select {
	case <-time.After(d):
		return Fragment{Body: []byte(name), Status: 200}
	case <-ctx.Done():
		return Fragment{Err: ctx.Err()}
	}
}

func (s *slow) events() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.log, " ")
}

func start(src string, env *Env) *Run {
	return Compile("page", []byte(src), Options{ErrorMessage: "[E]"}).Start(context.Background(), env)
}

// wantOutput waits for the whole page in the test's clock.
func wantOutput(t *testing.T, r *Run, want string) {
	t.Helper()
	if !r.Wait(time.Hour) {
		t.Fatal("not complete")
	}
	if got := string(r.AppendTo(nil)); got != want {
		t.Errorf("got %q, wanted %q", got, want)
	}
}

func TestParallel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, began := &slow{}, time.Now()
		r := start(`<!--#include virtual="/a?400ms" -->,<!--#include virtual="/b?300ms" -->,<!--#include virtual="/c?200ms" -->,<!--#include virtual="/d?100ms" -->`, &Env{Includer: s})
		defer r.Close()
		if r.Wait(0) || r.Wait(399*time.Millisecond) {
			t.Error("complete too early")
		}
		wantOutput(t, r, "a,b,c,d")
		if d := time.Since(began); d != 400*time.Millisecond {
			t.Errorf("took %v", d)
		}
	})
}

func TestWaitOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{}
		r := start(`<!--#include virtual="/a?30ms" --><!--#include virtual="/b?10ms" wait="yes" --><!--#include virtual="/c?10ms" --><!--#include file="d?10ms" --><!--#include virtual="/e?10ms" set="x" -->[<!--#echo var="x" -->]<!--#include virtual="/f?1ms" -->`, &Env{Includer: s})
		defer r.Close()
		synctest.Wait()
		if got := s.events(); got != "+a +b" && got != "+b +a" {
			t.Errorf("before b is answered: %q", got)
		}
		wantOutput(t, r, "ab"+"c"+"[e]f")
	})
}

// In the apache dialect one include is asked for after the other; the members of a list are in both.
func TestSequential(t *testing.T) {
	for src, dialect := range map[string]Dialect{
		`<!--#include virtual="/a?3ms" -->,<!--#include virtual="/b?2ms" -->,<!--#include virtual="/c?1ms" -->`: DialectApache,
		`<!--#include virtual="/a?3ms" -->,<!--#include virtual="/b?2ms" virtual="/c?1ms" -->`:                  DialectApache,
		`<!--#include virtual="/a?3ms" file="/b?2ms" virtual="/c?1ms" -->`:                                      DialectNginx,
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &slow{}
			r := Compile("page", []byte(src), Options{Dialect: dialect}).Start(context.Background(), &Env{Includer: s})
			defer r.Close()
			r.Wait(time.Hour)
			if got := s.events(); got != "+a -a +b -b +c -c" {
				t.Errorf("%s: order %q", src, got)
			}
		})
	}
}

// A list does not hold the page up: what follows is asked for at once, and printed behind it. At the deadline the list
// fails as a whole, its onerror included.
func TestListInParallel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{}
		s.hook = func(_ context.Context, name string) (Fragment, bool) {
			return Fragment{Err: errors.New("broken")}, name == "broken"
		}
		r := start(`<!--#include virtual="/a?9ms" virtual="/b?9ms" -->,<!--#include virtual="/broken" onerror="/c?9ms" -->,<!--#include virtual="/d?1ms" -->,`+
			`<!--#include virtual="/never?1h" onerror="/e?1ms" -->.`, &Env{Includer: s, Deadline: time.Now().Add(time.Second)})
		defer r.Close()
		began := time.Now()
		var w bytes.Buffer
		if _, err := r.WriteTo(&w); err != nil || w.String() != "ab,c,d,[E]." || time.Since(began) != time.Second {
			t.Errorf("wrote %q after %v, %v", w.String(), time.Since(began), err)
		}
		if got := s.events(); strings.Contains(got, "+e") {
			t.Errorf("asked after the deadline: %s", got)
		}
	})
}

// Close ends a run in the middle of a list.
func TestCloseInList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{}
		r := start(`<!--#include virtual="/a?1ms" virtual="/b?1h" virtual="/c?1ms" wait="yes" -->`, &Env{Includer: s})
		time.Sleep(time.Second) // of the bubble's clock
		r.Close()
		if got := s.events(); got != "+a -a +b -b" {
			t.Errorf("events %q", got)
		}
	})
}

// A waited include is complete only when its own includes are.
func TestWaitForNested(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{}
		nested := Compile("nested", []byte(`(<!--#include virtual="/in?50ms" -->)`), Options{})
		s.hook = func(_ context.Context, name string) (Fragment, bool) {
			return Fragment{Template: nested}, name == "out"
		}
		r := start(`<!--#include virtual="/out" wait="yes" --><!--#include virtual="/next?0s" --><!--#include virtual="/out" set="v" --><!--#echo var="v" -->`, &Env{Includer: s})
		defer r.Close()
		wantOutput(t, r, "(in)next(in)")
		if got, want := s.events(), "+out -out +in -in "; !strings.HasPrefix(got, want) {
			t.Errorf("order %q, wanted %q...", got, want)
		}
	})
}

func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, release := &slow{}, make(chan struct{})
		s.hook = func(_ context.Context, name string) (Fragment, bool) {
			if name != "deaf" {
				return Fragment{}, false
			}
			<-release // does not look at its context: its late answer is dropped
			return Fragment{Body: []byte("late")}, true
		}
		r := start(`<!--#block name="b" -->stub<!--#endblock --><!--#include virtual="/deaf" stub="b" -->,<!--#include virtual="/slow?1h" -->,<!--#include virtual="/fast?1ms" -->,<!--#include virtual="/deaf" wait="yes" -->,<!--#include virtual="/after?0s" -->`,
			&Env{Includer: s, Deadline: time.Now().Add(time.Second)})
		if !r.Wait(time.Second + time.Millisecond) {
			t.Error("not complete at the deadline")
		}
		wantOutput(t, r, "stub,[E],fast,[E],[E]")
		if !r.Failed() {
			t.Error("not failed")
		}
		closed := make(chan struct{})
		go func() { r.Close(); close(closed) }()
		synctest.Wait()
		select {
		case <-closed:
			t.Error("Close did not wait for Fetch")
		default:
		}
		close(release)
		<-closed
		wantOutput(t, r, "stub,[E],fast,[E],[E]")
		if strings.Contains(s.events(), "after") {
			t.Error("asked after the deadline")
		}
	})
}

func TestDeadlinePassed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{}
		r := start(`<!--#include virtual="/a?0s" -->`, &Env{Includer: s, Deadline: time.Now()})
		defer r.Close()
		wantOutput(t, r, "[E]")
		if s.events() != "" {
			t.Error("asked all the same")
		}
	})
}

func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{}
		ctx, cancel := context.WithCancel(context.Background())
		r := Compile("page", []byte(`a<!--#include virtual="/a?1h" wait="yes" -->b<!--#include virtual="/b?1h" -->`), Options{ErrorMessage: "[E]"}).Start(ctx, &Env{Includer: s})
		defer r.Close()
		synctest.Wait()
		cancel()
		wantOutput(t, r, "a[E]b[E]")
		if got := s.events(); got != "+a -a" {
			t.Errorf("events %q", got)
		}
	})
}

func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{}
		r := start(`<!--#include virtual="/a?1h" --><!--#include virtual="/b?1h" wait="yes" --><!--#include virtual="/c?1h" -->`,
			&Env{Includer: s, Deadline: time.Now().Add(time.Minute)})
		synctest.Wait()
		r.Close()
		r.Close()
		if strings.Contains(s.events(), "c") {
			t.Error("went on after Close")
		}
	}) // the bubble fails if a goroutine is left
}

// A reader that waits in WriteTo leaves when the run is closed under it.
func TestCloseWhileWriting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{}
		r := start(`a<!--#include virtual="/a?1h" -->b`, &Env{Includer: s})
		errs := make(chan error)
		var w bytes.Buffer
		go func() { _, err := r.WriteTo(&w); errs <- err }()
		synctest.Wait()
		r.Close()
		if err := <-errs; err != nil && !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
		if !strings.HasPrefix(w.String(), "a") {
			t.Errorf("wrote %q", w.String())
		}
	})
}

func TestPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{}
		s.hook = func(context.Context, string) (Fragment, bool) { panic("in Fetch") }
		var mu sync.Mutex
		var seen []string
		env := &Env{Includer: s, Variables: panicky{}, Panicked: func(v any, stack []byte) {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, fmt.Sprint(v))
			if len(stack) == 0 {
				t.Error("no stack")
			}
		}, Report: func(Problem) { panic("in Report") }}
		r := start(`<!--#block name="b" -->stub <!--#echo var="x" --><!--#endblock --><!--#include virtual="/a" stub="b" -->,<!--#include virtual="/a" wait="yes" -->,<!--#echo var="x" -->,<!--#set var="y" value="$x" -->.`, env)
		defer r.Close()
		wantOutput(t, r, "stub [E],[E],[E],[E].")
		if !r.Failed() {
			t.Error("not failed")
		}
		if got := strings.Join(seen, " "); strings.Count(got, "in Fetch") != 2 || strings.Count(got, "in Lookup") != 3 {
			t.Errorf("Panicked was told %q", got)
		}
	})
}

type panicky struct{}

func (panicky) Lookup(string) ([]byte, bool) { panic("in Lookup") }

func TestPanicInLookup(t *testing.T) {
	r := start(`a<!--#include virtual="/x" -->b`, &Env{Includer: lookupFunc(func(*Include) (Fragment, bool) { panic("x") })})
	defer r.Close()
	wantOutput(t, r, "a[E]b")
}

// lookupFunc is an Includer that has everything at hand.
type lookupFunc func(inc *Include) (Fragment, bool)

func (f lookupFunc) Lookup(inc *Include) (Fragment, bool) { return f(inc) }
func (f lookupFunc) Fetch(_ context.Context, inc *Include) Fragment {
	return Fragment{Err: errors.New("asked")}
}

// blocks is a writer that tells each Write.
type tellWrites struct{ writes chan string }

func (w tellWrites) Write(b []byte) (int, error) {
	w.writes <- string(b)
	return len(b), nil
}

func TestStreaming(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{}
		r := start(`head<!--#include virtual="/a?20ms" -->,<!--#include virtual="/b?10ms" -->,<!--#include virtual="/c?30ms" wait="yes" -->tail`, &Env{Includer: s})
		defer r.Close()
		w := tellWrites{make(chan string)}
		go func() {
			n, err := r.WriteTo(w)
			if n != int64(len("heada,b,ctail")) || err != nil {
				t.Errorf("WriteTo: %d, %v", n, err)
			}
			close(w.writes)
		}()
		began := time.Now()
		var got []string // what was written at one moment, in one piece or several
		last := time.Duration(-1)
		for text := range w.writes {
			if at := time.Since(began); at != last {
				got, last = append(got, fmt.Sprintf("%v: ", at)), at
			}
			got[len(got)-1] += text
		}
		if want := []string{"0s: head", "20ms: a,b,", "30ms: ctail"}; !slices.Equal(got, want) {
			t.Errorf("wrote %q, want %q", got, want)
		}
	})
}

func TestWriteSizes(t *testing.T) {
	big := strings.Repeat("x", 100<<10)
	src := strings.Repeat(`0123456789<!--#echo var="v" -->`, 10000) + big + "<!--#comment-->" + big
	r := start(src, &Env{Variables: vars{"v": "abc"}})
	defer r.Close()
	var w sizes
	n, err := r.WriteTo(&w)
	if err != nil || n != int64(r.Len()) || w.String() != string(r.AppendTo(nil)) {
		t.Errorf("wrote %d of %d, %v", n, r.Len(), err)
	}
	if len(w.list) != 4 {
		t.Errorf("writes %v", w.list)
	}
}

type sizes struct {
	bytes.Buffer
	list []int
}

func (w *sizes) Write(b []byte) (int, error) {
	w.list = append(w.list, len(b))
	return w.Buffer.Write(b)
}

type failing struct{ after int }

func (w *failing) Write(b []byte) (int, error) {
	if w.after--; w.after < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(b), nil
}

func TestWriteError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(`a<!--#include virtual="/a?1s" -->b`, &Env{Includer: &slow{}})
		defer r.Close()
		if n, err := r.WriteTo(&failing{1}); n != 1 || err != io.ErrClosedPipe {
			t.Errorf("%d, %v", n, err)
		}
	})
}

func TestAtHand(t *testing.T) {
	has := lookupFunc(func(inc *Include) (Fragment, bool) { return Fragment{Body: []byte("x")}, inc.URL == "/has" })
	for src, complete := range map[string]bool{
		`a<!--#include virtual="/has" -->b`:                                           true,
		`a<!--#include virtual="/not" -->b`:                                           false,
		`a<!--#include virtual="/not" wait="yes" -->b<!--#include virtual="/has" -->`: false,
	} {
		r := start(src, &Env{Includer: has, AtHand: true, Deadline: time.Now().Add(-time.Second)})
		if r.Wait(0) != complete || r.Wait(time.Hour) != complete {
			t.Errorf("%s: complete is not %v", src, complete)
		}
		if _, err := r.WriteTo(io.Discard); !complete && err != ErrPending {
			t.Errorf("%s: WriteTo gave %v", src, err)
		}
		if r.Failed() {
			t.Errorf("%s: failed", src)
		}
		r.Close()
	}
}

func TestMaxPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := `0123456789<!--#include virtual="/aaaaa?5ms" -->01234<!--#include virtual="/b?1h" -->`
		for _, max := range []int64{5, 12, 19, 20, 1000} {
			s := &slow{}
			r := start(src, &Env{Includer: s, MaxPage: max, Deadline: time.Now().Add(time.Second)})
			var w bytes.Buffer
			n, err := r.WriteTo(&w)
			if !r.Wait(time.Hour) {
				t.Error("not complete")
			}
			tooLarge := max < 23 // with the error message for b
			if (err == ErrTooLarge) != tooLarge || (r.Err() == ErrTooLarge) != tooLarge || n > max || int64(w.Len()) != n {
				t.Errorf("limit %d: wrote %d %q, %v; Err %v", max, n, w.String(), err, r.Err())
			}
			if !strings.HasPrefix("0123456789aaaaa01234[E]", w.String()) {
				t.Errorf("limit %d: wrote %q", max, w.String())
			}
			r.Close()
		}
	})
}

// Hundred includes without a later set share one table; each set after one makes a layer, and old ones stay as they were.
func TestSnapshots(t *testing.T) {
	var src, want strings.Builder
	for i := range 20 {
		fmt.Fprintf(&src, `<!--#set var="v%d" value="%d" -->`, i, i)
	}
	for i := range 100 {
		fmt.Fprintf(&src, `<!--#set var="n" value="%d" --><!--#include virtual="/show?%dms" -->`, i, 100-i)
		fmt.Fprintf(&want, "%d 7 (none);", i)
	}
	synctest.Test(t, func(t *testing.T) {
		s := &slow{}
		show := Compile("show", []byte(`<!--#echo var="n" --> <!--#echo var="v7" --> <!--#echo var="late" -->;<!--#set var="late" value="1" -->`), Options{})
		s.hook = func(context.Context, string) (Fragment, bool) { return Fragment{Template: show}, true }
		r := start(src.String(), &Env{Includer: s})
		defer r.Close()
		wantOutput(t, r, want.String())
	})
}
