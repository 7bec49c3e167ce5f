package check

import (
	"io/fs"
	"syscall"
	"testing"
)

func TestProblemString(t *testing.T) {
	for want, p := range map[string]Problem{
		"a.html:1:2: wrong; cure":                   {File: "a.html", Line: 1, Col: 2, Message: "wrong", Cure: "cure"},
		"warning: a b.html:1:2: odd":                {File: "a b.html", Line: 1, Col: 2, Message: "odd", Warning: true},
		`"a\nb\x1b[2J.html":1:1: wrong`:             {File: "a\nb\x1b[2J.html", Line: 1, Col: 1, Message: "wrong"},
		"São Paulo/100%.html:3:4: wrong":            {File: "São Paulo/100%.html", Line: 3, Col: 4, Message: "wrong"},
		"a:1:1: cannot be read: file name too long": unreadable("a", &fs.PathError{Op: "open", Path: "a", Err: syscall.ENAMETOOLONG}),
		"a:1:1: cannot be read: permission denied; let the user that runs ssiedge read it": unreadable("a", &fs.PathError{Op: "open", Path: "a", Err: syscall.EACCES}),
	} {
		if got := p.String(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
