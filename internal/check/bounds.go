package check

import (
	"path/filepath"
	"strings"
)

// bounds are the folders that files are served from, as absolute paths free of
// links: root, and those of the site's links.
type bounds []string

// newBounds resolves the folders. Those of links that are not there are passed
// over, as serving does.
func newBounds(root string, links []string) (bounds, error) {
	real, err := realPath(root)
	if err != nil {
		return nil, err
	}
	b := bounds{real}
	for _, link := range links {
		if real, err := realPath(link); err == nil {
			b = append(b, real)
		}
	}
	return b, nil
}

// realPath is the absolute path of a file, free of links.
func realPath(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// hold says whether a real path is one of the folders, or lies in one.
func (b bounds) hold(path string) bool {
	for _, folder := range b {
		if within(path, folder) {
			return true
		}
	}
	return false
}

// liesIn says whether one of the folders lies in a folder, which itself need not
// be served from.
func (b bounds) liesIn(path string) bool {
	for _, folder := range b {
		if within(folder, path) {
			return true
		}
	}
	return false
}

// within says whether path is folder, or lies in it.
func within(path, folder string) bool {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(folder, "/"))
	return ok && (rest == "" || rest[0] == '/')
}
