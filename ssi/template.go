package ssi

import (
	"bytes"
	"unsafe"
)

// What stands where a directive went wrong, as in nginx and as in Apache.
const (
	DefaultErrorMessage       = "[an error occurred while processing the directive]"
	DefaultErrorMessageApache = "[an error occurred while processing this directive]"
)

// Limits of a document where Options says nothing.
const (
	DefaultMaxDirective = 64 << 10
	DefaultMaxValue     = 16 << 10
	DefaultMaxParams    = 32
)

// Options say how documents are compiled. The zero value works.
type Options struct {
	Dialect        Dialect     // DialectNginx by default
	Expressions    Expressions // of the apache dialect; ExpressionsAp by default
	ErrorMessage   string      // "": DefaultErrorMessage
	SilentErrors   bool        // print nothing where a directive went wrong, whatever config errmsg says
	UnknownIsError bool        // <!--#word that is no command prints the error message; false: it is kept as text
	Printenv       bool        // printenv prints the variables; false: it prints the error message
	MaxDirective   int         // bytes, brackets included; 0: DefaultMaxDirective
	MaxValue       int         // bytes of a parameter's value; 0: DefaultMaxValue
	MaxParams      int         // of a directive; 0: DefaultMaxParams
}

func (o Options) withDefaults() Options {
	if o.ErrorMessage == "" {
		o.ErrorMessage = DefaultErrorMessage
		if o.Dialect == DialectApache {
			o.ErrorMessage = DefaultErrorMessageApache
		}
	}
	if o.SilentErrors {
		o.ErrorMessage = ""
	}
	if o.MaxDirective <= 0 {
		o.MaxDirective = DefaultMaxDirective
	}
	if o.MaxValue <= 0 {
		o.MaxValue = DefaultMaxValue
	}
	if o.MaxParams <= 0 {
		o.MaxParams = DefaultMaxParams
	}
	return o
}

// Template is a compiled document. It never changes, and may be run by many goroutines at once.
type Template struct {
	name     string
	src      []byte
	errText  []byte // until the document says otherwise, as is echoText
	echoText []byte
	code     []instr
	echoes   []echoOp
	sets     []setOp
	includes []includeOp
	conds    []condOp
	configs  []configOp
	stats    []statOp
	blocks   []blockOp
	patterns patterns
	problems []Problem
	static   bool
	size     int

	exprParts int // of compiled expressions
}

// Compile makes a template of a document; it is never nil. src is kept, since text runs are slices of it, and must not
// change any more. name is for problems. It takes time and memory in proportion to the document, whatever is in it.
func Compile(name string, src []byte, o Options) *Template {
	o = o.withDefaults()
	t := &Template{name: name, src: src, errText: []byte(o.ErrorMessage), echoText: []byte(defaultEchoMessage)}
	p := parser{t: t, o: o, lines: lineCounter{src: src}}
	p.lex = lexer{src: src, o: o, faults: &p.faults}
	p.run()
	t.static = len(p.lex.items) == 0
	t.patterns.fixed = nil
	t.problems = p.faults.problems(name, src)
	t.size = t.measure()
	return t
}

// measure estimates what the template takes.
func (t *Template) measure() int {
	n := int(unsafe.Sizeof(*t)) + sizeOf(t.code) + sizeOf(t.echoes) + sizeOf(t.sets) + sizeOf(t.includes) +
		sizeOf(t.conds) + sizeOf(t.configs) + sizeOf(t.stats) + sizeOf(t.blocks) + sizeOf(t.problems) +
		t.patterns.size() + exprPartBytes*t.exprParts
	for i := range t.problems {
		n += len(t.problems[i].Message)
	}
	// Names and unescaped values: a few are slices of the source, the rest is no larger than the directives.
	if !t.static {
		n += len(t.src) - t.textLen()
	}
	return n
}

func sizeOf[T any](s []T) int {
	var zero T
	return cap(s) * int(unsafe.Sizeof(zero))
}

func (t *Template) textLen() int {
	n := 0
	for i := range t.code {
		if t.code[i].op == opText {
			n += t.code[i].b - t.code[i].a
		}
	}
	return n
}

// HasDirectives says whether src holds "<!--#" at all.
func HasDirectives(src []byte) bool { return bytes.Contains(src, opening) }

// Static says that there is nothing to run: Source can be sent as it is. Words after "<!--#" that are no command, and
// directives that are not closed, are text.
func (t *Template) Static() bool { return t.static }

// Source is the document as given to Compile; not to be changed.
func (t *Template) Source() []byte { return t.src }

// Size is about the number of bytes that the template takes beyond its source.
func (t *Template) Size() int { return t.size }

// Problems are the mistakes found in the document, in document order; not to be changed.
func (t *Template) Problems() []Problem { return t.problems }
