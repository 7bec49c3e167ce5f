package edge

import "bytes"

// withholds says whether a fill leaves out an end-to-end field of the visitor,
// other than Cookie and Authorization: what is about his own request, what
// would have the app take it for another one, unless it is in the key, and with
// a rule's lifetime all that is not.
func (k *keeping) withholds(name []byte) bool {
	return notOnFills(name) || (k.byRule() || poses(name)) && !k.lists(name)
}

// notOnFills says whether a field is about the visitor's own request and its
// body.
func notOnFills(name []byte) bool {
	switch string(name) {
	case "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "Range", "If-Range",
		"Content-Type", "Content-Encoding", "Content-Language", "Content-Location", "Content-Range",
		"Content-Md5", "Content-Digest", "Repr-Digest", "Max-Forwards",
		"X-Http-Method", "X-Http-Method-Override", "X-Method-Override", "X-Original-Url", "X-Rewrite-Url":
		return true
	}
	return false
}

// posingFamilies are the beginnings of names by which frameworks and proxies
// take another host, scheme, path or method than the request's own, or have a
// file sent in place of the answer.
var posingFamilies = [...]string{
	"X-Forwarded-", "X-Original-", "X-Rewrite-", "X-Override-", "X-Http-", "X-Accel-", "X-Sendfile-",
	"X-Envoy-Original-", "X-Invoke-", "X-Middleware-", "X-Proxy-",
}

// poses says whether a field has some app take the request for one of another
// URL, method or visitor: with an answer to that anybody could replace a page.
// Where such a field has to shape pages, headers puts it in the key.
func poses(name []byte) bool {
	switch string(name) { // as fasthttp normalises names
	case "X-Host", "X-Real-Host", "X-Backend-Host", "Proxy-Host", "X-Server-Name", "Base-Url", "X-Base-Url",
		"X-Url", "X-Uri", "X-Path", "Http-Url", "Request-Uri", "X-Script-Name", "Script-Name", "X-Matched-Path", "X-Now-Route-Matches",
		"X-Scheme", "X-Proto", "X-Url-Scheme", "X-Ssl", "Front-End-Https", "X-Method",
		"Client-Ip", "X-Client-Ip", "True-Client-Ip", "X-True-Client-Ip", "Cf-Connecting-Ip", "Fastly-Client-Ip",
		"X-Cluster-Client-Ip", "X-Originating-Ip", "X-Remote-Ip", "X-Remote-Addr", "X-Proxyuser-Ip",
		"Proxy-Client-Ip", "Wl-Proxy-Client-Ip", "X-Azure-Clientip", "X-Azure-Socketip":
		return true
	}
	for _, family := range posingFamilies {
		if bytes.HasPrefix(name, []byte(family)) {
			return true
		}
	}
	return false
}
