package edge

import (
	"errors"
	"net"
	"os"
	"syscall"
	"time"
)

// watch notices that a visitor leaves while his answer waits: who only writes,
// and has nothing to write, is not told by the system. It looks without reading,
// so a request that he sends meanwhile stays where it is; after one nothing can
// be seen any more. As in nginx, who closes his sending side alone has left, too:
// the two look alike.
//
// It costs a goroutine, parked in the runtime's poller, and is for answers that
// do wait: never for a page that is at hand.
type watch struct {
	conn  net.Conn
	left  chan struct{} // closed when the visitor has left
	ended chan struct{} // closed with the goroutine
}

// newWatch starts to watch a connection that nobody reads from until stop. gone
// is called when the visitor has left, on a goroutine of its own. nil: this
// connection, or this system, does not tell.
func newWatch(conn net.Conn, gone func()) *watch {
	sc, ok := conn.(syscall.Conn)
	if !ok || !canPeek {
		return nil
	}
	raw, err := sc.SyscallConn()
	if err != nil || conn.SetReadDeadline(time.Time{}) != nil {
		return nil
	}
	w := &watch{conn: conn, left: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		defer close(w.ended)
		end := false
		err := raw.Read(func(fd uintptr) (done bool) {
			end, done = peek(int(fd))
			return done // not done: until the connection has something to tell
		})
		if end || err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			close(w.left)
			gone()
		}
	}()
	return w
}

// stop ends the watch and waits for its goroutine, gone included. The
// connection has no read deadline then. w may be nil.
func (w *watch) stop() {
	if w == nil {
		return
	}
	w.conn.SetReadDeadline(time.Unix(1, 0)) // wakes the goroutine
	<-w.ended
	w.conn.SetReadDeadline(time.Time{})
}
