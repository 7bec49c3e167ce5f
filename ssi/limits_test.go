package ssi

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

func TestStatic(t *testing.T) {
	for src, want := range map[string]bool{
		``:                                      true,
		`text <!-- comment -->`:                 true,
		`<!--#region x--> <!--#x <!--#"-->`:     true,
		`<!--#echo var="x`:                      true,
		`<!--#comment x -->`:                    false,
		`<!--#endif -->`:                        false,
		`<!--#-->`:                              false,
		`<!--#block name="x" -->`:               false,
		`<!--#region <!--#echo var="x" --> -->`: false,
	} {
		tm := Compile("page", []byte(src), Options{})
		if tm.Static() != want {
			t.Errorf("%q: Static is %v", src, !want)
		}
		if HasDirectives([]byte(src)) != strings.Contains(src, "<!--#") {
			t.Errorf("%q: HasDirectives is wrong", src)
		}
	}
	if Compile("page", []byte(`<!--#foo -->`), Options{UnknownIsError: true}).Static() {
		t.Error("an unknown word that is an error must be run")
	}
}

func TestDefaultErrorMessage(t *testing.T) {
	for o, want := range map[Options]string{
		{}:                                      DefaultErrorMessage,
		{ErrorMessage: "x"}:                     "x",
		{ErrorMessage: "x", SilentErrors: true}: "",
	} {
		r := Compile("page", []byte(`<!--#exec -->`), o).Start(t.Context(), &Env{})
		wantOutput(t, r, want)
		r.Close()
	}
}

func TestSizeGrows(t *testing.T) {
	text := Compile("page", bytes.Repeat([]byte("x"), 10000), Options{}).Size()
	echoes := Compile("page", bytes.Repeat([]byte(`<!--#echo var="x" -->`), 476), Options{}).Size()
	if text > 1000 || echoes < 476*20 {
		t.Errorf("text takes %d, echoes %d", text, echoes)
	}
}

func TestProblemString(t *testing.T) {
	p := Problem{Name: "a.html", Line: 3, Col: 7, Kind: KindSyntax, Message: "is wrong", Cure: "mend it"}
	if got := p.String(); got != "a.html:3:7: is wrong; mend it" {
		t.Error(got)
	}
	p.Cure = ""
	if got := p.String(); got != "a.html:3:7: is wrong" {
		t.Error(got)
	}
}

// set= takes 64 KiB, of whatever parts; beyond it is an error, and the variable stays.
func TestSetIncludeLimit(t *testing.T) {
	for _, n := range []int{maxExpanded, maxExpanded + 1} {
		half := Compile("half", []byte(strings.Repeat("x", n-10)+`<!--#include virtual="/rest" -->`), Options{})
		env := &Env{Includer: lookupFunc(func(inc *Include) (Fragment, bool) {
			if inc.URL == "/rest" {
				return Fragment{Body: []byte("0123456789")}, true
			}
			return Fragment{Template: half}, true
		})}
		r := start(`<!--#set var="v" value="old" --><!--#include virtual="/half" set="v" --><!--#echo var="v" -->`, env)
		got := string(r.AppendTo(nil))
		if n == maxExpanded && (len(got) != n || r.Failed()) {
			t.Errorf("%d bytes gave %d, failed %v", n, len(got), r.Failed())
		}
		if n > maxExpanded && (got != "[E]old" || !r.Failed()) {
			t.Errorf("%d bytes gave %.20q, failed %v", n, got, r.Failed())
		}
		r.Close()
	}
}

func TestExpandedLimit(t *testing.T) {
	var reports []string
	env := &Env{Variables: vars{"k": strings.Repeat("k", 1<<10)}, Report: func(p Problem) { reports = append(reports, p.String()) }}
	r := start(`<!--#set var="a" value="`+strings.Repeat("$k", 64)+`" -->ok<!--#set var="a" value="x`+strings.Repeat("$k", 64)+`" -->`, env)
	defer r.Close()
	wantOutput(t, r, "ok[E]")
	if len(reports) != 1 || !strings.Contains(reports[0], "64 KiB") {
		t.Errorf("reports %q", reports)
	}
}

// What a run inserts is bounded as a whole, and what it tells about it too.
func TestWorkBudget(t *testing.T) {
	reports := 0
	env := &Env{Variables: vars{"k": strings.Repeat("k", 1<<10)}, MaxPage: 100 << 10, Report: func(Problem) { reports++ }}
	r := start(strings.Repeat(`<!--#set var="a" value="$k$k" -->`, 2000), env)
	defer r.Close()
	fits := workPerByte * (100 << 10) / (2 << 10)
	wantOutput(t, r, strings.Repeat("[E]", 2000-fits))
	if reports != maxReports {
		t.Errorf("%d reports", reports)
	}
}

