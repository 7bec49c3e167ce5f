package edge

import "net"

// closeDelimited answers an HTTP/1.0 visitor with a body of unknown length:
// its end is the end of the connection. fasthttp would send chunks, which such
// a visitor cannot read, so the connection is taken over for this one answer.
func (r *request) closeDelimited(b *body) {
	h := &r.ctx.Response.Header
	h.SetContentLength(-2) // until close: no length and no chunks
	h.SetConnectionClose()
	head := append([]byte(nil), h.Header()...)
	answers := &r.edge.visitors.answers
	answers.Add(1)
	r.takeOver(func(c net.Conn) {
		defer answers.Done()
		defer b.Close()
		if _, err := c.Write(head); err == nil {
			b.WriteTo(c) // an error ends the connection, as the end of the body does
		}
	})
}
