package edge

import (
	"errors"
	"net"
	"syscall"
	"time"
)

// listener accepts for a Server. fasthttp ends its Serve for good on the first
// error of Accept; a machine short of descriptors for a moment is no reason to
// close the port.
type listener struct {
	net.Listener
	server *Server
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			if !shortage(err) {
				return nil, err
			}
			l.server.edge.reports.add(report{kind: "accept", message: "a connection waits: " + err.Error()})
			time.Sleep(acceptPause)
			continue
		}
		if l.server.full() {
			l.server.edge.metrics.refused.Add(1)
			c.Close()
			continue
		}
		return c, nil // as it is: only a plain connection is written to by writev
	}
}

// acceptPause is how long a listener waits when the system has no descriptor
// or memory for a connection.
const acceptPause = 50 * time.Millisecond

// shortage says whether Accept may work again in a moment.
func shortage(err error) bool {
	for _, e := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

func (s *Server) full() bool {
	return s.edge.visitors.count() >= s.limits.Connections
}
