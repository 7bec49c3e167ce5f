package edge

import (
	"bytes"
	"strconv"
)

// cacheControl is what the lines of a Cache-Control field say.
type cacheControl struct {
	limits   restrictions
	lifetime int64 // seconds: the smaller of max-age and s-maxage
	stated   bool
	shared   bool // public or s-maxage: meant for everybody
}

// parseCacheControl reads Cache-Control (RFC 9111, section 5.2): names in any
// case, arguments as tokens or quoted, unknown directives passed over. A
// lifetime that is no number counts as 0: stale is the safe side.
func parseCacheControl(lines [][]byte) (c cacheControl) {
	for _, line := range lines {
		c.addLine(line)
	}
	return c
}

// addLine reads one line more.
func (c *cacheControl) addLine(line []byte) {
	for len(line) > 0 {
		var name, value []byte
		name, value, line = nextDirective(line)
		c.add(name, value)
	}
}

func (c *cacheControl) add(name, value []byte) {
	switch {
	case equalFold(name, "no-store"):
		c.limits |= noStore
	case equalFold(name, "no-cache"):
		c.limits |= noCache
	case equalFold(name, "private"):
		c.limits |= private
	case equalFold(name, "must-revalidate"):
		c.limits |= mustRevalidate
	case equalFold(name, "proxy-revalidate"):
		c.limits |= proxyRevalidate
	case equalFold(name, "no-transform"):
		c.limits |= noTransform
	case equalFold(name, "public"):
		c.shared = true
	case equalFold(name, "max-age"), equalFold(name, "s-maxage"):
		seconds := deltaSeconds(value)
		if !c.stated || seconds < c.lifetime {
			c.lifetime, c.stated = seconds, true
		}
		c.shared = c.shared || len(name) == len("s-maxage")
	}
}

// nextDirective splits the first directive off a line. A comma inside quotes
// is part of the argument.
func nextDirective(line []byte) (name, value, rest []byte) {
	end, quoted := 0, false
	for end < len(line) && (quoted || line[end] != ',') {
		switch {
		case line[end] == '"':
			quoted = !quoted
		case line[end] == '\\' && quoted && end+1 < len(line):
			end++
		}
		end++
	}
	if end < len(line) {
		rest = line[end+1:]
	}
	name, value, _ = bytes.Cut(bytes.TrimSpace(line[:end]), []byte("="))
	return name, value, rest
}

// deltaSeconds reads 1*DIGIT, quoted or not; more than 2^31 is 2^31.
func deltaSeconds(value []byte) int64 {
	const most = 1 << 31
	if len(value) >= 2 && value[0] == '"' && value[len(value)-1] == '"' {
		value = value[1 : len(value)-1]
	}
	for _, c := range value {
		if c < '0' || c > '9' {
			return 0
		}
	}
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil && len(value) > 0 || n > most { // digits alone fail only by being too many
		return most
	}
	return n
}
