// Package ssi compiles a document with server-side includes and runs it.
//
// A document is text with directives, <!--#command name="value" -->. Compile makes it a Template, once; Start runs a
// template, once for each visitor. What includes resolve to, and what variables the surroundings know, is asked of the
// caller through Includer and Variables; the package knows nothing of HTTP.
//
// # Directives
//
//	include   virtual= or file=  prints a fragment; file= waits for it. Several are printed in order
//	          onerror=           is asked for if what stands before it failed, and what follows the failure is not
//	          wait=yes           what follows runs when the fragment is complete, and sees its variables
//	          set=               keeps the fragment in a variable instead of printing it
//	          stub=              the block to print if the fragment failed or has no body
//	echo      var=               prints a variable
//	          default=           printed if the variable is unknown; else (none)
//	          encoding=          entity (default), none, url, urlencoded, base64; for this echo only
//	set       var= value=        sets a variable
//	if, elif  expr=              $name, $name = text, $name != text, $name = /regex/, $name != /regex/;
//	                             else what Apache knew before 2.4: && || ! ( ) < <= > >= == -A
//	else, endif
//	block     name=              begins what a stub may print; endblock ends it
//	config    errmsg=            what is printed where a directive goes wrong, in this document
//	          timefmt=           of dates, as strftime has it, in this document
//	          sizefmt=           abbrev (default) or bytes, in this document
//	          echomsg=           what echo prints for an unknown variable, in this document
//	fsize     virtual= or file=  prints the size of what that leads to, from what is at hand; several are allowed
//	flastmod  virtual= or file=  prints the time of its last change
//	printenv                     prints all variables, where Options allow it
//	comment                      prints nothing
//
// exec is never run. A word that is no command is kept as text, unless Options say otherwise. $name and ${name} are
// inserted in virtual, file, value and expr; \$ is a dollar. What a variable or a body inserts is never run.
// The language is that of nginx 1.22; where nginx prints an error message for something that Apache understands, it
// is understood here too: nested ifs, comment, unquoted values, names in any case.
//
// A broken document still makes a page: the error message stands where a directive is wrong, and Template.Problems
// says what, where, and how to mend it. An opening without an end is text.
//
// # The apache dialect
//
// DialectApache is the language of Apache's mod_include where the two disagree: includes run one after another and share
// their variables; the parameters of a directive work in their order, up to the first that is wrong; echo and set take
// several, and decoding= beside encoding=; entities are decoded in URLs and in names of variables; \$ and the quote
// around a value lose their backslash, and nothing else does; variables are inserted in var and in config too; an opening
// without an end takes the rest of the document. Conditions are ap_expr's, or as Expressions says.
//
// # Scope and order
//
// The text of a page is ready at once; includes go off in parallel, and all is printed in document order. An include
// that is not waited for sees the variables, captures and blocks as they were at its directive, and its own stay with
// it. One that is waited for (wait, file, set) works on those of the page.
//
// # Limits
//
// Directives, values and nesting of a document are bounded by Options and constants; depth, number of includes and
// printed bytes of a run by Env. Values take at most 64 KiB with their variables inserted. Regular expressions are
// RE2's, bounded in size; what RE2 lacks of PCRE is a Problem at its place. Compiling takes time in proportion to the
// document.
//
// A Template may be used by any number of goroutines. A Run belongs to one.
package ssi
