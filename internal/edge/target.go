package edge

import (
	"github.com/ssiedge/ssiedge/pagecache"
	"github.com/ssiedge/ssiedge/ssi"
)

// target is where a request or an include leads: a URL of a site in its
// canonical form, and the settings there.
type target struct {
	state    *state
	site     *site
	url      canonical
	filter   *QueryFilter // that the query of url has gone through
	settings settings
}

// resolve makes written, a path and query, the target's URL and finds the
// settings of its path. For a visitor the query is filtered, by the rule's own
// filter where it has one; an include's query is never touched.
func (t *target) resolve(written []byte, slash TrailingSlash, include bool) error {
	t.filter = &keepAll
	if !include {
		t.filter = t.site.base.query
	}
	if err := t.url.parse(written, slash, t.filter); err != nil {
		return err
	}
	t.site.settings(&t.settings, t.url.path)
	if include || t.settings.query == t.filter {
		return nil
	}
	t.filter = t.settings.query
	return t.url.parse(written, slash, t.filter)
}

// keepAll is the filter of includes.
var keepAll = QueryFilter{Mode: QueryAll}

// answersExactly says that only a file that is the path itself may answer: a
// query is left that the app may know what to do with.
func (t *target) answersExactly() bool {
	return len(t.url.query) > 0 && t.settings.query.Mode != QueryNone && t.settings.origin != nil
}

// processed says whether the directives of a body of that media type are run.
func (t *target) processed(contentType []byte) bool {
	return t.settings.ssi && hasType(t.site.options.SSI.Types, contentType)
}

// template gives the compiled body of a published page, nil where nothing is
// to be run. It is compiled once a page and kept with it.
func (t *target) template(p *pagecache.Page) *ssi.Template {
	var space [64]byte
	if p.Body == nil || !t.processed(append(space[:0], p.Type...)) && !t.asked(p) {
		return nil
	}
	c := t.site.compiled(p)
	t.tell(c)
	if c.template.Static() {
		return nil
	}
	return c.template
}

// hasType says whether the media type of a Content-Type is among types; "*" is
// all of them. As in nginx a missing Content-Type is none.
func hasType(types []string, contentType []byte) bool {
	if len(contentType) == 0 {
		return false
	}
	media := mediaType(contentType)
	for _, t := range types {
		if t == "*" || equalFold(media, t) {
			return true
		}
	}
	return false
}

// mediaType is a Content-Type without its parameters.
func mediaType(contentType []byte) []byte {
	end := 0
	for end < len(contentType) && contentType[end] != ';' && contentType[end] != ' ' && contentType[end] != '\t' {
		end++
	}
	return contentType[:end]
}
