package edge

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// said makes the value of a difference; nil: absent.
func saidText(b []byte, there bool) *string {
	if !there {
		return nil
	}
	s := string(b)
	return &s
}

// url compares what the URLs are found by, in the order of the steps.
func (d *comparer) url() {
	a, b := d.a, d.b
	if x, y := a.site.options.Where, b.site.options.Where; x != y {
		d.differ(ExplainedDifference{Part: "site", First: &x, Second: &y, Apart: true,
			Why: "each site has pages of its own", Cure: "one [[site]] with the hosts of both; Host stays in the key of pulled pages"})
	}
	if x, y := a.client.scheme, b.client.scheme; x != y {
		d.differ(ExplainedDifference{Part: "scheme", First: &x, Second: &y, Apart: d.counts("{scheme}"),
			Why: "an app may answer by the scheme, so it is in the key", Cure: "let visitors have one scheme: have the other redirect to it"})
	}
	if !bytes.Equal(a.host, b.host) {
		d.differ(ExplainedDifference{Part: "host", First: saidText(a.host, true), Second: saidText(b.host, true), Apart: d.counts("{host}"),
			Why:  "an app may answer by Host, so it is in the key",
			Cure: fmt.Sprintf("give %q a [[site]] of its own, with a rule for \"/*\" and redirect = \"%s://%s{uri}\"", b.host, a.client.scheme, a.host)})
	}
	d.path()
	d.query()
}

// counts says whether a difference in what a word of published keys stands for
// keeps the two apart: it does in pulled pages, not in files, and in published
// values where their keys say so.
func (d *comparer) counts(word string) bool {
	kind, name := d.a.keptPage()
	otherKind, otherName := d.b.keptPage()
	switch {
	case !publishedKind(kind) || !publishedKind(otherKind):
		return true
	case kind == otherKind && name == otherName || kind == "file":
		return false
	}
	keys := d.a.site.options.Published.Keys
	return slices.ContainsFunc(keys, func(key string) bool { return strings.Contains(key, word) })
}

func publishedKind(kind string) bool { return kind == "file" || kind == "published" }

// samePublished says whether one published page answers both: then nothing of
// the requests keeps them apart.
func (d *comparer) samePublished() bool {
	kind, name := d.a.keptPage()
	otherKind, otherName := d.b.keptPage()
	return kind == otherKind && name == otherName && publishedKind(kind)
}

func (d *comparer) path() {
	a, b := d.a, d.b
	x, _, _ := bytes.Cut(a.written, []byte("?"))
	y, _, _ := bytes.Cut(b.written, []byte("?"))
	if bytes.Equal(a.url.raw, b.url.raw) {
		if !bytes.Equal(x, y) {
			d.differ(ExplainedDifference{Part: "path", First: saidText(x, true), Second: saidText(y, true),
				Why: fmt.Sprintf("both are %q in canonical form", a.url.raw)})
		}
		return
	}
	said := ExplainedDifference{Part: "path", First: saidText(a.url.raw, true), Second: saidText(b.url.raw, true), Apart: !d.samePublished(),
		Why: "two canonical paths are two pages"}
	x, y = bytes.TrimSuffix(a.url.raw, []byte("/")), bytes.TrimSuffix(b.url.raw, []byte("/"))
	switch {
	case bytes.Equal(x, y):
		said.Cure = `trailing_slash = "strip" for the site at ` + a.site.options.Where
	case strings.EqualFold(string(x), string(y)):
		said.Why += "; upper and lower case are not the same in a path"
		said.Cure = "let the app redirect to one of them"
	}
	d.differ(said)
}

// query compares the queries by parameters: those that are left, and those
// that the filter drops.
func (d *comparer) query() {
	a, b := queryOf(d.a), queryOf(d.b)
	var names []string
	for _, p := range slices.Concat(a, b) {
		if !slices.Contains(names, p.name) {
			names = append(names, p.name)
		}
	}
	told := false
	for _, name := range names {
		x, y := textOf(a, name, true), textOf(b, name, true)
		if !same(x, y) {
			told = true
			d.differ(ExplainedDifference{Part: "query", Name: name, First: x, Second: y, Apart: d.counts("{query}"),
				Why:  "the query is in the key as it stands" + d.a.queryAt(),
				Cure: fmt.Sprintf("if it does not change the page: query = {drop = [%q]}, or keep only those that do", name)})
			continue
		}
		if x, y := textOf(a, name, false), textOf(b, name, false); !same(x, y) {
			d.differ(ExplainedDifference{Part: "query", Name: name, First: x, Second: y, Why: "the query filter drops it" + d.a.queryAt()})
		}
	}
	if !told && !bytes.Equal(d.a.url.query, d.b.url.query) {
		d.differ(ExplainedDifference{Part: "query", First: saidText(d.a.url.query, true), Second: saidText(d.b.url.query, true), Apart: d.counts("{query}"),
			Why: "the same parameters in another order" + d.a.queryAt(), Cure: "sort = true in query, if the app does not mind their order"})
	}
}

// queryAt says which setting filters the query.
func (x *explainer) queryAt() string {
	at := x.setBy("query")
	if at == "" {
		at = " at " + x.site.options.Where
	}
	return fmt.Sprintf(" (query = %s%s)", explainQuery(*x.settings.query), at)
}

// explainedParameter is a parameter of a query, as the visitor wrote it.
type explainedParameter struct {
	name string // escapes undone
	text string
	kept bool // by the filter
}

