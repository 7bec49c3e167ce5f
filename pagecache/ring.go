package pagecache

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"net"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// ringPoints is how many points a server has on the ring.
const ringPoints = 160

// ring picks the server of a key as nginx does with "hash $key consistent"
// over servers of equal weight: ketama, so that a server more or less moves
// only the keys that it takes over.
//
// It also is gomemcache's ServerSelector. The names of servers are resolved
// whenever one is dialled: one that cannot be resolved now may be later.
type ring struct {
	servers []serverAddr
	points  []ringPoint // by hash, no hash twice
}

type ringPoint struct {
	hash   uint32
	server int
}

// serverAddr is the address of a server, unresolved.
type serverAddr struct{ network, addr string }

func (a serverAddr) Network() string { return a.network }
func (a serverAddr) String() string  { return a.addr }

// name returns the address as it is written in a configuration.
func (a serverAddr) name() string {
	if a.network == "unix" {
		return "unix:" + a.addr
	}
	return a.addr
}

func newRing(servers []string) (*ring, error) {
	if len(servers) == 0 {
		return nil, fmt.Errorf("pagecache: memcached: no servers, want at least one: %q", "127.0.0.1:11211")
	}
	r := new(ring)
	for i, s := range servers {
		a, err := parseServer(s)
		if err != nil {
			return nil, err
		}
		r.servers = append(r.servers, a)
		r.addPoints(a, i)
	}
	// nginx sorts and keeps the first of equal points; which one that is its
	// unstable sort leaves open, here it is that of the server named first.
	sort.SliceStable(r.points, func(i, j int) bool { return r.points[i].hash < r.points[j].hash })
	r.points = slices.CompactFunc(r.points, func(a, b ringPoint) bool { return a.hash == b.hash })
	return r, nil
}

func parseServer(s string) (serverAddr, error) {
	if path, ok := strings.CutPrefix(s, "unix:"); ok {
		if path == "" {
			return serverAddr{}, fmt.Errorf("pagecache: memcached: server %q names no socket, want unix:/path", s)
		}
		return serverAddr{"unix", path}, nil
	}
	host, port, err := net.SplitHostPort(s)
	if n, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil || n == 0 || host == "" {
		return serverAddr{}, fmt.Errorf("pagecache: memcached: server %q, want host:port or unix:/path", s)
	}
	return serverAddr{"tcp", s}, nil
}

// addPoints adds the points of a server: each is the checksum of the server's
// name and the point before.
func (r *ring) addPoints(a serverAddr, server int) {
	host, port := a.addr, ""
	if a.network == "tcp" {
		colon := strings.LastIndexByte(a.addr, ':') // the brackets of IPv6 stay
		host, port = a.addr[:colon], a.addr[colon+1:]
	}
	base := crc32.ChecksumIEEE([]byte(host + "\x00" + port))
	var previous [4]byte
	for range ringPoints {
		hash := crc32.Update(base, crc32.IEEETable, previous[:])
		r.points = append(r.points, ringPoint{hash, server})
		binary.LittleEndian.PutUint32(previous[:], hash)
	}
}

// pick returns the index of a key's server.
func (r *ring) pick(key string) int {
	if len(r.servers) == 1 {
		return 0
	}
	hash := crc32.ChecksumIEEE([]byte(key))
	i := sort.Search(len(r.points), func(i int) bool { return r.points[i].hash >= hash })
	return r.points[i%len(r.points)].server
}

// PickServer returns the server of a key.
func (r *ring) PickServer(key string) (net.Addr, error) { return r.servers[r.pick(key)], nil }

// Each calls f with every server until one gives an error.
func (r *ring) Each(f func(net.Addr) error) error {
	for _, a := range r.servers {
		if err := f(a); err != nil {
			return err
		}
	}
	return nil
}
