package edge

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/valyala/fasthttp"
)

// visitor is a request as it was sent, owned by us: what includes, variables
// and the request to the origin are made from. It is made once, where a
// request needs more than a kept page, and never changes, so that any number
// of goroutines may read it; fasthttp's own header may not even be read by two
// at once.
type visitor struct {
	bytes  []byte // what all slices below point into
	fields []field
	method []byte
	target []byte // as sent
	query  []byte // of target, without "?"
	host   []byte // the Host field as sent, or as a trusted proxy says
	route  []byte // the host that sites are found by
	proto  string // "HTTP/1.1"
	scheme string
	addr   netip.Addr     // the visitor, as a trusted proxy states it; invalid: unknown
	peer   netip.AddrPort // who holds the connection; invalid on a unix socket
	local  net.Addr
	proxy  []byte // the X-Forwarded-For chain to pass on, without the peer
	id     []byte // X-Request-Id, passed or made
	trace  []byte // traceparent, passed or made
	began  time.Time
	random [24]byte // of the ids made
}

// field is one field line of a request.
type field struct {
	name, value []byte
	hop         bool // ends here: hop-by-hop, or the edge sends its own
}

var visitors = sync.Pool{New: func() any { return new(visitor) }}

// snapshot gives the request's visitor, made on first use.
func (r *request) snapshot() *visitor {
	if r.visitor != nil {
		return r.visitor
	}
	v := visitors.Get().(*visitor)
	r.visitor = v
	h := &r.ctx.Request.Header
	v.began = r.began
	v.proto, v.scheme = protocol(h), r.client.scheme
	v.addr, v.peer = r.client.addr, peer(r.ctx.RemoteAddr())
	v.local = r.ctx.LocalAddr()
	host := h.Host()
	switch {
	case r.client.host != nil:
		host = r.client.host
	case len(host) == 0: // HTTP/1.0 may be without; what goes out is HTTP/1.1
		host = localHost(v.local)
	}
	v.bytes = v.bytes[:0]
	v.bytes = slices.Grow(v.bytes, len(h.RawHeaders())+len(r.written)+len(host)+len(r.host)+len(r.client.forwardedFor)+idsRoom+128)
	v.method, v.target = v.own(h.Method()), v.own(r.written)
	v.host, v.route, v.proxy = v.own(host), v.own(r.host), v.own(r.client.forwardedFor)
	_, v.query, _ = bytes.Cut(v.target, []byte("?"))
	v.takeFields(h)
	v.identify()
	return v
}

// own copies b. Room was made for all of the request beforehand, so earlier
// slices stay where they are.
func (v *visitor) own(b []byte) []byte {
	start := len(v.bytes)
	v.bytes = append(v.bytes, b...)
	return v.bytes[start:len(v.bytes):len(v.bytes)]
}

func (v *visitor) takeFields(h *fasthttp.RequestHeader) {
	v.fields = v.fields[:0]
	connection := h.PeekAll(fasthttp.HeaderConnection)
	for name, value := range h.AllInOrder() {
		if bytes.IndexByte(name, '_') >= 0 {
			continue // an app, or a variable, would take it for the field with "-"
		}
		hop := endsHere(name) || listedIn(connection, name)
		v.fields = append(v.fields, field{name: v.own(name), value: v.own(value), hop: hop})
	}
}

// identify passes on the ids that the visitor came with and makes those that
// are missing, in the room that v.bytes has left.
func (v *visitor) identify() {
	v.id, v.trace = v.get("X-Request-Id"), v.get("Traceparent")
	if len(v.id) > 0 && len(v.trace) > 0 {
		return
	}
	id, trace := newIDs(v.bytes[len(v.bytes):], &v.random)
	if len(v.id) == 0 {
		v.id = id
	}
	if len(v.trace) == 0 {
		v.trace = trace
	}
}

// idsRoom is what newIDs takes of its room.
const idsRoom = 32 + len("00-") + 32 + len("-") + 16 + len("-00")

// newIDs makes an X-Request-Id and a traceparent (W3C Trace Context) of a trace
// that begins here and is not sampled, of fresh random bytes, behind room.
func newIDs(room []byte, random *[24]byte) (id, trace []byte) {
	rand.Read(random[:]) // never fails
	id = hex.AppendEncode(room, random[:16])
	trace = append(hex.AppendEncode(append(id, "00-"...), random[:16]), '-')
	trace = append(hex.AppendEncode(trace, random[16:]), "-00"...)
	return id[len(room):len(id):len(id)], trace[len(id):]
}

// get is the first value of a field, nil where there is none.
func (v *visitor) get(name string) []byte {
	for i := range v.fields {
		if equalFold(v.fields[i].name, name) {
			return v.fields[i].value
		}
	}
	return nil
}

// endsHere says whether a request field is not passed on as it came: it is
// about this connection (RFC 9110, section 7.6.1), frames the body, or is one
// that the edge states itself, so that a stranger's word never counts.
func endsHere(name []byte) bool {
	switch string(name) { // as fasthttp normalises names
	case "Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authorization", "Te", "Trailer",
		"Transfer-Encoding", "Upgrade", "Expect", "Content-Length", "Host",
		"Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Forwarded-Port",
		"X-Forwarded-Server", "X-Real-Ip", "X-Request-Id", "Traceparent", "Via",
		"Surrogate-Capability":
		return true
	}
	return false
}

// listedIn says whether Connection names a field, which then ends here. What a
// request cannot do without is not taken off that way.
func listedIn(connection [][]byte, name []byte) bool {
	if len(connection) == 0 || equalFold(name, "Cache-Control") || equalFold(name, "Content-Type") {
		return false
	}
	for _, line := range connection {
		if listHas(line, string(name)) {
			return true
		}
	}
	return false
}

func protocol(h *fasthttp.RequestHeader) string {
	if h.IsHTTP11() {
		return "HTTP/1.1"
	}
	return "HTTP/1.0"
}

// localHost is the host of a request that names none: the address that it
// came to.
func localHost(local net.Addr) []byte {
	if a := peer(local); a.IsValid() {
		return []byte(a.String())
	}
	return []byte("localhost")
}

func peer(a net.Addr) netip.AddrPort {
	if t, ok := a.(*net.TCPAddr); ok {
		p := t.AddrPort()
		return netip.AddrPortFrom(p.Addr().Unmap(), p.Port())
	}
	return netip.AddrPort{}
}
