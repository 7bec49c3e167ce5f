package pagecache

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// came is when the answers of these tests came.
var came = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// replyOf makes an answer of its status and its fields, one a line. Words in
// it stand for dates: {now}, {now+60}, {now-60}.
func replyOf(text string) *Reply {
	r := &Reply{Status: 200, RequestTime: came, ResponseTime: came}
	for line := range strings.SplitSeq(text, "\n") {
		name, value, isField := strings.Cut(line, ":")
		if status, err := strconv.Atoi(line); err == nil && !isField {
			r.Status = status
			continue
		}
		if name = strings.TrimSpace(name); name != "" {
			r.Fields = append(r.Fields, Field{[]byte(name), []byte(dated(strings.Trim(value, " ")))})
		}
	}
	return r
}

// dated puts the dates of the words in.
func dated(s string) string {
	before, rest, found := strings.Cut(s, "{now")
	if !found {
		return s
	}
	offset, after, _ := strings.Cut(rest, "}")
	n, _ := strconv.Atoi(offset)
	return before + came.Add(time.Duration(n)*time.Second).Format("Mon, 02 Jan 2006 15:04:05 GMT") + after
}

// verdict is a decision in short: the lifetime of what is kept, or the reason.
func verdict(d Decision) string {
	switch {
	case !d.Keep:
		return d.Reason.String()
	case d.Validate != ReasonNone:
		return "validate: " + d.Validate.String()
	}
	return fmt.Sprint(d.Lifetime)
}

func hour() *time.Duration { d := time.Hour; return &d }