// What the surroundings know may be made anew for each variable that takes it: it counts, too.
func TestWorkBudgetOfPlainValues(t *testing.T) {
	env := &Env{Variables: vars{"k": strings.Repeat("k", 1<<10)}, MaxPage: 100 << 10}
	var src strings.Builder
	for i := range 500 {
		fmt.Fprintf(&src, `<!--#set var="a%d" value="$k" -->`, i)
	}
	r := start(src.String(), env)
	defer r.Close()
	wantOutput(t, r, strings.Repeat("[E]", 500-workPerByte*100))
}

// Many blocks times many stubs is no way around the budget.
func TestWorkBudgetOfStubs(t *testing.T) {
	last := ""
	env := &Env{MaxPage: 100 << 10, Report: func(p Problem) { last = p.Message }}
	const blocks = 1000
	r := start(strings.Repeat(`<!--#block name="a" --><!--#endblock -->`, blocks)+strings.Repeat(`<!--#include virtual="/" stub="b" -->`, 100), env)
	defer r.Close()
	wantOutput(t, r, strings.Repeat("[E]", 100))
	if last != errBudget.Error() {
		t.Errorf("the last problem is %q, want %q", last, errBudget)
	}
}

// A document of very many tiny parts joins them, also when a reader has seen some of them already.
func TestTinyParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		many := strings.Repeat(`a<!--#echo var="v" -->`, gatherFrom)
		r := start(many+`<!--#include virtual="/x?1ms" wait="yes" -->`+many, &Env{Includer: &slow{}, Variables: vars{"v": "b"}})
		defer r.Close()
		var w bytes.Buffer
		if _, err := r.WriteTo(&w); err != nil {
			t.Fatal(err)
		}
		ab := strings.Repeat("ab", gatherFrom)
		if w.String() != ab+"x"+ab || string(r.AppendTo(nil)) != w.String() {
			t.Error("wrong output")
		}
		if n := len(r.page.pieces); n > gatherFrom+200 {
			t.Errorf("%d pieces", n)
		}
	})
}

// The limit on includes holds over the whole tree, whoever makes them.
func TestIncludeCount(t *testing.T) {
	var mu sync.Mutex
	asked := 0
	self := Compile("self", []byte(`(<!--#include virtual="/self" --><!--#include virtual="/self" -->)`), Options{ErrorMessage: "!"})
	reports := 0
	env := &Env{MaxDepth: 100, MaxIncludes: 50, Includer: lookupFunc(func(*Include) (Fragment, bool) {
		mu.Lock()
		defer mu.Unlock()
		asked++
		return Fragment{Template: self}, true
	}), Report: func(Problem) { reports++ }}
	r := self.Start(t.Context(), env)
	defer r.Close()
	if !r.Wait(0) || asked != 50 || reports != 1 || !r.Failed() {
		t.Errorf("asked %d times, %d reports, failed %v", asked, reports, r.Failed())
	}
	if got := string(r.AppendTo(nil)); strings.Count(got, "(") != 51 || strings.Count(got, "!") != 52 {
		t.Errorf("printed %q", got)
	}
}

// A template is run by many at once.
func TestConcurrentRuns(t *testing.T) {
	tm := Compile("page", []byte(`<!--#if expr="$v = /$p(.)/" --><!--#echo var="1" --><!--#endif --><!--#include virtual="/a" wait="yes" --><!--#include virtual="/a" -->`), Options{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				s := &site{fragments: map[string]Fragment{"/a": {Body: []byte("A")}}, how: "mixed"}
				r := tm.Start(t.Context(), &Env{Includer: s, Variables: vars{"v": "xyz", "p": "y"}})
				var w bytes.Buffer
				if _, err := r.WriteTo(&w); err != nil || w.String() != "zAA" {
					t.Errorf("%q, %v", w.String(), err)
				}
				r.Close()
			}
		})
	}
	wg.Wait()
}

