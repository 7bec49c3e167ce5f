package edge

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/ssiedge/ssiedge/origin"
	"github.com/ssiedge/ssiedge/pagecache"
	"github.com/ssiedge/ssiedge/ssi"
)

// site is one [[site]], ready to serve. It never changes.
type site struct {
	options   *Site
	id        string               // its name in keys and in the journal
	files     *pagecache.Files     // nil: no root
	published *pagecache.Published // nil: none
	origin    *origin.Pool         // nil: none
	base      settings             // of a path that no rule matches
	rules     []rule
	compile   ssi.Options
	derive    func(*pagecache.Page) (any, int) // derivePage, made once
	reports   *reporter
	slashes   slashMemory
}

// siteID is the name of a site in keys and in the journal: its hosts, hashed
// where they are many, since the journal bounds names. The site of every other
// host has one too, for a record without a site is of all of them.
func siteID(hosts []string) string {
	id := strings.Join(hosts, ",")
	switch {
	case id == "":
		return "*"
	case len(id) <= longestSiteID:
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])
}

// longestSiteID is in bytes; it is in the key of every page.
const longestSiteID = 128

// router finds the site of a host: exact names before wildcards before the
// site without hosts.
type router struct {
	sites    []*site
	exact    map[string]*site
	wildcard map[string]*site // ".example.com" of "*.example.com"
	any      *site            // every other host; nil: 421
}

func (ro *router) add(s *site) {
	ro.sites = append(ro.sites, s)
	if len(s.options.Hosts) == 0 {
		ro.any = s
		return
	}
	if ro.exact == nil {
		ro.exact, ro.wildcard = map[string]*site{}, map[string]*site{}
	}
	for _, h := range s.options.Hosts {
		if rest, ok := strings.CutPrefix(h, "*"); ok {
			ro.wildcard[rest] = s
		} else {
			ro.exact[h] = s
		}
	}
}

// find gives the site of a host in the form of requestHost; nil where there is
// none. A wildcard stands for one or more labels, and the longest one wins.
func (ro *router) find(host []byte) *site {
	host = withoutPort(host)
	if s := ro.exact[string(host)]; s != nil {
		return s
	}
	for i := bytes.IndexByte(host, '.'); len(ro.wildcard) > 0 && i > 0; {
		if s := ro.wildcard[string(host[i:])]; s != nil {
			return s
		}
		next := bytes.IndexByte(host[i+1:], '.')
		if next < 0 {
			break
		}
		i += 1 + next
	}
	return ro.any
}

// withoutPort cuts ":port" off a host, minding the brackets of IPv6.
func withoutPort(host []byte) []byte {
	i := bytes.LastIndexByte(host, ':')
	if i < 0 || bytes.IndexByte(host[i:], ']') >= 0 {
		return host
	}
	return host[:i]
}

// builder makes the sites of a state. An origin that several sites and rules
// name is one pool.
type builder struct {
	edge  *Edge
	state *state
	pools map[*origin.Options]*origin.Pool
}

func (b *builder) site(o *Site) (*site, error) {
	s := &site{options: o, id: siteID(o.Hosts), reports: b.edge.reports, compile: ssi.Options{
		Dialect:        o.SSI.Dialect,
		Expressions:    o.SSI.Expressions,
		Printenv:       o.SSI.Printenv,
		ErrorMessage:   o.SSI.ErrorMessage,
		SilentErrors:   o.SSI.SilentErrors,
		UnknownIsError: o.SSI.UnknownIsError,
	}}
	s.derive = s.derivePage
	s.slashes.init()
	if err := b.published(s); err != nil {
		return nil, err
	}
	var err error
	if s.origin, err = b.pool(o.Origin); err != nil {
		return nil, err
	}
	s.base = settings{
		ssi: o.SSI.Enabled, query: &o.Query, origin: s.origin,
		keep: keeping{policy: o.Cache.Policy, invalidate: true},
	}
	for i := range o.Rules {
		r, err := newRule(&o.Rules[i], b.pool)
		if err != nil {
			return nil, fmt.Errorf("rule at %s: %w", o.Rules[i].Where, err)
		}
		s.rules = append(s.rules, r)
	}
	return s, nil
}

// published opens what the site publishes.
func (b *builder) published(s *site) (err error) {
	if s.options.Files != nil {
		if s.files, err = pagecache.OpenFiles(*s.options.Files, b.state.store.memory, b.edge.log); err != nil {
			return err
		}
	}
	if s.options.Published != nil {
		s.published, err = pagecache.NewPublished(*s.options.Published, b.state.store.memcache, b.state.store.memory, b.edge.log)
	}
	return err
}

// pool gives the pool of an origin; nil for none.
func (b *builder) pool(o *origin.Options) (*origin.Pool, error) {
	if o == nil {
		return nil, nil
	}
	if p := b.pools[o]; p != nil {
		return p, nil
	}
	p, err := origin.New(*o)
	if err != nil {
		return nil, err
	}
	b.pools[o] = p
	b.state.pools = append(b.state.pools, p)
	return p, nil
}
