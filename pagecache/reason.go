package pagecache

// Reason is why an answer is not kept. Its String is the code in Cache-Status
// and in the log.
type Reason uint8

const (
	ReasonNone          Reason = iota // it is kept
	ReasonMethod                      // it answers another method than GET
	ReasonStatus                      // its status is none that is kept here: 1xx, 206, 304, a 5xx without a lifetime of its own, or one that the rule's lifetime is not for
	ReasonNoStore                     // it says no-store
	ReasonPrivate                     // it says private
	ReasonNoCache                     // it says no-cache
	ReasonSetCookie                   // it sets a cookie, and set_cookie does not allow that; or it clears what a browser keeps
	ReasonVary                        // it varies by everything, or by too much
	ReasonNoLifetime                  // nothing says how long it may be used
	ReasonExpired                     // its lifetime was over when it came
	ReasonCookies                     // the request's cookies went to the app and are not in the key, and the answer does not say that it is for everybody
	ReasonAuthorization               // the same with Authorization
	ReasonTooLarge                    // it is larger than max_keep
	ReasonBusy                        // bodies on their way in take as much memory as they may
	ReasonIncomplete                  // its body ended early
	ReasonInvalidated                 // a purge or an unsafe method hit the page while it was being filled
)

var reasonCodes = [...]string{
	"none", "method", "status", "no-store", "private", "no-cache", "set-cookie", "vary",
	"no-lifetime", "expired", "cookies", "authorization", "too-large", "busy", "incomplete", "invalidated",
}

func (r Reason) String() string {
	if int(r) >= len(reasonCodes) {
		return "unknown"
	}
	return reasonCodes[r]
}

// Reasons returns all reasons for which an answer is not kept.
func Reasons() []Reason {
	all := make([]Reason, 0, len(reasonCodes)-1)
	for r := ReasonMethod; int(r) < len(reasonCodes); r++ {
		all = append(all, r)
	}
	return all
}
