package ssi

import (
	"errors"
	"regexp/syntax"
	"strings"
)

// construct is something that PCRE has and RE2 lacks.
type construct struct{ begins, name, cure string }

// groups are those that begin with a parenthesis; the first that fits counts.
var groups = [...]construct{
	{"(?=", "look-ahead", "match the text itself, or use a second condition"},
	{"(?!", "look-ahead", "use a second condition with !="},
	{"(?<=", "look-behind", "match the text itself, or use a second condition"},
	{"(?<!", "look-behind", "use a second condition with !="},
	{"(?>", "atomic group", "write (?: instead"},
	{"(?|", "group with shared numbers", "write (?: instead, and look at each capture"},
	{"(?(", "conditional", "use two conditions"},
	{"(?#", "comment", "remove it"},
	{"(?P=", "back reference", "capture both, and compare $1 with $2"},
	{"(?P>", "recursion", "write the pattern out"},
	{"(?&", "recursion", "write the pattern out"},
	{"(?R", "recursion", "write the pattern out"},
	{"(?'", "group with its name in quotes", "write (?<name>...)"},
	{"(?x", "flag x", "take out its blanks and comments, and the x"},
	{"(*", "verb", "remove it"},
}

// escapes are those that begin with a backslash.
var escapes = [...]construct{
	{`\K`, "\\K", "put what counts into a group"},
	{`\k`, "back reference", "capture both, and compare $1 with $2"},
	{`\g`, "back reference", "capture both, and compare $1 with $2"},
	{`\G`, "\\G", "use ^"},
	{`\Z`, "\\Z", "use $"},
	{`\h`, "\\h", `write [ \t]`},
	{`\H`, "\\H", `write [^ \t]`},
	{`\R`, "\\R", `write \r?\n`},
	{`\N`, "\\N", "write ."},
	{`\X`, "\\X", "write ."},
	{`\e`, "\\e", `write \x1b`},
	{`\c`, "\\c", `write \x and two hexadecimal digits`},
}

// whyRefused says what of a regular expression RE2 does not take, and what to write instead.
func whyRefused(source string, err error) *patternError {
	if e := lacking(source); e != nil {
		return e
	}
	var why *syntax.Error
	if !errors.As(err, &why) {
		return &patternError{message: "regular expression: " + err.Error(), cure: "write it as RE2 has it"}
	}
	return &patternError{
		at:      max(0, strings.Index(source, why.Expr)),
		message: "regular expression: " + why.Code.String() + " in " + quoted([]byte(why.Expr)),
		cure:    mend(why.Code),
	}
}

// mend is the cure of a mistake that is one in PCRE too.
func mend(code syntax.ErrorCode) string {
	switch code {
	case syntax.ErrMissingParen, syntax.ErrUnexpectedParen:
		return `pair the parentheses, or write \( or \) for the sign`
	case syntax.ErrMissingBracket:
		return `close the class with ], or write \[ for the sign`
	case syntax.ErrMissingRepeatArgument, syntax.ErrInvalidRepeatOp:
		return "put something before the repetition, or a backslash for the sign"
	case syntax.ErrInvalidRepeatSize:
		return "repeat at most 1000 times"
	case syntax.ErrInvalidCharRange, syntax.ErrInvalidCharClass:
		return "write the lower end of a range first"
	case syntax.ErrTrailingBackslash:
		return "write two backslashes for one"
	case syntax.ErrInvalidUTF8:
		return "write it in UTF-8"
	}
	return "write it as RE2 has it"
}

// lacking finds the first construct of PCRE that RE2 lacks; nil: none.
func lacking(source string) *patternError {
	for i := 0; i < len(source); {
		rest := source[i:]
		switch rest[0] {
		case '\\':
			if c := beginning(rest, escapes[:]); c != nil {
				return c.at(i)
			}
			if len(rest) > 1 && '1' <= rest[1] && rest[1] <= '9' {
				return (&construct{"", "back reference", "capture both, and compare $1 with $2"}).at(i)
			}
			i += 2
		case '[':
			i += class(rest)
		case '(':
			if c := beginning(rest, groups[:]); c != nil {
				return c.at(i)
			}
			i++
		case '*', '+', '?', '{':
			n := repetition(rest)
			if n > 0 && strings.HasPrefix(rest[n:], "+") {
				return (&construct{"", "possessive repetition", "remove the last +"}).at(i)
			}
			i += max(n, 1)
		default:
			i++
		}
	}
	return nil
}

func beginning(rest string, list []construct) *construct {
	for i := range list {
		if strings.HasPrefix(rest, list[i].begins) {
			return &list[i]
		}
	}
	return nil
}

func (c *construct) at(i int) *patternError {
	return &patternError{i, "regular expression: " + c.name + " is not known to RE2", c.cure}
}

// repetition is the length of the repetition that s begins with; 0: a brace that begins none.
func repetition(s string) int {
	if s[0] != '{' {
		return 1
	}
	i := 1
	for i < len(s) && ('0' <= s[i] && s[i] <= '9' || s[i] == ',') {
		i++
	}
	if i == 1 || i == len(s) || s[i] != '}' {
		return 0
	}
	return i + 1
}

// class is the length of the bracketed class that s begins with.
func class(s string) int {
	i := 1
	if strings.HasPrefix(s[i:], "^") {
		i++
	}
	if strings.HasPrefix(s[i:], "]") {
		i++
	}
	for i < len(s) && s[i] != ']' {
		if s[i] == '\\' {
			i++
		}
		i++
	}
	return min(i+1, len(s))
}
