package origin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// Defaults of Options.
const (
	DefaultTimeout = 30 * time.Second
	DefaultIdle    = 60 * time.Second
	DefaultMaxHead = 64 << 10
)

// Options say how to reach an app.
type Options struct {
	Name     string        // for errors and metrics: "widgets", or the site's
	Servers  []string      // as ParseServer reads them; at least one, none twice
	Timeout  time.Duration // from the request sent to the head of the answer, dial included; 0: DefaultTimeout
	Idle     time.Duration // between bytes of a body, both ways; 0: DefaultIdle
	MaxHead  int           // bytes of an answer's head; 0: DefaultMaxHead
	Balancer Balancer      // picks the server of a request; nil: round robin
}

// withDefaults checks o and fills in what is zero.
func (o Options) withDefaults() (Options, error) {
	switch {
	case len(o.Servers) == 0:
		return o, errors.New("no servers, want at least one")
	case o.Timeout < 0:
		return o, fmt.Errorf("timeout %q is negative", o.Timeout)
	case o.Idle < 0:
		return o, fmt.Errorf("idle %q is negative", o.Idle)
	case o.MaxHead < 0:
		return o, fmt.Errorf("head limit %d is negative", o.MaxHead)
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Idle == 0 {
		o.Idle = DefaultIdle
	}
	if o.MaxHead == 0 {
		o.MaxHead = DefaultMaxHead
	}
	if o.Balancer == nil {
		o.Balancer = new(RoundRobin)
	}
	return o, nil
}

// Pool is a set of interchangeable servers. It is safe for use from several
// goroutines at once.
type Pool struct {
	options Options
	servers []*Server
	blank   *fasthttp.ResponseHeader // what every answer's head starts from
	closed  atomic.Bool

	scratches sync.Pool // of *scratch
	chunks    sync.Pool // of *chunk
}

// New makes a pool. It connects to nothing and starts nothing.
func New(o Options) (*Pool, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("origin: pool %q: %w", o.Name, err)
	}
	p := &Pool{options: o}
	seen := make(map[Address]bool, len(o.Servers))
	for _, s := range o.Servers {
		address, err := ParseServer(s)
		if err != nil {
			return nil, fmt.Errorf("origin: pool %q: %w", o.Name, err)
		}
		if seen[address] {
			return nil, fmt.Errorf("origin: pool %q: server %q is there twice, want it once", o.Name, s)
		}
		seen[address] = true
		p.servers = append(p.servers, newServer(address, &p.closed))
	}
	if p.blank, err = blankHeader(); err != nil {
		return nil, fmt.Errorf("origin: pool %q: %w", o.Name, err)
	}
	p.scratches.New = func() any { return newScratch() }
	p.chunks.New = func() any { return new(chunk) }
	return p, nil
}

// Name is the one of Options.
func (p *Pool) Name() string { return p.options.Name }

// Exchange is one request and its answer. Its fields up to Response are the
// caller's; the others are set by Do.
type Exchange struct {
	// Request has the method, the target (Request.Header.RequestURI) and the
	// fields as they must go out, hop-by-hop ones already removed. Target, Host
	// and fields are written as they are. Request's body is not looked at, nor
	// are its Content-Length and Transfer-Encoding: Body and BodySize decide.
	// It is not changed, and not kept after the answer's body has been closed.
	Request *fasthttp.Request

	// Body is nil for a request without one. It is read on a goroutine of its
	// own, which ends before Do fails or the Answer's Close returns; to
	// hasten that, see Interrupter.
	Body     io.Reader
	BodySize int64 // bytes of Body that are sent; -1: unknown, sent chunked

	Timeout time.Duration // in place of the pool's; 0: the pool's

	// Interim gets each 1xx answer but 101, at most 32; nil: they are dropped.
	// It is called by Do on its own goroutine; h is valid during the call.
	Interim func(h *fasthttp.ResponseHeader)

	// Upgrade says that the request asks for an upgrade, its Connection and
	// Upgrade fields set by the caller: an answer 101 then gives Conn. Any
	// other answer is an ordinary one. Without Upgrade a 101 is an error.
	Upgrade bool

	// Response is given by the caller. Do fills its head: the fields as they
	// came (Date and duplicates too) without hop-by-hop ones; those of a 101
	// keep Connection and Upgrade. Its body is left alone. After an error its
	// head means nothing.
	Response *fasthttp.Response

	// Answer is the answer's body, never nil after success. It is read to
	// io.EOF and closed by one goroutine at a time. Close gives the connection
	// back if all was read, else closes it; after it, Read fails. A Read that
	// fails has an *Error; if the body was cut short it is also
	// io.ErrUnexpectedEOF.
	Answer io.ReadCloser

	// Size is the length of Answer in bytes, -1 if unknown. Answers to HEAD and
	// those with status 204 and 304 have none (0), whatever their
	// Content-Length, still to be seen in Response, says.
	Size int64

	// Conn is set by a 101 only: the connection, beginning with what was read
	// already, without deadlines. The caller owns it and has to close it; the
	// context has no hold on it. It has a CloseWrite method.
	Conn net.Conn

	Server string // which one answered
}

// Interrupter is what a Body may implement so that a Read of it that waits
// for the visitor can be ended: when Do fails or the Answer is closed while
// the Body is still being read, Interrupt is called, once, from another
// goroutine. It makes the Read under way and all later ones fail soon.
// Without it Do and Close wait for the Read under way.
type Interrupter interface{ Interrupt() }

// Do sends the request and returns when the head of the answer has come, or
// with an *Error. The package comment tells when a request is sent again.
// The context also governs the answer's body until Answer is closed. It must not
// be fasthttp's RequestCtx: at the end of a Shutdown its Err becomes nil again,
// at which package context panics.
func (p *Pool) Do(ctx context.Context, x *Exchange) error {
	x.Answer, x.Size, x.Conn, x.Server = nil, 0, nil, ""
	t := &trip{pool: p, ctx: ctx, x: x}
	if err := t.run(); err != nil {
		return err
	}
	return nil
}

// Close closes the idle connections. Exchanges under way end by themselves;
// their connections, and those of exchanges begun later, are not kept.
func (p *Pool) Close() {
	p.closed.Store(true)
	for _, s := range p.servers {
		s.client.CloseIdleConnections()
	}
}