// Each row is a line of the checklist, or a sentence of the contract.
func TestDecide(t *testing.T) {
	none, cookies, authorized, withheld := Asked{}, Asked{Cookies: true}, Asked{Authorization: true}, Asked{Withheld: true}
	plain := Policy{}
	ruled := Policy{Lifetime: hour()}
	guessing := Policy{Heuristic: true}
	negative := Policy{Negative: 30 * time.Second}
	strip := Policy{SetCookie: CookiePolicy{Strip: true}}
	keepLang := Policy{SetCookie: CookiePolicy{Keep: []string{"lang", "theme"}}}
	keepAll := Policy{SetCookie: CookiePolicy{Keep: []string{"*"}}}
	untargeted := Policy{Targets: []string{}}
	for _, c := range []struct {
		id     string
		reply  string
		asked  Asked
		policy Policy
		want   string
	}{
		{"STO_1", "Cache-Control: max-age=60", none, plain, "60"},
		{"STO_1", "Expires: {now+60}\nDate: {now}", none, plain, "60"},
		{"STO_1", "Cache-Control: public", none, plain, "no-lifetime"},
		{"STO_1", "", none, plain, "no-lifetime"},
		{"STO_1", "103\nCache-Control: max-age=60", none, plain, "status"},
		{"STO_2", "206\nCache-Control: max-age=60\nContent-Range: bytes 0-1/2", none, plain, "status"},
		{"STO_2", "304\nCache-Control: max-age=60", none, plain, "status"},
		{"STO_3", "299\nCache-Control: max-age=60", none, plain, "60"},
		{"STO_3", "303\nCache-Control: max-age=60", none, plain, "60"},
		{"STO_3", "400\nCache-Control: max-age=60", none, plain, "60"},
		{"STO_3", "500\nCache-Control: max-age=60", none, plain, "60"},
		{"STO_3", "599\nCache-Control: max-age=60", none, plain, "60"},
		{"STO_3", "999\nCache-Control: max-age=60", none, plain, "60"},
		{"STO_4", "Cache-Control: no-store, must-understand, max-age=60", none, plain, "60"},
		{"STO_4", "599\nCache-Control: no-store, must-understand, max-age=60", none, plain, "status"},
		{"STO_4", "599\nCache-Control: must-understand, max-age=60", none, plain, "status"},
		{"STO_5", "ETag: \"a\"", none, plain, "no-lifetime"},

		{"CCP_1", "Cache-Control: s-maxage=60\nCache-Control: max-age=5", none, plain, "60"},
		{"CCP_1", "Cache-Control: max-age=60\nCache-Control: no-store", none, plain, "no-store"},
		{"CCP_2", "cache-control: Max-Age=60", none, plain, "60"},
		{"CCP_2", "CACHE-CONTROL: NO-STORE, max-age=60", none, plain, "no-store"},
		{"CCP_3", `Cache-Control: x="max-age=5, no-store", max-age=60`, none, plain, "60"},
		{"CCP_3", `Cache-Control: max-age=60, x="\", max-age=5, no-store"`, none, plain, "60"},
		{"CCP_4", "Cache-Control: foo, bar=1, max-age=60, no-storee, xno-store", none, plain, "60"},
		{"CCP_5", `Cache-Control: max-age="60"`, none, plain, "60"},
		{"CCP_6", "Cache-Control: max-age='60'", none, plain, "expired"},
		{"CCP_7", "Cache-Control: max-age=003600", none, plain, "3600"},
		{"CCP_7", "Cache-Control: max-age=-1", none, plain, "expired"},
		{"CCP_7", "Cache-Control: max-age=+60", none, plain, "expired"},
		{"CCP_7", "Cache-Control: max-age=60.0", none, plain, "expired"},
		{"CCP_7", "Cache-Control: max-age=a60", none, plain, "expired"},
		{"CCP_7", "Cache-Control: max-age=60a", none, plain, "expired"},
		{"CCP_7", "Cache-Control: max-age=", none, plain, "expired"},
		{"CCP_7", "Cache-Control: max-age", none, plain, "expired"},
		{"CCP_8", "Cache-Control: max-age=2147483648", none, plain, "2147483648"},
		{"CCP_8", "Cache-Control: max-age=99999999999999999999999", none, plain, "2147483648"},
		{"CCP_9", "Cache-Control: max-age=x\nExpires: {now+60}", none, plain, "expired"},
		{"CCP_9", "Cache-Control: s-maxage=x, max-age=60", none, plain, "expired"},
		{"CCP_10", "Cache-Control: max-age=60, max-age=3600", none, plain, "60"},
		{"CCP_10", "Cache-Control: max-age=0, max-age=3600", none, plain, "expired"},
		{"CCP_11", "Cache-Control: max-age=60, no-cache, no-store", none, plain, "no-store"},
		{"CCP_11", "Cache-Control: public, private, max-age=60", none, plain, "private"},
		{"CCP_12", "Cache-Control: max-age =60", none, plain, "expired"},
		{"CCP_12", "Cache-Control: max-age= 60", none, plain, "expired"},
		{"CCP_12", `Cache-Control: private ="set-cookie", max-age=60`, none, plain, "private"},
		{"CCP_13", `Cache-Control: max-age=60, x="y`, none, plain, "expired"},
		{"CCP_13", `Cache-Control: s-maxage=60, x="y`, none, plain, "expired"},
		{"CCP_15", "Cache-Control: , ,max-age=60,, ,", none, plain, "60"},

		{"DIR_1", "Cache-Control: no-store", none, ruled, "no-store"},
		{"DIR_1", "Cache-Control: no-store=x, max-age=60", none, plain, "no-store"},
		{"DIR_2", "Cache-Control: private, max-age=60", none, plain, "private"},
		{"DIR_3", `Cache-Control: private="x-user", max-age=60`, none, plain, "60"},
		{"DIR_3", `Cache-Control: private="vary", max-age=60`, none, plain, "private"},
		{"DIR_3", `Cache-Control: private="", max-age=60`, none, plain, "private"},
		{"DIR_4", "Cache-Control: no-cache, max-age=60", none, plain, "no-cache"},
		{"DIR_4", "Cache-Control: no-cache, max-age=60\nETag: \"a\"", none, plain, "validate: no-cache"},
		{"DIR_4", "Cache-Control: no-cache\nLast-Modified: {now-60}", none, plain, "validate: no-cache"},
		{"DIR_4", "Cache-Control: no-cache, stale-while-revalidate=60\nETag: \"a\"", none, plain, "validate: no-cache"},
		{"DIR_4", "Cache-Control: no-cache\nETag:\nLast-Modified: yesterday", none, plain, "no-cache"},
		{"DIR_4", "500\nCache-Control: no-cache\nETag: \"a\"", none, plain, "no-cache"},
		{"DIR_4", "Cache-Control: no-cache\nETag: \"a\"", cookies, plain, "cookies"},
		{"DIR_4", "Cache-Control: no-cache\nETag: \"a\"\nSet-Cookie: a=b", none, plain, "set-cookie"},
		{"DIR_5", `Cache-Control: no-cache="x-user", max-age=60`, none, plain, "60"},
		{"DIR_5", "Cache-Control: No-Cache=X-User, max-age=60", none, plain, "60"},
		{"DIR_5", "Cache-Control: no-cache=content-type, max-age=60\nETag: \"a\"", none, plain, "validate: no-cache"},
		{"STO_6", "Expires: {now-60}\nLast-Modified: {now-60}", none, plain, "validate: expired"},
		{"STO_6", "Cache-Control: max-age=60\nAge: 60\nETag: W/\"a\"", none, plain, "validate: expired"},
		{"STO_6", "Cache-Control: max-age=0\nETag: \"a\"\nContent-Encoding: identity", none, plain, "validate: expired"},
		{"STO_6", "Cache-Control: max-age=0\nETag: \"a\"\nContent-Encoding: gzip", none, plain, "expired"},
		{"STO_6", "503\nCache-Control: max-age=0\nETag: \"a\"", none, plain, "expired"},
		{"STO_6", "Cache-Control: max-age=0, stale-while-revalidate=5\nETag: \"a\"", none, plain, "0"},
		{"DIR_8", "Cache-Control: max-age=3600, s-maxage=60", none, plain, "60"},
		{"DIR_8", "Cache-Control: s-maxage=3600, max-age=60", none, plain, "3600"},

		{"TCC_1", "CDN-Cache-Control: max-age=60\nCache-Control: max-age=5", none, plain, "60"},
		{"TCC_1", "CDN-Cache-Control: max-age=60\nSSIEdge-Cache-Control: max-age=70", none, plain, "70"},
		{"TCC_1", "CDN-Cache-Control: max-age=60\nSSIEdge-Cache-Control: &", none, plain, "60"},
		{"TCC_1", "B-Cache-Control: max-age=60\nA-Cache-Control: max-age=70", none, Policy{Targets: []string{"b-cache-control", "A-Cache-Control"}}, "60"},
		{"TCC_2", "CDN-Cache-Control: max-age=60\nCache-Control: no-store, private", none, plain, "60"},
		{"TCC_2", "CDN-Cache-Control: no-store\nCache-Control: max-age=60", none, plain, "no-store"},
		{"TCC_2", "CDN-Cache-Control: max-age=0\nExpires: {now+60}", none, plain, "expired"},
		{"TCC_2", "CDN-Cache-Control: public\nExpires: {now+60}\nCache-Control: max-age=60", none, plain, "no-lifetime"},
		{"TCC_3", "CDN-Cache-Control: Max-Age=60\nCache-Control: max-age=5", none, plain, "5"},
		{"TCC_3", "CDN-Cache-Control: max-age =60\nCache-Control: max-age=5", none, plain, "5"},
		{"TCC_3", "CDN-Cache-Control: max-age= 60\nCache-Control: max-age=5", none, plain, "5"},
		{"TCC_3", "CDN-Cache-Control: max-age=60, max-age=70", none, plain, "70"},
		{"TCC_3", "CDN-Cache-Control: max-age=60;a=b;c", none, plain, "60"},
		{"TCC_3", "CDN-Cache-Control: max-age=60,\nCache-Control: max-age=5", none, plain, "5"},
		{"TCC_3", "CDN-Cache-Control: max-age=60 no-store\nCache-Control: max-age=5", none, plain, "5"},
		{"TCC_3", "CDN-Cache-Control: max-age=60\nCDN-Cache-Control: no-store", none, plain, "no-store"},
		{"TCC_3", "CDN-Cache-Control: max-age=60, a=%\"f%c3%bc\"\nCache-Control: max-age=5", none, plain, "60"},
		{"TCC_3", "CDN-Cache-Control: max-age=60, a=%\"f%C3%BC\"\nCache-Control: max-age=5", none, plain, "5"},
		{"TCC_3", "CDN-Cache-Control: max-age=60, a=%\"f%c3\"\nCache-Control: max-age=5", none, plain, "5"},
		{"TCC_3", "CDN-Cache-Control: max-age=60, a=%\"f%c\"\nCache-Control: max-age=5", none, plain, "5"},
		{"TCC_4", "CDN-Cache-Control: max-age=\"60\"\nCache-Control: max-age=5", none, plain, "5"},
		{"TCC_4", "CDN-Cache-Control: max-age=60.5\nCache-Control: max-age=5", none, plain, "5"},
		{"TCC_4", "CDN-Cache-Control: max-age\nCache-Control: max-age=5", none, plain, "5"},
		{"TCC_4", "CDN-Cache-Control: no-store=1\nCache-Control: max-age=5", none, plain, "5"},
		{"TCC_4", "CDN-Cache-Control: max-age=-60\nCache-Control: max-age=5", none, plain, "expired"},
		{"TCC_5", "CDN-Cache-Control: no-store=?0, max-age=60", none, plain, "60"},
		{"TCC_5", "CDN-Cache-Control: no-store=?1, max-age=60", none, plain, "no-store"},
		{"TCC_6", "CDN-Cache-Control: private, max-age=60", none, plain, "private"},
		{"TCC_6", "CDN-Cache-Control: no-cache, max-age=60", none, plain, "no-cache"},
		{"TCC_6", "CDN-Cache-Control: no-cache=\"x-user\", max-age=60", none, plain, "60"},
		{"TCC_6", "CDN-Cache-Control: no-cache\nETag: \"a\"", none, plain, "validate: no-cache"},
		{"TCC_6", "CDN-Cache-Control: s-maxage=60, max-age=5", none, plain, "60"},
		{"TCC_6", "CDN-Cache-Control: no-store, must-understand, max-age=60", none, plain, "60"},
		{"TCC_7", "CDN-Cache-Control:\nCache-Control: max-age=5", none, plain, "5"},
		{"TCC_7", "CDN-Cache-Control: foo=(1 2);a, bar=:YQ==:, baz=@1, q=tok/en\nCache-Control: max-age=5", none, plain, "no-lifetime"},
		{"TCC_8", "Other-Cache-Control: max-age=60\nCache-Control: max-age=5", none, plain, "5"},
		{"TCC_8", "CDN-Cache-Control: max-age=60\nCache-Control: max-age=5", none, untargeted, "5"},
		{"TCC_10", "CDN-Cache-Control: max-age=60\nAge: 60", none, plain, "expired"},

		{"FRE_1", "Cache-Control: max-age=60, s-maxage=30\nExpires: {now+90}", none, plain, "30"},
		{"FRE_1", "Expires: {now+60}", none, plain, "60"},
		{"FRE_1", "Expires: {now+60}\nDate: nonsense", none, plain, "60"},
		{"FRE_2", "Expires: {now}\nDate: {now}", none, plain, "expired"},
		{"FRE_3", "Cache-Control: max-age=60\nExpires: {now-60}", none, plain, "60"},
		{"FRE_3", "Cache-Control: max-age=60\nExpires: 0", none, plain, "60"},
		{"FRE_3", "Cache-Control: max-age=0\nExpires: {now+60}", none, plain, "expired"},
		{"FRE_4", "Expires: {now+3660}\nDate: {now+3600}", none, plain, "60"},
		{"FRE_5", "Expires: {now-60}\nDate: {now}", none, plain, "expired"},
		{"FRE_6", "Expires: 0\nLast-Modified: {now-864000}", none, guessing, "validate: expired"},
		{"FRE_6", "Expires: -1", none, plain, "expired"},
		{"FRE_6", "Expires:", none, plain, "expired"},
		{"FRE_7", "Expires: {now+60}\nExpires: {now+90}", none, plain, "60"},

		{"AGE_3", "Cache-Control: max-age=60\nDate: {now-60}", none, plain, "expired"},
		{"AGE_3", "Cache-Control: max-age=60\nDate: {now-59}", none, plain, "60"},
		{"AGE_6", "Cache-Control: max-age=99999999999\nAge: 99999999999", none, plain, "expired"},

		{"HEU_1", "Last-Modified: {now-100}", none, plain, "no-lifetime"},
		{"HEU_1", "Last-Modified: {now-100}", none, guessing, "10"},
		{"HEU_2", "302\nLast-Modified: {now-100}", none, guessing, "no-lifetime"},
		{"HEU_2", "503\nLast-Modified: {now-100}", none, guessing, "status"},
		{"HEU_2", "599\nLast-Modified: {now-100}\nCache-Control: public", none, guessing, "10"},
		{"HEU_3", "410\nLast-Modified: {now-100}", none, guessing, "10"},
		{"HEU_3", "501\nLast-Modified: {now-100}", none, guessing, "10"},
		{"HEU_3", "206\nLast-Modified: {now-100}", none, guessing, "status"},
		{"HEU_4", "Last-Modified: {now-864000000}", none, guessing, "86400"},
		{"HEU_4", "ETag: \"a\"", none, guessing, "no-lifetime"},
		{"HEU_5", "Last-Modified: {now+100}", none, guessing, "no-lifetime"},
		{"HEU_5", "Last-Modified: {now-100}\nDate: {now-200}", none, guessing, "no-lifetime"},
		{"HEU_5", "Last-Modified: nonsense", none, guessing, "no-lifetime"},
		{"HEU_6", "Last-Modified: {now-9}", none, guessing, "no-lifetime"},

		{"VAR_2", "Cache-Control: max-age=60\nVary: *", none, plain, "vary"},
		{"VAR_2", "Cache-Control: max-age=60\nVary: Accept, *", none, plain, "vary"},
		{"VAR_2", "Cache-Control: max-age=60\nVary: Accept Language", none, plain, "vary"},
		{"VAR_2", "Cache-Control: max-age=60\nVary: Accept\nVary: *", none, ruled, "vary"},
		{"SEC_4", "Cache-Control: max-age=60\nVary: a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p", none, plain, "60"},
		{"SEC_4", "Cache-Control: max-age=60\nVary: a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q", none, plain, "vary"},

		{"AUT_1", "Cache-Control: max-age=60", authorized, plain, "authorization"},
		{"AUT_1", "Cache-Control: max-age=60, public", authorized, plain, "60"},
		{"AUT_1", "Cache-Control: max-age=60, must-revalidate", authorized, plain, "60"},
		{"AUT_1", "Cache-Control: s-maxage=60", authorized, plain, "60"},
		{"AUT_3", "Cache-Control: max-age=60, proxy-revalidate", authorized, plain, "authorization"},
		{"AUT_3", "Expires: {now+60}", authorized, plain, "authorization"},
		{"AUT_3", "CDN-Cache-Control: max-age=60, public", authorized, plain, "60"},
		{"AUT_3", "CDN-Cache-Control: max-age=60\nCache-Control: public", authorized, plain, "authorization"},
		{"AUT_3", "", authorized, ruled, "authorization"},
		{"COO_4", `Cache-Control: no-cache="set-cookie", max-age=60` + "\nSet-Cookie: a=b", none, keepAll, "60"},
		{"COO_4", `Cache-Control: no-cache="set-cookie", max-age=60` + "\nSet-Cookie: a=b", none, plain, "set-cookie"},
		{"COO_4", `Cache-Control: private="Set-Cookie, set-cookie2", max-age=60` + "\nSet-Cookie: a=b", none, strip, "60"},
		{"COO_4", `Cache-Control: no-cache="set-cookie", max-age=60`, none, plain, "60"},
		{"COO_4", `Cache-Control: no-cache="set-cookie, x", max-age=60`, none, plain, "60"},

		{"status", "500", none, plain, "status"},
		{"status", "503\nRetry-After: 5", none, negative, "status"},
		{"head", "Cache-Control: max-age=60", Asked{Head: true}, plain, "method"},

		{"cookies", "Cache-Control: max-age=60", cookies, plain, "cookies"},
		{"cookies", "Cache-Control: max-age=60, public", cookies, plain, "60"},
		{"cookies", "Cache-Control: s-maxage=60", cookies, plain, "60"},
		{"cookies", "Cache-Control: max-age=60, public=1", cookies, plain, "cookies"},
		{"cookies", "Cache-Control: max-age=60, must-revalidate", cookies, plain, "cookies"},
		{"cookies", "Expires: {now+60}", cookies, plain, "cookies"},
		{"cookies", "CDN-Cache-Control: max-age=60", cookies, plain, "60"},
		{"cookies", "CDN-Cache-Control: max-age=60\nCache-Control: private", cookies, plain, "60"},
		{"cookies", "Surrogate-Control: max-age=60", cookies, plain, "cookies"},
		{"cookies", "X-Accel-Expires: 60", cookies, plain, "cookies"},
		{"cookies", "", cookies, ruled, "cookies"},
		{"cookies", "Cache-Control: public", cookies, ruled, "3600"},
		{"cookies", "Cache-Control: s-maxage=x", cookies, ruled, "cookies"},
		{"cookies", `Cache-Control: public, x="y`, cookies, ruled, "cookies"},
		{"cookies", "CDN-Cache-Control: max-age=60", cookies, ruled, "cookies"},
		{"cookies", "", withheld, ruled, "3600"},

		{"rule", "", none, ruled, "3600"},
		{"rule", "301\nLocation: /", none, ruled, "3600"},
		{"rule", "308\nLocation: /", none, ruled, "3600"},
		{"rule", "302\nLocation: /", none, ruled, "status"},
		{"rule", "404", none, ruled, "status"},
		{"rule", "404\nCache-Control: max-age=60", none, ruled, "60"},
		{"rule", "500", none, ruled, "status"},
		{"rule", "Cache-Control: private, no-cache, max-age=0", none, ruled, "3600"},
		{"rule", "Expires: 0", none, ruled, "3600"},
		{"rule", "Cache-Control: no-store, private", none, ruled, "no-store"},
		{"rule", "Surrogate-Control: no-store", none, ruled, "no-store"},
		{"rule", "CDN-Cache-Control: no-store", none, ruled, "no-store"},
		{"rule", `Cache-Control: private="x-user"`, none, ruled, "3600"},
		{"rule", `Cache-Control: no-cache="content-type"`, none, ruled, "3600"},
		{"rule", "X-Accel-Expires: 5\nSurrogate-Control: max-age=6\nCDN-Cache-Control: max-age=7", none, ruled, "3600"},
		{"rule", "Age: 7200", none, ruled, "10800"},
		{"rule", "Set-Cookie: a=b", none, ruled, "set-cookie"},
		{"rule", "", none, Policy{Lifetime: new(time.Duration)}, "expired"},

		{"special", "Surrogate-Control: max-age=60\nCache-Control: max-age=5", none, plain, "60"},
		{"special", "Surrogate-Control: max-age=60, content=\"SSI/1.0\"\nX-Accel-Expires: 30", none, plain, "60"},
		{"special", "Surrogate-Control: content=\"SSI/1.0\"\nCache-Control: max-age=5", none, plain, "5"},
		{"special", "Surrogate-Control: max-age=60;other, max-age=30\nCache-Control: max-age=5", none, plain, "30"},
		{"special", "Surrogate-Control: max-age=30, max-age=60;ssiedge, max-age=90", none, plain, "60"},
		{"special", "Surrogate-Control: no-store;other, max-age=30", none, plain, "30"},
		{"special", "Surrogate-Control: no-store, max-age=30", none, plain, "no-store"},
		{"special", "Surrogate-Control: no-store\nCache-Control: max-age=60", none, plain, "no-store"},
		{"special", "Surrogate-Control: max-age=60\nCache-Control: no-cache, max-age=0", none, plain, "60"},
		{"special", "Surrogate-Control: max-age=60\nCache-Control: private", none, plain, "private"},
		{"special", "Surrogate-Control: max-age=60\nCache-Control: no-store", none, plain, "no-store"},
		{"special", "CDN-Cache-Control: max-age=60\nSurrogate-Control: no-store, max-age=5\nX-Accel-Expires: 6", none, plain, "60"},
		{"special", "X-Accel-Expires: 60\nCache-Control: max-age=5\nExpires: 0", none, plain, "60"},
		{"special", "X-Accel-Expires: 0\nCache-Control: max-age=5", none, plain, "expired"},
		{"special", "X-Accel-Expires: off\nCache-Control: max-age=5", none, plain, "5"},
		{"special", fmt.Sprintf("X-Accel-Expires: @%d\nCache-Control: max-age=5", came.Unix()+60), none, plain, "60"},
		{"special", fmt.Sprintf("X-Accel-Expires: @%d\nCache-Control: max-age=5", came.Unix()-60), none, plain, "expired"},
		{"special", "X-Accel-Expires: @\nCache-Control: max-age=5", none, plain, "5"},
		{"special", "X-Accel-Expires: 60\nCache-Control: private", none, plain, "private"},

		{"set-cookie", "Cache-Control: max-age=60\nSet-Cookie: a=b", none, plain, "set-cookie"},
		{"set-cookie", "Cache-Control: max-age=60, public\nset-cookie: a=b", none, plain, "set-cookie"},
		{"set-cookie", "CDN-Cache-Control: max-age=60\nSet-Cookie2: a=b", none, plain, "set-cookie"},
		{"set-cookie", "Cache-Control: max-age=60\nSet-Cookie: a=b", none, strip, "60"},
		{"set-cookie", "Cache-Control: max-age=60\nSet-Cookie: lang=en; path=/\nSet-Cookie: theme=x", none, keepLang, "60"},
		{"set-cookie", "Cache-Control: max-age=60\nSet-Cookie: lang=en\nSet-Cookie: session=x", none, keepLang, "set-cookie"},
		{"set-cookie", "Cache-Control: max-age=60\nSet-Cookie: LANG=en", none, keepLang, "set-cookie"},
		{"set-cookie", "Cache-Control: max-age=60\nSet-Cookie: session=x", none, keepAll, "60"},
		{"set-cookie", "Cache-Control: max-age=60\nClear-Site-Data: \"cookies\"", none, strip, "set-cookie"},
		{"set-cookie", "Cache-Control: max-age=60\nClear-Site-Data: \"cookies\"", none, keepLang, "set-cookie"},
		{"set-cookie", "Cache-Control: max-age=60\nClear-Site-Data: \"cookies\"", none, keepAll, "60"},

		{"negative", "404", none, negative, "30"},
		{"negative", "410", none, negative, "30"},
		{"negative", "404", none, plain, "no-lifetime"},
		{"negative", "403", none, negative, "no-lifetime"},
		{"negative", "404", cookies, negative, "no-lifetime"},
		{"negative", "404", authorized, negative, "no-lifetime"},
		{"negative", "404", withheld, negative, "30"},
		{"negative", "404\nCache-Control: max-age=60", none, negative, "60"},
		{"negative", "404\nCache-Control: max-age=0", none, negative, "expired"},
		{"negative", "404\nCache-Control: no-store", none, negative, "no-store"},
		{"negative", "404\nSet-Cookie: a=b", none, negative, "set-cookie"},
		{"negative", "404\nAge: 600", none, negative, "630"},

		{"stale at once", "Cache-Control: max-age=0, stale-while-revalidate=60", none, plain, "0"},
		{"stale at once", "Cache-Control: max-age=0, stale-if-error=60", none, plain, "0"},
		{"stale at once", "Cache-Control: max-age=0, stale-if-error=60, must-revalidate", none, plain, "expired"},
		{"stale at once", "Cache-Control: max-age=0, stale-if-error=60\nAge: 60", none, plain, "expired"},
		{"stale at once", "Cache-Control: max-age=0", none, Policy{StaleIfError: time.Hour}, "expired"},
	} {
		t.Run(c.id, func(t *testing.T) {
			if got := verdict(Decide(replyOf(c.reply), c.asked, &c.policy)); got != c.want {
				t.Errorf("%q, asked %+v, policy %+v: %s, want %s", c.reply, c.asked, c.policy, got, c.want)
			}
		})
	}
}

