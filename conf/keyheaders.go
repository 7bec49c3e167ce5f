package conf

import (
	"fmt"
	"net/textproto"
	"slices"
	"strings"
)

// unkeyable lists the request fields that headers refuses, and why. What is in the
// key must be what the app gets, and say which page is wanted.
var unkeyable = []struct {
	names     []string
	why, cure string
}{
	{[]string{"Cookie"}, "holds all cookies at once", `name those that count: cookies = ["lang"]`},
	{[]string{"Host"}, "is in the key already", "remove it"},
	{[]string{"Authorization"}, "is one visitor's login, and a page for it is nobody else's", `remove it; bypass = {headers = ["Authorization"]} sends such requests past every tier`},
	{[]string{"Accept-Encoding"}, "is not sent to the app when a page is to be kept", "remove it: encodings are the edge's work"},
	{[]string{"If-Match", "If-Modified-Since", "If-None-Match", "If-Range", "If-Unmodified-Since", "Range"},
		"asks for a part of a page, or whether it changed: the edge answers that itself", "remove it"},
	{[]string{"X-Http-Method", "X-Http-Method-Override", "X-Method-Override", "X-Original-Url", "X-Rewrite-Url"},
		"makes another request of this one", "remove it"},
	{[]string{"X-Forwarded-Host", "X-Forwarded-Proto"}, "is in the key already, as a trusted proxy states it", "remove it"},
	{[]string{"Forwarded", "Surrogate-Capability", "Traceparent", "Via", "X-Forwarded-For", "X-Forwarded-Port",
		"X-Forwarded-Server", "X-Real-Ip", "X-Request-Id"}, "is the edge's to write: what a visitor says there does not reach the app", "remove it"},
	{[]string{"Connection", "Content-Length", "Expect", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection",
		"Te", "Trailer", "Transfer-Encoding", "Upgrade"}, "belongs to one connection and does not reach the app", "remove it"},
}

// keyHeaders reads a rule's headers: request fields that are forwarded and keyed.
func (r *reader) keyHeaders(n *node) []string {
	names := r.names(r.texts(n), checkKeyHeader, textproto.CanonicalMIMEHeaderKey)
	for i, name := range names {
		names[i] = textproto.CanonicalMIMEHeaderKey(name)
	}
	return names
}

func checkKeyHeader(name string) *mistake {
	if m := checkOneField(name); m != nil {
		return m
	}
	canonical := textproto.CanonicalMIMEHeaderKey(name)
	for _, u := range unkeyable {
		if slices.Contains(u.names, canonical) {
			return &mistake{fmt.Sprintf("%q %s", name, u.why), u.cure}
		}
	}
	if strings.Contains(name, "_") {
		hyphens := strings.ReplaceAll(name, "_", "-")
		return &mistake{fmt.Sprintf("%q holds a _: such fields are dropped, as an app may take one for %q", name, hyphens), fmt.Sprintf("write %q", hyphens)}
	}
	return nil
}

// checkOneField judges the name of a field that counts in full.
func checkOneField(name string) *mistake {
	if m := checkToken(name, "field"); m != nil {
		return m
	}
	if strings.Contains(name, "*") {
		return &mistake{fmt.Sprintf("%q holds a *, and stands for one field only", name), "write each name in full"}
	}
	return nil
}
