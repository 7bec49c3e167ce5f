package edge

import (
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/valyala/fasthttp"

	"github.com/ssiedge/ssiedge/internal/accesslog"
	"github.com/ssiedge/ssiedge/origin"
	"github.com/ssiedge/ssiedge/pagecache"
)

// Edge answers requests. Make it with New.
type Edge struct {
	log      *slog.Logger
	access   *accesslog.Log
	metrics  *metrics
	reports  *reporter
	visitors connections
	state    atomic.Pointer[state]
	pool     sync.Pool // of *request

	reload sync.Mutex // one Reload at a time
}

// state is what an Edge serves by. It never changes: Reload makes another.
type state struct {
	options  Options
	router   router
	pools    []*origin.Pool // of all sites and rules
	memory   *pagecache.Memory
	memcache *pagecache.Memcache // nil: none
}

// New builds an Edge. It opens roots and origins but asks nobody anything yet.
// The error names the site and what is wrong.
func New(o Options) (*Edge, error) {
	e := &Edge{log: o.Log, access: o.Access, metrics: newMetrics(), reports: newReporter(o.Log)}
	if e.log == nil {
		e.log = slog.New(slog.DiscardHandler)
		e.reports = newReporter(e.log)
	}
	e.pool.New = func() any { return new(request) }
	st, err := e.build(o, nil)
	if err != nil {
		return nil, err
	}
	e.state.Store(st)
	return e, nil
}

// Reload serves by o from the next request on. On an error nothing changes.
// Log and Access stay those of New. Pages in memory are kept where the size of
// the memory is.
//
// Requests under way go on with what they began with; the roots' descriptors
// are closed by the garbage collector after the last of them, since counting
// users of a root would cost every hit two writes to a shared word.
func (e *Edge) Reload(o Options) error {
	e.reload.Lock()
	defer e.reload.Unlock()
	old := e.state.Load()
	st, err := e.build(o, old)
	if err != nil {
		e.metrics.reloadsFailed.Add(1)
		return err
	}
	e.state.Store(st)
	e.metrics.reloads.Add(1)
	old.close()
	return nil
}

// ReloadFailed counts a reload that did not get as far as Reload, since the new
// configuration has mistakes.
func (e *Edge) ReloadFailed() { e.metrics.reloadsFailed.Add(1) }

// Close closes idle connections to origins and memcached. Requests under way
// end by themselves.
func (e *Edge) Close() { e.state.Load().close() }

func (e *Edge) build(o Options, old *state) (*state, error) {
	st := &state{options: o}
	if old != nil && old.options.Memory == o.Memory {
		st.memory = old.memory
	} else {
		st.memory = pagecache.NewMemory(o.Memory)
	}
	if o.Memcache != nil {
		c, err := pagecache.NewMemcache(*o.Memcache)
		if err != nil {
			return nil, fmt.Errorf("memcache: %w", err)
		}
		st.memcache = c
	}
	b := builder{edge: e, state: st, pools: map[*origin.Options]*origin.Pool{}}
	for i := range o.Sites {
		s, err := b.site(&o.Sites[i])
		if err != nil {
			st.close()
			return nil, fmt.Errorf("site at %s: %w", o.Sites[i].Where, err)
		}
		st.router.add(s)
	}
	return st, nil
}

func (st *state) close() {
	for _, p := range st.pools {
		p.Close()
	}
	if st.memcache != nil {
		st.memcache.Close()
	}
}

// CheckMemcache says what is wrong with memcached, if anything: an error names
// the server. For a warning at start; the edge works without.
func (e *Edge) CheckMemcache() error {
	if c := e.state.Load().memcache; c != nil {
		return c.Ping()
	}
	return nil
}

// Handle is the handler of the public listeners. It keeps nothing of ctx
// beyond the end of the answer's body.
func (e *Edge) Handle(ctx *fasthttp.RequestCtx) {
	r := e.pool.Get().(*request)
	r.begin(e, ctx)
	defer r.recovered()
	r.serve()
	r.writeSoon()
	if !r.streaming {
		r.finish(int64(len(ctx.Response.Body())))
	}
}
