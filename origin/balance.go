package origin

import "sync/atomic"

// Balancer picks the server of a request. Pick may be called from several
// goroutines at once.
type Balancer interface {
	// Pick chooses among up, which it neither changes nor keeps: the servers
	// of the pool, in their order, that this request has not tried yet. It is
	// never called with none.
	Pick(up []*Server) *Server
}

// RoundRobin picks one server after the other. Its zero value is ready.
type RoundRobin struct {
	next atomic.Uint64
}

var _ Balancer = (*RoundRobin)(nil)

// Pick gives the server whose turn it is.
func (r *RoundRobin) Pick(up []*Server) *Server {
	if len(up) == 1 {
		return up[0]
	}
	return up[(r.next.Add(1)-1)%uint64(len(up))]
}
