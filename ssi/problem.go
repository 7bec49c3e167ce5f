package ssi

import (
	"bytes"
	"slices"
	"strconv"
)

// What a Problem is about.
const (
	KindSyntax     = "syntax"     // a directive that cannot be read, or is not closed
	KindUnknown    = "unknown"    // a word that is no command
	KindParameter  = "parameter"  // a parameter that is unknown, missing, twice there or of a wrong value
	KindStructure  = "structure"  // if and block that do not fit together
	KindExpression = "expression" // an expression or regular expression that is wrong
	KindRefused    = "refused"    // exec, and printenv where it is not allowed
	KindInclude    = "include"    // at run time: an include that failed or was not asked for
	KindFile       = "file"       // at run time: fsize or flastmod of what is not at hand
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

	From Variables // at run time: of the document, as in Include; nil: none
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

// maxProblems bounds the list of a document; what comes beyond is only counted.
const maxProblems = 1000

// fault is a Problem whose line is not counted yet.
type fault struct {
	off                 int
	kind, message, cure string
	unclosed            bool // the document ends inside the directive
}

func syntaxFault(off int, message, cure string) *fault {
	return &fault{off: off, kind: KindSyntax, message: message, cure: cure}
}

// faults gathers what is wrong in a document.
type faults struct {
	list    []fault
	omitted int
}

func (fs *faults) add(off int, kind, message, cure string) {
	fs.note(fault{off: off, kind: kind, message: message, cure: cure})
}

func (fs *faults) note(f fault) {
	if len(fs.list) == maxProblems {
		fs.omitted++
		return
	}
	fs.list = append(fs.list, f)
}

// unknown notes a word that is no command; kept says what happens to it.
func (fs *faults) unknown(off int, word []byte, kept string) {
	if len(fs.list) == maxProblems {
		fs.omitted++ // before any wording: a document may hold millions
		return
	}
	cure := "commands are include echo set if elif else endif block endblock config fsize flastmod printenv comment"
	if name := nearest(word); name != "" {
		cure = "write " + name
	}
	fs.add(off, KindUnknown, quoted(word)+" is no command"+kept, cure)
}

// problems sorts and counts lines, in one pass over src.
func (fs *faults) problems(name string, src []byte) []Problem {
	if len(fs.list) == 0 {
		return nil
	}
	slices.SortStableFunc(fs.list, func(a, b fault) int { return a.off - b.off })
	list := make([]Problem, 0, len(fs.list)+1)
	c := lineCounter{src: src}
	for _, f := range fs.list {
		p := c.at(f.off)
		list = append(list, Problem{Name: name, Line: int(p.line), Col: int(p.col), Kind: f.kind, Message: f.message, Cure: f.cure})
	}
	if fs.omitted > 0 {
		p := c.at(len(src))
		list = append(list, Problem{Name: name, Line: int(p.line), Col: int(p.col), Kind: KindSyntax,
			Message: strconv.Itoa(fs.omitted) + " more problems are not listed", Cure: "mend these first"})
	}
	return list
}

// lineCounter finds line and column of rising offsets.
type lineCounter struct {
	src             []byte
	off, line, from int // lines before off, and where the last of them ends
}

func (c *lineCounter) at(off int) position {
	c.line += bytes.Count(c.src[c.off:off], []byte{'\n'})
	if i := bytes.LastIndexByte(c.src[c.off:off], '\n'); i >= 0 {
		c.from = c.off + i + 1
	}
	c.off = off
	return position{int32(c.line + 1), int32(off - c.from + 1)}
}

// clip cuts a piece of a document for a message.
func clip(b []byte) string {
	if len(b) > 60 {
		return string(b[:57]) + "..."
	}
	return string(b)
}

func quoted(b []byte) string { return strconv.Quote(clip(b)) }
