package pagecache

import (
	"bytes"
	"net/http"
	"time"
)

// Field is one field line of a head. The name may be in any case.
type Field struct{ Name, Value []byte }

// Reply is the head of an answer of the origin. Its slices are not kept.
type Reply struct {
	Status       int
	Fields       []Field   // in order, several lines of a name as they came
	RequestTime  time.Time // when the request went out
	ResponseTime time.Time // when the head had come
}

// first gives the value of the first line of a field; name is lower case.
func (r *Reply) first(name string) (value []byte, ok bool) {
	for i := range r.Fields {
		if equalFold(r.Fields[i].Name, name) {
			return trimSpace(r.Fields[i].Value), true
		}
	}
	return nil, false
}

// date reads the first line of a field as a date; name is lower case.
func (r *Reply) date(name string) (unix int64, ok bool) {
	value, ok := r.first(name)
	if !ok {
		return 0, false
	}
	return ParseDate(value, r.ResponseTime)
}

// made is when the answer was made: its Date, else when it came (RFC 9110,
// section 6.6.1).
func (r *Reply) made() int64 {
	if date, ok := r.date("date"); ok {
		return date
	}
	return r.ResponseTime.Unix()
}

// age is the answer's Age, in seconds. Of several the first counts; what is no
// number is passed over (RFC 9111, section 5.1).
func (r *Reply) age() uint32 {
	value, _ := r.first("age")
	value, _, _ = bytes.Cut(value, []byte(","))
	n, ok := parseSeconds(trimSpace(value))
	if !ok {
		return 0
	}
	return uint32(n)
}

// heuristicStatus says whether answers of a status may be given a lifetime
// that they do not state (RFC 9110, section 15.1; RFC 7725 for 451).
func heuristicStatus(status int) bool {
	switch status {
	case http.StatusOK, http.StatusNonAuthoritativeInfo, http.StatusNoContent,
		http.StatusMultipleChoices, http.StatusMovedPermanently, http.StatusPermanentRedirect,
		http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone,
		http.StatusRequestURITooLong, http.StatusUnavailableForLegalReasons, http.StatusNotImplemented:
		return true
	}
	return false
}

// understood says whether a status has a meaning that this cache knows, for
// must-understand (RFC 9111, section 5.2.2.3): a final one with a name.
func understood(status int) bool { return status >= 200 && http.StatusText(status) != "" }

// ruleStatus says whether a rule's lifetime is for a status.
func ruleStatus(status int) bool {
	return status == http.StatusOK || status == http.StatusMovedPermanently || status == http.StatusPermanentRedirect
}

// keepableStatus says whether an answer of a status may be a page at all: it
// is final, whole, and not about the one request that it answers, its condition,
// its size or who sent it. Whoever can provoke such an answer could give it to
// everybody. Of 428, 429, 431 and 511 that is said outright (RFC 6585).
func keepableStatus(status int) bool {
	switch status {
	case http.StatusPartialContent, http.StatusNotModified,
		http.StatusProxyAuthRequired, http.StatusRequestTimeout, http.StatusLengthRequired, http.StatusPreconditionFailed,
		http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusRequestedRangeNotSatisfiable,
		http.StatusExpectationFailed, http.StatusMisdirectedRequest, http.StatusUpgradeRequired, http.StatusPreconditionRequired,
		http.StatusTooManyRequests, http.StatusRequestHeaderFieldsTooLarge, http.StatusHTTPVersionNotSupported,
		http.StatusNetworkAuthenticationRequired:
		return false
	}
	return status >= 200
}
