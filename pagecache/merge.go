package pagecache

// Validated gives the page that a 304 says is still good, of those whose
// validators the question carried (RFC 9111, section 4.3.4): one that shares
// its strong entity-tag, else the youngest that shares its weak one or its
// Last-Modified. A 304 without validators can only be about a single page. nil:
// it is about none of them, and has to be asked without conditions.
func Validated(pages []*Page, r *Reply) *Page {
	tag, tagged := r.first("etag")
	modified, dated := r.date("last-modified")
	var found *Page
	for _, p := range pages {
		switch {
		case tagged && isStrongTag(tag):
			if p.ETag == string(tag) {
				return p
			}
			continue
		case tagged:
			if p.ETag == "" || weakTag(p.ETag) != weakTag(string(tag)) {
				continue
			}
		case dated:
			if p.Modified != modified {
				continue
			}
		case len(pages) > 1:
			continue
		}
		if found == nil || p.Measured > found.Measured {
			found = p
		}
	}
	return found
}

// isStrongTag says whether an entity-tag is not marked as weak. What is
// malformed is compared by its bytes, which is strongly.
func isStrongTag(tag []byte) bool { return len(tag) < 2 || string(tag[:2]) != "W/" }

// weakTag is what a tag is compared by weakly (RFC 9110, section 8.8.3.2).
func weakTag(tag string) string {
	if len(tag) > 2 && tag[:2] == "W/" {
		return tag[2:]
	}
	return tag
}

// Updated gives the answer that a page becomes by a 304, or by the head of an
// answer to HEAD (RFC 9111, section 3.2): each of its fields stands for all of
// the page's of that name, but for those that are about the message or its
// body. The status is the page's. Its fields share bytes of both.
func (p *Page) Updated(r *Reply) *Reply {
	u := &Reply{Status: p.Status, RequestTime: r.RequestTime, ResponseTime: r.ResponseTime}
	coded := p.Field("content-encoding") != nil
	replaced := map[string]bool{"Date": true} // the old one would make the page old
	for _, f := range r.Fields {
		if name := canonicalName(f.Name); takes(name, coded) {
			replaced[name] = true
		}
	}
	for f := range p.fields() {
		if !replaced[canonicalName(f.Name)] {
			u.Fields = append(u.Fields, f)
		}
	}
	for _, f := range r.Fields {
		if takes(canonicalName(f.Name), coded) {
			u.Fields = append(u.Fields, f)
		}
	}
	return u
}

// takes says whether a page takes a field from a 304. coded says that its body
// has a content coding; that of another body was taken off here, and what the
// field says is not true of it.
func takes(name string, coded bool) bool {
	switch name {
	case "Content-Length", "Content-Range", "Transfer-Encoding", "Connection", "Keep-Alive", "Proxy-Connection",
		"Te", "Trailer", "Upgrade", "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization":
		return false
	case "Content-Encoding":
		return coded
	}
	return true
}

// Renewed gives the page with another head, of the same answer: it shares the
// body, and what was derived from it as long as that is of the same type. head
// is as in NewPulledPage, and kept.
func (p *Page) Renewed(head []byte, f Freshness, seq uint64) *Page {
	n := NewPulledPage(p.Status, head, p.Body, f, seq)
	// What is being built this very moment is counted where the old page was.
	if d := p.derived.Load(); d != nil && d.built.Load() && n.Type == p.Type {
		n.derived.Store(d)
	}
	return n
}

// DescribedBy says whether the head of an answer to HEAD is that of the page's
// body: validators and length are the page's, as far as it has them, and it has
// some (RFC 9111, section 4.3.5).
func (p *Page) DescribedBy(r *Reply) bool {
	tag, tagged := r.first("etag")
	value, sized := r.first("content-length")
	length, counted := parseSeconds(value)
	_, stated := r.first("last-modified")
	modified, dated := r.date("last-modified")
	return r.Status == p.Status && (tagged || sized || dated) &&
		(!tagged || p.ETag == string(tag)) &&
		(!sized || counted && length == min(p.Length, maxSeconds)) &&
		(!stated || dated && p.Modified == modified)
}
