package conf

import (
	"fmt"

	"github.com/ssiedge/ssiedge/internal/edge"
)

// sites reads every [[site]].
func (r *reader) sites(top section) []edge.Site {
	n := top.written("site")
	if n == nil || n.kind == listKind && len(n.items) == 0 {
		r.problem(top.table, "there is no [[site]]", `add one: [[site]] with root = "public", or [site.origin] with servers = ["http://127.0.0.1:3000"]`)
		return nil
	}
	var out []edge.Site
	for _, site := range r.tables(n) {
		out = append(out, r.site(site))
	}
	r.judgeCatchAll(n)
	return out
}

// tables is the tables of a list of tables.
func (r *reader) tables(n *node) []*node {
	if n.kind != listKind {
		r.wrongType(n, "a list", fmt.Sprintf("write [[%s]]", n.key))
		return nil
	}
	var out []*node
	for _, item := range n.items {
		if item.kind != tableKind {
			r.wrongType(item, "a table", fmt.Sprintf("write [[%s]]", n.key))
			continue
		}
		out = append(out, item)
	}
	return out
}

// site reads one [[site]].
func (r *reader) site(n *node) edge.Site {
	s := r.open(n, "site")
	site := edge.Site{
		Where:         r.where(n),
		Hosts:         r.siteHosts(s),
		Files:         r.files(s),
		Published:     r.published(s),
		TrailingSlash: slash(s.word("trailing_slash", "strip", "redirect", "keep")),
		Query:         r.query(s.get("query")),
		SSI:           r.ssi(s.get("ssi")),
		Cache:         r.siteCache(s),
	}
	r.siteOrigin(s, &site)
	if !s.says("root") && !s.says("published") && s.written("origin") == nil {
		r.problem(n, "the site has no root, no published and no origin", `say where its pages come from: root = "public", or [site.origin]`)
	}
	site.Rules = r.rules(s, site.TrailingSlash)
	r.warnNoOrigin(s)
	return site
}

func slash(word string) edge.TrailingSlash {
	switch word {
	case "redirect":
		return edge.RedirectSlash
	case "keep":
		return edge.KeepSlash
	default:
		return edge.StripSlash
	}
}

// siteHosts reads hosts, each of which belongs to one site.
func (r *reader) siteHosts(s section) []string {
	var out []string
	for _, n := range s.texts("hosts") {
		host, m := parseHost(n.text)
		if at, taken := r.hosts[host]; m == nil && taken {
			m = &mistake{fmt.Sprintf("%q belongs to line %d already", host, at.line), "name each host once"}
		}
		if !r.fault(n, m) {
			continue
		}
		r.hosts[host] = n.at
		out = append(out, host)
	}
	return out
}

// siteOrigin reads the origin of a site: a name, or a table.
func (r *reader) siteOrigin(s section, site *edge.Site) {
	n := s.get("origin")
	r.pulls = r.pulls || n != nil
	switch {
	case n == nil:
	case n.kind == textKind:
		site.Origin = r.originNamed(n)
	case n.kind == tableKind:
		name := "default"
		if len(site.Hosts) > 0 {
			name = site.Hosts[0]
		}
		site.Origin = r.origin(n, name)
	default:
		r.wrongType(n, "the name of an origin or a table", `write origin = "NAME" or [site.origin]`)
	}
}

// judgeCatchAll notes sites without hosts beside the first: which one should answer?
func (r *reader) judgeCatchAll(list *node) {
	first := 0
	for _, n := range list.items {
		hosts := n.field("hosts")
		if n.kind != tableKind || hosts != nil && (hosts.value.kind != listKind || len(hosts.value.items) > 0) {
			continue
		}
		if first > 0 {
			r.problem(n, fmt.Sprintf("the site has no hosts, and neither has that of line %d", first), `give one of them hosts = ["www.example.com"]`)
			continue
		}
		first = n.at.line
	}
}
