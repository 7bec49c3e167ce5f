package warm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	dialTimeout = 10 * time.Second
	idleTimeout = 30 * time.Second // less than the edge's 75 s, so that it is we who close
)

// newTransport gives what both the edge and servers of sitemaps are spoken to
// with. Pages are asked for as they are, without compression: the edge keeps that
// form, and makes the others of it.
func newTransport() *http.Transport {
	t := &http.Transport{
		DialContext:         (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSHandshakeTimeout: dialTimeout,
		IdleConnTimeout:     idleTimeout,
		DisableCompression:  true,
		Protocols:           new(http.Protocols),
	}
	t.Protocols.SetHTTP1(true)
	return t
}

// asker asks the edge, for all workers of a run.
type asker struct {
	*patience
	edge      *url.URL
	header    http.Header // of every request; not changed
	transport *http.Transport
}

func (w *Warmer) newAsker() *asker {
	t := w.transport()
	t.MaxIdleConnsPerHost = w.concurrency
	// RoundTrip follows no redirect, and does not even look at Location.
	p := &patience{send: t.RoundTrip, silence: w.silence, pacer: newPacer(w.rate, w.concurrency)}
	return &asker{patience: p, edge: w.edge, header: w.header, transport: t}
}

func (a *asker) close() { a.transport.CloseIdleConnections() }

// work asks for what comes out of queue until that is closed or ctx ends. What
// was given up because ctx ended is no result.
func (a *asker) work(ctx context.Context, queue <-chan entry, results chan<- result) {
	for {
		select {
		case <-ctx.Done():
			return
		case e, ok := <-queue:
			if !ok {
				return
			}
			r := a.ask(ctx, e)
			if r.err != nil && e.err == nil && ctx.Err() != nil {
				return
			}
			results <- r
		}
	}
}

// ask asks for one entry, reads the answer to its end and judges it.
func (a *asker) ask(ctx context.Context, e entry) result {
	r := result{entry: e, outcome: failed, reason: e.reason, err: e.err}
	if e.err != nil {
		return r
	}
	resp, err := a.get(a.request(ctx, e.target))
	if err != nil {
		r.reason, r.err = noAnswer(err)
		return r
	}
	defer resp.Body.Close()
	r.bytes, err = io.Copy(io.Discard, resp.Body)
	if err != nil {
		r.reason, r.err = reasonCutShort, fmt.Errorf("body ends after %d bytes: %w", r.bytes, err)
		return r
	}
	r.outcome, r.reason, r.err = judge(resp)
	return r
}

// noAnswer says in words what kept an answer from coming.
func noAnswer(err error) (string, error) {
	switch {
	case errors.Is(err, errSilent):
		return reasonTimeout, err
	case errors.Is(err, io.EOF):
		return reasonNoAnswer, errors.New("connection closed without an answer")
	}
	return reasonNoAnswer, err
}

// request is a GET for t. The path goes out as it is: Opaque is what net/http
// does not look into. One that begins with two slashes would be taken for a host
// there, and is sent in absolute form (RFC 9112 section 3.2.2).
func (a *asker) request(ctx context.Context, t target) *http.Request {
	u := &url.URL{Scheme: a.edge.Scheme, Host: a.edge.Host, Opaque: t.path}
	if strings.HasPrefix(t.path, "//") {
		u.Opaque = "//" + t.host + t.path
	}
	req := &http.Request{Method: http.MethodGet, URL: u, Host: t.host, Header: a.header}
	return req.WithContext(ctx)
}
