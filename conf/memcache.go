package conf

import (
	"fmt"
	"time"

	"github.com/ssiedge/ssiedge/pagecache"
)

// memcached reads [memcache]; nil: there is none.
func (r *reader) memcached(n *node) *pagecache.MemcacheOptions {
	if n == nil {
		return nil
	}
	r.memcache = true
	s := r.open(n, "memcache")
	o := &pagecache.MemcacheOptions{Timeout: s.duration("timeout", shortest, time.Minute)}
	seen := map[string]bool{}
	for _, server := range s.texts("servers") {
		a, m := parseAddress(server.text)
		if m == nil && a.unix == "" && a.host == "" {
			m = &mistake{fmt.Sprintf("%q names no host", server.text), fmt.Sprintf("write %q", "127.0.0.1"+server.text)}
		}
		if m == nil && seen[server.text] {
			m = &mistake{fmt.Sprintf("%q is named twice", server.text), "name each server once"}
		}
		seen[server.text] = true
		if r.fault(server, m) {
			o.Servers = append(o.Servers, server.text)
		}
	}
	r.wantServers(s)
	r.ring = len(o.Servers) > 1
	return o
}

// wantServers notes a table that names no server.
func (r *reader) wantServers(s section) {
	n := s.written("servers")
	if s.table != nil && n == nil {
		r.problem(s.table, "servers is missing", "name one server at least")
	}
	if n != nil && n.kind == listKind && len(n.items) == 0 {
		r.problem(n, "the list is empty", "name one server at least")
	}
}
