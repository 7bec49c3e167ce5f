package edge

import (
	"bytes"

	"github.com/valyala/fasthttp"
)

// codings are the content codings of precompressed siblings, in our order of
// preference.
var codings = [...]string{"br", "zstd", "gzip"}

// encoded gives the page's precompressed sibling in the coding that we prefer
// among those the visitor accepts, else the page itself. vary is true where
// the page has siblings at all.
func (r *request) encoded(f found) (best found, vary bool) {
	files := r.site.files
	if !files.HasSiblings(f.Hit) {
		return f, false
	}
	lines := r.ctx.Request.Header.PeekAll(fasthttp.HeaderAcceptEncoding)
	for _, coding := range codings {
		if !accepts(lines, coding) {
			continue
		}
		if h, ok := files.Sibling(f.Hit, coding); ok {
			f.close()
			return found{Hit: h, source: f.source}, true
		}
	}
	return f, true
}

// accepts says whether the lines of Accept-Encoding take a coding: it is named
// with a weight above 0, or not named and "*" is (RFC 9110, section 12.5.3).
func accepts(lines [][]byte, coding string) bool {
	star := false
	for _, line := range lines {
		for len(line) > 0 {
			var member []byte
			member, line, _ = bytes.Cut(line, []byte(","))
			name, params, _ := bytes.Cut(member, []byte(";"))
			name = bytes.TrimSpace(name)
			switch {
			case equalFold(name, coding), coding == "gzip" && equalFold(name, "x-gzip"):
				return !zeroWeight(params)
			case len(name) == 1 && name[0] == '*':
				star = !zeroWeight(params)
			}
		}
	}
	return star
}

// zeroWeight says whether the parameters of a member hold a weight of 0.
func zeroWeight(params []byte) bool {
	key, value, _ := bytes.Cut(params, []byte("="))
	if !equalFold(bytes.TrimSpace(key), "q") {
		return false
	}
	value = bytes.TrimSpace(value)
	return len(value) > 0 && len(bytes.Trim(value, "0.")) == 0
}

// listHas says whether a comma-separated list holds a token, in any case.
func listHas(list []byte, token string) bool {
	for len(list) > 0 {
		var member []byte
		member, list, _ = bytes.Cut(list, []byte(","))
		if equalFold(bytes.TrimSpace(member), token) {
			return true
		}
	}
	return false
}
