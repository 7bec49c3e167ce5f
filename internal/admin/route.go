package admin

import (
	"net/http"
	"net/http/pprof"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// endpoint is one path and what may be done there.
type endpoint struct {
	path    string // exact; with a slash at its end: all below
	methods []string
	open    bool // to everybody, with neither token nor the rules of guard.go
	serve   http.HandlerFunc
}

var (
	reading = []string{http.MethodGet, http.MethodHead}
	posting = []string{http.MethodPost}
)

// routes are the endpoints that there are with these options, longer paths
// before shorter ones.
func (s *Server) routes() []endpoint {
	list := []endpoint{
		{"/healthz", reading, true, s.healthz},
		{"/readyz", reading, true, s.readyz},
		{"/version", reading, false, s.version},
		{"/purge", posting, false, s.purge},
	}
	if s.options.Metrics != nil {
		list = append(list, endpoint{"/metrics", reading, false, s.metrics().ServeHTTP})
	}
	if s.options.Explain != nil {
		list = append(list, endpoint{"/explain", reading, false, s.explain})
	}
	if s.options.Reload != nil {
		list = append(list, endpoint{"/reload", posting, false, s.reloaded})
	}
	if s.options.Token != "" {
		list = append(list,
			endpoint{"/debug/pprof/cmdline", reading, false, pprof.Cmdline},
			endpoint{"/debug/pprof/profile", reading, false, pprof.Profile},
			endpoint{"/debug/pprof/symbol", append(reading, posting...), false, pprof.Symbol},
			endpoint{"/debug/pprof/trace", reading, false, pprof.Trace},
			endpoint{"/debug/pprof/", reading, false, pprof.Index})
	}
	return list
}

func (s *Server) metrics() http.Handler {
	return promhttp.HandlerFor(s.options.Metrics, promhttp.HandlerOpts{ErrorLog: s.http.ErrorLog, Timeout: readTimeout})
}

// route finds the endpoint and calls it, if the request may.
func (s *Server) route(w http.ResponseWriter, r *http.Request) {
	if r.Method == methodPurge { // its path is a page's, not ours
		if s.mayPurge(w, r) {
			s.purgeTarget(w, r)
		}
		return
	}
	e := s.find(r.URL.Path)
	if (e == nil || !e.open) && !s.admitted(w, r) {
		return
	}
	switch {
	case e == nil:
		refuse(w, http.StatusNotFound, "no such endpoint", "use one of "+s.list())
	case !slices.Contains(e.methods, r.Method):
		w.Header().Set("Allow", strings.Join(e.methods, ", "))
		refuse(w, http.StatusMethodNotAllowed, "wrong method for "+e.path, "use "+strings.Join(e.methods, " or "))
	case r.Method == http.MethodPost && s.options.Token == "" && !isJSON(r):
		refuse(w, http.StatusUnsupportedMediaType, "without a token a POST needs Content-Type: application/json",
			"send that field, or set admin.token")
	default:
		e.serve(w, r)
	}
}

func (s *Server) find(path string) *endpoint {
	for i := range s.endpoints {
		e := &s.endpoints[i]
		if e.path == path || strings.HasSuffix(e.path, "/") && strings.HasPrefix(path, e.path) {
			return e
		}
	}
	return nil
}

// list names the endpoints, for those who look for one.
func (s *Server) list() string {
	names := make([]string, len(s.endpoints))
	for i, e := range s.endpoints {
		names[i] = e.methods[0] + " " + e.path
	}
	return strings.Join(names, ", ")
}
