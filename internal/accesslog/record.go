package accesslog

import (
	"net/netip"
	"time"
)

// Record is what is known of one request when it has been answered. Its byte
// slices belong to the request: a Log has read them when Log returns, and
// keeps none. An empty slice is an absent field.
type Record struct {
	Time      time.Time     // the end of the request, as nginx's $time_local; printed in its own time zone
	Duration  time.Duration // from the head of the request to the last byte of the answer
	Client    netip.Addr    // of the visitor; the zero Addr: unknown, as on a unix socket
	Method    []byte
	Target    []byte // of the request line, as sent
	Protocol  string // "HTTP/1.1"; printed without a look at its bytes
	Host      []byte
	Status    int
	Bytes     int64 // of the body sent
	Referer   []byte
	UserAgent []byte
	RequestID []byte
	Cache     []byte // the member of Cache-Status that the edge added
}
