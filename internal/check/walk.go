package check

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// place is a file or folder under root.
type place struct {
	name string // below root, with a leading slash; "": root itself
	real string // the same as an absolute path free of links
}

// walker goes through a site's root.
type walker struct {
	bounds bounds
	visits map[visit]int
	links  []link              // found and not yet followed
	told   map[string]struct{} // real paths of what was said to be odd as a whole
}

// visit is one of a folder. Links may lead there under several names, and what
// rules and try say of a name, they need not say of another. So it is looked at
// again, but not over and over: links in it may lead to where it is.
type visit struct {
	folder fileID
	dots   bool // under a name that allows dot names
}

// maxVisits bounds how often.
const maxVisits = 4

// link is a symlink under root, or in a folder that one leads to.
type link struct {
	place       // real is the path of the link itself
	served bool // files in its folder are
}

// walk looks at every file under root. Links come last, so that what has a name
// of its own under root goes by that.
func (s *site) walk() {
	var err error
	if s.bounds, err = newBounds(s.options.Files.Root, s.options.Files.Links); err != nil {
		s.add(unreadable(s.path(""), err))
		return
	}
	s.folder(place{real: s.bounds[0]})
	for len(s.walker.links) > 0 {
		next := s.walker.links[0]
		s.walker.links = s.walker.links[1:]
		s.follow(next)
	}
}

// folder looks at what is in a folder.
func (s *site) folder(p place) {
	info, err := os.Stat(p.real)
	if err != nil {
		s.vanished(p, err)
		return
	}
	v := visit{identify(info), allowsDots(p.name)}
	if s.walker.visits[v] == maxVisits {
		return
	}
	s.walker.visits[v]++
	entries, err := os.ReadDir(p.real)
	if err != nil {
		s.vanished(p, err)
	}
	served := s.bounds.hold(p.real)
	for _, e := range entries {
		s.entry(p, e, served)
	}
}

// entry looks at one thing in a folder. served says whether files in that folder
// are.
func (s *site) entry(folder place, e fs.DirEntry, served bool) {
	p := place{folder.name + "/" + e.Name(), filepath.Join(folder.real, e.Name())}
	switch kind := e.Type(); {
	case hidden(p.name):
	case kind.IsDir():
		if served || s.bounds.hold(p.real) || s.bounds.liesIn(p.real) {
			s.folder(p)
		}
	case kind&fs.ModeSymlink != 0:
		s.walker.links = append(s.walker.links, link{p, served})
	case kind.IsRegular() && served:
		info, err := e.Info()
		s.visit(p, info, err)
	}
}

// hidden says whether the last segment of a name is a dot name, which no URL may
// have but under /.well-known/.
func hidden(name string) bool {
	return name[strings.LastIndexByte(name, '/')+1] == '.' && !allowsDots(name)
}

// allowsDots says whether a name is /.well-known or below.
func allowsDots(name string) bool { return within(name, "/.well-known") }

// follow looks at what a link leads to, as far as serving would go.
func (s *site) follow(l link) {
	info, err := os.Stat(l.real) // first, since its errors are the clearer ones
	var real string
	if err == nil {
		real, err = filepath.EvalSymlinks(l.real)
	}
	if err != nil {
		s.deadLink(l, err)
		return
	}
	p := place{l.name, real}
	switch kind := info.Mode(); {
	case kind.IsDir() && (s.bounds.hold(real) || s.bounds.liesIn(real)):
		s.folder(p)
	case kind.IsRegular() && s.bounds.hold(real):
		s.visit(p, info, nil)
	case kind.IsDir(), kind.IsRegular() && s.resolver.File(l.name).Any:
		s.strayLink(l, real, kind.IsDir())
	}
}

// deadLink judges a link that cannot be followed. One that stands outside what
// is served is nobody's business.
func (s *site) deadLink(l link, err error) {
	switch {
	case !l.served:
	case errors.Is(err, fs.ErrPermission):
		s.tell(l.place, unreadable(s.path(l.name), err))
	default:
		s.warn(l.place, fmt.Sprintf("link leads nowhere: %v", cause(err)), "make what it leads to, or remove it")
	}
}

// strayLink judges a link that serving does not follow.
func (s *site) strayLink(l link, real string, folder bool) {
	if !l.served {
		return
	}
	add := real
	if !folder {
		add = filepath.Dir(real)
	}
	s.warn(l.place, fmt.Sprintf("link leads to %q, outside root and links: it is not served", real),
		fmt.Sprintf("add %q to links, or remove it", add))
}

// warn notes what is odd about a file as a whole.
func (s *site) warn(p place, message, cure string) {
	s.tell(p, Problem{File: s.path(p.name), Line: 1, Col: 1, Message: message, Cure: cure, Warning: true})
}

// tell notes the problem of a file or folder as a whole, under one of its names.
func (s *site) tell(p place, problem Problem) {
	if _, ok := s.walker.told[p.real]; !ok {
		s.walker.told[p.real] = struct{}{}
		s.add(problem)
	}
}

// vanished judges an error of what was there a moment ago: that it is gone by
// now is no problem.
func (s *site) vanished(p place, err error) {
	if !errors.Is(err, fs.ErrNotExist) {
		s.tell(p, unreadable(s.path(p.name), err))
	}
}
