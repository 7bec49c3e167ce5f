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

// The page that everything is for: no goroutine, no channel, hardly an allocation.
func TestAllocations(t *testing.T) {
	tm, env := Compile("page", usual(), Options{}), usualEnv("Welcome back")
	buf := make([]byte, 0, 16<<10)
	if n := testing.AllocsPerRun(100, func() { buf = run(tm, env, buf) }); n > 5 {
		t.Errorf("%v allocations", n)
	}
}
