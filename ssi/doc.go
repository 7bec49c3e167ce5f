// Package ssi compiles a document with server-side includes and runs it.
//
// A document is text with directives, <!--#command name="value" -->. Compile makes it a Template, once; Start runs a
// template, once for each visitor. What includes resolve to, and what variables the surroundings know, is asked of the
// caller through Includer and Variables; the package knows nothing of HTTP.
//
// # Directives
//
//	include   virtual= or file=  prints a fragment; file= waits for it
//	          wait=yes           what follows runs when the fragment is complete, and sees its variables
//	          set=               keeps the fragment in a variable instead of printing it
//	          stub=              the block to print if the fragment failed or has no body
//	echo      var=               prints a variable
//	          default=           printed if the variable is unknown; else (none)
//	          encoding=          entity (default), none, url, urlencoded, base64; for this echo only
//	set       var= value=        sets a variable
//	if, elif  expr=              $name, $name = text, $name != text, $name = /regex/, $name != /regex/;
//	                             else what Apache knew before 2.4: && || ! ( ) < <= > >= ==
//	else, endif
//	block     name=              begins what a stub may print; endblock ends it
//	config    errmsg=            what is printed where a directive goes wrong, in this document
//	          timefmt=           of DATE_LOCAL and DATE_GMT, as strftime has it, in this document
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
// RE2's, bounded in size. Compiling takes time in proportion to the document.
//
// A Template may be used by any number of goroutines. A Run belongs to one.
package ssi
