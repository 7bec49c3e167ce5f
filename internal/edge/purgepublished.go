package edge

import (
	"fmt"
	"strconv"
)

const (
	// maxLeft bounds what an answer lists as left.
	maxLeft = 100

	// memcachedTries is how often in a row memcached may fail to delete before
	// the rest of a purge leaves it alone: each try may take its timeout.
	memcachedTries = 3
)

// unpublish removes what is published under the URLs that are named, and tells
// what is left. A dry run removes nothing, and tells what would be.
func (p *purge) unpublish() []string {
	for i := range p.urls {
		u := &p.urls[i]
		p.removeValue(u)
		p.removeFile(u)
	}
	if p.unsaid > 0 {
		p.left = append(p.left, strconv.Itoa(p.unsaid)+" more")
	}
	return p.left
}

// removeValue deletes the values in memcached that could answer the URL, as far
// as their keys can be made from it.
func (p *purge) removeValue(u *purgedURL) {
	published := u.target.site.published
	if published == nil {
		return
	}
	if u.host == nil && published.UsesHost() {
		p.leave(u, "published values whose keys name {host} are not deleted: purge it with its host")
	}
	if len(u.target.url.query) == 0 && published.UsesQuery() {
		p.leave(u, "published values of its queries are not deleted: purge each with its query")
	}
	if p.call.DryRun {
		return
	}
	if p.failed >= memcachedTries {
		p.leave(u, "its published value may still be in memcached, which was left alone after errors")
		return
	}
	if err := published.Delete(u.target.publishedKey(u.host, "")); err != nil {
		p.failed++
		p.leave(u, "its published value may still be in memcached: "+err.Error())
		return
	}
	p.failed = 0
}

// removeFile removes the file under root that answers the URL, where the site
// lets a purge do that.
func (p *purge) removeFile(u *purgedURL) {
	t := &u.target
	if t.site.files == nil || t.url.encoded {
		return
	}
	name, _, ok := t.site.files.Name(t.url.path, t.answersExactly())
	switch {
	case !ok:
		return
	case !t.site.options.Cache.PurgeRoot:
		p.leave(u, fmt.Sprintf("the file %q under root still answers it: remove that, or set purge_root = true", name))
		return
	case p.call.DryRun:
		return
	}
	name, err := t.site.files.Remove(t.url.path, t.answersExactly())
	if err != nil {
		p.leave(u, fmt.Sprintf("the file %q under root is not removed: %v", name, err))
		return
	}
	if name, _, ok = t.site.files.Name(t.url.path, t.answersExactly()); ok {
		p.leave(u, fmt.Sprintf("the file %q under root now answers it", name))
	}
}

func (p *purge) leave(u *purgedURL, what string) {
	if len(p.left) >= maxLeft {
		p.unsaid++
		return
	}
	p.left = append(p.left, u.written+": "+what)
}
