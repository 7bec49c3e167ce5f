package edge

import (
	"bytes"
	"slices"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/ssiedge/ssiedge/pagecache"
)

// headOf is the head of a reply as package pagecache reads it.
func headOf(p *reply, began time.Time) *pagecache.Reply {
	return &pagecache.Reply{Status: p.status(), Fields: fieldList(p.header()), RequestTime: began, ResponseTime: time.Now()}
}

func fieldList(h *fasthttp.ResponseHeader) []pagecache.Field {
	var fields []pagecache.Field
	for name, value := range h.All() {
		fields = append(fields, pagecache.Field{Name: name, Value: value})
	}
	return fields
}

// storedHead is the head of a page as it is kept: what describes the message
// and not the page is left out, and so is what the decision says. Our Via
// stands in it already, so a hit need not join lists. Behind the head stand the
// fields that tell the edge how long the page lives, since a 304 may not repeat
// them.
func storedHead(status int, fields []pagecache.Field, d *pagecache.Decision, now time.Time) []byte {
	b := fasthttp.AppendUint([]byte("HTTP/1.1 "), status)
	b = append(append(append(b, ' '), fasthttp.StatusMessage(status)...), "\r\n"...)
	var vias, own []byte
	dated := false
	for _, f := range fields {
		switch {
		case endsWithMessage(f.Name), isBeside(f.Name, d):
		case isPrivate(f.Name):
			if statesLifetime(f.Name) {
				own = appendLine(own, f)
			}
		case equalFold(f.Name, "Via"):
			vias = append(append(vias, f.Value...), ", "...)
		default:
			dated = dated || equalFold(f.Name, "Date")
			b = appendLine(b, f)
		}
	}
	if !dated {
		b = append(fasthttp.AppendHTTPDate(append(b, "Date: "...), now), "\r\n"...)
	}
	b = append(appendField(b, "Via", append(vias, via...)), "\r\n"...)
	if len(own) > 0 {
		b = append(append(b, own...), "\r\n"...)
	}
	return bytes.Clone(b) // without spare room, which would count for the page
}

func appendLine(b []byte, f pagecache.Field) []byte {
	return append(append(append(append(b, f.Name...), ": "...), f.Value...), "\r\n"...)
}

// endsWithMessage says whether a field of an answer is no part of a page: it is
// about the message or its way here.
func endsWithMessage(name []byte) bool {
	for _, n := range [...]string{
		"Content-Length", "Transfer-Encoding", "Connection", "Age", "Trailer",
		"Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization",
	} {
		if equalFold(name, n) {
			return true
		}
	}
	return false
}

// statesLifetime says whether a field that ends here is one that a page's
// lifetime may come from.
func statesLifetime(name []byte) bool {
	return equalFold(name, "Ssiedge-Cache-Control") || equalFold(name, "Surrogate-Control") || equalFold(name, "X-Accel-Expires")
}

// isBeside says whether a field is left out of the page for what the decision
// says.
func isBeside(name []byte, d *pagecache.Decision) bool {
	return d.StripPage && isCookie(name) ||
		slices.ContainsFunc(d.Omit, func(omitted string) bool { return equalFold(name, omitted) })
}

func isCookie(name []byte) bool {
	return equalFold(name, "Set-Cookie") || equalFold(name, "Set-Cookie2")
}

// beside are the fields that are not part of the page, for the visitor who
// asked: the cookies that it is kept without, unless nobody may have them, and
// what the answer says is not for the others.
func beside(fields []pagecache.Field, d *pagecache.Decision) []pagecache.Field {
	var his []pagecache.Field
	for _, f := range fields {
		if isBeside(f.Name, d) && !(d.StripAnswer && isCookie(f.Name)) {
			his = append(his, pagecache.Field{Name: bytes.Clone(f.Name), Value: bytes.Clone(f.Value)})
		}
	}
	return his
}

// cookiesIn counts the cookies among fields.
func cookiesIn(fields []pagecache.Field) (n int) {
	for _, f := range fields {
		if isCookie(f.Name) {
			n++
		}
	}
	return n
}

func cookieLines(h *fasthttp.ResponseHeader) [][]byte {
	var lines [][]byte
	for _, value := range h.Cookies() {
		lines = append(lines, bytes.Clone(value))
	}
	return lines
}
