package admin

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Bounds of one connection. Nobody needs more to ask for a page of metrics; a
// profile may take its time, up to writeTimeout.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 10 * time.Second
	writeTimeout  = 2 * time.Minute
	idleTimeout   = time.Minute
	maxHeader     = 16 << 10
)

// Options of a Server. The functions, Purge and Explain may be called from several
// goroutines, Reload by one at a time.
type Options struct {
	Token   string              // "": none is wanted, which is for loopback only
	Metrics prometheus.Gatherer // nil: no /metrics
	Ready   func() error        // says why the edge is not ready; nil: it is whenever it runs
	Reload  func() error        // an error of several lines is several mistakes; nil: no /reload
	Purge   Purger              // nil: nothing is kept, so there is nothing to purge
	Explain Explainer           // nil: no /explain
	Version string
	Log     *slog.Logger // panics and failures of connections; nil: nowhere
}

// Server answers the admin endpoints. It is an http.Handler, too.
type Server struct {
	options   Options
	token     [sha256.Size]byte
	endpoints []endpoint
	log       *slog.Logger
	http      *http.Server
	reload    sync.Mutex // one call of Options.Reload at a time
}

var _ http.Handler = (*Server)(nil)

// New makes a Server, which begins to answer with Serve.
func New(o Options) *Server {
	s := &Server{options: o, token: sha256.Sum256([]byte(o.Token)), log: o.Log}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.http = &http.Server{
		Handler:           s,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
	s.endpoints = s.routes() // after http: the metrics log where it logs
	return s
}

// Serve answers on l, which it closes, until Shutdown; then it returns nil.
func (s *Server) Serve(l net.Listener) error {
	if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Shutdown ends Serve and waits for requests under way. When ctx ends it cuts
// them off and returns its error.
func (s *Server) Shutdown(ctx context.Context) error {
	err := s.http.Shutdown(ctx)
	if err != nil {
		s.http.Close()
	}
	return err
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	t := &tracker{ResponseWriter: w}
	defer s.recovered(t, r)
	t.Header().Set("Cache-Control", "no-store")
	t.Header().Set("X-Content-Type-Options", "nosniff")
	s.route(t, r)
}

// recovered ends a panic: the log gets the stack, the client a 500, or half an
// answer that is visibly cut off where it has begun.
func (s *Server) recovered(t *tracker, r *http.Request) {
	v := recover()
	if v == nil {
		return
	}
	if v == http.ErrAbortHandler {
		panic(v)
	}
	s.log.Error("panic", "in", "admin", "path", r.URL.Path, "panic", v, "stack", string(debug.Stack()))
	if t.began {
		panic(http.ErrAbortHandler)
	}
	refuse(t, http.StatusInternalServerError, "this request hit a bug in ssiedge", "report the stack that the log has")
}

// tracker knows whether an answer has begun.
type tracker struct {
	http.ResponseWriter
	began bool
}

func (t *tracker) WriteHeader(status int) {
	t.began = true
	t.ResponseWriter.WriteHeader(status)
}

func (t *tracker) Write(b []byte) (int, error) {
	t.began = true
	return t.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (t *tracker) Unwrap() http.ResponseWriter { return t.ResponseWriter }
