package edge

import (
	"bytes"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/ssiedge/ssiedge/origin"
)

// settings are what holds for one path: the site's own, with each setting of
// the rules that match laid over, in order.
type settings struct {
	expires  *expiry // nil: what the page says
	internal bool
	required bool // as a fragment: without it there is no page
	ssi      bool
	query    *QueryFilter
	origin   *origin.Pool  // nil: none
	timeout  time.Duration // 0: the origin's own
	bypass   *Bypass       // nil: none
	headers  *HeaderEdits  // nil: none
	redirect string        // "": none
	keep     keeping
}

// rule is one [[site.rule]], ready to match.
type rule struct {
	paths   []pattern
	options *Rule
	origin  *origin.Pool
	expires *expiry
}

// expiry is a rule's expires: what visitors are told.
type expiry struct {
	after        time.Duration
	cacheControl []byte // "max-age=N"
}

func newRule(o *Rule, pool func(*origin.Options) (*origin.Pool, error)) (rule, error) {
	r := rule{options: o}
	for _, p := range o.Paths {
		r.paths = append(r.paths, newPattern(p))
	}
	if o.Expires != nil {
		r.expires = &expiry{after: *o.Expires, cacheControl: strconv.AppendInt([]byte("max-age="), int64(*o.Expires/time.Second), 10)}
	}
	var err error
	r.origin, err = pool(o.Origin)
	return r, err
}

// settings lays the rules that match path over the site's settings. path is
// canonical and decoded.
func (s *site) settings(dst *settings, path []byte) {
	*dst = s.base
	for i := range s.rules {
		if r := &s.rules[i]; r.matches(path) {
			r.overlay(dst)
		}
	}
}

func (r *rule) matches(path []byte) bool {
	for i := range r.paths {
		if r.paths[i].matches(path) {
			return true
		}
	}
	return false
}

func (r *rule) overlay(dst *settings) {
	o := r.options
	if r.expires != nil {
		dst.expires = r.expires
	}
	if o.Internal != nil {
		dst.internal = *o.Internal
	}
	set(&dst.required, o.Required)
	if o.SSI != nil {
		dst.ssi = *o.SSI
	}
	if o.Query != nil {
		dst.query = o.Query
	}
	if r.origin != nil {
		dst.origin = r.origin
	}
	if o.Timeout != nil {
		dst.timeout = *o.Timeout
	}
	if o.Bypass != nil {
		dst.bypass = o.Bypass
	}
	if o.Headers != nil {
		dst.headers = o.Headers
	}
	if o.Redirect != nil {
		dst.redirect = *o.Redirect
	}
	dst.keep.overlay(o)
}

// pattern is one path of a rule, split at its stars.
type pattern struct {
	parts [][]byte // text between stars, in order; one part: no star
}

func newPattern(s string) pattern {
	return pattern{parts: bytes.Split([]byte(s), []byte("*"))}
}

// matches compares path with the pattern: a star is any run of characters, the
// slash included. Each middle part is taken at its first place, which is
// enough where the only wildcard is the star, so time is linear.
func (p pattern) matches(path []byte) bool {
	first, last := p.parts[0], p.parts[len(p.parts)-1]
	if len(p.parts) == 1 {
		return bytes.Equal(path, first)
	}
	if len(path) < len(first)+len(last) || !bytes.HasPrefix(path, first) || !bytes.HasSuffix(path, last) {
		return false
	}
	path = path[len(first) : len(path)-len(last)]
	for _, part := range p.parts[1 : len(p.parts)-1] {
		i := bytes.Index(path, part)
		if i < 0 {
			return false
		}
		path = path[i+len(part):]
	}
	return true
}

// bypasses says whether a request goes past every tier.
func (b *Bypass) bypasses(h *fasthttp.RequestHeader) bool {
	if b == nil {
		return false
	}
	for _, name := range b.Headers {
		if len(h.PeekAll(name)) > 0 {
			return true
		}
	}
	if len(b.Cookies) == 0 {
		return false
	}
	lines := h.PeekAll(fasthttp.HeaderCookie)
	for _, name := range b.Cookies {
		for _, line := range lines {
			if _, ok := cookieValue(line, name); ok {
				return true
			}
		}
	}
	return false
}

// bypassesVisitor is bypasses for an include.
func (b *Bypass) bypassesVisitor(v *visitor) bool {
	if b == nil {
		return false
	}
	for _, name := range b.Headers {
		if v.get(name) != nil {
			return true
		}
	}
	for _, name := range b.Cookies {
		if _, ok := v.findCookie(name, cookieValue); ok {
			return true
		}
	}
	return false
}
