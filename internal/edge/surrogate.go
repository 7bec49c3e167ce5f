package edge

import (
	"bytes"

	"github.com/valyala/fasthttp"

	"github.com/ssiedge/ssiedge/pagecache"
)

// An app that is told that somebody in front of it runs server-side includes
// (Surrogate-Capability, which the edge sends wherever it would) may say in its
// answer that there is something to be run: Surrogate-Control:
// content="SSI/1.0". This is how Symfony's SSI mode speaks, after the Edge
// Architecture Specification 1.0. What is said that way holds for any media
// type. Its absence says nothing: the types of the site are run in any case.

// runs says whether the directives of an answer are run.
func (t *target) runs(h *fasthttp.ResponseHeader) bool {
	if t.processed(h.ContentType()) {
		return true
	}
	if !t.settings.ssi {
		return false
	}
	for _, line := range h.PeekAll("Surrogate-Control") {
		if asksForSSI(line) {
			return true
		}
	}
	return false
}

// asked says whether the answer that a page was made of asked for its directives
// to be run.
func (t *target) asked(p *pagecache.Page) bool {
	if !p.ForEdge || !t.settings.ssi {
		return false
	}
	for line := range p.Lines("surrogate-control") {
		if asksForSSI(line) {
			return true
		}
	}
	return false
}

// asksForSSI reads a line of Surrogate-Control. A directive for another
// surrogate (";name") is not for us.
func asksForSSI(line []byte) bool {
	for len(line) > 0 {
		var name, value []byte
		name, value, line = nextDirective(line)
		name, value = bytes.TrimSpace(name), bytes.TrimSpace(value) // the specification is older than the rule that = stands alone
		if !equalFold(name, "content") || len(value) == 0 || value[0] != '"' {
			continue
		}
		kinds, target, closed := bytes.Cut(value[1:], []byte(`"`))
		target = bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(target), []byte(";")))
		if !closed || len(target) > 0 && !equalFold(target, "ssiedge") {
			continue
		}
		for kind := range bytes.FieldsSeq(kinds) {
			if equalFold(kind, "SSI/1.0") {
				return true
			}
		}
	}
	return false
}
