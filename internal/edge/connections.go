package edge

import (
	"context"
	"net"
	"sync"
)

// connections are those of the visitors that are open: for their limit, for
// metrics, and to be closed at the end. fasthttp tells of their beginning and
// of their end, but for those that a handler took over: their end is for the
// handler to tell.
type connections struct {
	mu      sync.Mutex
	open    map[net.Conn]struct{}
	answers sync.WaitGroup // that are written on connections taken over
}

func (c *connections) add(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil {
		c.open = map[net.Conn]struct{}{}
	}
	c.open[conn] = struct{}{}
}

// remove may be called more than once.
func (c *connections) remove(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, conn)
}

func (c *connections) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open)
}

// closeAll closes what is open, whatever it is doing.
func (c *connections) closeAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.open {
		conn.Close()
	}
}

// await waits for the answers on connections that were taken over; none begins
// any more.
func (c *connections) await(ctx context.Context) error {
	ended := make(chan struct{})
	go func() {
		c.answers.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return ctx.Err() // closing the connections is what ends the answers, and the goroutine
	}
}
