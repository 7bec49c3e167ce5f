package ssi

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"
)

// usual is a page of 10 KiB with three echoes and one include.
func usual() []byte {
	text := strings.Repeat("<p>Some text of a page.</p>\n", 73)
	return []byte(text + `Hello <!--#echo var="cookie_name" default="you" -->` + text +
		`<!--#include virtual="/fragments/login" -->` + text + `<!--#echo var="uri" -->` + text + `<!--#echo var="args" -->` + text)
}

type one struct{ f Fragment }

func (o *one) Lookup(*Include) (Fragment, bool)         { return o.f, true }
func (o *one) Fetch(context.Context, *Include) Fragment { return o.f }

type fixed struct{ v []byte }

func (f *fixed) Lookup(string) ([]byte, bool) { return f.v, true }

func usualEnv(fragment string) *Env {
	vars := &fixed{[]byte("value")}
	f := Fragment{Status: 200, Variables: vars, Template: Compile("/fragments/login", []byte(fragment), Options{})}
	return &Env{Includer: &one{f}, Variables: vars, Now: time.Now()}
}

func run(t *Template, env *Env, buf []byte) []byte {
	r := t.Start(context.Background(), env)
	defer r.Close()
	if !r.Wait(0) {
		panic("not complete")
	}
	return r.AppendTo(buf[:0])
}

func BenchmarkRunKept(b *testing.B) {
	for name, fragment := range map[string]string{"static": "Welcome back", "echo": `Welcome <!--#echo var="name" -->`} {
		b.Run(name, func(b *testing.B) {
			t, env := Compile("page", usual(), Options{}), usualEnv(fragment)
			buf := make([]byte, 0, 16<<10)
			b.ReportAllocs()
			for b.Loop() {
				buf = run(t, env, buf)
			}
		})
	}
}

func BenchmarkWriteTo(b *testing.B) {
	t, env := Compile("page", usual(), Options{}), usualEnv("Welcome back")
	b.ReportAllocs()
	for b.Loop() {
		r := t.Start(context.Background(), env)
		if _, err := r.WriteTo(io.Discard); err != nil {
			b.Fatal(err)
		}
		r.Close()
	}
}

func BenchmarkCompile(b *testing.B) {
	for name, src := range map[string][]byte{
		"usual":      usual(),
		"text":       bytes.Repeat([]byte("<p>Some text of a page.</p>\n"), 36000),
		"script":     bytes.Repeat([]byte("if (!a && i-- > 0 || b !== c) { n--; x = !y }\n"), 22000),
		"directives": bytes.Repeat([]byte(`<!--#echo var="x" -->`), 50000),
		"openings":   bytes.Repeat([]byte(`<!--#`), 200000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				Compile("page", src, Options{})
			}
		})
	}
}

// delayed answers after 20 ms.
type delayed struct{}

func (delayed) Lookup(*Include) (Fragment, bool) { return Fragment{}, false }

func (delayed) Fetch(ctx context.Context, _ *Include) Fragment {
	select {
	case <-ctx.Done():
		return Fragment{Err: ctx.Err()}
	case <-time.After(20 * time.Millisecond):
		return Fragment{Body: []byte("fragment"), Status: 200}
	}
}

// Twenty fragments of 20 ms each are there together: some 20 ms to the last byte, not 400.
func BenchmarkParallelFragments(b *testing.B) {
	t := Compile("page", bytes.Repeat([]byte(`text <!--#include virtual="/x" -->`), 20), Options{})
	b.ReportAllocs()
	for b.Loop() {
		r := t.Start(context.Background(), &Env{Includer: delayed{}})
		if n, err := r.WriteTo(io.Discard); err != nil || n != 20*int64(len("text fragment")) {
			b.Fatal(n, err)
		}
		r.Close()
	}
}

func BenchmarkExpr(b *testing.B) {
	ap := Options{Dialect: DialectApache}
	for name, e := range map[string]struct {
		o    Options
		expr string
	}{
		"nginx text":   {Options{}, `$a = 1`},
		"nginx regex":  {Options{}, `$b = /^t(.)o$/`},
		"nginx varies": {Options{}, `$b = /^t$o/`},
		"legacy":       {Options{}, `$a == 1 && ($b != x || $a > 0)`},
		"ap text":      {ap, `v('a') == '1' && %{HTTP:Cookie} != '' || false`},
		"ap regex":     {ap, `v('b') =~ /^T(.)o$/i`},
		"ap wildcard":  {ap, `v('b') -strmatch '*o'`},
	} {
		t := Compile("page", []byte("<!--#if expr=`"+e.expr+"` -->true<!--#endif -->"), e.o)
		r := t.Start(context.Background(), &Env{Variables: vars{"a": "1", "b": "two", "o": "wo", "http_cookie": "c"}, MaxPage: 1 << 60})
		if string(r.AppendTo(nil)) != "true" {
			b.Fatal(name, "does not hold")
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if holds, err := t.conds[0].cond.eval(&r.page); !holds || err != nil {
					b.Fatal(holds, err)
				}
			}
		})
		r.Close()
	}
}

// The page that everything is for: no goroutine, no channel, hardly an allocation.
func TestAllocations(t *testing.T) {
	for _, fragment := range []string{"Welcome back", `Welcome <!--#echo var="name" -->`} {
		tm, env := Compile("page", usual(), Options{}), usualEnv(fragment)
		buf := make([]byte, 0, 16<<10)
		if n := testing.AllocsPerRun(100, func() { buf = run(tm, env, buf) }); n > 5 {
			t.Errorf("with the fragment %s: %v allocations", fragment, n)
		}
	}
}
