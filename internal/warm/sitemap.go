package warm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
)

// sitemap is a source: a sitemap, and all that it names if it is an index.
type sitemap struct {
	name string
	r    io.Reader // nil: name is the URL to fetch it from
}

// SitemapFile gives a source of the URLs in a sitemap (sitemaps.org), plain or
// compressed. Sitemaps that it names, being an index, are fetched from their
// URLs. Name is how it is called in messages. The caller closes r, after the run.
func SitemapFile(name string, r io.Reader) Source { return sitemap{name, r} }

// SitemapURL is SitemapFile for a sitemap that is fetched: from its own host, not
// from the edge, as it names itself.
func SitemapURL(url string) Source { return sitemap{name: url} }

func (s sitemap) each(ctx context.Context, f *fetcher, yield func(entry) bool) {
	w := walk{ctx: ctx, fetcher: f, yield: yield, seen: map[string]bool{s.name: true}}
	if s.r != nil {
		w.read(s.name, s.r, 0)
		return
	}
	w.fetch("", s.name, 0)
}

// walk goes through a sitemap and those that it names.
type walk struct {
	ctx     context.Context
	fetcher *fetcher
	yield   func(entry) bool
	seen    map[string]bool // names of sitemaps: an index may name itself
}

// fetch reads the sitemap at url, which is named at place. It and what it calls
// report whether there may be more.
func (w *walk) fetch(place, url string, depth int) bool {
	body, err := w.fetcher.fetch(w.ctx, url)
	name := withoutPassword(url)
	if err != nil {
		return w.yield(entry{place: place, url: name, err: err, reason: reasonSitemap})
	}
	return w.read(name, bytes.NewReader(body), depth)
}

// withoutPassword gives a URL as it may be printed.
func withoutPassword(s string) string {
	if u, err := url.Parse(s); err == nil && u.User != nil {
		return u.Redacted()
	}
	return s
}

func (w *walk) read(name string, r io.Reader, depth int) bool {
	more := true
	line, err := scanSitemap(r, w.fetcher.limits.bytes, func(l loc) bool {
		place := fmt.Sprintf("%s:%d", name, l.line)
		switch {
		case l.text == "":
			more = w.yield(badEntry(place, "", errors.New("a loc with a URL is wanted")))
		case l.index:
			more = w.child(place, l.text, depth+1)
		default:
			more = w.page(place, l.text)
		}
		return more
	})
	if err == nil || !more {
		return more
	}
	return w.yield(entry{place: fmt.Sprintf("%s:%d", name, line), err: err, reason: reasonSitemap})
}

func (w *walk) page(place, url string) bool {
	t, err := parseURL(url)
	if err != nil {
		return w.yield(badEntry(place, url, err))
	}
	return w.yield(entry{place: place, url: url, target: t})
}

// child reads a sitemap that an index names, once.
func (w *walk) child(place, url string, depth int) bool {
	if w.ctx.Err() != nil {
		return false
	}
	if w.seen[url] {
		return true
	}
	limits := w.fetcher.limits
	_, err := parseURL(url)
	switch {
	case err != nil:
	case depth > limits.depth:
		err = fmt.Errorf("sitemaps nested deeper than %d", limits.depth)
	case len(w.seen) == limits.sitemaps:
		w.yield(entry{place: place, url: url, err: fmt.Errorf("more than %d sitemaps: the rest is left out", limits.sitemaps), reason: reasonSitemap})
		return false
	default:
		w.seen[url] = true
		return w.fetch(place, url, depth)
	}
	return w.yield(entry{place: place, url: url, err: err, reason: reasonSitemap})
}
