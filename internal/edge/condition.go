package edge

import (
	"bytes"

	"github.com/valyala/fasthttp"
)

// validators are what conditions of a request are held against.
type validators struct {
	etag     string // as sent, quotes and W/ included; "": none
	modified int64  // Last-Modified in seconds since 1970; 0: none
	made     int64  // Date of a page that has no Last-Modified, which stands in for it in If-Modified-Since (RFC 9111, section 4.3.2); 0: none
}

// Names of the conditional fields in the form that PeekCanonical takes: it
// saves making them canonical for every request.
var (
	fieldIfMatch           = []byte(fasthttp.HeaderIfMatch)
	fieldIfUnmodifiedSince = []byte(fasthttp.HeaderIfUnmodifiedSince)
	fieldIfNoneMatch       = []byte(fasthttp.HeaderIfNoneMatch)
	fieldIfModifiedSince   = []byte(fasthttp.HeaderIfModifiedSince)
)

// evaluate holds the preconditions of a GET or HEAD against the validators of
// what would be a 200, in the order of RFC 9110, section 13.2.2. 0: proceed,
// with the Range if ifRange agrees; else the status to answer, 304 or 412.
func evaluate(h *fasthttp.RequestHeader, v validators) int {
	switch {
	case has(h, fieldIfMatch):
		if !matchesAny(h.PeekAll(fasthttp.HeaderIfMatch), v.etag, true) {
			return fasthttp.StatusPreconditionFailed
		}
	case has(h, fieldIfUnmodifiedSince):
		since, ok := onlyDate(h.PeekAll(fasthttp.HeaderIfUnmodifiedSince))
		if ok && v.modified != 0 && v.modified > since {
			return fasthttp.StatusPreconditionFailed
		}
	}
	switch {
	case has(h, fieldIfNoneMatch):
		if matchesAny(h.PeekAll(fasthttp.HeaderIfNoneMatch), v.etag, false) {
			return fasthttp.StatusNotModified
		}
	case has(h, fieldIfModifiedSince):
		since, ok := onlyDate(h.PeekAll(fasthttp.HeaderIfModifiedSince))
		if at := max(v.modified, v.made); ok && at != 0 && at <= since {
			return fasthttp.StatusNotModified
		}
	}
	return 0
}

// ifRange says whether a Range field counts: If-Range is absent, or names the
// very representation that is at hand. Entity-tags compare strongly, dates
// exactly (RFC 9110, section 13.1.5); a weak or malformed tag never matches.
func ifRange(h *fasthttp.RequestHeader, v validators) bool {
	lines := h.PeekAll(fasthttp.HeaderIfRange)
	switch {
	case len(lines) == 0:
		return true
	case len(lines) > 1:
		return false
	}
	if isStrong(lines[0]) {
		return string(lines[0]) == v.etag
	}
	date, ok := parseHTTPDate(lines[0])
	return ok && v.modified != 0 && v.modified == date
}

// has takes an empty field for an absent one.
func has(h *fasthttp.RequestHeader, name []byte) bool { return len(h.PeekCanonical(name)) > 0 }

// onlyDate is the date in a field that came in one line; several are no date.
func onlyDate(lines [][]byte) (unix int64, ok bool) {
	if len(lines) != 1 {
		return 0, false
	}
	return parseHTTPDate(lines[0])
}

// matchesAny holds the tag of what is at hand against the lines of If-Match
// (strong) or If-None-Match. "*" stands for whatever is at hand, and only alone.
func matchesAny(lines [][]byte, etag string, strong bool) bool {
	if len(lines) == 1 && string(lines[0]) == "*" {
		return true
	}
	for _, line := range lines {
		for more := true; more; {
			var member []byte
			member, line, more = cutMember(line)
			if len(member) > 0 && etag != "" && matches(member, etag, strong) {
				return true
			}
		}
	}
	return false
}

// matches compares two entity-tags (RFC 9110, section 8.8.3.2). Malformed ones,
// without quotes or with w/, are not repaired: they match only a tag of the very
// same bytes, and never strongly.
func matches(member []byte, etag string, strong bool) bool {
	if strong {
		return string(member) == etag && isStrong(member)
	}
	if string(member) == etag {
		return true
	}
	opaque, stored := bytes.TrimPrefix(member, weakPrefix), etag
	if len(stored) > 2 && stored[:2] == "W/" {
		stored = stored[2:]
	}
	return isStrong(opaque) && string(opaque) == stored
}

var weakPrefix = []byte("W/")

// isStrong says whether tag is an entity-tag without W/: any bytes but controls,
// spaces and quotes, in quotes.
func isStrong(tag []byte) bool {
	if len(tag) < 2 || tag[0] != '"' || tag[len(tag)-1] != '"' {
		return false
	}
	for _, b := range tag[1 : len(tag)-1] {
		if b <= ' ' || b == '"' || b == 0x7f {
			return false
		}
	}
	return true
}

// cutMember cuts the first member off a list of entity-tags. Quotes know no
// escapes there, commas between them belong to the tag.
func cutMember(list []byte) (member, rest []byte, more bool) {
	quoted := false
	for i, b := range list {
		switch {
		case b == '"':
			quoted = !quoted
		case b == ',' && !quoted:
			return bytes.Trim(list[:i], " \t"), list[i+1:], true
		}
	}
	return bytes.Trim(list, " \t"), nil, false
}
