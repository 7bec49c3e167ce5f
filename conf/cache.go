package conf

import (
	"fmt"
	"time"

	"github.com/ssiedge/ssiedge/internal/edge"
	"github.com/ssiedge/ssiedge/pagecache"
)

const (
	// oldest is how far back the journal of purges goes: no page is kept longer.
	oldest = 30 * day

	// most variants of a page: the list of them is read and written as a whole.
	maxVariants = 1000
)

// siteCache reads [site.cache], and what else a site says of pages that it keeps.
func (r *reader) siteCache(site section) edge.Cache {
	s := r.open(site.get("cache"), "site.cache")
	purgeRoot := site.flag("purge_root")
	if purgeRoot && !site.says("root") {
		r.warnWithout(site, "root", "purge_root")
	}
	return edge.Cache{
		Policy: pagecache.Policy{
			Heuristic:            s.flag("heuristic"),
			Negative:             s.duration("negative", 0, longest),
			SetCookie:            r.setCookie(s.get("set_cookie")),
			Targets:              r.targets(s.get("targets")),
			StaleWhileRevalidate: s.duration("stale_while_revalidate", 0, longest),
			StaleIfError:         s.duration("stale_if_error", 0, longest),
			MaxVariants:          site.integer("max_variants", 1, maxVariants),
		},
		SoftWindow:  s.duration("soft_window", 0, longest),
		NotKeepable: site.duration("not_keepable", 0, longest),
		FillWait:    site.duration("fill_wait", 0, longest),
		PurgeRoot:   purgeRoot,

		RequestDirectives: s.word("request_directives", "ignore", "honour") == "honour",
	}
}

// ruleCache reads what a rule says of pages that the edge keeps. What it does
// not say stays nil.
func (r *reader) ruleCache(s section, rule *edge.Rule) {
	if n := s.get("cache"); n != nil {
		rule.Cache = r.lifetime(n)
	}
	rule.StaleWhileRevalidate = s.optionalDuration("stale_while_revalidate", 0, longest)
	rule.StaleIfError = s.optionalDuration("stale_if_error", 0, longest)
	rule.Negative = s.optionalDuration("negative", 0, longest)
	rule.Heuristic = s.optionalFlag("heuristic")
	if n := s.get("set_cookie"); n != nil {
		rule.SetCookie = new(r.setCookie(n))
	}
	if n := s.get("targets"); n != nil {
		rule.Targets = r.targets(n)
	}
	if n := s.get("cookies"); n != nil {
		rule.Cookies = r.cookies(n)
		r.warnAllCookies(n, rule)
	}
	if n := s.get("headers"); n != nil {
		rule.KeyHeaders = r.keyHeaders(n)
	}
	rule.Invalidate = s.optionalFlag("invalidate")
	rule.Required = s.optionalFlag("required")
	rule.ForwardSetCookie = s.optionalFlag("forward_set_cookie")
}

// lifetime reads "off", or how long pages are fresh.
func (r *reader) lifetime(n *node) *edge.Lifetime {
	if n.kind != textKind {
		return &edge.Lifetime{For: r.duration(n, 0, longest)}
	}
	d, m := parseDuration(n.text)
	switch {
	case n.text == "off":
		return &edge.Lifetime{Off: true}
	case leadingDigits(n.text) == "":
		r.problem(n, fmt.Sprintf("%q is no lifetime", n.text), `use "off", or a time such as "1h"`)
	case m == nil && d == 0:
		r.problem(n, fmt.Sprintf("%q is no lifetime: nothing would be kept", n.text), `write "off" if that is meant`)
	default:
		d = r.duration(n, shortest, longest)
	}
	if d > oldest && d <= longest {
		r.warn(n.at, n.key, fmt.Sprintf("no page is kept for %s: purges are remembered for %s", n.text, durationText(oldest)),
			fmt.Sprintf("write %q at most", durationText(oldest)))
	}
	return &edge.Lifetime{For: d}
}

// optionalDuration is a time that a rule may leave open: nil.
func (s section) optionalDuration(name string, low, high time.Duration) *time.Duration {
	if s.get(name) == nil {
		return nil
	}
	return new(s.duration(name, low, high))
}

// optionalFlag is a boolean that a rule may leave open: nil.
func (s section) optionalFlag(name string) *bool {
	if s.get(name) == nil {
		return nil
	}
	return new(s.flag(name))
}