// How long a page may be used stale.
func TestDecideWindows(t *testing.T) {
	site := Policy{StaleWhileRevalidate: 10 * time.Second, StaleIfError: 20 * time.Second}
	ruled := site
	ruled.Lifetime = hour()
	for _, c := range []struct {
		id     string
		reply  string
		asked  Asked
		policy Policy
		while  uint32
		error  uint32
	}{
		{"where the answer says nothing", "Cache-Control: max-age=60", Asked{}, site, 10, 20},
		{"STL_3", "Cache-Control: max-age=60", Asked{}, Policy{}, 0, 0},
		{"STL_4", "Cache-Control: max-age=60, stale-while-revalidate=5", Asked{}, site, 5, 20},
		{"STL_5", "Cache-Control: max-age=60, stale-if-error=5", Asked{}, site, 10, 5},
		{"says none", "Cache-Control: max-age=60, stale-if-error=0, stale-while-revalidate=0", Asked{}, site, 0, 0},
		{"says nonsense", "Cache-Control: max-age=60, stale-if-error=x", Asked{}, site, 10, 0},
		{"STL_2", "Cache-Control: max-age=60, must-revalidate, stale-if-error=5", Asked{}, site, 0, 0},
		{"STL_2", "Cache-Control: max-age=60, proxy-revalidate, stale-while-revalidate=5", Asked{}, site, 0, 0},
		{"STL_2", "Cache-Control: s-maxage=60", Asked{}, site, 0, 0},
		{"STL_2", "CDN-Cache-Control: s-maxage=60", Asked{}, site, 0, 0},
		{"STL_2", "CDN-Cache-Control: max-age=60, must-revalidate", Asked{}, site, 0, 0},
		{"TCC_2", "CDN-Cache-Control: max-age=60\nCache-Control: must-revalidate, s-maxage=5", Asked{}, site, 10, 20},
		{"TCC_6", "CDN-Cache-Control: max-age=60, stale-if-error=5, stale-while-revalidate=6", Asked{}, site, 6, 5},
		{"STL_10", "Cache-Control: s-maxage=60, stale-while-revalidate=5", Asked{}, site, 5, 0},
		{"STL_10", "Cache-Control: s-maxage=60, stale-if-error=5", Asked{}, site, 0, 5},
		{"a rule's lifetime", "Cache-Control: s-maxage=60", Asked{}, ruled, 10, 20},
		{"a rule's lifetime", "Cache-Control: private, max-age=0, must-revalidate", Asked{}, ruled, 0, 0},
		{"a rule's lifetime", "Cache-Control: no-cache", Asked{}, ruled, 0, 0},
		{"AUT_2", "Cache-Control: s-maxage=60, stale-if-error=5", Asked{Authorization: true}, site, 0, 0},
		{"AUT_2", "Cache-Control: max-age=60, public, stale-if-error=5", Asked{Authorization: true}, site, 10, 5},
		{"Surrogate-Control", "Surrogate-Control: max-age=60+5", Asked{}, site, 5, 5},
		{"huge", "Cache-Control: max-age=60, stale-if-error=99999999999", Asked{}, site, 10, maxSeconds},
	} {
		d := Decide(replyOf(c.reply), c.asked, &c.policy)
		if !d.Keep || d.StaleWhile() != c.while || d.StaleError != c.error {
			t.Errorf("%s: %q: keep %v, %d and %d seconds, want %d and %d", c.id, c.reply, d.Keep, d.StaleWhile(), d.StaleError, c.while, c.error)
		}
	}
}

