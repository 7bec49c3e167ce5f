package ssi

import (
	"fmt"
	"strings"
	"testing"
)

// lexed tells the items of src: command[from,to]name=value..., "!" for a broken one.
func lexed(src string, o Options) string {
	var fs faults
	l := lexer{src: []byte(src), o: o.withDefaults(), faults: &fs}
	l.run()
	var out []string
	for _, it := range l.items {
		s := fmt.Sprintf("%s[%d,%d]", it.word, it.at, it.end)
		if it.broken {
			s += "!"
		}
		for _, p := range l.params[it.lo:it.hi] {
			s += fmt.Sprintf(" %s=%s@%d", p.name, p.value, p.valueAt)
		}
		out = append(out, s)
	}
	return strings.Join(out, "; ")
}

func TestLex(t *testing.T) {
	for _, tt := range []struct{ src, want string }{
		{``, ``},
		{`text <!-- x --> <`, ``},
		{`<!--#else-->`, `else[0,12]`},
		{`ab<!--#else -->`, `else[2,15]`},
		{"<!--# \t\r\nelse\n-->", `else[0,17]`},
		{`<!--#ELSE-->`, `ELSE[0,12]`},
		{`<!--#echo var="x"-->`, `echo[0,20] var=x@15`},
		{`<!--#echo var = x -->`, `echo[0,21] var=x@16`},
		{`<!--#echo var=x-->`, `echo[0,18] var=x@14`},
		{`<!--#echo var="" -->`, `echo[0,20] var=@15`},
		{`<!--#echo var="a\"b" x='c"d' -->`, `echo[0,32] var=a\"b@15 x=c"d@24`},
		{`<!--#echo var="a\\" -->`, `echo[0,23] var=a\\@15`},
		{`<!--#echo var=a"b -->`, `echo[0,21] var=a"b@14`},
		{`<!--#echo var="<!--#else -->" -->`, `echo[0,33] var=<!--#else -->@15`},
		{"<!--#echo var=\"a\x00\xff\nb\" -->", "echo[0,25] var=a\x00\xff\nb@15"},
		{`<!--#echo var -->x-->`, `echo[0,17]!`},
		{`<!--#echo var="x"y -->`, `echo[0,22]!`},
		{`<!--#echo var="x" - -->`, `echo[0,23]!`},
		{`<!--#echo va-r="x" -->`, `echo[0,22]!`},
		{`<!--#echo`, ``},
		{`<!--#echo var="x`, ``},
		{`<!--#echo var="x" --`, ``},
		{`<!--#echo var="x --><!--#else -->`, `else[20,33]`},
		{`<!--#foo --><!--#else -->`, `else[12,25]`},
		{`<!--#<!--#else -->`, `else[5,18]`},
		{`<!--#--><!--#else -->`, `[0,8]!; else[8,21]`},
		{`<!--#` + strings.Repeat("x", 100) + ` -->`, ``},
	} {
		if got := lexed(tt.src, Options{}); got != tt.want {
			t.Errorf("%q\n got %q\nwant %q", tt.src, got, tt.want)
		}
	}
}

// L8: what is over a limit is a syntax error.
func TestLexLimits(t *testing.T) {
	o := Options{MaxDirective: 40, MaxValue: 10, MaxParams: 2}
	for _, tt := range []struct{ src, want string }{
		{`<!--#echo var="0123456789" -->`, `echo[0,30] var=0123456789@15`},
		{`<!--#echo var="0123456789a" -->`, `echo[0,31]!`},
		{`<!--#echo a=b c=d -->`, `echo[0,21] a=b@12 c=d@16`},
		{`<!--#echo a=b c=d e=f -->`, `echo[0,25]!`},
		{`<!--#echo` + strings.Repeat(" ", 40) + `--><!--#else -->`, `echo[0,52]!; else[52,65]`},
		{`<!--#echo a="` + strings.Repeat("x", 40) + `"-->`, `echo[0,57]!`},
		{`<!--#comment ` + strings.Repeat("x ", 40) + `-->`, `comment[0,96]!`},
	} {
		if got := lexed(tt.src, o); got != tt.want {
			t.Errorf("%q\n got %q\nwant %q", tt.src, got, tt.want)
		}
	}
}

