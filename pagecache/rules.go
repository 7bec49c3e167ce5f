package pagecache

import (
	"bytes"
	"slices"
	"strings"
	"time"
)

// defaultTargets are the targeted fields that are read where the policy names
// none, first to last.
var defaultTargets = []string{"SSIEdge-Cache-Control", "CDN-Cache-Control"}

// Asked is what the request that an answer is for carried to the origin.
type Asked struct {
	Cookies       bool // cookies were forwarded that are not in the key
	Authorization bool // Authorization was forwarded
	Withheld      bool // cookies of the visitor were not forwarded
	Head          bool // the method was HEAD
}

// Policy is what the settings of rule and site say of keeping an answer. The
// zero value keeps what RFC 9111 allows a shared cache by the answer's own
// words, and no answer that sets a cookie.
type Policy struct {
	Lifetime             *time.Duration // a rule's cache, for 200, 301 and 308; nil: what the answer says
	Heuristic            bool           // guess a lifetime from Last-Modified where nothing states one
	Negative             time.Duration  // of 404 and 410 that state no lifetime, to requests without cookies; 0: not kept
	SetCookie            CookiePolicy
	Targets              []string      // targeted fields, in order; nil: SSIEdge-Cache-Control, CDN-Cache-Control; empty: none
	StaleWhileRevalidate time.Duration // where the answer does not say
	StaleIfError         time.Duration // where the answer does not say
	MaxVariants          int           // of a page that varies; 0: DefaultMaxVariants
}

// CookiePolicy is what happens to an answer that sets cookies. Zero: it is not
// kept.
type CookiePolicy struct {
	Strip bool     // it is kept without its Set-Cookie lines
	Keep  []string // it is kept with them if these are all that it sets; "*": any. Strip goes before
}

// Decision is whether and how an answer may be kept.
type Decision struct {
	Keep     bool
	Reason   Reason // why it is not kept
	Validate Reason // of one that is kept: why each use has to ask the origin first; ReasonNone: it need not, while it is fresh or in a window
	Freshness
	Omit        []string // canonical names of further fields to leave out of the kept page; nil: none
	StripPage   bool     // leave Set-Cookie out of the kept page
	StripAnswer bool     // leave it out of the answer too: the visitor's cookies were withheld from the app, which so knows nothing of the session that it would end
	Vary        []string // canonical names of the fields that the page varies by, sorted; nil: none
}

// Decide judges an answer of the origin by its head: RFC 9111 for a shared
// cache, and what the policy says. It looks at no clock; what it returns
// shares no bytes with the reply.
func Decide(r *Reply, a Asked, p *Policy) Decision {
	e := evidence{reply: r, asked: a, policy: p}
	e.read()
	vary, varies := readVary(r.Fields)
	d := Decision{Vary: vary, Omit: e.omitted}
	d.StripPage = e.setsCookie && (p.SetCookie.Strip || e.has(saysCookieFields))
	d.StripAnswer = d.StripPage && a.Withheld
	d.Freshness = e.freshness()
	if d.Validate = e.unusable(&d.Freshness); d.Validate != ReasonNone && d.Flags() == 0 {
		d.allow(0) // a window that only the policy opens is not the answer's word
	}
	d.Reason = e.refusal(d.Validate, varies)
	d.Keep = d.Reason == ReasonNone
	return d
}

// evidence is what speaks for and against keeping an answer.
type evidence struct {
	reply  *Reply
	asked  Asked
	policy *Policy

	said                      // by the field that decides
	targeted         bool     // and that is a targeted field, which stands for Cache-Control and Expires (RFC 9213, section 2.2)
	special          lifetime // of Surrogate-Control
	life             lifetime
	setsCookie       bool
	setsOtherCookie  bool // one that the policy does not let be kept
	clearsBrowser    bool
	understoodStatus bool
}

func (e *evidence) read() {
	targets := e.policy.Targets
	if targets == nil {
		targets = defaultTargets
	}
	for _, name := range targets {
		if e.said, e.targeted = readTargeted(e.reply.Fields, name); e.targeted {
			break
		}
	}
	if !e.targeted {
		e.said = readCacheControl(e.reply.Fields)
		e.readSurrogate()
	}
	e.understoodStatus = understood(e.reply.Status)
	e.readCookies()
	e.life = e.findLifetime()
}

