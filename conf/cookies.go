package conf

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ssiedge/ssiedge/internal/edge"
	"github.com/ssiedge/ssiedge/pagecache"
)

// cookies reads a rule's cookies: names, "none" or "all". A name must stand in a
// list: a word that was mistyped would decide who sees whose page.
func (r *reader) cookies(n *node) *edge.Cookies {
	switch {
	case n.kind == textKind && n.text == "all":
		return &edge.Cookies{Mode: edge.CookiesAll}
	case n.kind == textKind && n.text == "none":
		return &edge.Cookies{Mode: edge.CookiesNone}
	case n.kind != listKind:
		cure := ""
		if n.kind == textKind && checkToken(n.text, "") == nil {
			cure = fmt.Sprintf("write [%q] for a cookie of that name", n.text)
		}
		r.wrongType(n, `a list of names, "none" or "all"`, cure)
		return &edge.Cookies{Mode: edge.CookiesNone}
	}
	names := r.names(r.texts(n), checkCookie, asWritten)
	if len(names) == 0 {
		return &edge.Cookies{Mode: edge.CookiesNone} // none is named, so the origin gets none
	}
	return &edge.Cookies{Mode: edge.CookiesListed, Names: names}
}

// warnAllCookies notes a rule that gives a lifetime to pages of which those with
// cookies have none.
func (r *reader) warnAllCookies(n *node, rule *edge.Rule) {
	if rule.Cache == nil || rule.Cache.Off || n.kind != textKind || n.text != "all" {
		return
	}
	r.warn(n.at, n.key, "of the answers to requests with cookies only those that say public or s-maxage are kept, whatever cache says",
		"leave cookies out: then the app gets none and the page is for everybody; or list those that shape it")
}

// setCookie reads set_cookie: "refuse", "strip" or {keep = ["lang"]}.
func (r *reader) setCookie(n *node) pagecache.CookiePolicy {
	words := []string{"refuse", "strip"}
	switch {
	case n.kind == textKind && slices.Contains(words, n.text):
		return pagecache.CookiePolicy{Strip: n.text == "strip"}
	case n.kind != tableKind:
		cure := `write {keep = ["lang"]} to name cookies`
		if near := nearest(n.text, words); n.kind == textKind && near != "" {
			cure = fmt.Sprintf("did you mean %q?", near)
		}
		r.wrongType(n, `"refuse", "strip" or a table`, cure)
		return pagecache.CookiePolicy{}
	}
	s := r.open(n, "site.cache.set_cookie")
	keep := s.written("keep")
	switch {
	case keep == nil:
		r.problem(n, "keep is missing", `name cookies: {keep = ["lang"]}, or write "refuse"`)
	case keep.kind == listKind && len(keep.items) == 0:
		r.problem(keep, "the list is empty: no cookie would be kept", `write "refuse" or "strip"`)
	}
	nodes := s.texts("keep")
	if i := slices.IndexFunc(nodes, func(n *node) bool { return n.text == "*" }); i >= 0 {
		r.judgeEveryCookie(nodes, i)
		return pagecache.CookiePolicy{Keep: []string{"*"}}
	}
	return pagecache.CookiePolicy{Keep: r.names(nodes, checkCookie, asWritten)}
}

// judgeEveryCookie judges a list of cookies of which one is "*".
func (r *reader) judgeEveryCookie(nodes []*node, star int) {
	n := nodes[star]
	if len(nodes) > 1 {
		r.problem(n, `"*" is every cookie, and there are others beside it`, "write it alone, or take it out")
		return
	}
	r.warn(n.at, n.key, "visitors get the cookies that were set for another: with a session's they are logged in as that one",
		"name those that are the same for everybody")
}

// checkCookie judges the name of a cookie that counts in full. RFC 6265 allows a *
// in names, but who writes one means several cookies.
func checkCookie(name string) *mistake {
	m := checkToken(name, "cookie")
	switch {
	case m == nil && name == "*":
		return &mistake{`"*" is no name of a cookie`, `write "all", without brackets, if all are meant`}
	case m == nil && strings.Contains(name, "*"):
		return &mistake{fmt.Sprintf("%q holds a *, and stands for one cookie only", name), "write each name in full"}
	}
	return m
}

// names reads names that must differ. form makes the same of all spellings of a
// name. The list is never nil: an empty one is one too.
func (r *reader) names(nodes []*node, check func(string) *mistake, form func(string) string) []string {
	out := []string{}
	seen := map[string]bool{}
	for _, n := range nodes {
		m := check(n.text)
		if m == nil && seen[form(n.text)] {
			m = &mistake{fmt.Sprintf("%q is named twice", n.text), "name it once"}
		}
		seen[form(n.text)] = true
		if r.fault(n, m) {
			out = append(out, n.text)
		}
	}
	return out
}

func asWritten(name string) string { return name }
