package conf

import (
	"fmt"
	"net/textproto"
	"slices"
)

// untargeted lists the response fields that are read behind the targeted ones and
// are none (RFC 9213, section 2). A target is trusted further: with it, an answer
// to a request with cookies may be everybody's. What an app says of every answer
// must not count as one.
var untargeted = []string{"Cache-Control", "Expires", "Pragma", "Surrogate-Control", "X-Accel-Expires"}

// targets reads the names of targeted fields. The list is never nil: an empty one
// means that there are none.
func (r *reader) targets(n *node) []string {
	return r.names(r.texts(n), checkTarget, textproto.CanonicalMIMEHeaderKey)
}

func checkTarget(name string) *mistake {
	if m := checkOneField(name); m != nil {
		return m
	}
	if slices.Contains(untargeted, textproto.CanonicalMIMEHeaderKey(name)) {
		return &mistake{fmt.Sprintf("%q is no targeted field: it is read anyhow, behind those", name), "remove it"}
	}
	return nil
}
