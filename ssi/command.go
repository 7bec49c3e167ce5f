package ssi

import "strings"

// command is what a directive asks for.
type command uint8

const (
	cmdUnknown command = iota
	cmdNone            // <!--#-->
	cmdInclude
	cmdEcho
	cmdSet
	cmdIf
	cmdElif
	cmdElse
	cmdEndif
	cmdBlock
	cmdEndblock
	cmdConfig
	cmdFsize
	cmdFlastmod
	cmdPrintenv
	cmdComment
	cmdExec
)

// The parameters of all commands.
const (
	argVirtual = iota
	argFile
	argOnerror
	argWait
	argSet
	argStub
	argVar
	argDefault
	argEncoding
	argDecoding
	argValue
	argExpr
	argName
	argErrmsg
	argTimefmt
	argSizefmt
	argEchomsg
	argCount
)

// spec says what a command takes.
type spec struct {
	name   string
	params []paramSpec
}

type paramSpec struct {
	name string
	arg  int
	kind paramKind
}

// paramKind says how a parameter may be there.
type paramKind uint8

const (
	optional   paramKind = iota
	required             // the command cannot do without
	apacheOnly           // unknown to the nginx dialect
)

// specs is the language, by command; comment and exec are not checked against it. Parameters that may be there several
// times are known to the commands that go through them in order.
var specs = [...]spec{
	cmdInclude: {"include", []paramSpec{{"virtual", argVirtual, optional}, {"file", argFile, optional}, {"onerror", argOnerror, optional},
		{"wait", argWait, optional}, {"set", argSet, optional}, {"stub", argStub, optional}}},
	cmdEcho: {"echo", []paramSpec{{"var", argVar, required}, {"default", argDefault, optional},
		{"encoding", argEncoding, optional}, {"decoding", argDecoding, apacheOnly}}},
	cmdSet: {"set", []paramSpec{{"var", argVar, required}, {"value", argValue, required},
		{"encoding", argEncoding, apacheOnly}, {"decoding", argDecoding, apacheOnly}}},
	cmdIf:       {"if", []paramSpec{{"expr", argExpr, required}}},
	cmdElif:     {"elif", []paramSpec{{"expr", argExpr, required}}},
	cmdElse:     {"else", nil},
	cmdEndif:    {"endif", nil},
	cmdBlock:    {"block", []paramSpec{{"name", argName, required}}},
	cmdEndblock: {"endblock", nil},
	cmdConfig: {"config", []paramSpec{{"errmsg", argErrmsg, optional}, {"timefmt", argTimefmt, optional},
		{"sizefmt", argSizefmt, optional}, {"echomsg", argEchomsg, optional}}},
	cmdFsize:    {"fsize", []paramSpec{{"virtual", argVirtual, optional}, {"file", argFile, optional}}},
	cmdFlastmod: {"flastmod", []paramSpec{{"virtual", argVirtual, optional}, {"file", argFile, optional}}},
	cmdPrintenv: {"printenv", nil},
	cmdComment:  {"comment", nil},
	cmdExec:     {"exec", nil},
}

// arg is what a parameter is to the command, by its name in any case; -1: the dialect has none of that name.
func (s *spec) arg(name []byte, d Dialect) int {
	for _, ps := range s.params {
		if equalFold(name, ps.name) && (ps.kind != apacheOnly || d == DialectApache) {
			return ps.arg
		}
	}
	return -1
}

// cure says what to do about a parameter that the command does not know: what it takes.
func (s *spec) cure(name []byte, d Dialect) string {
	if s.arg(name, DialectApache) >= 0 {
		return "remove it, or set dialect = \"apache\""
	}
	if len(s.params) == 0 {
		return s.name + " takes none: remove it"
	}
	var b strings.Builder
	b.WriteString(s.name + " takes")
	for _, ps := range s.params {
		if ps.kind != apacheOnly || d == DialectApache {
			b.WriteString(" " + ps.name)
		}
	}
	return b.String()
}

// commandOf finds a command by its word in any case; cmdUnknown: there is none.
func commandOf(word []byte) command {
	for c := cmdInclude; c <= cmdExec; c++ {
		if equalFold(word, specs[c].name) {
			return c
		}
	}
	return cmdUnknown
}

// equalFold compares with a lower-case name, ignoring the case of ASCII letters.
func equalFold(b []byte, name string) bool {
	if len(b) != len(name) {
		return false
	}
	for i, c := range b {
		if lower(c) != name[i] {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// lowerString is name in lower case, as variables are called.
func lowerString(name []byte) string {
	b := make([]byte, len(name))
	for i, c := range name {
		b[i] = lower(c)
	}
	return string(b)
}

// nearest is the command that word was probably meant to be, or "".
func nearest(word []byte) string {
	if len(word) < 3 {
		return ""
	}
	best, name := 3, ""
	for c := cmdInclude; c <= cmdExec; c++ {
		if d := distance(lowerString(word), specs[c].name); d < best {
			best, name = d, specs[c].name
		}
	}
	return name
}

// distance counts the letters to change, add or drop to make b of a (Levenshtein); both are short.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
