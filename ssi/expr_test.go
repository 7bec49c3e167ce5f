package ssi

import (
	"strings"
	"testing"
)

// TestExpr: the result is true, false, or error (at compile or run time).
func TestExpr(t *testing.T) {
	v := vars{"a": "1", "b": "two", "zero": "0", "empty": "", "sp": "x y", "re": "t.o", "bad": "(", "slash": "/p/q"}
	for _, tt := range []struct{ expr, want string }{
		// nginx
		{`$a`, "true"},
		{`${a}`, "true"},
		{`$zero`, "true"},
		{`$empty`, "false"},
		{`$none`, "false"},
		{``, "false"},
		{`  `, "false"},
		{`$a = 1`, "true"},
		{`$a=1`, "true"},
		{`$a != 1`, "false"},
		{`$a != 2`, "true"},
		{`$A = 1`, "true"},
		{`Ab = Ab`, "false"}, // the left side is put into lower case
		{`ab = ab`, "true"},
		{`$b = Two`, "false"},
		{`$b = two `, "false"}, // the blank counts
		{`$a = `, "false"},
		{`$empty = `, "true"},
		{`$a = "1"`, "false"}, // quotes are ordinary
		{`"$a" = "1"`, "true"},
		{`$sp = x y`, "true"},
		{`$a = $a`, "true"},
		{`$b = /t.o/`, "true"},
		{`$b = /T.O/`, "false"},
		{`$b = /(?i)T.O/`, "true"},
		{`$b = /^wo/`, "false"},
		{`$b = /wo$/`, "true"},
		{`$b = /wo\$/`, "true"},
		{`$b = /$re/`, "true"},
		{`$b != /x/`, "true"},
		{`$b = //`, "true"},
		{`$slash = /p/q/`, "true"},
		{`$slash = \/p/q`, "true"},
		{`$slash = /^\/p\/q$/`, "true"},
		{`$b = /(/`, "error"},
		{`$b = /$bad/`, "error"},
		{`$b = /(?=x)/`, "error"},
		{`$b = /` + strings.Repeat("(a{100}){100}", 10) + `/`, "error"},
		{`${a`, "error"},
		{`$a = ${}`, "error"},
		// Apache's, where nginx has none
		{`$a == 1`, "true"},
		{` $a = 1`, "true"},
		{`$b = /t.o/ `, "true"},
		{`$a = 1 && $b = two`, "true"},
		{`$a = 1 && $b = one`, "false"},
		{`$a = 2 || $b = two`, "true"},
		{`$b = /x/ || $b = /t/`, "true"},
		{`$b = /t/ && $b = /x/`, "false"},
		{`t || t && $nope`, "true"}, // one precedence, from the right
		{`$nope && t || t`, "false"},
		{`t && $nope || t`, "true"},
		{`$nope || t && $nope`, "false"},
		{`($nope && t) || t`, "true"},
		{`t || (t && $nope)`, "true"},
		{`!$none`, "true"},
		{`!$a`, "false"},
		{`!!$a`, "true"},
		{`!($a = 2)`, "true"},
		{`!$a = y`, "error"},
		{`($a)`, "true"},
		{`(($a) && $b)`, "true"},
		{`$a < 2`, "true"},
		{`$a <= 1`, "true"},
		{`$a > 1`, "false"},
		{`$a >= 1`, "true"},
		{`10 < 9`, "true"}, // by bytes
		{`$sp == x   y`, "true"},
		{`$sp == 'x y'`, "true"},
		{`'' == $empty`, "true"},
		{`\$a == '\$a'`, "true"},
		{`a\=b == 'a=b'`, "true"},
		{`$b == /t\/o/`, "false"},
		{`$slash == /^\/p/`, "true"},
		{`$a == 'x`, "error"},
		{`$b == /x`, "error"},
		{`$b = /x`, "error"},
		{`$b == /(/`, "error"},
		{`($a`, "error"},
		{`$a)`, "error"},
		{`$a &&`, "error"},
		{`&& $a`, "error"},
		{`$a == == 1`, "error"},
		{`-A /private`, "true"}, // nobody refuses anything here
		{`-A`, "error"},
		{` ` + strings.Repeat("(", 1000) + `a` + strings.Repeat(")", 1000), "error"},
		{strings.Repeat("!", 1000) + `a`, "error"},
	} {
		if got := evaluate(t, Options{}, &Env{Includer: &one{}, Variables: v}, tt.expr); got != tt.want {
			t.Errorf("%s: %s, wanted %s", tt.expr, got, tt.want)
		}
	}
}

// evaluate gives true, false or error, at compile or run time. An expression may hold anything but a backquote.
func evaluate(t *testing.T, o Options, env *Env, expr string) string {
	t.Helper()
	o.ErrorMessage = "error"
	r := Compile("page", []byte("<!--#if expr=`"+expr+"` -->true<!--#else -->false<!--#endif -->"), o).Start(t.Context(), env)
	defer r.Close()
	return string(r.AppendTo(nil))
}

// What an expression of the nginx dialect surely meant to be more than text is reported, and read as text all the same.
func TestExprDoubts(t *testing.T) {
	for expr, want := range map[string]string{
		`$a =~ /x/`:         `page:1:18: =~ compares with the text "~ /x/"; write = /pattern/ or != /pattern/`,
		`%{QUERY_STRING}`:   `page:1:15: %{ is plain text in the nginx dialect; write $name, or set dialect = "apache"`,
		`$a = /x/`:          "",
		`$a = /~x/`:         "",
		`$a != b~`:          "",
		`$a == ~ || $b`:     "",
		`100% = $a || true`: "",
	} {
		got := ""
		for _, p := range Compile("page", []byte("<!--#if expr=`"+expr+"` --><!--#endif -->"), Options{}).Problems() {
			got += p.String()
		}
		if got != want {
			t.Errorf("%s: %s, wanted %s", expr, got, want)
		}
	}
}

// A pattern made of variables is compiled once, and only so much is remembered.
func TestDynamicPatterns(t *testing.T) {
	tm := Compile("page", []byte(`<!--#if expr="x = /$p/" --><!--#endif -->`), Options{})
	for range 2 {
		for i := range 100 {
			r := tm.Start(t.Context(), &Env{Variables: vars{"p": strings.Repeat("a", 30*i)}})
			r.Close()
			if n := tm.patterns.kept; n > keptNodes || len(tm.patterns.dynamic) == 0 {
				t.Fatalf("%d nodes in %d patterns are remembered", n, len(tm.patterns.dynamic))
			}
		}
	}
	if constant := Compile("page", []byte(`<!--#if expr="x = /p/" --><!--#endif -->`), Options{}); tm.Size()-constant.Size() < 50*keptNodes {
		t.Errorf("the size is %d with patterns made of variables, %d without", tm.Size(), constant.Size())
	}
}
