package warm

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// utf8BOM is what some editors begin a file with.
const utf8BOM = "\xef\xbb\xbf"

// list is a source of lines.
type list struct {
	name string
	r    io.Reader
}

// List gives a source of lines: a URL or a path on each. Blank lines, and those
// that begin with #, are nothing. Name is how the list is called in messages.
// The caller closes r, after the run.
func List(name string, r io.Reader) Source { return list{name, r} }

func (s list) each(_ context.Context, _ *fetcher, yield func(entry) bool) {
	r := bufio.NewReaderSize(s.r, 2*maxURL)
	for n := 1; ; n++ {
		line, cut, err := readLine(r)
		place := fmt.Sprintf("%s:%d", s.name, n)
		if err != nil {
			if !errors.Is(err, io.EOF) {
				yield(badEntry(place, "", err))
			}
			return
		}
		if n == 1 {
			line = strings.TrimPrefix(line, utf8BOM)
		}
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if !yield(lineEntry(place, line, cut)) {
			return
		}
	}
}

// readLine reads a line without its end. Of a line that does not fit into r's
// buffer it gives the beginning, and cut.
func readLine(r *bufio.Reader) (line string, cut bool, err error) {
	b, more, err := r.ReadLine()
	line = string(b)
	for cut = more; more && err == nil; {
		_, more, err = r.ReadLine()
	}
	return line, cut, err
}

// lineEntry judges a line that is not empty.
func lineEntry(place, line string, cut bool) entry {
	if cut {
		return badEntry(place, line[:64]+"...", fmt.Errorf("a URL of at most %d bytes is wanted", maxURL))
	}
	var t target
	var err error
	switch {
	case line[0] == '/':
		t.path, err = parsePath(line)
	case !strings.Contains(line, "://"):
		err = errors.New("a URL or a path is wanted, like https://www.example.com/page or /page")
	default:
		t, err = parseURL(line)
	}
	if err != nil {
		return badEntry(place, line, err)
	}
	return entry{place: place, url: line, target: t}
}
