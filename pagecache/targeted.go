package pagecache

import "bytes"

// readTargeted reads the targeted field of a name (RFC 9213): a structured
// field, a Dictionary (RFC 9651, section 3.2). ok is false where the field is
// absent or empty, is no Dictionary, or gives a directive a value of the wrong
// type: then it counts for nothing.
func readTargeted(fields []Field, name string) (s said, ok bool) {
	d := dictionary{}
	for i := range fields {
		if !equalNames(fields[i].Name, name) {
			continue
		}
		if !d.line(fields[i].Value) {
			return said{}, false
		}
	}
	if len(d.members) == 0 {
		return said{}, false
	}
	for i := range d.members {
		if !s.takeTargeted(&d.members[i]) {
			return said{}, false
		}
	}
	return s, true
}

// takeTargeted counts one directive in; false: its value is of the wrong type.
func (s *said) takeTargeted(m *dictMember) bool {
	switch string(m.key) {
	case "max-age":
		return m.state(&s.maxAge)
	case "s-maxage":
		return m.state(&s.sMaxAge)
	case "stale-while-revalidate":
		return m.state(&s.staleWhile)
	case "stale-if-error":
		return m.state(&s.staleError)
	case "private":
		return s.restrict(m, saysPrivate, true)
	case "no-cache":
		return s.restrict(m, saysNoCache, true)
	case "public":
		return s.restrict(m, saysPublic, false)
	}
	if d := plainDirective(m.key); d != 0 {
		return s.restrict(m, d, false)
	}
	return true // unknown: its type does not matter
}

// restrict takes a directive that is true or false, or, where it may have
// fields, a String with their names.
func (s *said) restrict(m *dictMember, whole directives, fields bool) bool {
	switch {
	case m.kind == itemBoolean:
		if m.yes {
			s.directives |= whole
		}
	case m.kind == itemString && fields:
		s.directives |= s.fieldsOr(whole, m.value, true)
	default:
		return false
	}
	return true
}

// state takes a number of seconds. A negative one is none that anything can
// live for.
func (m *dictMember) state(to *stated) bool {
	if m.kind != itemInteger {
		return false
	}
	n, _ := parseSeconds(m.value)
	*to = stated(n) + 1
	return true
}

// equalNames compares two field names, in any case.
func equalNames(b []byte, s string) bool {
	return len(b) == len(s) && bytes.EqualFold(b, []byte(s))
}
