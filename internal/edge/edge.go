package edge

import (
	"context"
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
	users    users
	bodies   pagecache.Budget         // of those on their way in
	dated    *fasthttp.ResponseHeader // what heads of pulled pages start from
	state    atomic.Pointer[state]
	pool     sync.Pool // of *request

	sweeper    sweeper         // of what was named
	allSweeper sweeper         // of every file
	background tasks           // fills on goroutines of their own, and sweeps
	living     context.Context // theirs; ends with Close
	end        context.CancelFunc

	reload sync.Mutex // one Reload at a time
}

// state is what an Edge serves by. It never changes: Reload makes another.
type state struct {
	options Options
	router  router
	pools   []*origin.Pool // of all sites and rules
	store   *store
}

// New builds an Edge. It opens roots and origins but asks nobody anything yet.
// The error names the site and what is wrong.
func New(o Options) (*Edge, error) {
	e := &Edge{log: o.Log, access: o.Access, metrics: newMetrics(), reports: newReporter(o.Log)}
	if e.log == nil {
		e.log = slog.New(slog.DiscardHandler)
		e.reports = newReporter(e.log)
	}
	e.living, e.end = context.WithCancel(context.Background())
	e.pool.New = func() any { return new(request) }
	var err error
	if e.dated, err = datedHeader(); err != nil {
		return nil, err
	}
	st, err := e.build(o, nil)
	if err != nil {
		return nil, err
	}
	e.state.Store(st)
	e.bodies.Resize(o.bodies())
	e.sweepLeft()
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
	st.store.resize(&o)
	e.bodies.Resize(o.bodies())
	e.metrics.reloads.Add(1)
	old.close()
	if c := old.store.memcache; c != nil && c != st.store.memcache {
		c.Close()
	}
	return nil
}

// ReloadFailed counts a reload that did not get as far as Reload, since the new
// configuration has mistakes.
func (e *Edge) ReloadFailed() { e.metrics.reloadsFailed.Add(1) }

// Close gives up the fills under way, also those that a visitor still waits for,
// and closes the journal and idle connections to origins and memcached. Other
// requests under way end by themselves.
func (e *Edge) Close() {
	e.end()
	e.background.end()
	st := e.state.Load()
	st.close()
	st.store.close()
}

func (e *Edge) build(o Options, old *state) (*state, error) {
	st := &state{options: o}
	var err error
	if old == nil {
		st.store, err = newStore(e, &o)
	} else {
		st.store, err = old.store.reloaded(&old.options, &o)
	}
	if err != nil {
		return nil, err
	}
	b := builder{edge: e, state: st, pools: map[*origin.Options]*origin.Pool{}}
	for i := range o.Sites {
		s, err := b.site(&o.Sites[i])
		if err != nil {
			st.close()
			if old == nil {
				st.store.close()
			}
			return nil, fmt.Errorf("site at %s: %w", o.Sites[i].Where, err)
		}
		st.router.add(s)
	}
	return st, nil
}

// close closes what the next state does not share.
func (st *state) close() {
	for _, p := range st.pools {
		p.Close()
	}
}

// CheckMemcache says what is wrong with memcached, if anything: an error names
// the server. For a warning at start; the edge works without.
func (e *Edge) CheckMemcache() error {
	if c := e.state.Load().store.memcache; c != nil {
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
