package conf

import (
	"fmt"
	"strings"

	"github.com/ssiedge/ssiedge/internal/edge"
)

// query reads "all", "none", or a table of keep or drop, and sort. A table with
// sort alone drops what the default drops.
func (r *reader) query(n *node) edge.QueryFilter {
	switch {
	case n.kind == textKind && n.text == "all":
		return edge.QueryFilter{Mode: edge.QueryAll}
	case n.kind == textKind && n.text == "none":
		return edge.QueryFilter{Mode: edge.QueryNone}
	case n.kind != tableKind:
		r.wrongType(n, `"all", "none" or a table`, `write {drop = ["utm_*"]} or {keep = ["page"]}`)
		return edge.QueryFilter{}
	}
	s := r.open(n, "site.query")
	keep, drop := s.written("keep"), s.written("drop")
	f := edge.QueryFilter{Mode: edge.QueryDrop, Sort: s.flag("sort")}
	switch {
	case keep != nil && drop != nil:
		r.problem(drop, "keep and drop are both there", "use one: with keep, all others go")
	case keep != nil:
		f.Mode, f.Names = edge.QueryKeep, r.parameters(s.texts("keep"))
	case drop != nil:
		f.Names = r.parameters(s.texts("drop"))
	default:
		f.Names = r.query(section{r: r, group: "site"}.get("query")).Names
	}
	return f
}

// parameters judges the names of parameters.
func (r *reader) parameters(nodes []*node) []string {
	for _, n := range nodes {
		switch i := strings.IndexAny(n.text, "*&="); {
		case n.text == "":
			r.problem(n, "the name of a parameter is wanted, not an empty string", "")
		case i >= 0 && n.text[i] != '*':
			r.problem(n, fmt.Sprintf("%q is no name of a parameter", n.text), "write the name alone, without = and &")
		case i >= 0 && i < len(n.text)-1:
			r.problem(n, fmt.Sprintf("%q has a * in a wrong place", n.text), `use it at the end: "utm_*"`)
		}
	}
	return values(nodes)
}
