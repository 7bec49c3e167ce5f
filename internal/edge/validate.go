package edge

import (
	"bytes"
	"slices"
	"time"

	"github.com/ssiedge/ssiedge/pagecache"
)

// mostOffered bounds the pages whose entity-tags a question carries.
const mostOffered = 16

// offers gives the pages that the origin is asked about: if it has nothing
// newer, it may say so in place of an answer (RFC 9111, section 4.3.1). That is
// the stale page, or where there is none for such a request, those that are
// there for others. A page that a purge has hit since it was looked up is none.
func (f *fill) offers() []*pagecache.Page {
	if f.stale != nil {
		if f.stale.HasValidator() && f.keyed.verdict(f.stale) != pagecache.Gone {
			return []*pagecache.Page{f.stale}
		}
		return nil
	}
	k := f.keyed.at(time.Now())
	variants, vary := f.target.state.store.pulled.Variants(&k)
	f.variants = len(variants) > 0
	// An app that gives all its visitors one entity-tag must not have one of
	// them shown the page of another.
	if slices.Contains(vary, "Cookie") || slices.Contains(vary, "Authorization") {
		return nil
	}
	variants = slices.DeleteFunc(variants, func(p *pagecache.Page) bool { return p.ETag == "" })
	return variants[max(0, len(variants)-mostOffered):]
}

// appendConditions writes the validators of the pages that are offered, byte
// for byte.
func appendConditions(b []byte, offered []*pagecache.Page) []byte {
	var tags []byte
	for _, p := range offered {
		if p.ETag != "" {
			tags = append(append(tags, ", "...), p.ETag...)
		}
	}
	b = appendField(b, "If-None-Match", bytes.TrimPrefix(tags, []byte(", ")))
	if len(offered) == 1 && offered[0].Modified != 0 {
		b = appendField(b, "If-Modified-Since", offered[0].Field("last-modified"))
	}
	return b
}

// renew makes a page of one that a 304 says is still good: its fields, but for
// those that the 304 has anew, and its body. It is judged as any answer: where
// it may not be kept it is for this visitor alone, and the kept one stays as it
// is or goes, as after any other answer.
func (f *fill) renew(old *pagecache.Page, head *pagecache.Reply, seq uint64) filled {
	merged := old.Updated(head)
	d := f.judge(merged)
	if d.Keep && losesVisitor(old, d.Vary) {
		d.Keep, d.Reason = false, pagecache.ReasonVary
	}
	if !d.Keep {
		d.StripPage = true
	}
	his := beside(head.Fields, &d)
	fields := withoutOwnVia(merged.Fields, head)
	page := old.Renewed(storedHead(merged.Status, fields, &d, head.ResponseTime), d.Freshness, seq)
	done := filled{page: page, beside: his, reason: d.Reason, validate: d.Validate, vary: d.Vary}
	switch {
	case d.Keep && f.sameAs(old, page):
		done.kept = true
		f.target.state.store.notKeepable.Remove(f.keyed.key)
	case d.Keep:
		done = f.put(page, his, &d)
	}
	return done
}

// losesVisitor says whether a page that is one visitor's would be everybody's by
// a 304 whose Vary leaves that out. To the letter it would (RFC 9111, section
// 3.2), but the body was made for him.
func losesVisitor(old *pagecache.Page, vary []string) bool {
	for _, name := range [...]string{"Cookie", "Authorization"} {
		if old.VariesBy(name) && !slices.Contains(vary, name) {
			return true
		}
	}
	return false
}

// sameAs says whether a renewed page that every use has to validate says
// nothing that the old one does not: then the old one can stay, and no tier has
// to write it again for each visitor.
func (f *fill) sameAs(old, renewed *pagecache.Page) bool {
	return old == f.stale && old.NeverFresh() && renewed.NeverFresh() && old.Flags() == renewed.Flags() &&
		old.StaleWhile() == renewed.StaleWhile() && old.StaleError == renewed.StaleError &&
		bytes.Equal(butForDate(old.Head), butForDate(renewed.Head))
}

// butForDate gives a head without its Date, which tells how old a page is that
// is used without asking.
func butForDate(head []byte) []byte {
	start := bytes.Index(head, []byte("\r\nDate: "))
	if start < 0 {
		return head
	}
	start += len("\r\n")
	_, rest, _ := bytes.Cut(head[start:], []byte("\r\n"))
	return append(head[:start:start], rest...)
}

// withoutOwnVia takes the edge's own part off the Via that a page was kept
// with, as it is written anew. A Via of the 304 stands for all of that.
func withoutOwnVia(fields []pagecache.Field, head *pagecache.Reply) []pagecache.Field {
	isVia := func(f pagecache.Field) bool { return equalFold(f.Name, "Via") }
	if i := slices.IndexFunc(fields, isVia); i >= 0 && !slices.ContainsFunc(head.Fields, isVia) {
		upstream := bytes.TrimSuffix(bytes.TrimSuffix(fields[i].Value, via), []byte(", "))
		if fields[i].Value = upstream; len(upstream) == 0 {
			return slices.Delete(fields, i, i+1)
		}
	}
	return fields
}
