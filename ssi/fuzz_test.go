package ssi

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"
)

// seeds are documents that touch all of the language.
var seeds = []string{
	`text <!--#echo var="a" default="b" encoding="url" --> text`,
	`<!--#if expr="$a = /(x)/" -->A<!--#elif expr="! $b && (c < d)" -->B<!--#else -->C<!--#endif -->`,
	`<!--#block name="s" -->S<!--#endblock --><!--#include virtual="/$a?x" stub="s" wait="yes" --><!--#include file="x" set="v" -->`,
	`<!--#set var="a" value="$a\$${b}" --><!--#config errmsg="E" timefmt="%s" --><!--#comment x -->`,
	`<!--#foo --><!--#--><!--#echo var='x <!--#exec cmd="x" -->`,
	`<!--#else --><!--#if expr="a" --><!--#else --><!--#else --><!--#elif expr="b" -->`,
	`<!--#include virtual="/abc" virtual="/a" file="ab" onerror="/ab$a" wait="yes" --><!--#include virtual="/a" onerror="/" set="v" -->`,
	`<!--#fsize file="a" virtual="$a" --><!--#flastmod virtual="/a" --><!--#printenv --><!--#config sizefmt="bytes" echomsg="&lt;" -->`,
	`<!--#echo decoding="url,base64,entity" encoding="url entity" var="$a" var="b" --><!--#set var="$a" encoding="base64" value="&lt;\"" value="$b" -->`,
}

// Compile never panics, and every byte of a document is in a text run or in a directive, never in both.
func FuzzCompile(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s), uint8(0))
		f.Add([]byte(s), uint8(3))
	}
	f.Fuzz(func(t *testing.T, src []byte, bits uint8) {
		o := fuzzOptions(bits)
		tm := Compile("page", src, o)
		if tm.Static() && bytes.Contains(src, []byte("<!--#endif-->")) {
			t.Fatal("a directive was not seen")
		}
		if tm.Size() <= 0 || !bytes.Equal(tm.Source(), src) {
			t.Fatal("Size or Source is wrong")
		}
		whole(t, tm, o)
		before := Problem{Line: 1, Col: 1}
		for _, p := range tm.Problems() {
			if p.Line < before.Line || p.Line == before.Line && p.Col < before.Col || p.Message == "" || p.Cure == "" {
				t.Fatalf("%v after %v", p, before)
			}
			before = p
		}
	})
}

// fuzzOptions makes options of bits.
func fuzzOptions(bits uint8) Options {
	return Options{Dialect: Dialect(bits & 1), UnknownIsError: bits&2 != 0, Expressions: Expressions(bits >> 2 & 1), Printenv: bits&8 != 0}
}

// whole puts the document together again from text runs and directives.
func whole(t *testing.T, tm *Template, o Options) {
	var fs faults
	l := lexer{src: tm.src, o: o.withDefaults(), faults: &fs}
	l.run()
	mark := make([]int, len(tm.src))
	for _, it := range l.items {
		for i := it.at; i < it.end; i++ {
			mark[i]++
		}
	}
	for i := range tm.code {
		if in := &tm.code[i]; in.op == opText {
			for j := in.a; j < in.b; j++ {
				mark[j]++
			}
		} else if in.op == opJump || in.op == opUnless || in.op == opBlock || in.op == opList {
			if in.b <= i || in.b > len(tm.code) {
				t.Fatalf("instruction %d goes to %d of %d", i, in.b, len(tm.code))
			}
		}
	}
	for i, n := range mark {
		if n != 1 {
			t.Fatalf("byte %d is there %d times in %q", i, n, tm.src)
		}
	}
}

// crowd answers each include with the page itself, one in three at once; so runs grow until a limit stops them.
type crowd struct {
	t *Template
	stats
}

func (c *crowd) answer(inc *Include) Fragment {
	return Fragment{Template: c.t, Variables: inc.From, Status: 200 + 100*(len(inc.URL)%2)}
}

func (c *crowd) Lookup(inc *Include) (Fragment, bool) {
	if len(inc.URL)%3 == 0 {
		return c.answer(inc), true
	}
	return Fragment{}, false
}

func (c *crowd) Fetch(_ context.Context, inc *Include) Fragment { return c.answer(inc) }

// A run ends, prints the same by both ways, and keeps to its limits.
func FuzzRun(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s), "value", uint8(0))
		f.Add([]byte(s), "value", uint8(9))
	}
	f.Add([]byte(`<!--#include virtual="/abc" --><!--#include virtual="/ab" -->x<!--#include virtual="/a" wait="yes" -->`), "", uint8(0))
	f.Fuzz(func(t *testing.T, src []byte, value string, bits uint8) {
		const maxPage = 2000
		tm := Compile("page", src, fuzzOptions(bits))
		env := &Env{Includer: &crowd{tm, "a 5 1\n/a 1234567 0\n"}, Variables: &fixed{[]byte(value)}, MaxDepth: 5, MaxIncludes: 40, MaxPage: maxPage,
			Panicked: func(v any, stack []byte) { t.Errorf("panic: %v\n%s", v, stack) }}
		watchdog := time.AfterFunc(20*time.Second, func() { panic("the run does not end") })
		defer watchdog.Stop()
		r := tm.Start(context.Background(), env)
		defer r.Close()
		var w bytes.Buffer
		n, err := r.WriteTo(&w)
		if !r.Wait(time.Minute) {
			t.Fatal("not complete")
		}
		if n > maxPage || int64(w.Len()) != n || err != r.Err() {
			t.Fatalf("wrote %d, %v; Err is %v", n, err, r.Err())
		}
		if err == nil && (!bytes.Equal(w.Bytes(), r.AppendTo(nil)) || r.Len() != w.Len()) {
			t.Fatalf("WriteTo gave %q, AppendTo %q", w.Bytes(), r.AppendTo(nil))
		}
		if got := r.includes.Load(); got > 40 && !r.Failed() {
			t.Fatalf("%d includes", got)
		}
	})
}

// V4: nothing that is inserted is run, as a value, as a fragment or as part of a URL, and it comes out as it went in.
func FuzzInserted(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Add(`"<!--#include virtual="/evil" -->'`)
	f.Fuzz(func(t *testing.T, text string) {
		if text == "" {
			return
		}
		for _, dialect := range []Dialect{DialectNginx, DialectApache} {
			s := &site{fragments: map[string]Fragment{"/raw": {Body: []byte(text), Status: 200}}, how: "mixed"}
			r := Compile("page", []byte(`<!--#echo encoding="none" var="v" --><!--#set var="w" value="$v" --><!--#echo encoding="none" var="w" default="" -->`+
				`<!--#include virtual="/raw" --><!--#include virtual="/raw" set="x" --><!--#echo encoding="none" var="x" default="" --><!--#include virtual="/q?$v" -->`),
				Options{Dialect: dialect, ErrorMessage: "!"}).Start(context.Background(), &Env{Includer: s, Variables: vars{"v": text}})
			if !r.Wait(time.Minute) {
				t.Fatal("not complete")
			}
			want := strings.Repeat(text, 4) + "!"
			if got := string(r.AppendTo(nil)); got != want && len(text) < maxExpanded {
				t.Errorf("printed %q, wanted %q", got, want)
			}
			for _, url := range s.requests {
				if url != "/raw" && url != "/q?"+text {
					t.Errorf("asked for %q", url)
				}
			}
			r.Close()
		}
	})
}
