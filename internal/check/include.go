package check

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ssiedge/ssiedge/internal/edge"
	"github.com/ssiedge/ssiedge/ssi"
)

// leads remembers where includes lead, by their URL from the root on. Pages
// share their headers and footers, so few questions are asked for many pages.
type leads map[string]lead

// maxLeads bounds what is remembered; beyond it all is asked again.
const maxLeads = 1 << 13

// lead is where an include leads.
type lead struct {
	wrong *Problem // its message, cure and kind; nil: nothing is
	node  int      // of the file that answers, where its directives are run; -1: none
}

// includes judges the includes of a page whose URLs are known, and takes down
// where they lead.
func (s *site) includes(f *file, list []ssi.Literal) []Problem {
	var problems []Problem
	var edges edges
	for i := range list {
		l := &list[i]
		lead := s.lead(f.name, l.URL)
		if lead.wrong != nil {
			problem := *lead.wrong
			problem.File, problem.Line, problem.Col = s.path(f.name), l.Line, l.Col
			problems = append(problems, problem)
		}
		if lead.node >= 0 {
			edges.add(lead.node, l)
		}
	}
	if len(edges.list) > 0 {
		s.graph.connect(s.graph.number(f.id), f.name, edges.list)
	}
	return problems
}

// lead finds where an include leads that is written in the file of a name.
func (s *site) lead(name, url string) lead {
	key := url
	if url == "" || url[0] != '/' {
		key = filepath.Dir(name) + "\x00" + url
	}
	if l, ok := s.leads[key]; ok {
		return l
	}
	if len(s.leads) == maxLeads {
		clear(s.leads)
	}
	l := s.find(name, url)
	s.leads[key] = l
	return l
}

func (s *site) find(name, url string) lead {
	to, err := s.resolver.Include(name, url)
	l := lead{wrong: s.judge(url, &to, err), node: -1}
	if err == nil && to.Run && !to.Redirect {
		l.node = s.node(to.File)
	}
	return l
}

// node is the number of the file of a name in the graph; -1: it is gone by now.
func (s *site) node(name string) int {
	info, err := os.Stat(filepath.Join(s.bounds[0], filepath.FromSlash(name)))
	if err != nil {
		return -1
	}
	return s.graph.number(identify(info))
}

// judge says what is wrong with an include that leads to a place, or to none.
func (s *site) judge(url string, to *edge.Place, err error) *Problem {
	switch {
	case err != nil:
		return &Problem{Message: err.Error(), Cure: "correct the URL"}
	case strings.HasPrefix(url, "http://"), strings.HasPrefix(url, "https://"):
		return &Problem{
			Message: fmt.Sprintf("include %q: includes stay on the site: this is taken for %s", url, printable(to.Path)),
			Cure:    "write a path of the site",
		}
	case to.Redirect:
		return &Problem{
			Message: fmt.Sprintf("include %q: a rule redirects %s, so nothing is printed", url, printable(to.Path)),
			Cure:    "include what it redirects to", Warning: true,
		}
	case to.File != "" && to.Size > s.options.SSI.MaxFragment:
		return tooLarge(url, to, s.options.SSI.MaxFragment, "site.ssi.max_fragment", "site.ssi.max_fragment")
	case to.File != "" && to.Size > to.Largest:
		what, setting := s.keepLimit(to.Largest)
		return tooLarge(url, to, to.Largest, what, setting)
	case to.File == "" && !to.Published && !to.Origin:
		return &Problem{
			Message: fmt.Sprintf("include %q: there is no page %s, and no origin to ask", url, printable(to.Path)),
			Cure:    fmt.Sprintf("publish it under %s, or correct the URL", s.path("")),
		}
	}
	return nil
}

func tooLarge(url string, to *edge.Place, limit int64, what, setting string) *Problem {
	return &Problem{
		Message: fmt.Sprintf("include %q: %s has %d bytes, more than %s (%d)", url, printable(to.File), to.Size, what, limit),
		Cure:    "make it smaller, or raise " + setting,
	}
}
