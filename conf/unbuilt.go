package conf

import "fmt"

// unbuilt lists the settings that are part of the file's contract and not of this
// version, as group and name. One is refused unless it has its default value, which
// is what this version does; accepts names another value of which that is true.
// A setting that gets built leaves the list.
var unbuilt = []struct{ key, accepts string }{
	{"state", ""},
	{"proxy_protocol", ""},
	{"tls", ""},
	{"disk", ""},
	{"fleet", ""},
	{"origin.NAME.inflight", ""},
	{"origin.NAME.queue", ""},
	{"origin.NAME.reserve", ""},
	{"origin.NAME.health.path", ""},
	{"origin.NAME.health.interval", ""},
	{"site.not_keepable", ""},
	{"site.max_variants", ""},
	{"site.encode", ""},
	{"site.purge_root", ""},
	{"site.fill_wait", ""},
	{"site.maintenance", ""},
	{"site.cache.heuristic", ""},
	{"site.cache.set_cookie", ""},
	{"site.cache.negative", ""},
	{"site.cache.stale_while_revalidate", ""},
	{"site.cache.stale_if_error", ""},
	{"site.cache.soft_window", ""},
	{"site.cache.request_directives", ""},
	{"site.cache.targets", ""},
	{"site.ssi.dialect", ""},
	{"site.ssi.expressions", ""},
	{"site.ssi.printenv", ""},
	{"site.rule.cache", `"off"`}, // no pulled page is kept
	{"site.rule.stale_while_revalidate", ""},
	{"site.rule.stale_if_error", ""},
	{"site.rule.heuristic", ""},
	{"site.rule.negative", ""},
	{"site.rule.set_cookie", ""},
	{"site.rule.targets", ""},
	{"site.rule.cookies", ""},
	{"site.rule.headers", ""},
	{"site.rule.invalidate", ""},
	{"site.rule.required", ""},
	{"site.rule.forward_set_cookie", ""},
	{"site.rule.encode", ""},
}

// refuseUnbuilt notes a setting that this version does not have. It reports
// whether the setting is one of those, set to its default or not.
func (r *reader) refuseUnbuilt(group string, s setting, f *field) bool {
	for _, u := range unbuilt {
		if u.key != join(group, s.name) {
			continue
		}
		cure, value := "remove it", s.value
		switch {
		case u.accepts != "":
			value = u.accepts
			cure = "remove it or write " + value
		case value != "":
			cure = "remove it or leave it at its default " + value
		}
		if value == "" || !same(f.value, parseDefault(f.value.key, value)) {
			r.problemAt(f.at, f.value.key, "not built yet in this version", cure)
		}
		return true
	}
	return false
}

// same reports whether two values are equal, wherever they stand.
func same(a, b *node) bool {
	if a.kind != b.kind || a.text != b.text || len(a.items) != len(b.items) || len(a.fields) != len(b.fields) {
		return false
	}
	for i := range a.items {
		if !same(a.items[i], b.items[i]) {
			return false
		}
	}
	for _, f := range a.fields {
		other := b.field(f.name)
		if other == nil || !same(f.value, other.value) {
			return false
		}
	}
	return true
}

// parseDefault makes a node of a default. It has no place in the file.
func parseDefault(key, value string) *node {
	b := newBuilder(fmt.Appendf(nil, "%q = %s", key, value))
	b.nowhere = true
	n := b.build()
	if len(n.fields) != 1 {
		panic(fmt.Sprintf("BUG: the default %s of %s is no TOML", value, key))
	}
	return n.fields[0].value
}
