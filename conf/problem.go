package conf

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one mistake, or one warning, with its place and its cure.
type Problem struct {
	File      string // as given to Load or Parse; "" for flags
	Line, Col int    // from 1, Col in bytes; 0 for flags
	Key       string // "site.origin.servers"; a flag with its dashes; "" for syntax
	Message   string // what is wrong
	Cure      string // what to do about it; "" where the message says it all
}

// Error gives "ssiedge.toml:14:9: site.origin.servers: port 99999 is out of
// range; use 1 to 65535". Parts that are empty are left out.
func (p Problem) Error() string {
	var b strings.Builder
	if p.Line > 0 {
		fmt.Fprintf(&b, "%s:%d:%d: ", p.File, p.Line, p.Col)
	}
	if p.Key != "" {
		b.WriteString(p.Key + ": ")
	}
	b.WriteString(p.Message)
	if p.Cure != "" {
		b.WriteString("; " + p.Cure)
	}
	return b.String()
}

// ErrorList is every mistake of one file, in file order. It is never empty where
// it is returned as an error.
type ErrorList []Problem

// Error gives one line a problem.
func (l ErrorList) Error() string {
	lines := make([]string, len(l))
	for i, p := range l {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// sortByPlace puts problems into file order; those of one place stay in the
// order they were found in.
func sortByPlace(l []Problem) {
	slices.SortStableFunc(l, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
}
