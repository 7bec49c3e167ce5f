package pagecache

import (
	"bytes"
	"net/http"
)

// maxHeuristic bounds a lifetime that was guessed, in seconds.
const maxHeuristic = 24 * 3600

// authority is who gave an answer its lifetime.
type authority uint8

const (
	nobody     authority = iota
	byRule               // a rule's cache
	byTarget             // a targeted field
	bySpecial            // Surrogate-Control, X-Accel-Expires
	byItself             // Cache-Control, Expires
	byNegative           // the setting negative
	byGuess              // heuristic
)

// lifetime is the seconds that an answer may be used, and who says so.
type lifetime struct {
	seconds   int64
	by        authority
	sinceHere bool // they count from when the answer came; else from its making, so that its age is part of them
}

// findLifetime asks the authorities in order: the first that speaks decides.
func (e *evidence) findLifetime() lifetime {
	if e.policy.Lifetime != nil && ruleStatus(e.reply.Status) {
		return lifetime{int64(seconds(*e.policy.Lifetime)), byRule, true}
	}
	by := byItself
	if e.targeted {
		by = byTarget
	} else if e.special.by != nobody {
		return e.special
	} else if l, ok := e.accel(); ok {
		return l
	}
	switch {
	case e.sMaxAge.ok():
		return lifetime{e.sMaxAge.seconds(), by, false}
	case e.maxAge.ok():
		return lifetime{e.maxAge.seconds(), by, false}
	}
	if value, ok := e.reply.first("expires"); ok && !e.targeted {
		return lifetime{e.untilExpires(value), byItself, false}
	}
	return e.unstated()
}

// unstated is the lifetime of an answer that states none.
func (e *evidence) unstated() lifetime {
	status := e.reply.Status
	gone := status == http.StatusNotFound || status == http.StatusGone
	switch {
	case gone && e.policy.Negative > 0 && !e.asked.Cookies && !e.asked.Authorization:
		return lifetime{int64(seconds(e.policy.Negative)), byNegative, true}
	case e.policy.Heuristic && (heuristicStatus(status) || e.has(saysPublic)):
		return e.guess()
	}
	return lifetime{}
}

// untilExpires is the time from an answer's Date to its Expires (RFC 9111,
// section 4.2.1): no clock of ours. What is no date has expired.
func (e *evidence) untilExpires(value []byte) int64 {
	expires, ok := ParseDate(value, e.reply.ResponseTime)
	if !ok {
		return 0
	}
	return min(max(expires-e.reply.made(), 0), maxSeconds)
}

// guess takes a tenth of the time for which the answer had not changed (RFC
// 9111, section 4.2.2).
func (e *evidence) guess() lifetime {
	modified, ok := e.reply.date("last-modified")
	if unchanged := e.reply.made() - modified; ok && unchanged >= 10 && modified <= e.reply.ResponseTime.Unix() {
		return lifetime{min(unchanged/10, maxHeuristic), byGuess, false}
	}
	return lifetime{}
}

// readSurrogate reads Surrogate-Control: the lifetime that it states, and with
// it its "max-age=60+30": 30 seconds more for which the answer may be used
// stale; and no-store. A directive for another surrogate (";name") is not for
// us, one for ours goes before all others. (Edge Architecture Specification
// 1.0, section 2.2.)
func (e *evidence) readSurrogate() {
	best := 0
	for i := range e.reply.Fields {
		if !equalFold(e.reply.Fields[i].Name, "surrogate-control") {
			continue
		}
		for line := e.reply.Fields[i].Value; len(line) > 0; {
			var member []byte
			member, line, _ = cutMember(line)
			directive, target, targeted := bytes.Cut(member, []byte(";"))
			rank := 1
			if targeted && equalFold(trimSpace(target), "ssiedge") {
				rank = 2
			} else if targeted {
				continue
			}
			if e.takeSurrogate(trimSpace(directive), rank > best) {
				best = rank
			}
		}
	}
}

// takeSurrogate counts one directive in, and says whether it was a lifetime
// that is now the answer's.
func (e *evidence) takeSurrogate(directive []byte, better bool) bool {
	name, value, _ := bytes.Cut(directive, []byte("="))
	if equalFold(name, "no-store") {
		e.directives |= saysNoStore
	}
	if !equalFold(name, "max-age") || !better {
		return false
	}
	fresh, more, extended := bytes.Cut(unquote(value), []byte("+"))
	e.special = lifetime{deltaSeconds(fresh), bySpecial, false}
	if extended {
		e.staleWhile = stated(deltaSeconds(more)) + 1
		e.staleError = e.staleWhile
	}
	return true
}

// accel reads X-Accel-Expires as nginx does: seconds from when the answer
// came, or "@" and the time at which it expires. What is no number states
// nothing.
func (e *evidence) accel() (l lifetime, ok bool) {
	value, _ := e.reply.first("x-accel-expires")
	at := len(value) > 0 && value[0] == '@'
	if at {
		value = value[1:]
	}
	n := int64(0)
	for _, c := range value {
		if c < '0' || c > '9' {
			return lifetime{}, false
		}
		n = min(n*10+int64(c-'0'), 1<<40)
	}
	if at {
		n = max(n-e.reply.ResponseTime.Unix(), 0)
	}
	return lifetime{min(n, maxSeconds), bySpecial, true}, len(value) > 0
}
