package conf

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ssiedge/ssiedge/origin"
)

// reader makes a Config of a tree and notes what is wrong on the way.
type reader struct {
	file     string // "" for flags: then nothing has a place
	problems []Problem
	warnings []Problem
	origins  map[string]*origin.Options // [origin.NAME]; nil: defined, but with mistakes
	used     map[string]bool            // names of origins that a site or rule asks for
	hosts    map[string]place           // of all sites
	memcache bool                       // there is a [memcache]
	ring     bool                       // it names several servers
	pulls    bool                       // some site or rule asks an origin
	maxKeep  int64                      // limits.max_keep
}

// mistake is what is wrong with a value, and its cure.
type mistake struct{ message, cure string }

// mistakeOf is the error of another package's check: "what is wrong, want this".
// prefix repeats the value, which the place tells.
func mistakeOf(err error, prefix string) *mistake {
	message, want, found := strings.Cut(strings.TrimPrefix(err.Error(), prefix), ", want ")
	if found {
		want = "use " + want
	}
	return &mistake{message, want}
}

// problemAt notes a mistake.
func (r *reader) problemAt(at place, key, message, cure string) {
	r.problems = append(r.problems, r.newProblem(at, key, message, cure))
}

// problem notes a mistake of a value.
func (r *reader) problem(n *node, message, cure string) {
	r.problemAt(n.at, n.key, message, cure)
}

// fault notes m, if there is one, and reports whether n is free of it.
func (r *reader) fault(n *node, m *mistake) bool {
	if m != nil {
		r.problem(n, m.message, m.cure)
	}
	return m == nil
}

// warn notes what is allowed and yet hardly meant.
func (r *reader) warn(at place, key, message, cure string) {
	r.warnings = append(r.warnings, r.newProblem(at, key, message, cure))
}

func (r *reader) newProblem(at place, key, message, cure string) Problem {
	return Problem{File: r.file, Line: at.line, Col: at.col, Key: key, Message: message, Cure: cure}
}

// wrongType notes that a value is of the wrong type. want is "a time such as \"30s\"".
func (r *reader) wrongType(n *node, want, cure string) {
	r.problem(n, fmt.Sprintf("%s is wanted, not %s", want, describe(n)), cure)
}

// describe says what a node holds, for messages.
func describe(n *node) string {
	switch n.kind {
	case tableKind:
		return "a table"
	case listKind:
		return "a list"
	case textKind:
		return fmt.Sprintf("the string %q", n.text)
	case integerKind:
		return "the integer " + n.text
	case floatKind:
		return "the number " + n.text
	case booleanKind:
		return "the boolean " + n.text
	default:
		return "the date " + n.text
	}
}

// where is "file:line", by which rules and sites are known.
func (r *reader) where(n *node) string {
	if n.at.line == 0 {
		return "the flags"
	}
	return fmt.Sprintf("%s:%d", r.file, n.at.line)
}

// path makes a path of the file one for this process: relative ones start from
// the folder of the file.
func (r *reader) path(p string) string {
	if p == "" || filepath.IsAbs(p) || r.file == "" {
		return p
	}
	return filepath.Join(filepath.Dir(r.file), p)
}

// quoted is `"a", "b" or "c"`.
func quoted(words []string) string {
	q := make([]string, len(words))
	for i, w := range words {
		q[i] = fmt.Sprintf("%q", w)
	}
	return enumerate(q)
}

// enumerate is "a, b or c".
func enumerate(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
