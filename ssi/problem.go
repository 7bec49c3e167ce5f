package ssi

import "strconv"

// What a Problem is about.
const (
	KindSyntax     = "syntax"     // a directive that cannot be read, or is not closed
	KindUnknown    = "unknown"    // a word that is no command
	KindParameter  = "parameter"  // a parameter that is unknown, missing, twice there or of a wrong value
	KindStructure  = "structure"  // if and block that do not fit together
	KindExpression = "expression" // an expression or regular expression that is wrong
	KindRefused    = "refused"    // exec
	KindInclude    = "include"    // at run time: an include that failed or was not asked for
	KindLimit      = "limit"      // at run time: a limit of the run was hit
	KindPanic      = "panic"      // at run time: a panic, also told to Env.Panicked
)

// Problem is something wrong in a document. It never keeps a page from being made.
type Problem struct {
	Name      string // the document, as it was named to Compile
	Line, Col int    // from 1; columns count bytes
	Kind      string // one of the Kind constants
	Message   string // what is wrong
	Cure      string // what to do about it; may be empty at run time
}

// String gives "name:line:col: message; cure".
func (p Problem) String() string {
	s := p.Name + ":" + strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Col) + ": " + p.Message
	if p.Cure == "" {
		return s
	}
	return s + "; " + p.Cure
}

// position is a place in a document; both count from 1, columns in bytes.
type position struct{ line, col int32 }
