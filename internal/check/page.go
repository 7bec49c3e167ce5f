package check

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"github.com/ssiedge/ssiedge/internal/edge"
	"github.com/ssiedge/ssiedge/ssi"
)

// file is one under root that some URL leads to.
type file struct {
	place
	id    fileID
	size  int64
	reach edge.Reach
}

// visit looks at a file that may be served, unless no URL leads to it or the
// site has seen it under another name. err is that of asking for info.
func (s *site) visit(p place, info fs.FileInfo, err error) {
	reach := s.resolver.File(p.name)
	if !reach.Any {
		return
	}
	if err != nil {
		s.vanished(p, err)
		return
	}
	f := &file{p, identify(info), info.Size(), reach}
	seen, known := s.files[f.id]
	if known && (!reach.Run || seen.site == s.number) {
		return
	}
	if !known {
		s.counts.Files++
	}
	if reach.Run {
		seen.site = s.number
	}
	if s.read(f) && !seen.page {
		seen.page = true
		s.counts.Pages++
	}
	s.files[f.id] = seen
}

// read opens a file, for that it can be is worth knowing of any, and judges it
// if it is a page. It says whether it has directives that are run.
func (s *site) read(f *file) (directives bool) {
	// Not to wait for a writer, should it be a fifo by now.
	r, err := os.OpenFile(f.real, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		s.vanished(f.place, err)
		return false
	}
	defer r.Close()
	switch {
	case !f.reach.Run:
		return false
	case f.size > f.reach.Largest:
		s.oversize(f, r)
		return false
	}
	s.body = slices.Grow(s.body[:0], int(f.size))[:f.size]
	n, err := io.ReadFull(r, s.body)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		s.add(unreadable(s.path(f.name), err))
		return false
	}
	return s.page(f, s.body[:n])
}

// page judges the text of a page, which it does not keep, and says whether it
// has directives.
func (s *site) page(f *file, text []byte) (directives bool) {
	path := s.path(f.name)
	t := s.resolver.Compile(path, text)
	var list []Problem
	for _, p := range t.Problems() {
		list = append(list, Problem{
			File: path, Line: p.Line, Col: p.Col, Message: p.Message, Cure: p.Cure,
			Warning: p.Kind == ssi.KindUnknown && !s.options.SSI.UnknownIsError,
		})
	}
	list = append(list, s.includes(f, t.Literals())...)
	sortByPlace(list)
	for _, p := range list {
		s.add(p)
	}
	return !t.Static()
}

// oversize judges a page that leaves as it is, for its size. As much of it is
// read as would be if it were a little smaller.
func (s *site) oversize(f *file, r io.Reader) {
	what, setting := s.keepLimit(f.reach.Largest)
	problem := Problem{
		File: s.path(f.name), Line: 1, Col: 1,
		Message: fmt.Sprintf("not assembled: %d bytes are more than %s (%d)", f.size, what, f.reach.Largest),
		Cure:    "make it smaller, or raise " + setting,
		Warning: true,
	}
	found, err := holdsDirectives(io.LimitReader(r, f.reach.Largest))
	if err != nil {
		s.add(unreadable(problem.File, err))
		return
	}
	if found {
		problem.Message += ", and visitors see its directives"
		problem.Warning = false
	}
	s.add(problem)
}

// keepLimit says what limit is, the size of the largest file that is kept, and
// which setting would raise it.
func (s *site) keepLimit(limit int64) (what, setting string) {
	if limit < s.limits.MaxKeep {
		return "memory.size allows", "memory.size"
	}
	return "limits.max_keep", "limits.max_keep"
}

// holdsDirectives says whether a text that is too large to be held has what
// begins a directive.
func holdsDirectives(r io.Reader) (bool, error) {
	const overlap = len("<!--#") - 1
	buf := make([]byte, 64<<10)
	kept := 0
	for {
		n, err := r.Read(buf[kept:])
		text := buf[:kept+n]
		if ssi.HasDirectives(text) {
			return true, nil
		}
		if err == io.EOF {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		kept = copy(buf, text[max(0, len(text)-overlap):])
	}
}
