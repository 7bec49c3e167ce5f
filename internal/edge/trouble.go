package edge

import (
	"strings"
	"sync"

	"github.com/ssiedge/ssiedge/ssi"
)

// trouble gathers what goes wrong in one run: whatever the page, it becomes one
// line a kind.
type trouble struct {
	mu   sync.Mutex
	list []report // one a kind, with the first message of it
}

func (t *trouble) add(kind, message string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.list {
		if t.list[i].kind == kind {
			t.list[i].count++
			return
		}
	}
	t.list = append(t.list, report{kind: kind, message: message, count: 1})
}

// document adds what is wrong with a document.
func (t *trouble) document(d *ssi.Template, url []byte) {
	for _, p := range d.Problems() {
		t.add(p.Kind, located(p, string(url)))
	}
}

// located is a problem in words. A pulled page has no name, so it is called by
// its URL.
func located(p ssi.Problem, url string) string {
	if p.Name == "" {
		p.Name = url
	}
	return p.String()
}

// report is told by package ssi what goes wrong. What fails because the visitor
// has left is nobody's mistake.
func (a *assembly) report(p ssi.Problem) {
	if a.departed.Load() {
		return
	}
	message := p.String()
	if d, ok := p.From.(*document); ok {
		if message = located(p, d.path); p.Kind == ssi.KindLimit {
			message += d.chain()
		}
	}
	a.trouble.add(p.Kind, message)
}

// tell hands what was gathered of a page to the reporter.
func (t *trouble) tell(s *site, page []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.list {
		r.site, r.path = s, page
		s.reports.add(r)
	}
	t.list = nil
}

// longestChain is how many documents of a chain are named.
const longestChain = 12

// chain tells how a document came to be included: the loop that it is part of,
// else the whole way to it. The page itself has none.
func (d *document) chain() string {
	if d.up == nil {
		return ""
	}
	names, text := []string{d.name()}, " (includes in includes: "
	for up := d.up; up != nil; up = up.up {
		names = append([]string{up.name()}, names...)
		if up.name() == d.name() {
			text = " (includes in a loop: "
			break
		}
	}
	if more := len(names) - longestChain; more > 0 {
		const half = longestChain / 2
		names = append(append(names[:half:half], "..."), names[half+more:]...)
	}
	return text + strings.Join(names, " -> ") + ")"
}

// name is what a document is called in a chain.
func (d *document) name() string {
	if len(d.query) == 0 || d.top {
		return d.path
	}
	return d.path + "?" + string(d.query)
}
