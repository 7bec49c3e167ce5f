package edge

import (
	"strconv"

	"github.com/valyala/fasthttp"
)

// maxForwards reads a Max-Forwards field: through how many more hands an OPTIONS
// may go (RFC 9110, section 7.6.2). What is no number says nothing. A TRACE, the
// other method that it is for, goes nowhere.
func maxForwards(value []byte) (n uint64, ok bool) {
	for _, c := range value {
		if c < '0' || c > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseUint(string(value), 10, 64)
	return n, err == nil
}

// optionsEndHere says whether an OPTIONS is for us: it is about the server itself, or
// may go no further.
func optionsEndHere(h *fasthttp.RequestHeader, written []byte) bool {
	if string(written) == "*" {
		return true
	}
	n, ok := maxForwards(h.Peek(fasthttp.HeaderMaxForwards))
	return ok && n == 0
}

// oneHopLess is the value of Max-Forwards that goes out.
func oneHopLess(value []byte) []byte {
	if n, ok := maxForwards(value); ok && n > 0 {
		return strconv.AppendUint(nil, n-1, 10)
	}
	return value
}