// TestIncluderEndsRun: an Includer that gathered too much ends the run, and what else is pending is given up.
func TestIncluderEndsRun(t *testing.T) {
	s := &slow{hook: func(ctx context.Context, name string) (Fragment, bool) {
		if name == "large" {
			return Fragment{Err: fmt.Errorf("1 MB and more: %w", ErrTooLarge)}, true
		}
		<-ctx.Done()
		return Fragment{Err: ctx.Err()}, true
	}}
	r := start(`a<!--#include virtual="/never" -->b<!--#include virtual="/large" -->c`, &Env{Includer: s})
	defer r.Close()
	<-r.Done()
	if n, err := r.WriteTo(io.Discard); r.Err() != ErrTooLarge || err != ErrTooLarge {
		t.Errorf("Err is %v, WriteTo %d, %v; want ErrTooLarge", r.Err(), n, err)
	}
}

// TestProblemsTellTheirDocument, by its Variables, and all 500 of them are told.
func TestProblemsTellTheirDocument(t *testing.T) {
	var mu sync.Mutex
	froms := map[string]int{}
	env := &Env{
		Variables: vars{"who": "page"}, MaxDepth: 1,
		Includer: &slow{hook: func(context.Context, string) (Fragment, bool) {
			t := Compile("inner", []byte(`<!--#include virtual="/deeper" -->`), Options{})
			return Fragment{Template: t, Variables: vars{"who": "inner"}}, true
		}},
		Report: func(p Problem) {
			mu.Lock()
			defer mu.Unlock()
			who, _ := p.From.Lookup("who")
			froms[string(who)]++
		},
	}
	r := start(strings.Repeat(`<!--#include virtual="/x" stub="none" -->`, 499)+`<!--#include virtual="/inner" -->`, env)
	defer r.Close()
	<-r.Done()
	if froms["page"] != 499 || froms["inner"] != 1 {
		t.Errorf("problems came from %v, want 499 of the page and 1 of inner", froms)
	}
}

// L11: the default message is that of the dialect.
func TestDefaultErrorMessageApache(t *testing.T) {
	r := Compile("page", []byte(`<!--#exec -->`), Options{Dialect: DialectApache}).Start(t.Context(), &Env{})
	defer r.Close()
	wantOutput(t, r, "[an error occurred while processing this directive]")
}

// I1: ifs are nested up to 64 deep; one that is deeper prints the error message, and its text is hidden.
func TestNesting(t *testing.T) {
	for n, want := range map[int]string{maxNesting: "xy", maxNesting + 1: "[E]y", maxNesting + 3: "[E]y"} {
		src := strings.Repeat(`<!--#if expr="a" -->`, n) + "x<!--#else -->z" + strings.Repeat(`<!--#endif -->`, n) + "y"
		r := start(src, &Env{})
		wantOutput(t, r, want)
		r.Close()
	}
}

// A page of 512 fragments of 1 MB ends at its limit, and asks for no more than it may print.
func TestManyLargeFragments(t *testing.T) {
	body, asked := bytes.Repeat([]byte("x"), 1<<20), 0
	env := &Env{MaxPage: 16 << 20, Includer: lookupFunc(func(*Include) (Fragment, bool) {
		asked++
		return Fragment{Body: body}, true
	})}
	for _, src := range []string{`<!--#include virtual="/" -->`, `<!--#include virtual="/" virtual="/" -->`, `<!--#include virtual="/" set="v" -->`} {
		asked = 0
		r := start(strings.Repeat(src, 600), env)
		most := 18
		if strings.Contains(src, "set") {
			most = DefaultMaxIncludes // each is larger than a variable takes, and let go
		} else if !r.Wait(0) || r.Err() != ErrTooLarge {
			t.Errorf("%s: Err is %v", src, r.Err())
		}
		if asked > most {
			t.Errorf("%s: asked %d times", src, asked)
		}
		r.Close()
	}
}

// An include that is not asked for is a limit's doing only where there is a limit.
func TestKindOfRefusedIncludes(t *testing.T) {
	for _, tt := range []struct {
		src  string
		env  Env
		want string
	}{
		{`<!--#include virtual="/" stub="none" -->`, Env{}, KindInclude},
		{`<!--#set var="up" value=".." --><!--#include virtual="/a/$up/b" -->`, Env{}, KindInclude},
		{`<!--#include virtual="/" --><!--#include virtual="/" -->`, Env{MaxIncludes: 1}, KindLimit},
	} {
		var kinds []string
		tt.env.Report = func(p Problem) { kinds = append(kinds, p.Kind) }
		tt.env.Includer = &one{Fragment{Status: 200, Body: []byte("f")}}
		r := start(tt.src, &tt.env)
		r.AppendTo(nil)
		r.Close()
		if len(kinds) != 1 || kinds[0] != tt.want {
			t.Errorf("%s: %q, want %q alone", tt.src, kinds, tt.want)
		}
	}
}
