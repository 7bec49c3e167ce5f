package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// methodPurge is the method whose target is the URL to purge.
const methodPurge = "PURGE"

// maxPurgeBody bounds the body of a call, in bytes: some 50,000 URLs.
const maxPurgeBody = 4 << 20

// PurgeRequest says what to purge. What is named is purged together: all of it
// or, with an error, nothing.
type PurgeRequest struct {
	URLs   []string // as the caller wrote them: http://host/path, with or without a query, or /path of every host
	All    bool     // every page
	Site   string   // a host name: only pages of the site that answers it; "": of every site
	Soft   bool     // pages only count as expired
	DryRun bool     // say what would be hit, and change nothing
	Count  bool     // say what is hit; for URLs that is wanted anyway
}

// PurgeReceipt says what was purged; it is the answer, too.
type PurgeReceipt struct {
	ID      string         `json:"id"`             // names the purge; "" after a dry run
	Seq     uint64         `json:"seq"`            // number of its last record; after a dry run, of the newest one there is
	Matched map[string]int `json:"matched"`        // pages that were hit, by tier; nil: not counted
	DryRun  bool           `json:"dry_run"`        // nothing was changed
	Left    []string       `json:"left,omitempty"` // what still answers for a URL although it was purged, a file under root say, and why
}

// Purger purges. When Purge returns without an error, the purge is recorded for
// good and in force. Its error is a *BadPurge, an *UnrecordedPurge, or else a
// failure that is not the caller's; after each of them nothing has changed.
type Purger interface {
	Purge(ctx context.Context, r PurgeRequest) (PurgeReceipt, error)
}

// BadPurge says that a call cannot be done as it is: 400.
type BadPurge struct {
	Reason string
	Cure   string
}

func (e *BadPurge) Error() string { return e.Reason + "; " + e.Cure }

// UnrecordedPurge says that a purge could not be recorded: 503.
type UnrecordedPurge struct{ Err error }

func (e *UnrecordedPurge) Error() string { return "the purge cannot be recorded: " + e.Err.Error() }

func (e *UnrecordedPurge) Unwrap() error { return e.Err }

// purge answers POST /purge.
func (s *Server) purge(w http.ResponseWriter, r *http.Request) {
	if !s.purges(w) {
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxPurgeBody))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("more than %d bytes", tooLarge.Limit), "purge in several calls, or all at once")
		return
	}
	if err != nil {
		refuse(w, http.StatusBadRequest, "the body did not arrive: "+err.Error(), "send it again")
		return
	}
	call, err := parsePurge(body)
	if err != nil {
		refusePurge(w, err)
		return
	}
	s.doPurge(w, r, call)
}

// purges says whether there is anything to purge. If not it has answered.
func (s *Server) purges(w http.ResponseWriter) bool {
	if s.options.Purge == nil {
		refuse(w, http.StatusNotFound, "nothing to purge: no pages are kept here", "ask an edge that keeps pages")
	}
	return s.options.Purge != nil
}

// purgeTarget answers PURGE: the URL that the request is for. Where the Host is
// this listener's own, that is the path of every host, since no page has it.
func (s *Server) purgeTarget(w http.ResponseWriter, r *http.Request) {
	if !s.purges(w) {
		return
	}
	target := r.RequestURI
	if strings.HasPrefix(target, "/") && !isOwn(r) {
		target = "http://" + r.Host + target
	}
	s.doPurge(w, r, PurgeRequest{URLs: []string{target}})
}

// isOwn says whether the Host is the address at which the request arrived.
func isOwn(r *http.Request) bool {
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	if r.Host == addr.String() {
		return true
	}
	_, port, err := net.SplitHostPort(addr.String())
	u := url.URL{Host: r.Host}
	return err == nil && u.Port() == port && isLoopback(r.Host)
}

// doPurge purges and tells. A caller who leaves does not end it: half of it may
// be done.
func (s *Server) doPurge(w http.ResponseWriter, r *http.Request, call PurgeRequest) {
	receipt, err := s.options.Purge.Purge(context.WithoutCancel(r.Context()), call)
	if err != nil {
		refusePurge(w, err)
		return
	}
	answer(w, http.StatusOK, receipt)
}

// refusePurge tells why a purge was not done.
func refusePurge(w http.ResponseWriter, err error) {
	if bad, ok := errors.AsType[*BadPurge](err); ok {
		refuse(w, http.StatusBadRequest, bad.Reason, bad.Cure)
		return
	}
	if _, ok := errors.AsType[*UnrecordedPurge](err); ok {
		refuse(w, http.StatusServiceUnavailable, err.Error()+"; nothing was purged", "see to the state directory, then purge again")
		return
	}
	refuse(w, http.StatusInternalServerError, "not purged: "+err.Error(), "see the log, then purge again")
}
