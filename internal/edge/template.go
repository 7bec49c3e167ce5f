package edge

import (
	"sync/atomic"

	"github.com/ssiedge/ssiedge/pagecache"
	"github.com/ssiedge/ssiedge/ssi"
)

// templates is what the edge keeps with a published page: its compiled body.
// The page may outlive a reload, and sites with one root share it, so a
// template says by which options it was made; one made by others is replaced.
type templates struct{ last atomic.Pointer[compiled] }

type compiled struct {
	options  ssi.Options
	template *ssi.Template
}

// compiled gives the page's template as the site's options want it.
func (s *site) compiled(p *pagecache.Page) *ssi.Template {
	kept := p.Derive(s.derive).(*templates)
	c := kept.last.Load()
	if c.options != s.compile {
		c = s.compilePage(p)
		kept.last.Store(c)
	}
	return c.template
}

// derivePage is for Page.Derive: the slot and its bytes.
func (s *site) derivePage(p *pagecache.Page) (any, int) {
	kept := new(templates)
	c := s.compilePage(p)
	kept.last.Store(c)
	return kept, c.template.Size()
}

// compilePage compiles a page's body, and reports what is wrong with it.
func (s *site) compilePage(p *pagecache.Page) *compiled {
	body := p.Body
	if p.Field("content-encoding") != nil {
		body = nil // it cannot be read: nothing in it is to be run
	}
	t := ssi.Compile(p.Name, body, s.compile)
	for _, problem := range t.Problems() {
		s.reports.add(report{site: s, path: []byte(p.Name), kind: problem.Kind, message: problem.String()})
	}
	return &compiled{options: s.compile, template: t}
}
