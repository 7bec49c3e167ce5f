package warm

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

const (
	maxWaits = 5                // for a 503 with Retry-After, one URL
	maxWait  = 60 * time.Second // each of them
	maxDrain = 256 << 10        // of the body of such a 503, to keep the connection
)

// errSilent is why a request was given up whose server said nothing.
var errSilent = errors.New("the server was silent for too long")

// patience sends requests, and sends them again where that helps.
type patience struct {
	send    func(*http.Request) (*http.Response, error)
	silence time.Duration
	pacer   *pacer
	retries atomic.Int64
}

// get sends a GET: once more if there was no answer (a connection that breaks,
// an edge that restarts; not one that is silent), and after the time that a 503
// asks for. The last answer is the caller's, who closes its body.
func (p *patience) get(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	for broken, waits := false, 0; ; p.retries.Add(1) {
		if err := p.pacer.wait(ctx); err != nil {
			return nil, err
		}
		resp, err := p.once(req)
		if err != nil {
			if broken || ctx.Err() != nil || errors.Is(err, errSilent) {
				return nil, err
			}
			broken = true
			continue
		}
		wait, ok := retryAfter(resp, time.Now())
		if !ok || waits == maxWaits {
			return resp, nil
		}
		waits++
		drop(resp.Body)
		if err := sleep(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// drop reads what little there is of a body nobody needs, and closes it. How it
// ends does not matter: at worst the connection is not used again.
func drop(body io.ReadCloser) {
	io.CopyN(io.Discard, body, maxDrain)
	body.Close()
}

// retryAfter says how long a 503 asks to wait (RFC 9110 section 10.2.3: seconds
// or a date), at most maxWait.
func retryAfter(resp *http.Response, now time.Time) (time.Duration, bool) {
	value := strings.TrimSpace(resp.Header.Get("Retry-After"))
	if resp.StatusCode != http.StatusServiceUnavailable || value == "" {
		return 0, false
	}
	wait := maxWait
	if strings.Trim(value, "0123456789") == "" {
		if seconds, err := strconv.Atoi(value); err == nil && seconds < int(maxWait/time.Second) {
			wait = time.Duration(seconds) * time.Second
		}
	} else {
		date, err := http.ParseTime(value)
		if err != nil {
			return 0, false
		}
		wait = date.Sub(now)
	}
	return min(max(wait, 0), maxWait), true
}

// once sends a request and gives up when its server is silent, before the head
// or within the body.
func (p *patience) once(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	w := &watched{ctx: ctx, cancel: cancel, silence: p.silence}
	w.timer = time.AfterFunc(p.silence, func() { cancel(errSilent) })
	resp, err := p.send(req.WithContext(ctx))
	w.timer.Stop()
	if err != nil {
		err = w.why(err)
		cancel(nil)
		return nil, err
	}
	w.ReadCloser, resp.Body = resp.Body, w
	return resp, nil
}

// watched is a body whose reads may take only so long.
type watched struct {
	io.ReadCloser
	ctx     context.Context
	cancel  context.CancelCauseFunc
	timer   *time.Timer
	silence time.Duration
}

func (w *watched) Read(p []byte) (int, error) {
	w.timer.Reset(w.silence)
	n, err := w.ReadCloser.Read(p)
	w.timer.Stop()
	if err != nil && err != io.EOF {
		err = w.why(err)
	}
	return n, err
}

func (w *watched) Close() error {
	err := w.ReadCloser.Close()
	w.cancel(nil)
	return err
}

// why replaces an error by errSilent if that is what caused it.
func (w *watched) why(err error) error {
	if context.Cause(w.ctx) == errSilent {
		return errSilent
	}
	return err
}
