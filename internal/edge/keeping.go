package edge

import (
	"bytes"

	"github.com/ssiedge/ssiedge/pagecache"
)

// keeping are the settings for pages that the edge keeps itself.
type keeping struct {
	off            bool // cache = "off"
	policy         pagecache.Policy
	cookies        *Cookies // nil: not set
	headers        []string // in the key
	invalidate     bool
	forwardCookies bool // a fragment's Set-Cookie goes to the visitor
}

// mode says what of the visitor's cookies a fill carries. Where a rule gives
// the lifetime, its page is everybody's unless cookies are named.
func (k *keeping) mode() CookieMode {
	switch {
	case k.cookies != nil:
		return k.cookies.Mode
	case k.policy.Lifetime != nil:
		return CookiesNone
	}
	return CookiesAll
}

// byRule says that a rule made the fill: then nothing of the visitor shapes the
// page that is not in its key.
func (k *keeping) byRule() bool { return k.policy.Lifetime != nil }

func (k *keeping) overlay(o *Rule) {
	if o.Cache != nil {
		k.off, k.policy.Lifetime = o.Cache.Off, nil
		if !o.Cache.Off {
			k.policy.Lifetime = &o.Cache.For
		}
	}
	set(&k.policy.StaleWhileRevalidate, o.StaleWhileRevalidate)
	set(&k.policy.StaleIfError, o.StaleIfError)
	set(&k.policy.Negative, o.Negative)
	set(&k.policy.Heuristic, o.Heuristic)
	set(&k.policy.SetCookie, o.SetCookie)
	set(&k.invalidate, o.Invalidate)
	set(&k.forwardCookies, o.ForwardSetCookie)
	if o.Targets != nil {
		k.policy.Targets = o.Targets
	}
	if o.Cookies != nil {
		k.cookies = o.Cookies
	}
	if o.KeyHeaders != nil {
		k.headers = o.KeyHeaders
	}
}

func set[T any](dst *T, value *T) {
	if value != nil {
		*dst = *value
	}
}

// sends gives what a fill for a says in a field; nil: nothing. Vary is compared
// by that, so a field that is withheld counts as absent for everybody.
func (k *keeping) sends(a asker, name string) []byte {
	switch {
	case equalFold([]byte(name), "Accept-Encoding"), endsHere([]byte(name)):
		return nil
	case equalFold([]byte(name), "Cookie"):
		return k.sendsCookie(a)
	case equalFold([]byte(name), "Authorization"):
		if k.mode() != CookiesAll {
			return nil
		}
	case k.withholds([]byte(name)):
		return nil
	}
	return a.line(name)
}

// sendsCookie is the Cookie field of a fill.
func (k *keeping) sendsCookie(a asker) []byte {
	switch k.mode() {
	case CookiesAll:
		return a.line("Cookie")
	case CookiesNone:
		return nil
	}
	var b []byte
	for _, name := range k.cookies.Names {
		if value, ok := a.cookieFor(name); ok {
			b = append(append(append(append(b, name...), '='), value...), "; "...)
		}
	}
	return bytes.TrimSuffix(b, []byte("; "))
}

// keyed says whether the key holds something of the visitor.
func (k *keeping) keyed() bool {
	return k.mode() == CookiesListed && len(k.cookies.Names) > 0 || len(k.headers) > 0
}

// variesByAsker says whether a page varies by a field that the edge writes
// itself and that tells one visitor from another: no two of them share it.
func (k *keeping) variesByAsker(vary []string) bool {
	for _, name := range vary {
		switch name {
		case "X-Forwarded-For", "X-Real-Ip", "X-Request-Id", "Traceparent", "Via":
			return !k.byRule() // whose fills say nothing of the visitor
		}
	}
	return false
}

// lists says whether a header is in the key.
func (k *keeping) lists(name []byte) bool {
	for _, h := range k.headers {
		if equalFold(name, h) {
			return true
		}
	}
	return false
}

// asked says what a fill for the visitor carries and withholds.
func (k *keeping) asked(v *visitor) pagecache.Asked {
	cookie, authorization := v.get("Cookie") != nil, v.get("Authorization") != nil
	switch k.mode() {
	case CookiesAll:
		return pagecache.Asked{Cookies: cookie, Authorization: authorization}
	case CookiesListed:
		return pagecache.Asked{Withheld: authorization || v.hasOtherCookies(k.cookies.Names)}
	}
	return pagecache.Asked{Withheld: cookie || authorization}
}

// hasOtherCookies says whether the visitor sent a cookie that is not among
// names.
func (v *visitor) hasOtherCookies(names []string) bool {
	line := v.line("Cookie")
	for len(line) > 0 {
		var pair []byte
		pair, line, _ = bytes.Cut(line, []byte(";"))
		name, _, _ := bytes.Cut(bytes.TrimSpace(pair), []byte("="))
		if len(name) > 0 && !named(name, names) {
			return true
		}
	}
	return false
}

func named(name []byte, names []string) bool {
	for _, n := range names {
		if string(name) == n {
			return true
		}
	}
	return false
}
