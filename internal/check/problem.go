package check

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Problem is something wrong with a page, or with a file or folder under root.
type Problem struct {
	File      string // its root as the configuration has it, and the name below
	Line, Col int    // from 1, Col in bytes; 1 and 1 where the whole file is meant
	Message   string // what is wrong
	Cure      string // what to do about it; "" where the message says it all
	Warning   bool   // allowed, and yet hardly meant
}

// String gives "public/a.html:3:1: if is not closed; add <!--#endif -->", with
// "warning: " before it for a warning.
func (p Problem) String() string {
	text := fmt.Sprintf("%s:%d:%d: %s", printable(p.File), p.Line, p.Col, p.Message)
	if p.Warning {
		text = "warning: " + text
	}
	if p.Cure != "" {
		text += "; " + p.Cure
	}
	return text
}

// printable is a name as it is, unless it would break the line or command a
// terminal: then it is quoted.
func printable(name string) string {
	if strings.ContainsFunc(name, unicode.IsControl) {
		return strconv.Quote(name)
	}
	return name
}

// sortByPlace puts the problems of one file into its order; those of one place
// stay in the order they were found in.
func sortByPlace(list []Problem) {
	slices.SortStableFunc(list, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
}

// unreadable is the problem of a file or folder that an error kept from us.
func unreadable(file string, err error) Problem {
	p := Problem{File: file, Line: 1, Col: 1, Message: fmt.Sprintf("cannot be read: %v", cause(err))}
	if errors.Is(err, fs.ErrPermission) {
		p.Cure = "let the user that runs ssiedge read it"
	}
	return p
}

// cause is the error of the system call, without the path.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}
