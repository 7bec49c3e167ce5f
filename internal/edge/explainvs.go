package edge

import (
	"fmt"
	"strings"

	"github.com/ssiedge/ssiedge/pagecache"
)

// Comparison tells whether two requests get one page, and why. Its JSON is
// documented in docs/explain.md.
type Comparison struct {
	Share       bool                  `json:"share"`       // one page answers both, as far as anything does
	Why         string                `json:"why"`         // for people
	Differences []ExplainedDifference `json:"differences"` // of the requests; those that keep them apart first
	First       Explanation           `json:"first"`
	Second      Explanation           `json:"second"`
}

// ExplainedDifference is something in which two requests differ.
type ExplainedDifference struct {
	Part   string  `json:"part"`           // site, scheme, host, path, query, cookie or header
	Name   string  `json:"name,omitempty"` // of the parameter, cookie or header
	First  *string `json:"first"`          // nil: absent
	Second *string `json:"second"`
	Apart  bool    `json:"apart"` // each of them has a page of its own for it
	Why    string  `json:"why"`
	Cure   string  `json:"cure,omitempty"` // what makes them share, or what to do if they must not
}

// Against gives the request that q is compared with: the same but for its URL,
// "" being that of q, and for fields; one with an empty value is left out.
func (q ExplainRequest) Against(url string, fields []string) ExplainRequest {
	other := ExplainRequest{URL: url}
	if url == "" {
		other.URL = q.URL
	}
	given := map[string]bool{}
	if _, authority, _ := absoluteForm([]byte(other.URL)); len(authority) > 0 {
		given["host"] = true // that of q is in the way
	}
	for _, f := range fields {
		given[fieldName(f)] = true
	}
	for _, f := range q.Fields {
		if !given[fieldName(f)] {
			other.Fields = append(other.Fields, f)
		}
	}
	for _, f := range fields {
		if _, value, ok := strings.Cut(f, ":"); !ok || strings.TrimSpace(value) != "" {
			other.Fields = append(other.Fields, f)
		}
	}
	return other
}

func fieldName(f string) string {
	name, _, _ := strings.Cut(f, ":")
	return strings.ToLower(name)
}

// Compare tells why two requests do or do not get one page. Of each it assumes
// and asks what Explain does. An error is a *BadExplain, of the first request
// that has one.
func (e *Edge) Compare(first, second ExplainRequest) (Comparison, error) {
	a, err := e.explain(&first)
	if err != nil {
		return Comparison{}, err
	}
	b, err := e.explain(&second)
	if err != nil {
		bad := *err.(*BadExplain)
		bad.Reason = "the second request: " + bad.Reason
		return Comparison{}, &bad
	}
	d := comparer{a: a, b: b, vary: a.vary()}
	d.url()
	d.cookies()
	d.headers()
	said := Comparison{Differences: d.inOrder(), First: a.said, Second: b.said}
	said.Share, said.Why = d.judge()
	return said, nil
}

// comparer goes through all in which two requests may differ.
type comparer struct {
	a, b *explainer
	vary []string // by which the kept pages of a's key vary
	said []ExplainedDifference
}

// keptPage names what a request gets, among all pages of a kind: a file, a
// published value, or the pulled page of a key. kind "": no page.
func (x *explainer) keptPage() (kind, name string) {
	switch x.said.Answer.By {
	case "file", "published":
		for _, t := range x.said.Tiers {
			if t.Tier == x.said.Answer.By && t.State == tierHit {
				return t.Tier, x.site.id + " " + t.Name
			}
		}
	}
	if x.said.Key == nil || !x.pulls() {
		return "", ""
	}
	return "pulled", string(x.keyed.key)
}

// vary tells by which fields the pages that are kept for the request vary.
func (x *explainer) vary() []string {
	if kind, _ := x.keptPage(); kind != "pulled" {
		return nil
	}
	k := x.keyed.at(x.began)
	return x.state.store.pulled.Vary(&k)
}

// judge says whether they share, in a sentence.
func (d *comparer) judge() (share bool, why string) {
	kind, name := d.a.keptPage()
	otherKind, otherName := d.b.keptPage()
	apart := d.apart()
	switch {
	case kind == "" && otherKind == "":
		return false, "no kept page answers either: " + d.a.said.Answer.Why
	case kind == "":
		return false, "no kept page answers the first: " + d.a.said.Answer.Why
	case otherKind == "":
		return false, "no kept page answers the second: " + d.b.said.Answer.Why
	case kind != otherKind:
		return false, fmt.Sprintf("the first gets %s, the second %s", d.a.pageText(kind), d.b.pageText(otherKind))
	case kind != "pulled" && name == otherName:
		return true, "both get " + d.a.pageText(kind)
	case kind != "pulled":
		return false, fmt.Sprintf("the first gets %s, the second %s", d.a.pageText(kind), d.b.pageText(otherKind))
	case len(apart) > 0:
		return false, "they differ in " + strings.Join(apart, ", ")
	case name != otherName: // the settings were reloaded between the two
		return false, "their keys differ: the settings, or what was purged, changed while they were explained; ask again"
	case d.a.unkeepable:
		return true, "they have one key, but the last answer could not be kept, so no page is there to share: see the replies of the origin"
	}
	return true, "they have one key: what answers one answers the other"
}

func (x *explainer) pageText(kind string) string {
	for _, t := range x.said.Tiers {
		if t.Tier == kind && t.State == tierHit {
			return fmt.Sprintf("%s %q", map[string]string{"file": "the file", "published": "the published value"}[kind], t.Name)
		}
	}
	return "a pulled page"
}

// differ notes a difference.
func (d *comparer) differ(x ExplainedDifference) { d.said = append(d.said, x) }

// inOrder gives the differences, those that keep the requests apart first.
func (d *comparer) inOrder() []ExplainedDifference {
	all := []ExplainedDifference{}
	for _, apart := range []bool{true, false} {
		for _, x := range d.said {
			if x.Apart == apart {
				all = append(all, x)
			}
		}
	}
	return all
}

// apart names what keeps them apart.
func (d *comparer) apart() (names []string) {
	for _, x := range d.said {
		if x.Apart {
			names = append(names, strings.TrimSpace(x.Part+" "+x.Name))
		}
	}
	return names
}

// sameVariant says whether a kept page that varies by a field is one for both.
func (d *comparer) sameVariant(name string) bool {
	of := func(x *explainer) string {
		sends := func(name string) []byte { return x.settings.keep.sends(x, name) }
		return string(pagecache.VariantKey(nil, nil, []string{name}, sends))
	}
	return of(d.a) == of(d.b)
}
