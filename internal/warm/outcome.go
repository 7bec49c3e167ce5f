package warm

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
)

// outcome is what became of one URL.
type outcome uint8

const (
	kept outcome = iota
	present
	notKept
	failed
)

// Reasons that are not the edge's: of failures, and where it states none.
const (
	reasonEntry    = "bad-entry"       // of the source: no URL
	reasonSitemap  = "bad-sitemap"     // it cannot be read, or not to its end
	reasonNoAnswer = "no-answer"       // refused, reset, no HTTP
	reasonTimeout  = "timeout"         // no answer in time
	reasonCutShort = "cut-short"       // less body than the head says
	reasonNoStatus = "no-cache-status" // a 2xx that no ssiedge has signed
	reasonRedirect = "redirect"        // the page is elsewhere
	reasonUnstated = "unstated"

	reasonStatus = "status-" // and the number: 400 and more

	maxReason = 64 // bytes; what an edge says is longer only if it is none
)

// result is an outcome, and of what.
type result struct {
	entry   entry
	outcome outcome
	reason  string // of notKept and failed
	err     error  // of failed
	bytes   int64
}

// failure is a failed result as it is reported.
func (r result) failure() Failure {
	return Failure{Place: r.entry.place, URL: r.entry.url, Reason: r.reason, Error: r.err.Error()}
}

// judge reads the outcome from the head of an answer that came whole.
func judge(resp *http.Response) (outcome, string, error) {
	if resp.StatusCode >= 400 {
		status := strconv.Itoa(resp.StatusCode)
		return failed, reasonStatus + status, errors.New(strings.TrimSpace("status " + status + " " + http.StatusText(resp.StatusCode)))
	}
	s, found := parseCacheStatus(resp.Header.Values("Cache-Status"))
	switch {
	case s.hit:
		return present, "", nil
	case s.stored, s.collapsed && s.detail == "":
		// Collapsed: the page was kept for somebody who asked at the same time,
		// or the edge would have asked again for us, and given a reason.
		return kept, "", nil
	case s.detail != "":
		return notKept, clip(s.detail), nil
	case resp.StatusCode >= 300:
		// The edge sends visitors to the URL without its slash by itself, and
		// then says nothing of a cache.
		return notKept, reasonRedirect, nil
	case !found:
		return failed, reasonNoStatus, errors.New("no Cache-Status of ssiedge: is it an ssiedge that answers?")
	case s.fwd != "":
		return notKept, clip(s.fwd), nil
	}
	return notKept, reasonUnstated, nil
}

func clip(s string) string { return s[:min(len(s), maxReason)] }
