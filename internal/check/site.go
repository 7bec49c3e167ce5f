package check

import (
	"path/filepath"

	"github.com/ssiedge/ssiedge/internal/edge"
)

// site is the check of one site.
type site struct {
	*checker
	number   int // from 1
	options  *edge.Site
	limits   *edge.Limits
	resolver *edge.Resolver
	walker
	leads leads
	graph graph
	body  []byte // of the file at hand; the space is used again
}

func newSite(c *checker, o *edge.Options, i int, r *edge.Resolver) *site {
	return &site{
		checker: c, number: i + 1, options: &o.Sites[i], limits: &o.Limits, resolver: r,
		walker: walker{visits: map[visit]int{}, told: map[string]struct{}{}},
		leads:  leads{},
		graph:  graph{numbers: map[fileID]int{}},
	}
}

func (s *site) check() {
	s.walk()
	for l := range s.graph.loops() {
		s.add(s.loopProblem(l))
	}
}

// path is how a file or folder is called in problems.
func (s *site) path(name string) string {
	return filepath.Join(s.options.Files.Root, filepath.FromSlash(name))
}
