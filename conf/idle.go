package conf

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ssiedge/ssiedge/internal/edge"
)

// keepSettings lists the settings of a rule that speak of pages that are kept, and
// of nothing else.
var keepSettings = []string{
	"stale_while_revalidate", "stale_if_error", "heuristic", "negative", "set_cookie", "targets", "invalidate",
}

// warnNoOrigin notes settings of pages that the edge asks an app for, in a site
// that has none.
func (r *reader) warnNoOrigin(s section) {
	rules := ruleTables(s)
	if s.written("origin") != nil || slices.ContainsFunc(rules, func(n *node) bool { return n.field("origin") != nil }) {
		return
	}
	r.warnWithout(s, "origin", "not_keepable", "max_variants", "fill_wait", "cache")
	for _, n := range rules {
		rule := section{r: r, table: n, group: "site.rule"}
		r.warnWithout(rule, "origin", keepSettings...)
		r.warnWithout(rule, "origin", "cookies", "headers", "forward_set_cookie")
		if f := n.field("cache"); f != nil && f.value.text != "off" {
			r.warnWithout(rule, "origin", "cache")
		}
	}
}

// ruleTables is the tables of a site's rules; what is none has been noted.
func ruleTables(s section) []*node {
	list := s.written("rule")
	if list == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(list.items), func(n *node) bool { return n.kind != tableKind })
}

// warnOff notes settings of kept pages in a rule that keeps none, unless a later
// one might keep some of them after all.
func (r *reader) warnOff(rules []edge.Rule, nodes []*node) {
	for i := range rules {
		keepsLater := slices.ContainsFunc(rules[i+1:], func(l edge.Rule) bool { return l.Cache != nil && !l.Cache.Off })
		if rules[i].Cache == nil || !rules[i].Cache.Off || keepsLater {
			continue
		}
		for _, name := range keepSettings {
			if f := nodes[i].field(name); f != nil {
				r.warn(f.value.at, f.value.key, fmt.Sprintf("%s means nothing where cache is \"off\"", name), "remove it")
			}
		}
	}
}

// warnBypassed notes what a rule has in the key although requests with it go past
// every page.
func (r *reader) warnBypassed(s section, rule *edge.Rule) {
	if rule.Bypass == nil {
		return
	}
	if rule.Cookies != nil && rule.Cookies.Mode == edge.CookiesListed {
		r.warnInBoth(s.get("cookies"), rule.Bypass.Cookies, func(a, b string) bool { return a == b })
	}
	if n := s.get("headers"); n != nil {
		r.warnInBoth(n, rule.Bypass.Headers, strings.EqualFold)
	}
}

func (r *reader) warnInBoth(keyed *node, bypassed []string, same func(a, b string) bool) {
	nodes := keyed.items
	if keyed.kind == textKind {
		nodes = []*node{keyed}
	}
	for _, n := range nodes {
		if slices.ContainsFunc(bypassed, func(b string) bool { return same(n.text, b) }) {
			r.warn(n.at, n.key, fmt.Sprintf("%q is in bypass too: requests with it get no kept page", n.text), "name it in one of the two")
		}
	}
}

// warnNoTier notes that rules keep pages and there is no place for them.
func (r *reader) warnNoTier(top section, o *edge.Options) {
	if len(r.problems) > 0 || o.Memory > 0 || o.Memcache != nil || o.Disk != nil {
		return // a mistake may be what it takes to have none
	}
	keeps := func(rule edge.Rule) bool { return rule.Cache != nil && !rule.Cache.Off }
	if slices.ContainsFunc(o.Sites, func(s edge.Site) bool { return slices.ContainsFunc(s.Rules, keeps) }) {
		n := top.written("memory").field("size").value
		r.warn(n.at, n.key, "rules give pages a lifetime, and no tier keeps them", "give memory a size, or add [disk] or [memcache]")
	}
}
