package pagecache

import (
	"bufio"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// DefaultMemcacheItem is the bytes of the largest item that memcached takes
// unless it is told otherwise (its option -I).
const DefaultMemcacheItem = 1 << 20

// itemLimit returns the bytes of the largest item that the server of a key
// takes, its key and memcached's own bytes counted. The server is asked once,
// and again when it has failed or refused something since; where it does not
// say, it is DefaultMemcacheItem. Time is as with Get.
func (c *Memcache) itemLimit(key string) int {
	s := c.server(key)
	if n := s.limit.Load(); n != 0 {
		return int(n)
	}
	n := int64(DefaultMemcacheItem)
	err := c.do(key, false, func(l *memcacheLink) (err error) {
		n, err = l.itemLimit(s.addr)
		return err
	})
	if err == nil {
		s.limit.Store(n)
	}
	return int(n)
}

// itemLimit asks over a connection of its own: gomemcache does not know this
// command.
func (l *memcacheLink) itemLimit(a serverAddr) (n int64, err error) {
	n = DefaultMemcacheItem
	ctx, cancel := context.WithDeadline(context.Background(), l.end)
	defer cancel()
	conn, err := l.dial(ctx, a.Network(), a.String())
	if err != nil {
		return n, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Time{}); err != nil { // the link knows it
		return n, err
	}
	if _, err := fmt.Fprint(conn, "stats settings\r\n"); err != nil {
		return n, err
	}
	for in := bufio.NewReader(conn); ; {
		line, err := in.ReadString('\n')
		if err != nil {
			return n, err
		}
		value, found := strings.CutPrefix(line, "STAT item_size_max ")
		if size, bad := strconv.ParseInt(strings.TrimSpace(value), 10, 64); found && bad == nil && size > 0 {
			n = size
		}
		if !strings.HasPrefix(line, "STAT ") { // END, or ERROR of a server that has no such command
			return n, nil
		}
	}
}
