package edge

import (
	"bytes"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/valyala/fasthttp"
)

// slashMemory remembers which pages the app wants asked for with a slash at
// the end, so that its redirect costs one request and not one a visitor.
// Without it an app that redirects /a to /a/ and an edge that takes /a/ for /a
// would send a browser round and round.
type slashMemory struct {
	mu    sync.Mutex
	paths *simplelru.LRU[string, struct{}]
}

// slashPaths bounds a site's slashMemory; what falls out is learned again.
const slashPaths = 10_000

func (m *slashMemory) init() {
	m.paths, _ = simplelru.NewLRU[string, struct{}](slashPaths, nil) // errs for a size below 1 only
}

func (m *slashMemory) wants(raw []byte) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.paths.Get(string(raw))
	return ok
}

func (m *slashMemory) set(raw []byte, wants bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if wants {
		m.paths.Add(string(raw), struct{}{})
	} else {
		m.paths.Remove(string(raw))
	}
}

// slashRedirect says whether a reply redirects to the URL that was asked for
// with its slash added or taken away: the same page, so the edge follows, once
// a request. wants is the form that the app wants.
func (t *target) slashRedirect(o *outgoing, p *reply) (again, wants bool) {
	switch p.status() {
	case 301, 302, 307, 308:
	default:
		return false, false
	}
	if t.site.options.TrailingSlash == KeepSlash || len(t.url.raw) == 1 {
		return false, false
	}
	location, ok := sameSite(o, p.header().Peek(fasthttp.HeaderLocation))
	if !ok || bytes.Equal(location, o.target) {
		return false, false
	}
	var c canonical
	if c.parse(location, StripSlash, t.filter) != nil || !bytes.Equal(c.raw, t.url.raw) || !bytes.Equal(c.query, t.url.query) {
		return false, false
	}
	path, _, _ := bytes.Cut(o.target, []byte("?"))
	had := bytes.HasSuffix(path, []byte("/"))
	return c.slash != had, c.slash
}

// sameSite gives the path and query of a Location on the host and scheme that
// the app was asked for.
func sameSite(o *outgoing, location []byte) ([]byte, bool) {
	if len(location) > 0 && location[0] == '/' && !bytes.HasPrefix(location, []byte("//")) {
		return location, true
	}
	rest, ok := bytes.CutPrefix(location, []byte(o.visitor.scheme+"://"))
	if !ok {
		return nil, false
	}
	i := bytes.IndexByte(rest, '/')
	if i < 0 || !equalFold(rest[:i], string(o.host())) {
		return nil, false
	}
	return rest[i:], true
}
