package ssi

import "testing"

// Every row was asked of Apache 2.4.71 with SSILegacyExprParser on, which says the same.
func TestLegacyExpr(t *testing.T) {
	v := vars{"a": "1", "b": "two", "re": "t.o"}
	for expr, want := range map[string]string{
		`$a`: "true", `$a = 1`: "true", `$a = 1 &&`: "error", `"$a" = "1"`: "true", `$b = /t(.)o/`: "true", `$b = /$re/`: "true",
		`\$a = \$a`: "true", `\$a = 1`: "true", `'\$a' = 1`: "true", `'$a' = 1`: "true", `"x" = '"x"'`: "true", `"$a" = 1`: "false",
		`'\\$b' = '\\$b'`: "true", `'\\$b' = 'two'`: "false", `$nosuch\x = x`: "false", `x\x = xx`: "true", `$a = \1`: "true",
		`a\\b = 'a\\b'`: "true", `a\\b = a\b`: "false", `'a\\b' = a\\b`: "true", `a\ b = 'a b'`: "true",
		`a'b = a'b`: "true", `'' = ''`: "true", `$b = /t.o$/`: "true", `$b = /^t\.o$/`: "true", `two = /^${b}$/`: "true",
		`d = /^\d$/`: "true", `5 = /^\d$/`: "false", `5 = /^\\d$/`: "true", `a/b = /^a\/b$/`: "true", `axb = /^a\.b$/`: "true",
		`axb = /^a\\.b$/`: "false", `$b = /\$b/`: "true", `'\\$b' = /^.b$/`: "true",
		`t || t && $nope`: "true", `$nope && t || t`: "false", `$nope && $nope || t && t`: "false",
		`t || x = /(x)/ && t`: "true", `x = /x/ && t = x || t`: "true", `! (t || t && $nope)`: "false", `%{a} = '%{a}'`: "true", `==`: "error",
		`'' a = a`: "true", `a '' = 'a '`: "true", `x\\ = /^x\\$/`: "false", `a = 'a'b`: "false",
		`/a/b = x`: "error", `$b /t/`: "error", `$b ~ /t/`: "error", `$b =~ /t/`: "error", `'x' /t/`: "error", `! /t/`: "error", `(/t/)`: "error",
		`$b < /t/`: "error", `x/y = x/y`: "true", `'/x/' = '/x/'`: "true", `$b =~ t`: "false", `\/x = '/x'`: "true",
	} {
		o := Options{Dialect: DialectApache, Expressions: ExpressionsLegacy}
		if got := evaluate(t, o, &Env{Includer: &one{}, Variables: v}, expr); got != want {
			t.Errorf("%s: %s, wanted %s", expr, got, want)
		}
	}
}

func TestLegacyProblemPlace(t *testing.T) {
	o := Options{Dialect: DialectApache, Expressions: ExpressionsLegacy}
	list := Compile("page", []byte("<!--#if expr=`$a = /\\\\.(?=x)/` --><!--#endif -->"), o).Problems()
	want := "page:1:24: regular expression: look-ahead is not known to RE2; match the text itself, or use a second condition"
	if len(list) != 1 || list[0].String() != want {
		t.Errorf("got %v, wanted %s", list, want)
	}
}
