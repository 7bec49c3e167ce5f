package conf

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ssiedge/ssiedge/origin"
)

// namedOrigins reads every [origin.NAME].
func (r *reader) namedOrigins(n *node) {
	if n == nil {
		return
	}
	if n.kind != tableKind {
		r.wrongType(n, "a table for each name", "write [origin.NAME]")
		return
	}
	for _, f := range n.fields {
		if strings.ContainsFunc(f.name, func(c rune) bool { return c > 0x7f || !alphanumeric(byte(c)) && c != '-' && c != '_' }) || f.name == "" {
			r.problemAt(f.at, f.value.key, fmt.Sprintf("%q is no name of an origin", f.name), "use letters, digits, - and _")
		}
		if f.value.kind != tableKind && settingNamed(namedOrigin, f.name) {
			r.problemAt(f.at, f.value.key, fmt.Sprintf("%q stands in no origin", f.name), "write it below [origin.NAME]")
			continue
		}
		r.origins[f.name] = r.origin(f.value, f.name)
	}
}

// origin reads one origin's table. It is called name where metrics and errors
// speak of it.
func (r *reader) origin(n *node, name string) *origin.Options {
	s := r.open(n, namedOrigin)
	r.open(s.get("health"), namedOrigin+".health")
	s.word("balance", "fair", "round_robin") // both are round robin in this version
	o := &origin.Options{
		Name:    name,
		Timeout: s.duration("timeout", shortest, longest),
		Idle:    s.duration("idle", shortest, longest),
	}
	seen := map[string]bool{}
	for _, server := range s.texts("servers") {
		form, m := checkServer(server.text)
		if m == nil && seen[form] {
			m = &mistake{fmt.Sprintf("%q is named twice", server.text), "name each server once"}
		}
		seen[form] = true
		if r.fault(server, m) {
			o.Servers = append(o.Servers, server.text)
		}
	}
	r.wantServers(s)
	return o
}

// checkServer judges one server of an origin, and gives the form that is the same
// for all spellings.
func checkServer(s string) (string, *mistake) {
	a, err := origin.ParseServer(s)
	if err == nil {
		return a.String(), nil
	}
	return s, mistakeOf(err, fmt.Sprintf("server %q: ", s))
}

// originNamed finds what a site or rule asks for by name.
func (r *reader) originNamed(n *node) *origin.Options {
	r.used[n.text] = true
	o, ok := r.origins[n.text]
	if ok {
		return o
	}
	names := slices.Sorted(maps.Keys(r.origins))
	cure := fmt.Sprintf("define it: [origin.%s]", n.text)
	switch near := nearest(n.text, names); {
	case near != "":
		cure = fmt.Sprintf("did you mean %q?", near)
	case n.text == "":
		cure = "name an [origin.NAME], or leave origin out"
	case strings.ContainsAny(n.text, ":/"):
		cure = fmt.Sprintf("a server goes into a table: origin = {servers = [%q]}", n.text)
	}
	r.problem(n, fmt.Sprintf("no origin is called %q", n.text), cure)
	return nil
}

// warnUnusedOrigins notes origins that nothing asks for.
func (r *reader) warnUnusedOrigins(n *node) {
	if n == nil {
		return
	}
	for _, f := range n.fields {
		if _, defined := r.origins[f.name]; defined && !r.used[f.name] {
			r.warn(f.at, f.value.key, "no site and no rule uses this origin", fmt.Sprintf("write origin = %q in a site or rule, or remove it", f.name))
		}
	}
}
