package edge

import (
	"net/url"

	"github.com/valyala/fasthttp"

	"github.com/ssiedge/ssiedge/pagecache"
)

// invalidates removes pulled pages after an unsafe method that the app took
// (RFC 9111, section 4.4): those of its URL, and of the URLs on this host that
// the answer names. What is published is not touched: its publisher knows.
func (r *request) invalidates(p *reply) {
	h, status := &r.ctx.Request.Header, p.status()
	if h.IsGet() || h.IsHead() || h.IsOptions() || status < 200 || status > 399 {
		return
	}
	r.forget(&r.target)
	for _, name := range []string{fasthttp.HeaderLocation, fasthttp.HeaderContentLocation} {
		if t := r.named(p.header().Peek(name)); t != nil {
			r.forget(t)
		}
	}
}

// forget removes the pulled pages of a target, and has no fill under way bring
// them back.
func (r *request) forget(t *target) {
	if !t.keeps() || !t.settings.keep.invalidate {
		return
	}
	s := r.state.store
	key := t.appendURL(nil, r.host, r.client.scheme)
	s.epochs.next(key)
	s.flights.Invalidate(func(k string) bool { return len(k) >= len(key) && k[:len(key)] == string(key) })
	var k keyed
	k.take(t, r, r.host, r.client.scheme)
	err := s.pulled.Delete(k.key)
	if err == nil {
		return
	}
	message := "a page that is left on the disk or in memcached is not used: " + err.Error()
	if err := s.recordRemoved(k.url); err != nil {
		message += "; after a restart it is: " + err.Error()
	}
	r.problem("invalidate", message)
}

// recordRemoved records that the pages of a URL are not to be used any more, as
// a purge does, for tiers that did not say that they are gone: what the process
// knows of that ends with it.
func (s *store) recordRemoved(u pagecache.PageURL) error {
	pattern := string(u.Host) + string(u.Path)
	if len(u.Query) > 0 {
		pattern += "?" + string(u.Query)
	}
	_, _, err := s.purges.Add([]pagecache.Record{{Kind: pagecache.KindURL, Pattern: pattern, Site: u.Site}})
	return err
}

// named is the target of a URL in an answer, relative to the request's; nil: it
// names none, or one of another scheme, host or port, whose pages the app has
// no say in.
func (r *request) named(reference []byte) *target {
	if len(reference) == 0 {
		return nil
	}
	base, err := url.Parse(r.client.scheme + "://" + string(r.host) + string(r.written))
	if err != nil {
		return nil
	}
	u, err := base.Parse(string(reference))
	if err != nil || u.Scheme != r.client.scheme {
		return nil
	}
	if host, ok := appendHost(nil, []byte(u.Host), u.Scheme); !ok || string(host) != string(r.host) {
		return nil
	}
	written := u.EscapedPath()
	if u.RawQuery != "" {
		written += "?" + u.RawQuery
	}
	slash := r.site.options.TrailingSlash
	if slash == RedirectSlash {
		slash = StripSlash
	}
	t := &target{state: r.state, site: r.site}
	if t.resolve([]byte(written), slash, false) != nil {
		return nil
	}
	return t
}
