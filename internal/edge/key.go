package edge

import (
	"bytes"
	"encoding/binary"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/ssiedge/ssiedge/pagecache"
)

// asker is who asks for a page: the request at hand, or the snapshot of one.
type asker interface {
	// cookieFor finds a cookie by its exact name.
	cookieFor(name string) (value []byte, ok bool)
	// line gives all lines of a field as far as they go on to the origin,
	// joined by commas (those of Cookie by semicolons); nil: none does. One
	// that Connection names stays behind: if it counted here, whoever sends it
	// so would have the page without it kept for those who send it.
	line(name string) []byte
}

var (
	_ asker = (*request)(nil)
	_ asker = (*visitor)(nil)
)

// appendKey appends the key that the target's page is kept under: all that may
// tell it from another, but Vary. It begins with the URL, which purges are
// compared with; what else the setting lists follows by name and with its
// length, so that no two lists are the same bytes, and a page that was kept
// before a reload is not taken for one of other cookies.
func (t *target) appendKey(dst []byte, a asker, host []byte, scheme string) []byte {
	start := len(dst)
	dst = t.appendURL(dst, host, scheme)
	k := &t.settings.keep
	if !k.keyed() {
		return dst
	}
	dst = t.state.store.epochs.append(dst, dst[start:])
	if k.mode() == CookiesListed {
		for _, name := range k.cookies.Names {
			value, ok := a.cookieFor(name)
			dst = appendPart(appendPartName(dst, 'c', name), value, ok)
		}
	}
	for _, name := range k.headers {
		value := a.line(name)
		dst = appendPart(appendPartName(dst, 'h', name), value, value != nil)
	}
	return dst
}

// appendURL appends the part of a key that names the URL, and the NUL behind it.
func (t *target) appendURL(dst []byte, host []byte, scheme string) []byte {
	dst = append(append(dst, t.site.id...), 0)
	dst = append(append(dst, scheme...), 0)
	dst = append(append(dst, host...), 0)
	dst = append(append(dst, t.url.raw...), '?')
	return append(append(dst, t.url.query...), 0)
}

// urlPart is the part of a key that appendURL wrote.
func urlPart(key []byte) []byte {
	end := 0
	for range 4 {
		end += bytes.IndexByte(key[end:], 0) + 1
	}
	return key[:end]
}

// keyURL takes the URL out of a key.
func keyURL(key []byte) pagecache.PageURL {
	site, rest, _ := bytes.Cut(key, []byte{0})
	_, rest, _ = bytes.Cut(rest, []byte{0})
	host, rest, _ := bytes.Cut(rest, []byte{0})
	url, _, _ := bytes.Cut(rest, []byte{0})
	path, query, _ := bytes.Cut(url, []byte("?"))
	return pagecache.PageURL{Site: string(site), Host: host, Path: path, Query: query}
}

// keyed is a target with its key: what the tiers are asked with.
type keyed struct {
	target *target
	asker  asker
	key    []byte
	url    pagecache.PageURL
	seen   time.Time // when the newest soft purge hit the page last checked; zero: none did

	field func(name string) []byte
	check func(*pagecache.Page) pagecache.Verdict
}

// take makes the key of a target. k may be used again; its slices are its own
// or the target's.
func (k *keyed) take(t *target, a asker, host []byte, scheme string) {
	k.target, k.asker = t, a
	k.key = t.appendKey(k.key[:0], a, host, scheme)
	k.url = pagecache.PageURL{Site: t.site.id, Host: host, Path: t.url.raw, Query: t.url.query}
	if k.field == nil { // once, since a bound method is an allocation
		k.field, k.check = k.sends, k.verdict
	}
}

func (k *keyed) sends(name string) []byte { return k.target.settings.keep.sends(k.asker, name) }

func (k *keyed) verdict(p *pagecache.Page) pagecache.Verdict {
	v, since := k.target.state.store.purges.Check(p.Seq, &p.Checked, k.url)
	k.seen = since
	return v
}

func (k *keyed) at(now time.Time) pagecache.PulledKey {
	return pagecache.PulledKey{Key: k.key, Field: k.field, Check: k.check, Now: now}
}

// appendPartName appends what is listed: the kind and the name.
func appendPartName(dst []byte, kind byte, name string) []byte {
	return append(append(append(dst, kind), name...), 0)
}

func appendPart(dst, value []byte, there bool) []byte {
	if !there {
		return append(dst, 0)
	}
	dst = binary.BigEndian.AppendUint32(append(dst, 1), uint32(len(value)))
	return append(dst, value...)
}

func (r *request) cookieFor(name string) ([]byte, bool) {
	for _, line := range r.ctx.Request.Header.PeekAll(fasthttp.HeaderCookie) {
		if value, ok := cookieValue(line, name); ok {
			return value, true
		}
	}
	return nil, false
}

func (r *request) line(name string) []byte {
	h := &r.ctx.Request.Header
	if strings.IndexByte(name, '_') >= 0 || listedIn(h.PeekAll(fasthttp.HeaderConnection), []byte(name)) {
		return nil
	}
	return joinLines(name, h.PeekAll(name))
}

func (v *visitor) cookieFor(name string) ([]byte, bool) { return v.findCookie(name, cookieValue) }

func (v *visitor) line(name string) []byte {
	var lines [][]byte
	for i := range v.fields {
		if equalFold(v.fields[i].name, name) && !v.fields[i].hop {
			lines = append(lines, v.fields[i].value)
		}
	}
	return joinLines(name, lines)
}

// joinLines makes one value of all lines of a field; nil: there is none. An
// empty value is not nil, for it is not the same as none; that of a line may be,
// and bytes.Join makes it so.
func joinLines(name string, lines [][]byte) []byte {
	switch {
	case len(lines) == 0:
		return nil
	case len(lines) == 1 && len(lines[0]) == 0:
		return []byte{}
	case len(lines) == 1:
		return lines[0]
	case name == "Cookie":
		return bytes.Join(lines, []byte("; "))
	}
	return bytes.Join(lines, []byte(", "))
}
