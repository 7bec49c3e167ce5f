package ssi

import (
	"strings"
	"testing"
)

// An expression of a megabyte takes time in proportion: with twice the square of it this test would not end. Nesting
// without end is an error, not the end of the stack.
func TestHugeExpressions(t *testing.T) {
	n := 1 << 20
	if raceEnabled {
		n = 1 << 18 // one goroutine, and a minute of work
	}
	rep := func(s string) string { return strings.Repeat(s, n/len(s)) }
	legacy := Options{Dialect: DialectApache, Expressions: ExpressionsLegacy}
	ap := Options{Dialect: DialectApache}
	for _, tt := range []struct {
		o          Options
		expr, want string
	}{
		{Options{}, rep("a"), "true"},
		{Options{}, rep("$a"), "error"}, // more than 64 KiB with its variables
		{Options{}, rep("$none"), "false"},
		{Options{}, "$a = " + rep(" "), "false"},
		{Options{}, rep("${"), "error"},
		{Options{}, "$a = /" + rep("a/ ") + "/", "error"},
		{Options{}, "$a == " + rep("x && "), "error"},
		{Options{}, "!" + rep("x && ") + "x", "false"},
		{legacy, rep("$a && ") + "a", "true"},
		{legacy, rep("'a"), "true"},
		{legacy, rep("a "), "true"},
		{legacy, rep(`\a`), "true"},
		{legacy, rep("("), "error"},
		{legacy, rep("!") + "a", "error"},
		{legacy, "a = /" + rep("("), "error"},
		{legacy, "a = /" + rep(`\a`) + "/", "error"},
		{legacy, rep("-A a && ") + "a", "true"},
		{ap, rep("'a'='a'&&") + "true", "true"},
		{ap, rep("'a'='b'||") + "false", "false"},
		{ap, rep("!") + "true", "true"},
		{ap, rep("not ") + "true", "true"},
		{ap, rep("("), "error"},
		{ap, strings.Repeat("(", maxParens) + "true" + strings.Repeat(")", maxParens), "true"},
		{ap, rep("v("), "error"},
		{ap, rep("%{v:"), "error"},
		{ap, "'" + rep("%{v:"), "error"},
		{ap, "-n '" + rep("a") + "'", "true"},
		{ap, "-n " + rep("'a'."), "error"},
		{ap, "-n " + rep("1.") + "1", "error"}, // more than 64 KiB
		{ap, "-n '" + rep("$1") + "'", "false"},
		{ap, "'a' in {" + rep("'b',") + "'a'}", "true"},
		{ap, "'a' =~ /" + rep("a") + "/", "error"},
		{ap, "'a' =~ /" + rep(`\/`), "error"},
		{ap, "'a' -ipmatch '" + rep("1.") + "'", "error"},
		{ap, "-n '" + rep("a") + "' && '" + strings.Repeat("a", 1<<16) + "' -strmatch '" + strings.Repeat("*[", 1<<15) + "'", "error"},
	} {
		tt.o.MaxDirective, tt.o.MaxValue = 4*n, 4*n
		got := evaluate(t, tt.o, &Env{Includer: &one{}, Variables: vars{"a": "1", "none": ""}}, tt.expr)
		if got != tt.want {
			t.Errorf("%.40q...: %.40s, wanted %s", tt.expr, got, tt.want)
		}
	}
}

// The usual limits refuse them before they are looked at.
func TestUsualLimits(t *testing.T) {
	for _, o := range []Options{{}, {Dialect: DialectApache}, {Dialect: DialectApache, Expressions: ExpressionsLegacy}} {
		for _, expr := range []string{strings.Repeat("a", 20<<10), strings.Repeat("(", 100_000), strings.Repeat("!", 1<<20)} {
			if got := evaluate(t, o, &Env{}, expr); got != "error" && !strings.HasPrefix(got, "error") {
				t.Errorf("%.10q of %d: %.40s", expr, len(expr), got)
			}
		}
	}
}

// Patterns that grow when they are compiled are refused, whether they are constant or made of variables.
func TestHugePatterns(t *testing.T) {
	for _, pattern := range []string{
		`(a{1000}){1000}`, `((a{100}){100}){100}`, strings.Repeat("(", 100_000), strings.Repeat("(a", 2000) + strings.Repeat(")", 2000),
		strings.Repeat("(x|", 100_000), strings.Repeat("[a-z]{100}", 100), strings.Repeat(`\pL`, 1300), `(?i:` + strings.Repeat("a", 5000) + `)`,
		`x{1000}{1000}`, strings.Repeat("a?", 3000) + "b",
	} {
		_, _, err := compilePattern(pattern)
		if err == nil || err.cure == "" {
			t.Errorf("%.30s: no error, or no cure: %v", pattern, err)
		}
		expr := "x = /$p/"
		if got := evaluate(t, Options{}, &Env{Variables: vars{"p": pattern}}, expr); got != "error" {
			t.Errorf("%.30s in a variable: %s", pattern, got)
		}
	}
}

// Matching costs at most text times pattern, and is charged so.
func TestMatchingIsCharged(t *testing.T) {
	long := strings.Repeat("a", 60<<10)
	for _, tt := range []struct {
		o    Options
		expr string
	}{
		{Options{}, `$long = /` + strings.Repeat("(a*)*", 100) + `b/`},
		{Options{}, `$long = /$p/`},
		{Options{Dialect: DialectApache}, `v('long') -strmatch '` + strings.Repeat("*a", 500) + `b'`},
		{Options{Dialect: DialectApache}, `sha1(v('long')) = md5(v('long')) || base64(v('long')) = ''`},
	} {
		env := &Env{Variables: vars{"long": long, "p": strings.Repeat("(a*)*", 100) + "b"}, MaxPage: 1 << 12}
		if got := evaluate(t, tt.o, env, tt.expr); got != "error" {
			t.Errorf("%.40s: %s", tt.expr, got)
		}
	}
}

// What compiled expressions take is in the size of the template.
func TestSizeOfExpressions(t *testing.T) {
	for _, o := range []Options{{}, {Dialect: DialectApache}} {
		size := func(n int) int {
			expr := strings.Repeat("'a' == 'b' && ", n) + "'a' == 'b'"
			return Compile("page", []byte("<!--#if expr=`"+expr+"` --><!--#endif -->"), o).Size()
		}
		if few, many := size(10), size(1000); many-few < 990*2*exprPartBytes {
			t.Errorf("%+v: %d with 10 terms, %d with 1000", o, few, many)
		}
	}
}
