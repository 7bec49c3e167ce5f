package edge

import (
	"fmt"
	"net/url"

	"github.com/ssiedge/ssiedge/pagecache"
	"github.com/ssiedge/ssiedge/ssi"
)

// Resolver tells what serving would make of the files and the includes of one
// site, by the steps of serving, without serving: for ssiedge check. It asks
// nobody over a network and reads no file. Its methods may be called from any
// goroutine.
type Resolver struct {
	state *state
	site  *site
}

// Resolver gives that of the i-th of Options.Sites, as they are now.
func (e *Edge) Resolver(i int) *Resolver {
	st := e.state.Load()
	return &Resolver{st, st.router.sites[i]}
}

// Reach is what visitors and includes get to see of a published file.
type Reach struct {
	Any     bool  // some URL leads to the file
	Run     bool  // at one of them at least the directives in it are run
	Largest int64 // bytes; a larger file is neither kept nor assembled
}

// File tells how far the file of a name below root is reached. That it is
// there and may be served is the caller's word.
func (r *Resolver) File(name string) Reach {
	if r.site.files == nil {
		return Reach{}
	}
	reach := Reach{Largest: r.site.files.Largest(name)}
	t := target{state: r.state, site: r.site}
	for _, path := range r.site.files.Paths(name) {
		if !t.leadsTo(path) {
			continue
		}
		reach.Any = true
		if t.processed([]byte(pagecache.TypeByName(name))) {
			reach.Run = true
			break
		}
	}
	return reach
}

// leadsTo makes a decoded path the target's, and says whether a request can
// have it: it is canonical, may name a file, and no rule redirects it.
func (t *target) leadsTo(path string) bool {
	escaped := (&url.URL{Path: path}).EscapedPath()
	if t.resolve([]byte(escaped), t.site.options.TrailingSlash, true) != nil {
		return false
	}
	return string(t.url.path) == path && !t.url.encoded && t.settings.redirect == ""
}

// Place is where an include leads.
type Place struct {
	Path      string // canonical and decoded
	File      string // the published file that answers, by its name below root, with a leading slash; "": none
	Size      int64  // bytes of that file
	Largest   int64  // bytes; a larger file is no fragment
	Run       bool   // its directives are run
	Published bool   // memcached may have a page there
	Origin    bool   // there is an origin to ask
	Redirect  bool   // a rule redirects: nothing is printed, whatever there is
}

// Include finds where the URL of an include leads, as it is written in the file
// of the name from. The error says why nothing can ever be there.
func (r *Resolver) Include(from, written string) (Place, error) {
	t := target{state: r.state, site: r.site}
	if err := t.resolveInclude(&document{path: from}, written); err != nil {
		return Place{}, fmt.Errorf("include %q: %w", written, err)
	}
	p := Place{
		Path:      string(t.url.path),
		Published: r.site.published != nil && (len(t.url.query) == 0 || r.site.published.UsesQuery()),
		Origin:    t.settings.origin != nil,
		Redirect:  t.settings.redirect != "",
	}
	if r.site.files != nil && !t.url.encoded {
		p.File, p.Size, _ = r.site.files.Name(t.url.path, t.answersExactly())
	}
	if p.File != "" {
		p.Largest = r.site.files.Largest(p.File)
		p.Run = t.processed([]byte(pagecache.TypeByName(p.File)))
	}
	return p, nil
}

// Compile compiles a document of the site under a name for its problems. src is
// kept by the template.
func (r *Resolver) Compile(name string, src []byte) *ssi.Template {
	return ssi.Compile(name, src, r.site.compile)
}
