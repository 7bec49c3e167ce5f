package origin

import "sync/atomic"

// Stats is the state of a pool at one moment. Numbers of different fields may
// be a few requests apart.
type Stats struct {
	Servers []ServerStats // in the order of Options.Servers
}

// ServerStats counts since New.
type ServerStats struct {
	Server   string
	Requests uint64 // attempts: one sent again counts twice
	Retries  uint64 // attempts given up here and tried again, here or elsewhere
	Errors   ErrorCounts
	Open     int // connections, idle ones and tunnels included
	Idle     int // connections kept for the next request
}

// ErrorCounts counts attempts, and answers whose body failed, by what went
// wrong. What was not the server's doing (Canceled, Body, Invalid) is in none.
type ErrorCounts struct {
	Dial      uint64
	Timeout   uint64
	Reset     uint64
	Malformed uint64 // TooLarge too
}

// counters are those of one server.
type counters struct {
	requests, retries               atomic.Uint64
	dial, timeout, reset, malformed atomic.Uint64
}

// failed counts an error of the given kind.
func (c *counters) failed(k Kind) {
	switch k {
	case Dial:
		c.dial.Add(1)
	case Timeout:
		c.timeout.Add(1)
	case Reset:
		c.reset.Add(1)
	case Malformed, TooLarge:
		c.malformed.Add(1)
	}
}

// Stats gives a copy of the pool's counters.
func (p *Pool) Stats() Stats {
	s := Stats{Servers: make([]ServerStats, len(p.servers))}
	for i, server := range p.servers {
		s.Servers[i] = server.stats()
	}
	return s
}

func (s *Server) stats() ServerStats {
	c := &s.counters
	return ServerStats{
		Server:   s.name,
		Requests: c.requests.Load(),
		Retries:  c.retries.Load(),
		Errors: ErrorCounts{
			Dial: c.dial.Load(), Timeout: c.timeout.Load(),
			Reset: c.reset.Load(), Malformed: c.malformed.Load(),
		},
		Open: s.client.ConnsCount(),
		Idle: s.client.IdleConnsCount(),
	}
}
