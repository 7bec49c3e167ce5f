package conf

import (
	"fmt"
	"slices"
)

// unbuilt lists the settings that are part of the file's contract and not of this
// version. One is refused unless it has its default value, which is what this
// version does. A setting that gets built leaves the list.
var unbuilt = []string{
	"proxy_protocol",
	"tls",
	"fleet",
	"origin.NAME.inflight",
	"origin.NAME.queue",
	"origin.NAME.reserve",
	"origin.NAME.health.path",
	"origin.NAME.health.interval",
	"site.encode",
	"site.maintenance",
	"site.rule.encode",
}

// refuseUnbuilt notes a setting that this version does not have.
func (r *reader) refuseUnbuilt(group string, s setting, f *field) {
	if !slices.Contains(unbuilt, join(group, s.name)) {
		return
	}
	cure := "remove it"
	if s.value != "" {
		cure = "remove it or leave it at its default " + s.value
	}
	if s.value == "" || !same(f.value, parseDefault(f.value.key, s.value)) {
		r.problemAt(f.at, f.value.key, "not built yet in this version", cure)
	}
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
