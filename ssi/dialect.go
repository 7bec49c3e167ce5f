package ssi

// Dialect says whose language a document speaks where nginx and Apache disagree.
type Dialect uint8

// The dialects.
const (
	DialectNginx  Dialect = iota // nginx's, and what Apache adds to it where nginx would print an error
	DialectApache                // Apache's mod_include
)

// Expressions say how the apache dialect reads conditions. The nginx dialect has a grammar of its own.
type Expressions uint8

// The grammars of conditions.
const (
	ExpressionsAp     Expressions = iota // ap_expr, as Apache since 2.4
	ExpressionsLegacy                    // what Apache had before 2.4
)
