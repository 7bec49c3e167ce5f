package edge

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/ssiedge/ssiedge/pagecache"
)

// purge is a PurgeCall as the sites of a state understand it.
type purge struct {
	state   *state
	call    *PurgeCall
	site    *site // that the call is limited to; nil: none
	urls    []purgedURL
	records []pagecache.Record
	left    []string
	unsaid  int // what more is left, beyond maxLeft
	failed  int // values that memcached did not delete, one after the other
}

// purgedURL is a URL that a call names, in the form of one site.
type purgedURL struct {
	written string
	host    []byte // nil: every host
	target  target
}

// newPurge finds out what a call means. An error is a *BadPurge.
func newPurge(st *state, c *PurgeCall) (*purge, error) {
	p := &purge{state: st, call: c}
	if c.Site != "" {
		host, ok := appendHost(nil, []byte(c.Site), "http")
		if p.site = st.router.find(host); !ok || p.site == nil {
			return nil, &BadPurge{fmt.Sprintf("site %q: no site here has this host name", c.Site), "name a host that the edge answers"}
		}
	}
	if len(c.URLs) == 0 && !c.All {
		return nil, &BadPurge{"nothing to purge is named", "name a URL, or say all"}
	}
	if c.All {
		r := pagecache.Record{Kind: pagecache.KindAll, Soft: c.Soft}
		if p.site != nil {
			r.Site = p.site.id
		}
		p.records = append(p.records, r)
	}
	for _, written := range c.URLs {
		if err := p.add(written); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// add takes a URL to the sites that it may be of.
func (p *purge) add(written string) error {
	host, path, err := splitPurged(written)
	if err != nil {
		return err
	}
	if host == nil && p.site == nil {
		for _, s := range p.state.router.sites {
			if err := p.addTo(s, written, nil, path); err != nil {
				return err
			}
		}
		return nil
	}
	s := p.site
	if host != nil {
		s = p.state.router.find(host)
	}
	switch {
	case s == nil:
		return &BadPurge{fmt.Sprintf("URL %q: no site here has this host name", written), "name a host that the edge answers"}
	case p.site != nil && s != p.site:
		return &BadPurge{fmt.Sprintf("URL %q: another site answers it than %q", written, p.call.Site), "leave the site out, or name the path alone"}
	}
	return p.addTo(s, written, host, path)
}

// addTo makes the path canonical by the settings of a site. As a visitor's it
// has the filtered query, as an include's the whole one: both are purged.
func (p *purge) addTo(s *site, written string, host, path []byte) error {
	visited := purgedURL{written, host, target{state: p.state, site: s}}
	if err := visited.target.resolve(path, s.options.TrailingSlash, false); err != nil {
		return &BadPurge{fmt.Sprintf("URL %q: %v", written, err), "name a URL as a visitor would ask for it"}
	}
	p.take(visited)
	if len(visited.target.url.query) == 0 {
		return nil // every query is hit
	}
	included := purgedURL{written, host, target{state: p.state, site: s}}
	if err := included.target.resolve(path, s.options.TrailingSlash, true); err != nil {
		return &BadPurge{fmt.Sprintf("URL %q: %v", written, err), "name a URL as a visitor would ask for it"}
	}
	if !bytes.Equal(visited.target.url.query, included.target.url.query) {
		p.take(included)
	}
	return nil
}

func (p *purge) take(u purgedURL) {
	pattern := string(u.host) + string(u.target.url.raw)
	if len(u.target.url.query) > 0 {
		pattern += "?" + string(u.target.url.query)
	}
	p.urls = append(p.urls, u)
	p.records = append(p.records, pagecache.Record{
		Kind: pagecache.KindURL, Pattern: pattern, Site: u.target.site.id, Soft: p.call.Soft,
	})
}

// splitPurged cuts a URL into its host, in the form that pages are keyed by,
// and its path and query. A path alone has the host nil.
func splitPurged(written string) (host, path []byte, err error) {
	if strings.HasPrefix(written, "/") {
		return nil, []byte(written), nil
	}
	scheme, rest, ok := strings.Cut(written, "://")
	scheme = strings.ToLower(scheme)
	if !ok || scheme != "http" && scheme != "https" {
		return nil, nil, &BadPurge{fmt.Sprintf("URL %q: neither http://host/path nor a path", written), "write one of them; a path begins with a slash"}
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 || rest[end] != '/' {
		return nil, nil, &BadPurge{fmt.Sprintf("URL %q: no slash after the host", written), "add one for the front page, or purge all of the site"}
	}
	if host, ok = appendHost([]byte{}, []byte(rest[:end]), scheme); !ok {
		return nil, nil, &BadPurge{fmt.Sprintf("URL %q: malformed host", written), "write host or host:port"}
	}
	return host, []byte(rest[end:]), nil
}
