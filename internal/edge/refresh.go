package edge

import (
	"bytes"
	"runtime/debug"
	"time"

	"github.com/ssiedge/ssiedge/pagecache"
)

// refreshPause is how long after a fill in the background that failed, or for
// which there was no room, the next one for the page may begin. Its visitors have the stale page meanwhile.
const refreshPause = 5 * time.Second

// refresh fills a page again while visitors get the stale one. It is nobody's
// request: cookies and Authorization that are not in the key stay behind, so
// stale must not be a page of theirs (keyed.mayServeWhile): the app might say
// that it is still good, and it would be everybody's.
func (e *Edge) refresh(of *target, visitor *visitor, stale *pagecache.Page, flight *pagecache.Flight) {
	t := of.clone()
	v := visitor.anonymous(&t.settings.keep)
	begun := e.background.start(func() {
		defer flight.Abandon()
		defer e.recovered("refresh")
		f := &fill{edge: e, target: t, keyed: new(keyed), visitor: v, flight: flight, stale: stale}
		f.keyed.take(t, v, v.route, v.scheme)
		done := f.run(e.living, nil)
		if done.failed() || done.reason == pagecache.ReasonBusy {
			t.state.store.resting.Add(f.keyed.key, refreshPause)
		}
		done.close()
	})
	if !begun {
		flight.Abandon()
	}
}

// clone gives a target that owns its bytes.
func (t *target) clone() *target {
	c := *t
	c.url.path, c.url.raw, c.url.query = bytes.Clone(t.url.path), bytes.Clone(t.url.raw), bytes.Clone(t.url.query)
	return &c
}

// recovered ends a panic in a goroutine of the edge's own.
func (e *Edge) recovered(where string) {
	if p := recover(); p != nil {
		e.panicked(where, p, debug.Stack())
	}
}

// anonymous gives a visitor of the same request who owns his bytes and has no
// cookies or Authorization but those that are in the key.
func (v *visitor) anonymous(k *keeping) *visitor {
	return v.cloneWith(func(f *field) bool {
		secret := equalFold(f.name, "Authorization") || equalFold(f.name, "Cookie") && k.mode() == CookiesAll
		return !secret || k.lists(f.name)
	})
}

// cloneWith gives a visitor who owns his bytes, and has those fields that
// wanted says.
func (v *visitor) cloneWith(wanted func(*field) bool) *visitor {
	c := *v
	c.bytes = nil
	for _, b := range []*[]byte{&c.method, &c.target, &c.query, &c.host, &c.route, &c.proxy, &c.id, &c.trace} {
		*b = bytes.Clone(*b)
	}
	c.fields = nil
	for _, f := range v.fields {
		if wanted(&f) {
			c.fields = append(c.fields, field{name: bytes.Clone(f.name), value: bytes.Clone(f.value), hop: f.hop})
		}
	}
	return &c
}
