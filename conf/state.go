package conf

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ssiedge/ssiedge/internal/edge"
)

// state reads state, the folder of the journal; "": none. The edge makes it when it
// starts, in a folder that must be there.
func (r *reader) state(top section) string {
	text := top.text("state")
	if text == "" {
		return ""
	}
	n := top.get("state")
	path := filepath.Clean(r.path(text)) // "a/" and "a" have the same parent
	parent := filepath.Dir(path)
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
	case err == nil:
		r.problem(n, fmt.Sprintf("%q is no directory", path), "name a directory that is there, or one that can be made")
	case !errors.Is(err, fs.ErrNotExist):
		r.problem(n, fmt.Sprintf("the directory %q cannot be read: %v", path, rootCause(err)), "correct the path or its permissions")
	case !isDirectory(parent):
		r.problem(n, fmt.Sprintf("there is no directory %q", parent), "make it: only the last part of the path is made at the start")
	}
	return path
}

// warnPublic notes a folder that visitors could read as published pages.
func (r *reader) warnPublic(n *node, path, what string, sites []edge.Site) {
	for _, s := range sites {
		if path != "" && s.Files != nil && servedBelow(s.Files.Root, path) {
			r.warn(n.at, n.key, fmt.Sprintf("%q is below the root %q: visitors could read %s", path, s.Files.Root, what), "put it elsewhere")
			return
		}
	}
}

// servedBelow reports whether path lies in root by its name, and no part of it is
// one that is never served: dot names are not, but for /.well-known/.
func servedBelow(root, path string) bool {
	from, err1 := filepath.Abs(root)
	to, err2 := filepath.Abs(path)
	below, err3 := filepath.Rel(from, to)
	if errors.Join(err1, err2, err3) != nil {
		return false
	}
	if below == "." {
		return true
	}
	parts := strings.Split(below, string(filepath.Separator))
	if parts[0] == ".well-known" {
		parts = parts[1:]
	}
	return !slices.ContainsFunc(parts, func(part string) bool { return strings.HasPrefix(part, ".") })
}

// warnColdStart notes a tier that outlives the edge while what was purged does not:
// pages in it cannot be trusted then, and none of them is found after a start.
func (r *reader) warnColdStart(top section) {
	n := top.written("memcache")
	if n == nil || n.at.line == 0 || !r.pulls || top.says("state") || top.written("disk") != nil { // flags have no place, and no state
		return
	}
	r.warn(n.at, n.key, "without state every start is cold: purges are forgotten, so no page that was kept in memcached is used",
		`set state = "/var/lib/ssiedge"`)
}
