package ssi

import (
	"context"
	"testing"
	"time"
)

// exprSeeds touch all of the three grammars.
var exprSeeds = []string{
	`$a = text && ${b} != /^(?<n>x)[a-z]+$/`, `! ($a < 'b c' || -A /x/$a) && "$b" >= \$c`, `$a != \/x`, `'a\'b' == c\ d`,
	`not v('a') . 'b' =~ m#(a)\#|b#is and $1 -eq -1 || %{HTTP:Cookie} in {'a', "b%{env:a}$0\n\101"}`,
	`-R '10.0.0.0/255.0.0.0' or '::1' -ipmatch '::/8' && -T unbase64(md5(escape('%{TIME}')))`,
	`'a/[b' -fnmatch '*[!a-c]\\*?' || 'x' -strcmatch v('a')`, `((((!!!true))))`, `%{v:%{v:%{v:a}}} = ''`,
}

func FuzzExprNginx(f *testing.F) { fuzzExpr(f, Options{}) }
func FuzzExprLegacy(f *testing.F) {
	fuzzExpr(f, Options{Dialect: DialectApache, Expressions: ExpressionsLegacy})
}
func FuzzExprAp(f *testing.F) { fuzzExpr(f, Options{Dialect: DialectApache}) }

// Compiling an expression never panics, and says what is wrong at a place within it; evaluating one ends.
func fuzzExpr(f *testing.F, o Options) {
	for _, s := range exprSeeds {
		f.Add([]byte(s), "value")
	}
	f.Fuzz(func(t *testing.T, raw []byte, value string) {
		tm := &Template{}
		g := grammar{tm, o.withDefaults()}
		c, bad := g.parse(raw, 100)
		if (c == nil) == (bad == nil) {
			t.Fatalf("%v and %v", c, bad)
		}
		if bad != nil {
			if bad.off < 100 || bad.off > 100+len(raw) || bad.message == "" || bad.cure == "" {
				t.Fatalf("%+v in an expression of %d bytes at 100", bad, len(raw))
			}
			return
		}
		if tm.exprParts > 10+10*len(raw) {
			t.Fatalf("%d parts of %d bytes", tm.exprParts, len(raw))
		}
		watchdog := time.AfterFunc(20*time.Second, func() { panic("evaluating does not end") })
		defer watchdog.Stop()
		env := &Env{Variables: &fixed{[]byte(value)}, Includer: &one{}, MaxPage: 1 << 20}
		r := Compile("page", nil, Options{}).Start(context.Background(), env)
		defer r.Close()
		if holds, err := c.eval(&r.page); holds && err != nil {
			t.Fatalf("holds, and %v", err)
		}
	})
}