func (e *evidence) readCookies() {
	for i := range e.reply.Fields {
		f := &e.reply.Fields[i]
		switch {
		case equalFold(f.Name, "set-cookie"), equalFold(f.Name, "set-cookie2"):
			e.setsCookie = true
			e.setsOtherCookie = e.setsOtherCookie || !e.policy.SetCookie.keeps(f.Value)
		case equalFold(f.Name, "clear-site-data"):
			// Replayed it would take the cookies of everybody.
			e.clearsBrowser = true
		}
	}
}

// keeps says whether a Set-Cookie line may be part of a page.
func (p *CookiePolicy) keeps(line []byte) bool {
	name, _, _ := bytes.Cut(line, []byte("="))
	return p.keepsAll() || slices.Contains(p.Keep, string(trimSpace(name)))
}

func (p *CookiePolicy) keepsAll() bool { return slices.Contains(p.Keep, "*") }

// refusal gives the first thing that speaks against keeping: what the answer
// forbids, then what it lacks. The order is for the reader of the reason.
// validate is why no use of it could do without validation.
func (e *evidence) refusal(validate Reason, varies bool) Reason {
	switch {
	case e.asked.Head:
		return ReasonMethod
	case !keepableStatus(e.reply.Status), e.has(saysMustUnderstand) && !e.understoodStatus:
		return ReasonStatus
	case e.has(saysNoStore) && !e.has(saysMustUnderstand):
		return ReasonNoStore
	case e.has(saysPrivate) && e.life.by != byRule:
		return ReasonPrivate
	case validate == ReasonNoCache && !e.validatable():
		return ReasonNoCache
	case e.cookieRefused():
		return ReasonSetCookie
	case !varies:
		return ReasonVary
	case validate == ReasonNoLifetime:
		return e.unlived()
	case validate == ReasonExpired && !e.validatable():
		return ReasonExpired
	case e.asked.Cookies && !e.forEverybody() && e.life.by != byTarget:
		return ReasonCookies
	case e.asked.Authorization && !e.forEverybody() && !e.has(saysMustRevalidate):
		return ReasonAuthorization
	}
	return ReasonNone
}

// unusable says why the answer can serve nobody as it is: it wants to be
// validated each time, or was neither fresh when it came nor states itself that
// it may be used stale. ReasonNone: it can.
func (e *evidence) unusable(f *Freshness) Reason {
	switch {
	case e.validatesAlways():
		return ReasonNoCache
	case e.life.by == nobody:
		return ReasonNoLifetime
	case !e.usable(f):
		return ReasonExpired
	}
	return ReasonNone
}

// validatesAlways says whether the answer's no-cache holds: nothing that
// outranks it gives a lifetime.
func (e *evidence) validatesAlways() bool {
	return e.has(saysNoCache) && e.life.by != byRule && e.life.by != bySpecial
}

// validatable says whether an answer that may not be used as it is may be kept
// to be validated: the origin can be asked if it is still good. An error is
// not: it is gone tomorrow. The entity-tag of a coded body is not that of the
// page, whose coding is taken off.
func (e *evidence) validatable() bool {
	if e.reply.Status >= 500 {
		return false
	}
	tag, _ := e.reply.first("etag")
	coding, coded := e.reply.first("content-encoding")
	_, dated := e.reply.date("last-modified")
	return dated || len(tag) > 0 && (!coded || equalFold(coding, identity))
}

// cookieRefused says whether an answer's cookies keep it from being kept.
// private and no-cache that name Set-Cookie forbid to keep that line, whatever
// the policy, but not the rest.
func (e *evidence) cookieRefused() bool {
	if e.clearsBrowser && !e.policy.SetCookie.keepsAll() {
		return true
	}
	return e.setsCookie && !e.policy.SetCookie.Strip && e.setsOtherCookie
}

