package edge

import (
	"context"
	"errors"
	"net"
	"sync"

	"github.com/valyala/fasthttp"
)

// Server serves the public listeners: fasthttp's server, one limit of
// connections over all of them, and an end that is bounded.
type Server struct {
	edge   *Edge
	server *fasthttp.Server
	limits Limits // those of the start; a reload does not change them

	mu        sync.Mutex
	listeners []net.Listener // that are served
	stopped   bool
}

// writeBuffer is fasthttp's buffer for an answer while it is written; a body
// that does not fit beside its head goes out in one writev. A chunk that does
// not fit takes three writes, hence the room for those of a usual page that
// leaves in pieces.
const writeBuffer = 16 << 10

// NewServer makes the server of an Edge. It starts nothing.
func NewServer(e *Edge) *Server {
	limits := e.state.Load().options.Limits
	limits.Connections = e.affordable(limits.Connections)
	s := &Server{edge: e, limits: limits}
	s.server = &fasthttp.Server{
		Handler:            e.Handle,
		ErrorHandler:       s.malformed,
		ExpectHandler:      e.expect,
		Logger:             quiet{},
		ConnState:          s.connState,
		Concurrency:        maxConcurrency,
		ReadBufferSize:     limits.Header,
		WriteBufferSize:    writeBuffer,
		ReadTimeout:        limits.HeaderTimeout,
		IdleTimeout:        limits.IdleTimeout,
		MaxRequestBodySize: maxConcurrency, // upload counts; this bounds nothing that streams

		StreamRequestBody:            true,
		DisablePreParseMultipartForm: true,
		ReduceMemoryUsage:            true,
		LazyRequestTime:              true,
		NoDefaultServerHeader:        true,
		NoDefaultContentType:         true,
		CloseOnShutdown:              true,
	}
	return s
}

// maxConcurrency is no limit: limits.connections is kept by our listeners, over
// all of them, where fasthttp's own would be one a listener.
const maxConcurrency = 1 << 30

// Serve accepts connections until Shutdown. Each listener has its own call.
func (s *Server) Serve(l net.Listener) error {
	s.mu.Lock()
	if s.stopped {
		s.mu.Unlock()
		return l.Close()
	}
	s.listeners = append(s.listeners, l)
	s.mu.Unlock()
	return s.server.Serve(&listener{Listener: l, server: s})
}

// refuse makes Serve end at once from now on.
func (s *Server) refuse() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
}

// closeListeners closes what fasthttp did not: it knows only of listeners whose
// Serve it has begun.
func (s *Server) closeListeners() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.listeners {
		l.Close()
	}
}

// Shutdown stops accepting, lets requests under way end, and closes what is
// still open when ctx ends: connections that never sent a byte, and whoever
// takes too long. It returns ctx's error when it had to. Tunnels have no end
// of their own to wait for and are closed after the last request.
func (s *Server) Shutdown(ctx context.Context) error {
	s.refuse()
	err := s.server.ShutdownWithContext(ctx)
	s.closeListeners()
	if err == nil {
		err = s.edge.visitors.await(ctx)
	}
	s.edge.visitors.closeAll()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// connState keeps the set of connections.
func (s *Server) connState(c net.Conn, state fasthttp.ConnState) {
	switch state {
	case fasthttp.StateNew:
		s.edge.visitors.add(c)
	case fasthttp.StateClosed:
		s.edge.visitors.remove(c)
	}
}

// malformed answers for what fasthttp could not read as a request.
func (s *Server) malformed(ctx *fasthttp.RequestCtx, err error) {
	status, reason := fasthttp.StatusBadRequest, "this is no HTTP request"
	var small *fasthttp.ErrSmallBuffer
	var timeout net.Error
	switch {
	case errors.As(err, &small):
		status, reason = fasthttp.StatusRequestHeaderFieldsTooLarge, "the request's head is over the limit"
	case errors.As(err, &timeout) && timeout.Timeout():
		status, reason = fasthttp.StatusRequestTimeout, "the request's head took too long"
	}
	r := s.edge.pool.Get().(*request)
	r.begin(s.edge, ctx)
	r.unread = len(ctx.Request.Header.RawHeaders()) == 0
	r.refuse(status, reason)
	ctx.SetConnectionClose()
	r.finish(int64(len(ctx.Response.Body())))
}

// expect decides before "100 Continue" is sent: a body over the limit need not
// come at all. What it refuses does not reach Handle, so this is its answer.
func (e *Edge) expect(ctx *fasthttp.RequestCtx) int {
	h := &ctx.Request.Header
	limit := e.state.Load().options.Limits.Body
	if limit == 0 || int64(h.ContentLength()) <= limit {
		return fasthttp.StatusContinue
	}
	r := e.pool.Get().(*request)
	r.begin(e, ctx)
	r.client.identify(h, ctx.RemoteAddr(), ctx.IsTLS(), r.state.options.TrustedProxies)
	r.refuse(fasthttp.StatusRequestEntityTooLarge, bodyOverLimit)
	r.writeSoon()
	r.finish(int64(len(ctx.Response.Body())))
	return fasthttp.StatusRequestEntityTooLarge
}

// quiet drops what fasthttp logs of visitors' broken connections.
type quiet struct{}

func (quiet) Printf(string, ...any) {}
