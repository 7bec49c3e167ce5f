package pagecache

import (
	"bytes"
	"slices"
)

// said is what cache directives say: those of Cache-Control, or of the
// targeted field that stands for it.
type said struct {
	directives
	maxAge     stated // a lifetime
	sMaxAge    stated // a lifetime, for shared caches
	staleWhile stated // stale-while-revalidate (RFC 5861, section 3)
	staleError stated // stale-if-error (RFC 5861, section 4)

	// omitted are the canonical names of fields that private and no-cache name
	// and that a page can do without.
	omitted []string
}

type directives uint16

const (
	saysNoStore directives = 1 << iota
	saysMustUnderstand
	saysPrivate
	saysNoCache
	saysCookieFields // either of the two, and Set-Cookie is all that it names
	saysPublic
	saysMustRevalidate
	saysProxyRevalidate
)

func (d directives) has(any directives) bool { return d&any != 0 }

// stated is a number of seconds plus one; 0: not stated.
type stated uint64

func (s stated) ok() bool       { return s != 0 }
func (s stated) seconds() int64 { return int64(s) - 1 }

// state takes a value for a directive. The first counts, as of a directive
// that is repeated (RFC 9111, section 4.2.1).
func (s *stated) state(seconds int64) {
	if *s == 0 {
		*s = stated(seconds) + 1
	}
}

// readCacheControl reads the lines of Cache-Control (RFC 9111, section 5.2).
// Doubt makes an answer stale or not kept, never fresh: a lifetime that is no
// number is 0, and so is one beside a quoted string that does not end.
func readCacheControl(fields []Field) said {
	var s said
	broken := false
	for i := range fields {
		if !equalFold(fields[i].Name, "cache-control") {
			continue
		}
		for line := fields[i].Value; len(line) > 0; {
			member, rest, closed := cutMember(line)
			line = rest
			broken = broken || !closed
			s.take(member)
		}
	}
	if broken {
		s.maxAge, s.sMaxAge = 1, 0 // a lifetime of 0
		s.directives &^= saysPublic
	}
	return s
}

// cutMember cuts the first member off a list. Commas inside quotes are part of
// it. closed is false where a quoted string does not end.
func cutMember(line []byte) (member, rest []byte, closed bool) {
	quoted := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case c == ',' && !quoted:
			return line[:i], line[i+1:], true
		}
	}
	return line, nil, !quoted
}

// take counts one directive in. White space beside "=" is not allowed: a
// lifetime so written is none, a restriction still holds.
func (s *said) take(member []byte) {
	name, value, hasValue := bytes.Cut(trimSpace(member), []byte("="))
	bare := trimSpace(name)
	if len(bare) < len(name) {
		value = nil
	}
	switch {
	case equalFold(bare, "max-age"):
		s.maxAge.state(deltaSeconds(value))
	case equalFold(bare, "s-maxage"):
		s.sMaxAge.state(deltaSeconds(value))
	case equalFold(bare, "stale-while-revalidate"):
		s.staleWhile.state(deltaSeconds(value))
	case equalFold(bare, "stale-if-error"):
		s.staleError.state(deltaSeconds(value))
	case equalFold(bare, "private"):
		s.directives |= s.fieldsOr(saysPrivate, value, hasValue)
	case equalFold(bare, "no-cache"):
		s.directives |= s.fieldsOr(saysNoCache, value, hasValue)
	case equalFold(bare, "public"):
		if !hasValue { // it permits, so it has to be right
			s.directives |= saysPublic
		}
	default:
		s.directives |= plainDirective(bare)
	}
}

// plainDirective gives the directives that restrict and have no argument.
func plainDirective(name []byte) directives {
	switch {
	case equalFold(name, "no-store"):
		return saysNoStore
	case equalFold(name, "must-understand"):
		return saysMustUnderstand
	case equalFold(name, "must-revalidate"):
		return saysMustRevalidate
	case equalFold(name, "proxy-revalidate"):
		return saysProxyRevalidate
	}
	return 0
}

// fieldsOr reads the argument of private and no-cache (RFC 9111, sections
// 5.2.2.4 and 5.2.2.7): names of fields, as one token or quoted. These are left
// out of the page. An argument that names none, or one without which the page
// is not itself, is as if it were not there.
func (s *said) fieldsOr(whole directives, value []byte, hasValue bool) (found directives) {
	named := false
	for rest := unquote(value); hasValue && len(rest) > 0; {
		var name []byte
		name, rest, _ = bytes.Cut(rest, []byte(","))
		if name = trimSpace(name); len(name) == 0 {
			continue
		}
		named = true
		switch canonical := canonicalName(name); {
		case canonical == "Set-Cookie", canonical == "Set-Cookie2":
			found |= saysCookieFields
		case essential(canonical):
			found |= whole
		case !slices.Contains(s.omitted, canonical):
			s.omitted = append(s.omitted, canonical)
		}
	}
	if !named {
		return whole
	}
	return found
}

// essential says whether a page is not itself without a field: what its bytes
// mean, where it leads, and what this and other caches go by.
func essential(name string) bool {
	switch name {
	case "Content-Type", "Content-Encoding", "Content-Length", "Content-Range", "Transfer-Encoding", "Location",
		"Vary", "Cache-Control", "Expires", "Date", "Age", "Etag", "Last-Modified":
		return true
	}
	return false
}

// deltaSeconds reads 1*DIGIT, as a token or quoted (RFC 9111, sections 1.2.2
// and 5.2). What is no such number is 0; more than maxSeconds is maxSeconds.
func deltaSeconds(value []byte) int64 {
	n, _ := parseSeconds(unquote(value))
	return n
}

func parseSeconds(digits []byte) (n int64, ok bool) {
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = min(n*10+int64(c-'0'), maxSeconds)
	}
	return n, len(digits) > 0
}

// unquote takes the quotes off a quoted string; other values stay. Escapes
// stay too: no value that is understood needs one.
func unquote(value []byte) []byte {
	if len(value) >= 2 && value[0] == '"' && value[len(value)-1] == '"' {
		return value[1 : len(value)-1]
	}
	return value
}

// trimSpace takes optional white space off both ends (RFC 9110, section
// 5.6.3).
func trimSpace(b []byte) []byte { return bytes.Trim(b, " \t") }
