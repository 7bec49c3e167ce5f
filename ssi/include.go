package ssi

import (
	"context"
	"time"
)

// Variables looks up what the surroundings of a document know: request, cookies, server.
// Variables set by a document hide them. Lookup is called from several goroutines.
type Variables interface {
	// Lookup finds the value of a name in lower case. The value is not changed, and not kept beyond the run.
	Lookup(name string) (value []byte, ok bool)
}

// Dated is what Variables may be too: LAST_MODIFIED is its time, in the document's timefmt.
type Dated interface {
	// Modified is the time of the last change; false: it is not known.
	Modified() (time.Time, bool)
}

// Placed is what Variables may be too: ap_expr's REQUEST_URI and QUERY_STRING are the document's own, also where the
// variables of these names are the page's.
type Placed interface {
	// Place is the path and the query of the document. They are not changed, and not kept beyond the run.
	Place() (path, query []byte)
}

// Include is one include to answer.
type Include struct {
	URL   string    // as written, after interpolation: path and query, perhaps relative; never resolved here
	File  bool      // from file=
	From  Variables // of the document that holds the directive; relative paths are resolved by it
	Depth int       // 1 for an include of the page itself
	Memo  any       // Lookup may leave something here for Fetch
}

// Fragment is the answer to an Include. One of Template, Body and Err speaks; none of them, or an empty one of the
// first two, is an answer without a body.
type Fragment struct {
	Template  *Template // run as a document of its own, with Variables
	Body      []byte    // printed as it is; kept until the run is closed
	Variables Variables // of the fragment; needed with Template, and used by a stub also with Err
	Err       error     // the fragment failed: the stub stands for it, else the error message; ErrTooLarge: the run ends
	Status    int       // of the answer; set= keeps the old value for 204 and from 300 on
}

// Includer answers includes.
type Includer interface {
	// Lookup answers without waiting, from what is at hand; ok = false: ask Fetch.
	// It is called on the goroutine of the run. inc is not kept after the call.
	Lookup(inc *Include) (f Fragment, ok bool)
	// Fetch may wait. It is called on a goroutine of its own, and returns soon after ctx is done.
	Fetch(ctx context.Context, inc *Include) Fragment
}

// Limits of a run where Env says nothing.
const (
	DefaultMaxDepth    = 16
	DefaultMaxIncludes = 512
	DefaultMaxPage     = 16 << 20
)

// Env is what a run needs to know. The zero value runs a page without variables in which every include fails.
type Env struct {
	Includer    Includer
	Variables   Variables      // of the page; nil: none
	Now         time.Time      // the one time of the request
	Location    *time.Location // of DATE_LOCAL; nil: time.Local
	MaxDepth    int            // of includes in includes; 0: DefaultMaxDepth
	MaxIncludes int            // over the whole tree; 0: DefaultMaxIncludes
	MaxPage     int64          // printed bytes; 0: DefaultMaxPage
	Deadline    time.Time      // when includes still pending fail; zero: never
	AtHand      bool           // Fetch is never called: what Lookup lacks stays pending for good (HEAD)

	// Report is told what goes wrong at run time, with the directive's place; no more than 1,000 times, and of includes
	// over the limit once. It is called from several goroutines; may be nil.
	Report func(Problem)
	// Panicked is told of a panic in the Includer, in Variables or in the run; its directive counts as failed. May be nil.
	Panicked func(v any, stack []byte)
}
