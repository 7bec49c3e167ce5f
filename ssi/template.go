package ssi

import "bytes"

// DefaultErrorMessage stands where a directive went wrong, as in nginx.
const DefaultErrorMessage = "[an error occurred while processing the directive]"

// Limits of a document where Options says nothing.
const (
	DefaultMaxDirective = 64 << 10
	DefaultMaxValue     = 16 << 10
	DefaultMaxParams    = 32
)

// Options say how documents are compiled. The zero value works.
type Options struct {
	ErrorMessage   string // "": DefaultErrorMessage
	SilentErrors   bool   // print nothing where a directive went wrong, unless the document has a config errmsg
	UnknownIsError bool   // <!--#word that is no command prints the error message; false: it is kept as text
	MaxDirective   int    // bytes, brackets included; 0: DefaultMaxDirective
	MaxValue       int    // bytes of a parameter's value; 0: DefaultMaxValue
	MaxParams      int    // of a directive; 0: DefaultMaxParams
}

// Template is a compiled document. It never changes, and may be run by many goroutines at once.
type Template struct {
	name     string
	src      []byte
	problems []Problem
}

// Compile makes a template of a document; it is never nil. src is kept, since text runs are slices of it, and must not
// change any more. name is for problems.
func Compile(name string, src []byte, o Options) *Template {
	return &Template{name: name, src: src}
}

// HasDirectives says whether src holds "<!--#" at all.
func HasDirectives(src []byte) bool { return bytes.Contains(src, opening) }

// Static says that there is nothing to run: Source can be sent as it is.
func (t *Template) Static() bool { return true }

// Source is the document as given to Compile; not to be changed.
func (t *Template) Source() []byte { return t.src }

// Size is the number of bytes that the template takes beyond its source.
func (t *Template) Size() int { return 0 }

// Problems are the mistakes found in the document, in document order; not to be changed.
func (t *Template) Problems() []Problem { return t.problems }

var opening = []byte("<!--#")