func queryOf(x *explainer) (all []explainedParameter) {
	_, query, found := bytes.Cut(x.written, []byte("?"))
	if !found || len(query) == 0 {
		return nil
	}
	for text := range bytes.SplitSeq(query, []byte("&")) {
		name, _, _ := bytes.Cut(text, []byte("="))
		f := x.settings.query
		all = append(all, explainedParameter{
			name: string(appendUnescaped(nil, name)), text: string(text),
			kept: f.Mode != QueryNone && f.keeps(name),
		})
	}
	return all
}

// textOf gives the parameters of a name, those that were kept or all; nil:
// there are none.
func textOf(all []explainedParameter, name string, kept bool) *string {
	var texts []string
	for _, p := range all {
		if p.name == name && (p.kept || !kept) {
			texts = append(texts, p.text)
		}
	}
	if texts == nil {
		return nil
	}
	s := strings.Join(texts, "&")
	return &s
}

func same(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }

// cookies compares the cookies, by name.
func (d *comparer) cookies() {
	var names []string
	for _, x := range []*explainer{d.a, d.b} {
		for pair := range bytes.SplitSeq(x.line("Cookie"), []byte(";")) {
			name, _, ok := bytes.Cut(bytes.TrimLeft(pair, " \t"), []byte("="))
			if ok && len(name) > 0 && !slices.Contains(names, string(name)) {
				names = append(names, string(name))
			}
		}
	}
	for _, name := range names {
		x, y := saidText(d.a.cookieFor(name)), saidText(d.b.cookieFor(name))
		if !same(x, y) {
			said := ExplainedDifference{Part: "cookie", Name: name, First: x, Second: y}
			d.judgeCookie(&said)
			d.differ(said)
		}
	}
}

func (d *comparer) judgeCookie(said *ExplainedDifference) {
	x := d.a
	keep := &x.settings.keep
	listed := func(x *explainer) bool {
		k := &x.settings.keep
		return k.mode() == CookiesListed && slices.Contains(k.cookies.Names, said.Name)
	}
	switch {
	case x.settings.bypass != nil && slices.Contains(x.settings.bypass.Cookies, said.Name):
		said.Apart, said.Why = true, "who has it goes past every page: bypass"+x.setBy("bypass")
		said.Cure = "take it out of bypass"
	case d.samePublished():
		said.Why = "a published page is everybody's"
	case listed(x) || listed(d.b):
		said.Apart, said.Why = true, "it is in the key: cookies"+x.setBy("cookies")
		said.Cure = "take it out of cookies, if the page does not depend on it: then fills go without it"
	case keep.mode() != CookiesAll:
		said.Why = "fills go without it, so it cannot change the page"
	case d.varies("Cookie"):
		said.Apart, said.Why = true, "the kept page varies by Cookie, for the app says so in Vary"
		said.Cure = "list in cookies those that change the page, and have the app not vary by Cookie"
	default:
		said.Why = `it goes to the app and is not in the key (cookies = "all"): an answer to it is kept only if it says public or s-maxage`
		said.Cure = fmt.Sprintf("if it changes the page: cookies = [%q] in a rule; if not: cookies = \"none\"", said.Name)
	}
}

// varies says whether the kept page varies by a field in which the two differ.
func (d *comparer) varies(name string) bool {
	return slices.ContainsFunc(d.vary, func(v string) bool { return strings.EqualFold(v, name) }) && !d.sameVariant(name)
}

// headers compares the other fields, by name.
func (d *comparer) headers() {
	var names []string
	for _, x := range []*explainer{d.a, d.b} {
		for key := range x.ctx.Request.Header.AllInOrder() {
			name := string(key)
			if name != "Host" && name != "Cookie" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	for _, name := range names {
		a, b := d.a.line(name), d.b.line(name)
		x, y := saidText(a, a != nil), saidText(b, b != nil)
		if !same(x, y) {
			said := ExplainedDifference{Part: "header", Name: name, First: x, Second: y}
			d.judgeHeader(&said)
			d.differ(said)
		}
	}
}

func (d *comparer) judgeHeader(said *ExplainedDifference) {
	x, name := d.a, []byte(said.Name)
	keep := &x.settings.keep
	isIt := func(n string) bool { return equalFold(name, n) }
	switch {
	case x.settings.bypass != nil && slices.ContainsFunc(x.settings.bypass.Headers, isIt):
		said.Apart, said.Why = true, "who sends it goes past every page: bypass"+x.setBy("bypass")
		said.Cure = "take it out of bypass"
	case d.samePublished():
		said.Why = "a published page is everybody's"
	case keep.lists(name) || d.b.settings.keep.lists(name):
		said.Apart, said.Why = true, "it is in the key: headers"+x.setBy("headers")
		said.Cure = "take it out of headers, if the page does not depend on it"
	case d.varies(said.Name):
		said.Apart, said.Why = true, "the kept page varies by it, for the app says so in Vary"
		said.Cure = "have the app not vary by it, or let a rule give the lifetime (cache): then fills go without it"
	case isIt("Accept-Encoding"):
		said.Why = "fills never carry it: the edge compresses for each visitor"
	case keep.sends(x, said.Name) == nil && keep.sends(d.b, said.Name) == nil:
		said.Why = "fills go without it, so it cannot change the page"
	case isIt("Authorization"):
		said.Why = "it goes to the app and is not in the key: an answer to it is kept only if it says public, s-maxage or must-revalidate"
		said.Cure = `if all get the same page: cookies = "none", which withholds it too`
	case slices.ContainsFunc(d.vary, isIt):
		said.Why = "the kept page varies by it, but the values mean the same"
	default:
		said.Why = "it goes to the app and is not in the key: it counts as soon as the app names it in Vary"
		said.Cure = fmt.Sprintf("if it changes the page: headers = [%q] in a rule, or Vary: %s from the app", said.Name, said.Name)
	}
}
