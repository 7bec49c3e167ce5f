package conf

import (
	"fmt"
	"slices"

	"github.com/ssiedge/ssiedge/internal/edge"
)

// warnHidden notes rules of which no setting ever counts: for each of them a
// later rule has the same setting and every path.
func (r *reader) warnHidden(rules []edge.Rule, nodes []*node) {
	for i := range rules {
		var by []int
		for _, f := range nodes[i].fields {
			if f.name == "path" {
				continue
			}
			at := hiddenBy(rules, nodes, i, f.name)
			if at == 0 {
				by = nil
				break
			}
			by = append(by, at)
		}
		if len(by) == 0 {
			continue
		}
		message := fmt.Sprintf("the rule of line %d, later and no narrower, sets all that this one sets", slices.Max(by))
		if slices.Min(by) != slices.Max(by) {
			message = fmt.Sprintf("later rules that are no narrower (to line %d) set all that this one sets", slices.Max(by))
		}
		r.warn(nodes[i].at, nodes[i].key, message, "put this one behind it, or remove it")
	}
}

// hiddenBy is the line of a later rule that sets name for every path of rule i; 0:
// there is none.
func hiddenBy(rules []edge.Rule, nodes []*node, i int, name string) int {
	for j := i + 1; j < len(rules); j++ {
		if nodes[j].field(name) != nil && coversAll(rules[j].Paths, rules[i].Paths) {
			return nodes[j].at.line
		}
	}
	return 0
}

// coversAll reports whether each narrow pattern has a broad one that matches
// whatever it matches.
func coversAll(broad, narrow []string) bool {
	for _, n := range narrow {
		if !slices.ContainsFunc(broad, func(b string) bool { return covers(b, n) }) {
			return false
		}
	}
	return len(narrow) > 0
}

// covers reports whether broad matches all that narrow matches. It matches narrow
// as a text, whose * only a * can swallow.
func covers(broad, narrow string) bool {
	star, resume := -1, 0
	b, n := 0, 0
	for n < len(narrow) {
		switch {
		case b < len(broad) && broad[b] == '*':
			star, resume = b, n
			b++
		case b < len(broad) && broad[b] == narrow[n]:
			b++
			n++
		case star >= 0:
			resume++
			b, n = star+1, resume
		default:
			return false
		}
	}
	for b < len(broad) && broad[b] == '*' {
		b++
	}
	return b == len(broad)
}
