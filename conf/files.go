package conf

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/ssiedge/ssiedge/pagecache"
)

// files reads root and what goes with it; nil: no root.
func (r *reader) files(s section) *pagecache.FilesOptions {
	o := &pagecache.FilesOptions{
		Root:    s.text("root"),
		Try:     r.try(s),
		Check:   r.rootCheck(s),
		MaxKeep: r.maxKeep,
	}
	for _, n := range s.texts("links") {
		if r.directory(n) {
			o.Links = append(o.Links, r.path(n.text))
		}
	}
	if o.Root == "" {
		r.warnWithout(s, "root", "links", "try", "root_check")
		return nil
	}
	r.directory(s.get("root"))
	o.Root = r.path(o.Root)
	return o
}

// directory reports whether n names a directory that is there.
func (r *reader) directory(n *node) bool {
	path := r.path(n.text)
	info, err := os.Stat(path)
	switch {
	case n.text == "":
		r.problem(n, "a directory is wanted, not an empty string", "")
	case errors.Is(err, fs.ErrNotExist):
		r.problem(n, fmt.Sprintf("there is no directory %q", path), "make it, or correct the path")
	case err != nil:
		r.problem(n, fmt.Sprintf("the directory %q cannot be read: %v", path, rootCause(err)), "correct the path or its permissions")
	case !info.IsDir():
		r.problem(n, fmt.Sprintf("%q is no directory", path), "name the directory that the files are in")
	default:
		return true
	}
	return false
}

// rootCause is the error of the system call, without the path.
func rootCause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// try reads the patterns of files.
func (r *reader) try(s section) []string {
	nodes := s.texts("try")
	for _, n := range nodes {
		r.fault(n, checkTry(n.text))
	}
	if n := s.get("try"); n.kind == listKind && len(n.items) == 0 {
		r.problem(n, "the list is empty: no file would ever be found", `leave it out, or write ["{path}"]`)
	}
	return values(nodes)
}

func checkTry(pattern string) *mistake {
	left := strings.ReplaceAll(pattern, "{path}", "")
	switch {
	case left == pattern:
		return &mistake{fmt.Sprintf("%q has no {path}: it is the same file for every page", pattern), `write "{path}.html"`}
	case strings.ContainsAny(left, "{}"):
		return &mistake{fmt.Sprintf("%q holds a word that is not known", pattern), "the only one is {path}"}
	case strings.Contains("/"+left+"/", "/../"):
		return &mistake{fmt.Sprintf("%q leads out of root", pattern), "take the .. out"}
	case strings.ContainsRune(left, 0):
		return &mistake{fmt.Sprintf("%q holds a NUL", pattern), "take it out"}
	default:
		return nil
	}
}

// rootCheck is how long a copy of a file is trusted; 0: each hit is checked.
func (r *reader) rootCheck(s section) time.Duration {
	n := s.get("root_check")
	if n.kind == textKind && n.text == "every" {
		return 0
	}
	if n.kind == textKind && leadingDigits(n.text) == "" && !strings.HasPrefix(n.text, "-") {
		r.problem(n, fmt.Sprintf("%q is not known here", n.text), `use "every", or a time such as "2s"`)
		return 0
	}
	return s.duration("root_check", 0, longest)
}

// published reads the keys of published pages in memcached; nil: none.
func (r *reader) published(s section) *pagecache.PublishedOptions {
	o := &pagecache.PublishedOptions{For: s.duration("published_for", 0, longest), MaxKeep: r.maxKeep}
	if o.For == 0 {
		o.For = time.Nanosecond // "0s" asks memcached each time; the zero of For is its default
	}
	for _, n := range s.texts("published") {
		if err := pagecache.ValidateKey(n.text); err != nil {
			r.fault(n, mistakeOf(err, fmt.Sprintf("key %q: ", n.text)))
		}
		o.Keys = append(o.Keys, n.text)
	}
	if len(o.Keys) == 0 {
		r.warnWithout(s, "published", "published_for")
		return nil
	}
	n := s.get("published")
	if !r.memcache {
		r.problem(n, "there is no [memcache] to ask", "add [memcache] with its servers")
	}
	if r.ring {
		r.warn(n.at, n.key, "there are several memcached servers: a page is found only if the app picks the server as we do",
			"let the app use the same ketama ring (nginx's hash ... consistent), or name one server")
	}
	return o
}

// warnWithout notes settings that mean nothing without another.
func (r *reader) warnWithout(s section, needed string, names ...string) {
	for _, name := range names {
		if n := s.written(name); n != nil {
			r.warn(n.at, n.key, fmt.Sprintf("%s means nothing without %s", name, needed), fmt.Sprintf("set %s, or remove it", needed))
		}
	}
}
