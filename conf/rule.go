package conf

import (
	"fmt"
	"strings"

	"github.com/ssiedge/ssiedge/internal/edge"
)

// rules reads every [[site.rule]].
func (r *reader) rules(s section, slash edge.TrailingSlash) []edge.Rule {
	list := s.get("rule")
	if list == nil {
		return nil
	}
	var out []edge.Rule
	var nodes []*node
	for _, n := range r.tables(list) {
		out = append(out, r.rule(n, slash))
		nodes = append(nodes, n)
	}
	r.warnHidden(out, nodes)
	r.warnOff(out, nodes)
	return out
}

// rule reads one [[site.rule]]. What it does not set stays nil.
func (r *reader) rule(n *node, slash edge.TrailingSlash) edge.Rule {
	s := r.open(n, "site.rule")
	rule := edge.Rule{Where: r.where(n), Paths: r.rulePaths(s, slash)}
	if len(n.fields) == 1 && len(rule.Paths) > 0 {
		r.warn(n.at, n.key, "the rule sets nothing", "give it a setting, or remove it")
	}
	rule.Expires = s.optionalDuration("expires", 0, 100*longest)
	rule.Internal = s.optionalFlag("internal")
	rule.SSI = s.optionalFlag("ssi")
	rule.Timeout = s.optionalDuration("timeout", shortest, longest)
	r.ruleCache(s, &rule)
	if q := s.get("query"); q != nil {
		rule.Query = new(r.query(q))
	}
	r.ruleOrigin(s, &rule)
	if b := s.get("bypass"); b != nil {
		rule.Bypass = r.bypass(b)
	}
	if h := s.get("response_headers"); h != nil {
		rule.Headers = r.responseHeaders(h)
	}
	if s.get("redirect") != nil {
		rule.Redirect = r.redirect(s)
	}
	r.warnBypassed(s, &rule)
	return rule
}

func (r *reader) ruleOrigin(s section, rule *edge.Rule) {
	n := s.get("origin")
	if n == nil {
		return
	}
	r.pulls = true
	if n.kind != textKind {
		r.wrongType(n, "the name of an origin", "define [origin.NAME] and name it here")
		return
	}
	rule.Origin = r.originNamed(n)
}

// rulePaths reads path, the one thing that every rule has.
func (r *reader) rulePaths(s section, slash edge.TrailingSlash) []string {
	n := s.written("path")
	switch {
	case n == nil:
		r.problem(s.table, "path is missing", `say what the rule is for: path = ["/images/*"]`)
		return nil
	case n.kind == listKind && len(n.items) == 0:
		r.problem(n, "the list is empty: the rule would match nothing", `write "*" for every path`)
	}
	nodes := s.texts("path")
	for _, p := range nodes {
		if p.text == "" || p.text[0] != '/' && p.text[0] != '*' {
			r.problem(p, fmt.Sprintf("%q does not begin with a slash or *", p.text), fmt.Sprintf("write %q", "/"+p.text))
			continue
		}
		r.warnUnmatched(p, slash)
	}
	return values(nodes)
}

// warnUnmatched notes a pattern that no canonical, decoded path can match.
func (r *reader) warnUnmatched(p *node, slash edge.TrailingSlash) {
	text := p.text
	switch {
	case slash != edge.KeepSlash && len(text) > 1 && strings.HasSuffix(text, "/"):
		r.warn(p.at, p.key, fmt.Sprintf("%q never matches: paths have lost their last slash by then", text),
			fmt.Sprintf("write %q for what is below it, or %q", text+"*", strings.TrimRight(text, "/")))
	case strings.Contains(text, "//") || strings.Contains(text, "/./") || strings.Contains(text, "/../"):
		r.warn(p.at, p.key, fmt.Sprintf("%q never matches: rules see paths without //, . and ..", text), "write the canonical path")
	case escaped(text):
		r.warn(p.at, p.key, fmt.Sprintf("%q holds an escape, and rules see paths decoded", text), "write the character itself")
	case strings.Contains(text, "?"):
		r.warn(p.at, p.key, fmt.Sprintf("%q holds a ?, and rules see paths without their query", text), "leave the query out; the setting query filters it")
	}
}

// escaped reports whether s holds something like %2F.
func escaped(s string) bool {
	for i := 0; i+2 < len(s); i++ {
		if s[i] == '%' && hexDigit(s[i+1]) && hexDigit(s[i+2]) {
			return true
		}
	}
	return false
}

func hexDigit(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}

// bypass reads {cookies = [..], headers = [..]}.
func (r *reader) bypass(n *node) *edge.Bypass {
	s := r.open(n, "site.rule.bypass")
	return &edge.Bypass{Cookies: r.tokens(s, "cookies", "cookie"), Headers: r.tokens(s, "headers", "field")}
}

// tokens reads a list of names of cookies or fields.
func (r *reader) tokens(s section, name, of string) []string {
	nodes := s.texts(name)
	for _, n := range nodes {
		r.fault(n, checkToken(n.text, of))
	}
	return values(nodes)
}
