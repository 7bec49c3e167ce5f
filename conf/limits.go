package conf

import (
	"math"
	"time"

	"github.com/ssiedge/ssiedge/internal/edge"
)

// Ranges of values that are no mistake by themselves: outside them a typing
// error is likelier than intent.
const (
	shortest = time.Millisecond
	longest  = 365 * day
	smallest = 1 << 10
	largest  = 1 << 40
)

// limits reads [limits].
func (r *reader) limits(n *node) edge.Limits {
	s := r.open(n, "limits")
	return edge.Limits{
		Header:        int(s.size("header", smallest, 1<<20)), // fasthttp holds a buffer of it for each connection
		Body:          s.size("body", 0, math.MaxInt64),
		Connections:   s.integer("connections", 1, 10_000_000),
		HeaderTimeout: s.duration("header_timeout", shortest, longest),
		IdleTimeout:   s.duration("idle_timeout", shortest, longest),
		WriteTimeout:  s.duration("write_timeout", shortest, longest),
		MaxKeep:       s.size("max_keep", smallest, largest),
	}
}

// memory reads [memory]: bytes, 0 is off.
func (r *reader) memory(n *node) int64 {
	return r.open(n, "memory").size("size", 0, largest)
}
