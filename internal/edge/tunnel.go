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
	head := bytes.Clone(p.header().Header()) // Connection and Upgrade are the origin's
	r.ctx.SetStatusCode(fasthttp.StatusSwitchingProtocols)
	r.takeOver(func(c net.Conn) {
		var sent int64
		defer func() {
			p.exchange.Conn.Close()
			p.close()
			r.finish(sent)
		}()
		if _, err := c.Write(head); err == nil {
			sent = join(r.edge, c, p.exchange.Conn)
		}
	})
}

// takeOver gives the visitor's connection to serve, and fasthttp writes no
// answer. serve runs on a goroutine of its own and finishes the request; the
// connection is closed when it returns.
func (r *request) takeOver(serve func(c net.Conn)) {
	edge, conn := r.edge, r.ctx.Conn()
	r.streaming = true
	r.ctx.HijackSetNoResponse(true)
	r.ctx.Hijack(func(c net.Conn) {
		defer func() {
			if v := recover(); v != nil {
				edge.panicked("connection taken over", v, debug.Stack())
			}
			edge.visitors.remove(conn) // fasthttp closes it, but tells nobody
		}()
		serve(c)
	})
}

// join copies both ways until one direction ends, which ends the other. It
// returns the bytes sent to the visitor. visitor reads what fasthttp has read
// ahead, but does not close: that takes the connection below it.
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
	below := visitor // the goroutine reads visitor itself
	if c, ok := visitor.(interface{ UnsafeConn() net.Conn }); ok {
		below = c.UnsafeConn()
	}
	below.Close()
	wg.Wait()
	return sent
}
