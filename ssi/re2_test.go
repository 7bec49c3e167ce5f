package ssi

import (
	"strconv"
	"strings"
	"testing"
)

// What RE2 cannot take is named at its place, with the cure; at is its offset in the pattern, -1: it is fine.
func TestPatternsRefused(t *testing.T) {
	for _, tt := range []struct {
		pattern string
		at      int
		want    string
	}{
		{`a(?=b)`, 1, "look-ahead is not known to RE2; match the text itself"},
		{`a(?!b)`, 1, "look-ahead is not known to RE2; use a second condition with !="},
		{`(?<=b)a`, 0, "look-behind"},
		{`[(?=]x(?<!b)a`, 6, "look-behind"},
		{`(a)x\1`, 4, "back reference is not known to RE2; capture both, and compare $1 with $2"},
		{`(?P<n>a)(?P=n)`, 8, "back reference"},
		{`(?<n>a)\k<n>`, 7, "back reference"},
		{`(a)\g{1}`, 3, "back reference"},
		{`a++`, 1, "possessive repetition is not known to RE2; remove the last +"},
		{`ab{2,3}+`, 2, "possessive repetition"},
		{`\(?=a*+`, 5, "possessive repetition"},
		{`(?>a)b`, 0, "atomic group"},
		{`a\Kb`, 1, `\K is not known`},
		{`(a)?(?(1)b|c)`, 4, "conditional"},
		{`(?|a|b)`, 0, "group with shared numbers"},
		{`a(?#x)`, 1, "comment"},
		{`(?R)`, 0, "recursion"},
		{`(?x)a b`, 0, "flag x"},
		{`(*UTF8)a`, 0, "verb"},
		{`\R`, 0, `\R is not known to RE2; write \r?\n`},
		{`\Z`, 0, `\Z is not known to RE2; use $`},
		{`\h+`, 0, `\h is not known to RE2; write [ \t]`},
		{`a(b`, 0, `missing closing ) in "a(b"; pair the parentheses`},
		{`a)b`, 0, "unexpected )"},
		{`a[b`, 1, `missing closing ] in "[b"; close the class`},
		{`*a`, 0, "missing argument to repetition operator"},
		{`a{1001}`, 1, "invalid repeat count in \"{1001}\"; repeat at most 1000 times"},
		{`[z-a]`, 1, "invalid character class range"},
		{"a\xff", 1, "invalid UTF-8"},
		{`(?<n>a)(?<m>b)`, -1, ""},
		{`a{,+`, -1, ""},
		{`[\]*+]x`, -1, ""},
		{`[]*+]x`, -1, ""},
		{`[^]*+]x`, -1, ""},
		{`\Qa++\E`, -1, ""},
		{`a+?b*?`, -1, ""},
	} {
		_, _, err := compilePattern(tt.pattern)
		if err == nil != (tt.at < 0) {
			t.Errorf("%s: %v", tt.pattern, err)
			continue
		}
		if err != nil && (err.at != tt.at || !strings.Contains(err.message+"; "+err.cure, tt.want)) {
			t.Errorf("%s: %d %s; %s, wanted %d %s", tt.pattern, err.at, err.message, err.cure, tt.at, tt.want)
		}
	}
}

// The place is right in the document too, whatever was unescaped before it.
func TestPatternPlace(t *testing.T) {
	for expr, at := range map[string]int{`$a = /x(?=y)/`: 7, `$a = /\$\\\$\"(?=y)/`: 14, `$a == /x(?=y)/`: 8, `$a == /\/(?=y)/`: 9} {
		list := Compile("page", []byte("<!--#if expr=`"+expr+"` --><!--#endif -->"), Options{}).Problems()
		if len(list) != 1 || list[0].Col != 15+at || !strings.Contains(list[0].Message, "look-ahead") {
			t.Errorf("%s: %v, wanted column "+strconv.Itoa(15+at), expr, list)
		}
	}
}
