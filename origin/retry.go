package origin

import "time"

// run makes attempts until one succeeds or none is left.
func (t *trip) run() *Error {
	p := t.pool
	t.mem = p.scratches.Get().(*scratch)
	defer t.release()
	var err error
	if t.mem.request, err = appendRequestHead(t.mem.request[:0], t.x); err != nil {
		return t.error(Invalid, err)
	}
	if t.timeout = t.x.Timeout; t.timeout <= 0 {
		t.timeout = p.options.Timeout
	}
	t.deadline = time.Now().Add(t.timeout)
	fresh := false
	for untried := p.servers; ; {
		t.server = p.options.Balancer.Pick(untried)
		failed := t.attempt(len(untried), fresh)
		if failed != nil && !fresh && t.mayResend() {
			t.server.counters.retries.Add(1)
			fresh = true
			failed = t.attempt(len(untried), fresh)
		}
		if failed == nil || failed.Kind != Dial || len(untried) == 1 {
			return failed
		}
		t.server.counters.retries.Add(1)
		untried = without(untried, t.server)
	}
}

// mayResend reports whether the failed request may go out once more. The
// server closed a connection that had been idle, perhaps just when the request
// came; if nothing of it was sent, or doing it twice is as good as once, it
// may. A body that was begun is gone.
func (t *trip) mayResend() bool {
	return t.stale && t.up == nil && (!t.sent || isIdempotent(t.x.Request.Header.Method()))
}

// without gives servers but one, in their order. If a Balancer picked a
// stranger it is the last one that goes, so that trying comes to an end.
func without(servers []*Server, s *Server) []*Server {
	rest := make([]*Server, 0, len(servers)-1)
	for _, other := range servers {
		if other != s && len(rest) < cap(rest) {
			rest = append(rest, other)
		}
	}
	return rest
}
