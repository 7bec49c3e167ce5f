package conf

import (
	"fmt"
	"slices"
	"strings"
)

// judgeNames notes the names of a table that no setting has, and those that
// this version does not have.
func (r *reader) judgeNames(table *node, group string) {
	known := settingsOf(group)
	for i := range table.fields {
		f := &table.fields[i]
		at := slices.IndexFunc(known, func(s setting) bool { return s.name == f.name })
		if at < 0 {
			r.problemAt(f.at, f.value.key, fmt.Sprintf("unknown setting %q in %s", f.name, title(group, table.key)), cureUnknown(f.name, group))
			continue
		}
		r.refuseUnbuilt(group, known[at], f)
	}
}

// title names a table as its header in the file does.
func title(group, key string) string {
	switch group {
	case "":
		return "the top table"
	case "site", "site.rule":
		return "[[" + key + "]]"
	default:
		return "[" + key + "]"
	}
}

// cureUnknown suggests a name of the same table that looks alike, else the
// tables that have this name, else tells the names that there are.
func cureUnknown(name, group string) string {
	names := settingNames(group)
	if near := nearest(name, names); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	var elsewhere []string
	for _, g := range groups {
		if settingNamed(g.name, name) {
			elsewhere = append(elsewhere, title(g.name, g.name))
		}
	}
	if len(elsewhere) > 0 {
		return "it belongs to " + enumerate(elsewhere)
	}
	return "known here are " + quoted(names)
}

// settingNamed reports whether a group has a setting of that name.
func settingNamed(group, name string) bool {
	return slices.Contains(settingNames(group), name)
}

func settingNames(group string) []string {
	var names []string
	for _, s := range settingsOf(group) {
		names = append(names, s.name)
	}
	return names
}

// nearest is the word most like name, "" where none is like it: at most a third
// of its letters may differ, or one of a short name. Case does not matter.
func nearest(name string, words []string) string {
	if len(name) > 64 {
		return ""
	}
	name = strings.ToLower(name)
	best, least := "", max(1, len(name)/3)+1
	for _, w := range words {
		d := distance(name, strings.ToLower(w))
		if d < least && d < max(len(name), len(w)) {
			best, least = w, d
		}
	}
	return best
}

// distance is the number of bytes to insert, remove, replace or swap with their
// neighbour that makes b of a (optimal string alignment).
func distance(a, b string) int {
	before, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range above {
		above[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(above[j+1]+1, row[j]+1, above[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, above, row = above, row, before
	}
	return above[len(b)]
}
