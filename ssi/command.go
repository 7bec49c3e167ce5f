package ssi

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
	cmdComment
	cmdExec
)

// The parameters of all commands.
const (
	argVirtual = iota
	argFile
	argWait
	argSet
	argStub
	argVar
	argDefault
	argEncoding
	argValue
	argExpr
	argName
	argErrmsg
	argTimefmt
	argCount
)

// spec says what a command takes.
type spec struct {
	name   string
	params []paramSpec
}

type paramSpec struct {
	name     string
	arg      int
	required bool
}

// specs is the language, by command; comment and exec are not checked against it.
var specs = [...]spec{
	cmdInclude: {"include", []paramSpec{{"virtual", argVirtual, false}, {"file", argFile, false},
		{"wait", argWait, false}, {"set", argSet, false}, {"stub", argStub, false}}},
	cmdEcho:     {"echo", []paramSpec{{"var", argVar, true}, {"default", argDefault, false}, {"encoding", argEncoding, false}}},
	cmdSet:      {"set", []paramSpec{{"var", argVar, true}, {"value", argValue, true}}},
	cmdIf:       {"if", []paramSpec{{"expr", argExpr, true}}},
	cmdElif:     {"elif", []paramSpec{{"expr", argExpr, true}}},
	cmdElse:     {"else", nil},
	cmdEndif:    {"endif", nil},
	cmdBlock:    {"block", []paramSpec{{"name", argName, true}}},
	cmdEndblock: {"endblock", nil},
	cmdConfig:   {"config", []paramSpec{{"errmsg", argErrmsg, false}, {"timefmt", argTimefmt, false}}},
	cmdComment:  {"comment", nil},
	cmdExec:     {"exec", nil},
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