// forEverybody says whether the answer says that it is for all, whatever the
// request carried (RFC 9111, section 3.5).
func (e *evidence) forEverybody() bool {
	return e.has(saysPublic) || e.sMaxAge.ok() && e.sMaxAge.seconds() > 0
}

// unlived says why an answer without a lifetime is not kept.
func (e *evidence) unlived() Reason {
	status := e.reply.Status
	if status >= 500 || e.policy.Lifetime != nil && !ruleStatus(status) {
		return ReasonStatus
	}
	return ReasonNoLifetime
}

// usable says whether the answer can serve anybody: it was fresh when it came,
// or states itself that it may be used stale.
func (e *evidence) usable(f *Freshness) bool {
	now := e.reply.ResponseTime
	return f.Fresh(now) ||
		e.staleWhile.ok() && f.ServeWhileRevalidating(now) ||
		e.staleError.ok() && f.ServeOnError(now)
}

func (e *evidence) freshness() Freshness {
	var f Freshness
	f.measure(e.reply)
	f.Lifetime = uint32(e.life.seconds)
	switch {
	case e.validatesAlways():
		f.Lifetime = 0
	case e.life.sinceHere:
		f.Lifetime = f.from(e.life.seconds, e.reply.ResponseTime)
	}
	f.allow(e.window(e.staleWhile, e.policy.StaleWhileRevalidate))
	f.StaleError = e.window(e.staleError, e.policy.StaleIfError)
	if flags := e.flags(); flags != 0 {
		f.forbid(flags)
	}
	return f
}

func (e *evidence) flags() (flags FreshnessFlags) {
	if e.has(saysNoCache) {
		flags |= NoCache
	}
	if e.sharedAge() && !e.staleWhile.ok() && !e.staleError.ok() {
		flags |= SharedAge
	}
	// Authorization that only must-revalidate or s-maxage allow forbids stale
	// use, too (RFC 9111, section 3.5).
	authorized := e.asked.Authorization && !e.has(saysPublic)
	if e.has(saysMustRevalidate|saysProxyRevalidate) || authorized {
		flags |= MustRevalidate
	}
	return flags
}

// window is how long the answer may be used stale: as it says itself, else as
// the policy does. s-maxage says "not at all" (RFC 9111, section 5.2.2.10),
// unless the answer also says how long, or its lifetime is another's word.
func (e *evidence) window(own stated, policy time.Duration) uint32 {
	switch {
	case own.ok():
		return uint32(own.seconds())
	case e.sharedAge():
		return 0
	}
	return seconds(policy)
}

// sharedAge says whether the lifetime is that of s-maxage.
func (e *evidence) sharedAge() bool {
	return e.sMaxAge.ok() && (e.life.by == byItself || e.life.by == byTarget)
}

// maxVaryFields bounds the fields that a page may vary by.
const maxVaryFields = 16

// readVary reads the names in all lines of Vary (RFC 9110, section 12.5.5).
// ok is false where "*" is one of them, or no name of a field, which might be
// meant for any, or there are too many.
func readVary(fields []Field) (names []string, ok bool) {
	for i := range fields {
		if !equalFold(fields[i].Name, "vary") {
			continue
		}
		for line := fields[i].Value; len(line) > 0; {
			var name []byte
			name, line, _ = bytes.Cut(line, []byte(","))
			if name = trimSpace(name); len(name) == 0 {
				continue
			}
			if string(name) == "*" || bytes.ContainsFunc(name, func(c rune) bool { return !isNameByte(c) }) {
				return nil, false
			}
			if n := canonicalName(name); !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	slices.Sort(names)
	return names, len(names) <= maxVaryFields
}

// isNameByte says whether a character may be part of a field's name (RFC 9110,
// section 5.6.2).
func isNameByte(c rune) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", c)
}

// canonicalName writes a field's name as Fields have it: Accept-Language.
func canonicalName(name []byte) string {
	b := bytes.ToLower(name)
	for i, c := range b {
		if isLower(c) && (i == 0 || b[i-1] == '-') {
			b[i] = c - ('a' - 'A')
		}
	}
	return string(b)
}