func TestDecideStrips(t *testing.T) {
	strip := Policy{Lifetime: hour(), SetCookie: CookiePolicy{Strip: true}}
	for _, c := range []struct {
		reply        string
		asked        Asked
		policy       Policy
		page, answer bool
	}{
		{"Set-Cookie: a=b", Asked{Withheld: true}, strip, true, true},
		{"Set-Cookie: a=b", Asked{}, strip, true, false},
		{"", Asked{Withheld: true}, strip, false, false},
		{"Set-Cookie: a=b", Asked{Withheld: true}, Policy{Lifetime: hour(), SetCookie: CookiePolicy{Keep: []string{"*"}}}, false, false},
		{"Set-Cookie: a=b\nCache-Control: private=set-cookie", Asked{}, Policy{Lifetime: hour(), SetCookie: CookiePolicy{Keep: []string{"*"}}}, true, false},
	} {
		d := Decide(replyOf(c.reply), c.asked, &c.policy)
		if !d.Keep || d.StripPage != c.page || d.StripAnswer != c.answer {
			t.Errorf("%q %+v: %+v", c.reply, c.asked, d)
		}
	}
}

func TestDecideVary(t *testing.T) {
	for reply, want := range map[string][]string{
		"":                                  nil,
		"Vary:":                             nil,
		"Vary: accept-LANGUAGE":             {"Accept-Language"},
		"Vary: b, ,A,\nvary: a , X-y-Z, b":  {"A", "B", "X-Y-Z"},
		"Vary: cookie\nVary: x_y, 2x-3y-zE": {"2x-3y-Ze", "Cookie", "X_y"},
	} {
		if d := Decide(replyOf("Cache-Control: max-age=60\n"+reply), Asked{}, &Policy{}); !d.Keep || !slices.Equal(d.Vary, want) {
			t.Errorf("%q: %q, want %q", reply, d.Vary, want)
		}
	}
}

