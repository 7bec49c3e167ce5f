package edge

import (
	"bufio"
	"bytes"
	"fmt"

	"github.com/valyala/fasthttp"

	"github.com/ssiedge/ssiedge/pagecache"
)

// outgoing is what a request to the origin is made from.
type outgoing struct {
	visitor  *visitor
	method   []byte
	target   []byte            // path and query as they go out
	include  bool              // an include: nothing of the visitor that speaks of the page itself
	identity bool              // no content coding is wanted: the body may be assembled
	runs     bool              // directives of the answer are run, which the app is told
	noRange  bool              // the whole body is wanted
	upgrade  []byte            // protocol to upgrade to; nil: none
	fill     *keeping          // of a fill: what it withholds; nil: no fill
	offered  []*pagecache.Page // of a fill: pages that the origin is asked about
	room     *room             // that the answer's body takes up; nil: it is not counted
}

// write makes the request. The head is written as bytes and parsed, since
// that is the one way in which fasthttp leaves the lines of Cookie as they
// are.
func (o *outgoing) write(req *fasthttp.Request) error {
	head := o.appendHead(make([]byte, 0, len(o.visitor.bytes)+512))
	if err := req.Header.Read(bufio.NewReaderSize(bytes.NewReader(head), max(len(head), 16))); err != nil {
		return fmt.Errorf("the request cannot be passed on: %w", err)
	}
	return nil
}

func (o *outgoing) appendHead(b []byte) []byte {
	v := o.visitor
	b = append(append(append(append(b, o.method...), ' '), o.target...), " HTTP/1.1\r\n"...)
	b = append(append(append(b, "Host: "...), o.host()...), "\r\n"...) // empty where HTTP/1.0 sent none
	for i := range v.fields {
		f := &v.fields[i]
		if f.hop || o.drops(f.name) {
			continue
		}
		value := f.value
		if string(o.method) == fasthttp.MethodOptions && equalFold(f.name, fasthttp.HeaderMaxForwards) {
			value = oneHopLess(value)
		}
		b = append(append(append(append(b, f.name...), ": "...), value...), "\r\n"...)
	}
	if o.identity {
		b = append(b, "Accept-Encoding: identity\r\n"...)
	}
	if o.runs {
		b = append(b, "Surrogate-Capability: ssiedge=\"SSI/1.0\"\r\n"...)
	}
	if o.fill != nil && o.fill.mode() == CookiesListed {
		b = appendField(b, "Cookie", o.fill.sendsCookie(v))
	}
	b = appendConditions(b, o.offered)
	if o.upgrade != nil {
		b = appendField(b, "Upgrade", o.upgrade)
		b = append(b, "Connection: Upgrade\r\n"...)
	}
	return append(o.appendOwn(b), "\r\n"...)
}

// host is the Host that goes out: as the visitor wrote it, but on a fill in the
// form that the key has, since any other way to write it would shape the page
// of those who write it otherwise.
func (o *outgoing) host() []byte {
	if o.fill != nil {
		return o.visitor.route
	}
	return o.visitor.host
}

// appendOwn writes the fields that the edge states: who asks, and that it
// stands between. A fill that a rule made is nobody's, so it says nothing of
// the visitor.
func (o *outgoing) appendOwn(b []byte) []byte {
	v := o.visitor
	b = appendField(b, "X-Forwarded-Proto", []byte(v.scheme))
	b = appendField(b, "X-Forwarded-Host", o.host())
	if o.fill != nil && o.fill.byRule() {
		id, trace := newIDs(nil, new([24]byte))
		b = appendField(b, "X-Request-Id", id)
		b = appendField(b, "Traceparent", trace)
		return appendField(b, "Via", via)
	}
	if v.addr.IsValid() {
		b = appendField(b, "X-Real-IP", v.addr.AppendTo(nil))
	}
	b = appendField(b, "X-Forwarded-For", v.forwardedFor())
	b = appendField(b, "X-Request-Id", v.id)
	b = appendField(b, "Traceparent", v.trace)
	var chain []byte
	for i := range v.fields {
		if f := &v.fields[i]; equalFold(f.name, "Via") {
			chain = append(append(chain, f.value...), ", "...)
		}
	}
	return appendField(b, "Via", append(append(chain, v.proto[len("HTTP/"):]...), " ssiedge"...))
}

// forwardedFor is the chain of a trusted proxy, if one spoke, and our peer.
func (v *visitor) forwardedFor() []byte {
	chain := append([]byte(nil), v.proxy...)
	if !v.peer.IsValid() {
		return chain
	}
	if len(chain) > 0 {
		chain = append(chain, ", "...)
	}
	return v.peer.Addr().AppendTo(chain)
}

func appendField(b []byte, name string, value []byte) []byte {
	if len(value) == 0 {
		return b
	}
	return append(append(append(append(b, name...), ": "...), value...), "\r\n"...)
}

// drops says whether an end-to-end field of the visitor is left out: the
// codings, where the body may be assembled; on a fill what the key does not
// know; and in an include all that is about the page and not about the visitor.
func (o *outgoing) drops(name []byte) bool {
	switch string(name) {
	case "Accept-Encoding":
		return o.identity
	case "Range", "If-Range":
		return o.include || o.noRange || o.fill != nil
	case "Cookie", "Authorization":
		return o.fill != nil && o.fill.mode() != CookiesAll
	}
	if o.include && (notOnFills(name) || poses(name)) {
		return true
	}
	return o.fill != nil && o.fill.withholds(name)
}
