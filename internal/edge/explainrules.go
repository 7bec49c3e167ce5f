package edge

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ssiedge/ssiedge/pagecache"
)

// ExplainedRule is a rule that matches the path.
type ExplainedRule struct {
	Where    string             `json:"where"` // file:line
	Paths    []string           `json:"path"`
	Settings []ExplainedSetting `json:"settings"`
}

// ExplainedSetting is what a rule sets, named as in the file.
type ExplainedSetting struct {
	Name        string `json:"name"`
	Value       string `json:"value"`
	OverruledBy string `json:"overruled_by,omitempty"` // file:line of a later rule that sets it too
}

// explainRules tells which rules match a canonical, decoded path, and which of
// their settings hold.
func (s *site) explainRules(path []byte) []ExplainedRule {
	rules := []ExplainedRule{}
	for i := range s.rules {
		r := &s.rules[i]
		if !r.matches(path) {
			continue
		}
		e := ExplainedRule{Where: r.options.Where, Paths: r.options.Paths, Settings: []ExplainedSetting{}}
		for _, row := range ruleSettings {
			if value, set := row.value(r.options); set {
				overrule(rules, row.name, e.Where)
				e.Settings = append(e.Settings, ExplainedSetting{Name: row.name, Value: value})
			}
		}
		rules = append(rules, e)
	}
	return rules
}

// overrule marks a setting of earlier rules.
func overrule(rules []ExplainedRule, name, by string) {
	for i := range rules {
		for j := range rules[i].Settings {
			if s := &rules[i].Settings[j]; s.Name == name {
				s.OverruledBy = by
			}
		}
	}
}

// ruleSettings has a row for each setting of a Rule, in the order of the docs.
var ruleSettings = []struct {
	name  string
	value func(*Rule) (value string, set bool)
}{
	{"cache", func(o *Rule) (string, bool) { return explained(o.Cache, explainLifetime) }},
	{"expires", func(o *Rule) (string, bool) { return explained(o.Expires, explainTime) }},
	{"stale_while_revalidate", func(o *Rule) (string, bool) { return explained(o.StaleWhileRevalidate, explainTime) }},
	{"stale_if_error", func(o *Rule) (string, bool) { return explained(o.StaleIfError, explainTime) }},
	{"heuristic", func(o *Rule) (string, bool) { return explained(o.Heuristic, strconv.FormatBool) }},
	{"negative", func(o *Rule) (string, bool) { return explained(o.Negative, explainTime) }},
	{"set_cookie", func(o *Rule) (string, bool) { return explained(o.SetCookie, explainSetCookie) }},
	{"targets", func(o *Rule) (string, bool) { return explainList(o.Targets), o.Targets != nil }},
	{"cookies", func(o *Rule) (string, bool) { return explained(o.Cookies, explainCookies) }},
	{"headers", func(o *Rule) (string, bool) { return explainList(o.KeyHeaders), o.KeyHeaders != nil }},
	{"query", func(o *Rule) (string, bool) { return explained(o.Query, explainQuery) }},
	{"invalidate", func(o *Rule) (string, bool) { return explained(o.Invalidate, strconv.FormatBool) }},
	{"internal", func(o *Rule) (string, bool) { return explained(o.Internal, strconv.FormatBool) }},
	{"required", func(o *Rule) (string, bool) { return explained(o.Required, strconv.FormatBool) }},
	{"forward_set_cookie", func(o *Rule) (string, bool) { return explained(o.ForwardSetCookie, strconv.FormatBool) }},
	{"timeout", func(o *Rule) (string, bool) { return explained(o.Timeout, explainTime) }},
	{"ssi", func(o *Rule) (string, bool) { return explained(o.SSI, strconv.FormatBool) }},
	{"origin", func(o *Rule) (string, bool) {
		if o.Origin == nil {
			return "", false
		}
		return strconv.Quote(o.Origin.Name), true
	}},
	{"bypass", func(o *Rule) (string, bool) { return explained(o.Bypass, explainBypass) }},
	{"response_headers", func(o *Rule) (string, bool) { return explained(o.Headers, explainHeaders) }},
	{"redirect", func(o *Rule) (string, bool) { return explained(o.Redirect, strconv.Quote) }},
}

// explained prints a setting, if it is set.
func explained[T any](v *T, print func(T) string) (string, bool) {
	if v == nil {
		return "", false
	}
	return print(*v), true
}

// explainTime prints a time in the units of the file.
func explainTime(d time.Duration) string {
	const day = 24 * time.Hour
	if d > 0 && d%day == 0 {
		return strconv.Quote(strconv.FormatInt(int64(d/day), 10) + "d")
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return strconv.Quote(s)
}

func explainLifetime(l Lifetime) string {
	if l.Off {
		return `"off"`
	}
	return explainTime(l.For)
}

func explainList(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = strconv.Quote(n)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

func explainCookies(c Cookies) string {
	switch c.Mode {
	case CookiesNone:
		return `"none"`
	case CookiesListed:
		return explainList(c.Names)
	}
	return `"all"`
}

func explainSetCookie(p pagecache.CookiePolicy) string {
	switch {
	case p.Strip:
		return `"strip"`
	case len(p.Keep) > 0:
		return "{keep = " + explainList(p.Keep) + "}"
	}
	return `"refuse"`
}

func explainQuery(q QueryFilter) string {
	var parts []string
	switch q.Mode {
	case QueryNone:
		return `"none"`
	case QueryKeep:
		parts = append(parts, "keep = "+explainList(q.Names))
	case QueryDrop:
		parts = append(parts, "drop = "+explainList(q.Names))
	case QueryAll:
		if !q.Sort {
			return `"all"`
		}
	}
	if q.Sort {
		parts = append(parts, "sort = true")
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func explainBypass(b Bypass) string {
	return fmt.Sprintf("{cookies = %s, headers = %s}", explainList(b.Cookies), explainList(b.Headers))
}

func explainHeaders(h HeaderEdits) string {
	set := make([]string, 0, len(h.Set))
	for _, f := range h.Set {
		set = append(set, f.Name+" = "+strconv.Quote(f.Value))
	}
	return fmt.Sprintf("{set = {%s}, remove = %s}", strings.Join(set, ", "), explainList(slices.Clone(h.Remove)))
}
