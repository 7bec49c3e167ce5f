package origin

import (
	"net"
	"time"
)

// conn is a connection as the HostClient holds it: not connected at first,
// and connected anew where a request is sent again.
type conn struct {
	net.Conn // nil until opened
	probe    probe

	idle time.Duration // a Read may wait so long; 0: until the deadline as it is set

	release, discard func() // to the HostClient: keep, or close; each after the last use
}

// open takes over a connection of the system.
func (c *conn) open(raw net.Conn) {
	c.Conn = raw
	c.idle = 0
	c.probe.init(raw)
}

// Read renews the deadline before it waits: a body may take hours as long as
// some byte comes in time.
func (c *conn) Read(p []byte) (int, error) {
	if c.idle > 0 {
		if err := c.Conn.SetReadDeadline(time.Now().Add(c.idle)); err != nil {
			return 0, err
		}
	}
	return c.Conn.Read(p)
}

// Close is called by the HostClient, also for a conn never connected.
func (c *conn) Close() error {
	if c.Conn == nil {
		return nil
	}
	return c.Conn.Close()
}

// alive reports whether an idle connection can take a request: open, and with
// not a byte to read. A byte that nobody asked for would be taken for the next
// visitor's answer.
func (c *conn) alive() bool { return c.probe.silent() }
