package pagecache

import (
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/bradfitz/gomemcache/memcache"
)

// maxLinks bounds the connections to a server. There are as many as were
// needed at once so far; beyond the bound requests wait for one, for a dial
// costs more than a wait, and memcached takes 1,024 connections from all nodes.
const maxLinks = 128

// errBusy is the error of a request that got no connection in its time.
var errBusy = errors.New("pagecache: memcached: all connections were in use for too long")

// memcacheServer is a server as a client sees it: its connections, and how it
// is. Its methods may be called from any goroutine.
type memcacheServer struct {
	addr    serverAddr
	breaker breaker
	free    chan *memcacheLink // those that nobody uses
	links   atomic.Int32       // made so far
	limit   atomic.Int64       // bytes of the largest item; 0: not asked for since the server failed, or refused one
}

func newMemcacheServer(a serverAddr) *memcacheServer {
	return &memcacheServer{addr: a, free: make(chan *memcacheLink, maxLinks)}
}

// take gives a link, for as long as it is not given back to free.
func (s *memcacheServer) take(timeout time.Duration, end time.Time) (*memcacheLink, error) {
	select {
	case l := <-s.free:
		return l, nil
	default:
	}
	if s.links.Add(1) <= maxLinks {
		return newMemcacheLink(s.addr, timeout), nil
	}
	s.links.Add(-1)
	late := time.NewTimer(time.Until(end))
	defer late.Stop()
	select {
	case l := <-s.free:
		return l, nil
	case <-late.C:
		return nil, errBusy
	}
}

// settle tells the breaker how an exchange went. A server that refuses a value
// is well.
func (s *memcacheServer) settle(err error, now, pause time.Duration) {
	if err == nil || errors.Is(err, memcache.ErrCacheMiss) {
		s.breaker.worked()
		return
	}
	s.limit.Store(0) // it refused a value, or what comes back may be another one
	if isConnectionTrouble(err) {
		s.breaker.failed(now, pause)
		return
	}
	s.breaker.worked()
}

// close closes the connections that nobody uses.
func (s *memcacheServer) close() {
	for range len(s.free) {
		select {
		case l := <-s.free:
			l.client.Close()
			s.free <- l
		default:
			return
		}
	}
}

// isConnectionTrouble tells a server that is not to be reached, or gives no
// answer, from one that answered something else than was hoped for.
func isConnectionTrouble(err error) bool {
	var network net.Error
	var connect *memcache.ConnectTimeoutError
	return errors.As(err, &network) || errors.As(err, &connect) || errors.Is(err, errIdle) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}