// A decision shares nothing with the reply, whose memory is used again.
func TestDecideSharesNothing(t *testing.T) {
	r := replyOf("Cache-Control: max-age=60\nVary: Accept-Language")
	d := Decide(r, Asked{}, &Policy{})
	for i := range r.Fields {
		clear(r.Fields[i].Value)
	}
	if d.Vary[0] != "Accept-Language" {
		t.Errorf("%q", d.Vary)
	}
}

func TestReasons(t *testing.T) {
	all := Reasons()
	if len(all) != len(reasonCodes)-1 || slices.Contains(all, ReasonNone) {
		t.Errorf("%v", all)
	}
	seen := map[string]bool{}
	for _, r := range all {
		if s := r.String(); s == "" || s == "unknown" || seen[s] {
			t.Errorf("reason %d is %q", r, s)
		}
		seen[r.String()] = true
	}
	if ReasonInvalidated.String() != "invalidated" || Reason(200).String() != "unknown" {
		t.Errorf("%s %s", ReasonInvalidated, Reason(200))
	}
}

// Decide takes what any origin may send.
func FuzzDecide(f *testing.F) {
	f.Add("max-age=60, private=\"a\"", "max-age=60, foo=(a b);c", "max-age=60+5;ssiedge", "60", uint8(7))
	f.Fuzz(func(t *testing.T, cc, cdn, surrogate, age string, bits uint8) {
		r := &Reply{Status: 200, RequestTime: came, ResponseTime: came.Add(time.Second), Fields: []Field{
			{[]byte("Cache-Control"), []byte(cc)}, {[]byte("Surrogate-Control"), []byte(surrogate)},
			{[]byte("Age"), []byte(age)}, {[]byte("Expires"), []byte(age)}, {[]byte("Vary"), []byte(cdn)},
		}}
		if cdn != "" {
			r.Fields = append(r.Fields, Field{[]byte("CDN-Cache-Control"), []byte(cdn)})
		}
		p := &Policy{Heuristic: bits&1 != 0, SetCookie: CookiePolicy{Strip: bits&2 != 0}}
		d := Decide(r, Asked{Cookies: bits&4 != 0}, p)
		if d.Keep != (d.Reason == ReasonNone) {
			t.Errorf("keep %v, reason %v", d.Keep, d.Reason)
		}
		if d.Keep && !d.Fresh(r.ResponseTime) && d.StaleWhile() == 0 && d.StaleError == 0 {
			t.Errorf("kept though it can serve nobody: %+v", d)
		}
		if _, targeted := readTargeted(r.Fields, "CDN-Cache-Control"); d.Keep && !targeted && strings.EqualFold(cc, "no-store") {
			t.Error("no-store was kept")
		}
	})
}
