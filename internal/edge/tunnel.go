package edge

import (
	"bytes"
	"io"
	"net"
	"runtime/debug"
	"sync"

	"github.com/valyala/fasthttp"
)

// tunnel joins the visitor's connection to the origin's after a 101: from here
// on bytes go both ways as they come, until one side ends. Nothing of it is
// looked at.
func (r *request) tunnel(p *reply) {
	h := &r.ctx.Response.Header
	p.header().CopyTo(h)
	head := tunnelHead(h, r.visitor.get("Upgrade"))
	upstream := p.exchange.Conn
	edge := r.edge
	r.streaming = true
	r.ctx.SetStatusCode(fasthttp.StatusSwitchingProtocols)
	r.ctx.HijackSetNoResponse(true)
	r.ctx.Hijack(func(c net.Conn) {
		var sent int64
		defer func() {
			if v := recover(); v != nil {
				edge.panicked("tunnel", v, debug.Stack())
			}
			upstream.Close()
			p.close()
			r.finish(sent)
		}()
		if _, err := c.Write(head); err == nil {
			sent = join(edge, c, upstream)
		}
	})
}

// tunnelHead is the head of a 101 as bytes: fasthttp would add a length.
func tunnelHead(h *fasthttp.ResponseHeader, protocol []byte) []byte {
	head := bytes.TrimSuffix(interimHead(h), []byte("\r\n"))
	head = append(head, "Connection: Upgrade\r\n"...)
	return append(appendField(head, "Upgrade", protocol), "\r\n"...)
}

// join copies both ways and returns when both directions are over; the first
// to end closes the other. It returns the bytes sent to the visitor.
func join(edge *Edge, visitor, upstream net.Conn) int64 {
	var wg sync.WaitGroup
	wg.Go(func() {
		defer func() {
			if v := recover(); v != nil {
				edge.panicked("tunnel", v, debug.Stack())
			}
			upstream.Close()
		}()
		io.Copy(upstream, visitor)
	})
	sent, _ := io.Copy(visitor, upstream)
	visitor.Close()
	wg.Wait()
	return sent
}