// What looks hostile takes no more than its share of time and memory. There is no clock here: what is not linear
// does not end within the test's time.
func TestHostileDocuments(t *testing.T) {
	for name, src := range map[string]string{
		"openings":        strings.Repeat("<!--#", 2<<20),
		"openings, end":   strings.Repeat("<!--#", 2<<20) + "-->",
		"echoes unclosed": strings.Repeat("<!--#echo ", 1<<18),
		"quotes unclosed": strings.Repeat(`<!--#echo var='`, 150001),
		"quotes, end":     strings.Repeat(`<!--#echo var='`, 150001) + "-->",
		"kinds of quotes": strings.Repeat("<!--#echo a=\" b='<!--#echo a=` ", 80000) + "-->",
		"comments":        strings.Repeat("<!--#comment ", 200000) + "-->",
		"remarks":         strings.Repeat("<!-- #", 1<<18),
		"blanks":          "<!--#" + strings.Repeat(" ", 10<<20) + "-->",
		"directives":      strings.Repeat(`<!--#echo var="x" -->`, 100000),
		"bad directives":  strings.Repeat(`<!--#echo -->`, 30000),
		"ifs":             strings.Repeat(`<!--#if expr="a" -->`, 30000),
		"elses":           `<!--#if expr="a" -->` + strings.Repeat(`<!--#else -->`, 30000),
		"elifs":           `<!--#if expr="$b" -->` + strings.Repeat(`<!--#elif expr="$a" -->`, 30000) + `<!--#endif -->`,
		"blocks":          strings.Repeat(`<!--#block name="a" -->`, 30000),
		"open comments":   strings.Repeat(`<!--#comment a`, 300000) + `="-->`,
		"closed blocks":   strings.Repeat(`<!--#block name="a" -->x<!--#endblock -->`, 30000),
		"sets":            sets(20000),
		"lists":           strings.Repeat(`<!--#include virtual="/" file="a" onerror="/" virtual="$a" -->`, 5000),
		"long lists":      strings.Repeat(`<!--#include`+strings.Repeat(` virtual="/"`, 30)+` -->`, 3000),
		"stats":           strings.Repeat(`<!--#fsize file="a" virtual="b" -->`, 10000),
		"dates":           `<!--#config timefmt="` + strings.Repeat("%c", 80) + `" -->` + strings.Repeat(`<!--#set var="a" value="$date_local" -->`, 20000),
		"formats":         strings.Repeat(`<!--#config timefmt="%2047c" -->`, 5000),
		"expression":      `<!--#if expr="` + strings.Repeat("$a", 500000) + `" -->x<!--#endif -->`,
		"legacy":          `<!--#if expr=" ` + strings.Repeat("(", 500000) + `" -->x<!--#endif -->`,
		"patterns":        strings.Repeat(`<!--#if expr="a = /(((a{9}){9}){9}){9}/" -->x<!--#endif -->`, 5000),
		"classes":         strings.Repeat(`<!--#if expr="a = /`+strings.Repeat(`\pL`, 1000)+`/" -->x<!--#endif -->`, 200),
	} {
		t.Run(name, func(t *testing.T) { hostile(t, src, Options{}) })
	}
}

// TestHostileApache is TestHostileDocuments for what only the apache dialect has.
func TestHostileApache(t *testing.T) {
	big := `<!--#set var="big" value="` + strings.Repeat("&aaaaa;", 9000) + `" -->`
	for name, src := range map[string]string{
		"openings":        strings.Repeat("<!--#", 2<<20),
		"quotes unclosed": strings.Repeat(`<!--#echo var='`, 150001),
		"echoes":          strings.Repeat(`<!--#echo encoding="url" var="a" decoding="base64" var="$a" -->`, 30000),
		"entities":        `<!--#echo var="` + strings.Repeat("&aaaaa;&#99999999", 60000) + `" -->`,
		"decoded sets":    big + strings.Repeat(`<!--#set decoding="entity,entity,entity,entity" var="x" value="$big" -->`, 3000),
		"encoded sets":    `<!--#set var="a" value="x" -->` + strings.Repeat(`<!--#set encoding="base64,base64,base64,base64" var="a" value="$a" -->`, 3000),
		"encoded echoes":  big + strings.Repeat(`<!--#echo encoding="base64,url,entity,base64,url,entity" var="big" -->`, 3000),
		"printenv":        strings.Repeat(`<!--#printenv -->`, 20000),
		"pairs":           strings.Repeat(`<!--#set`+strings.Repeat(` var="a" value="$a."`, 15)+` -->`, 1000),
		"lists":           strings.Repeat(`<!--#include virtual="/" file="a" onerror="/" virtual="$a" -->`, 5000),
	} {
		t.Run(name, func(t *testing.T) { hostile(t, src, Options{Dialect: DialectApache, Printenv: true}) })
	}
}

func hostile(t *testing.T, src string, o Options) {
	if raceEnabled { // the whole takes it minutes
		src = src[:min(len(src), 64<<10)]
	}
	o.MaxDirective, o.MaxValue = 20<<20, 2<<20
	tm := Compile("page", []byte(src), o)
	if len(tm.Problems()) > maxProblems+1 {
		t.Errorf("%d problems", len(tm.Problems()))
	}
	r := tm.Start(t.Context(), &Env{Includer: &statSite{&site{}, "a 5 1"}})
	r.Close()
}

// sets doubles a variable, and sets many.
func sets(n int) string {
	var b strings.Builder
	b.WriteString(`<!--#set var="a" value="xxxxxxxx" -->`)
	for i := range n {
		fmt.Fprintf(&b, `<!--#set var="a" value="$a$a" --><!--#set var="v%d" value="$a." -->`, i)
	}
	return b.String()
}
