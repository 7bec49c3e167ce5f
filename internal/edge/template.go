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
	told     atomic.Bool // its problems
}

// compiled gives the page's template as the site's options want it.
func (s *site) compiled(p *pagecache.Page) *compiled {
	kept := p.Derive(s.derive).(*templates)
	c := kept.last.Load()
	if c.options != s.compile {
		c = s.compilePage(p)
		kept.last.Store(c)
	}
	return c
}

// derivePage is for Page.Derive: the slot and its bytes.
func (s *site) derivePage(p *pagecache.Page) (any, int) {
	kept := new(templates)
	c := s.compilePage(p)
	kept.last.Store(c)
	return kept, c.template.Size()
}

func (s *site) compilePage(p *pagecache.Page) *compiled {
	body := p.Body
	if p.Field("content-encoding") != nil {
		body = nil // it cannot be read: nothing in it is to be run
	}
	return &compiled{options: s.compile, template: ssi.Compile(p.Name, body, s.compile)}
}

// tell reports what is wrong with a template, once.
func (t *target) tell(c *compiled) {
	if len(c.template.Problems()) > 0 && !c.told.Swap(true) {
		t.report(c.template)
	}
}

// report reports what is wrong with a document of the target's URL.
func (t *target) report(d *ssi.Template) {
	var found trouble
	found.document(d, t.url.raw)
	found.tell(t.site, t.url.raw)
}
