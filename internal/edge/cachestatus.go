package edge

import (
	"strconv"

	"github.com/ssiedge/ssiedge/pagecache"
)

// outcome is what else there is to say of how a request was answered.
type outcome struct {
	reason    string // why the answer is not kept; "": nothing to say
	kept      bool
	collapsed bool              // the page came of another's fill
	whole     bool              // the app was asked for the whole page, without the visitor's conditions
	beside    []pagecache.Field // for this visitor, beside what the page has
	validate  pagecache.Reason  // why each use of the page has to ask the origin
	variants  bool              // there were pages for other requests of the key
	failed    bool              // the page stands in for an answer that did not come, or was a failure
	forwarded int               // the status of the origin's answer; 0: that of this answer, or there was none
	ttl       int64
}

// appendStatus appends the Cache-Status member (RFC 9211) of the answer.
func (r *request) appendStatus(b []byte) []byte {
	switch {
	case r.result.failed, r.source == sourceStored, r.source == sourceMiss:
		return r.appendForwarded(b)
	case r.source >= sourceMemory && r.source <= sourceStale:
		b = strconv.AppendInt(append(b, "ssiedge; hit; ttl="...), r.result.ttl, 10)
		return append(append(b, "; detail="...), r.source.tier()...)
	}
	return append(b, cacheStatus[r.source]...)
}

func (r *request) appendForwarded(b []byte) []byte {
	b = append(append(b, "ssiedge; fwd="...), r.forwardedFor()...)
	if s := r.result.forwarded; s != 0 && s != r.ctx.Response.StatusCode() {
		b = strconv.AppendInt(append(b, "; fwd-status="...), int64(s), 10)
	}
	stored := r.result.kept && r.state.store.keeps
	if stored {
		b = append(b, "; stored"...)
	}
	if r.result.collapsed {
		b = append(b, "; collapsed"...)
	}
	if r.result.failed {
		return append(strconv.AppendInt(append(b, "; ttl="...), r.result.ttl, 10), "; detail=stale-if-error"...)
	}
	switch {
	case r.result.kept && !stored:
		b = append(b, "; detail=no-tier"...)
	case r.result.reason != "":
		b = append(append(b, "; detail="...), r.result.reason...)
	case r.result.validate != pagecache.ReasonNone:
		b = append(append(b, "; detail="...), r.result.validate.String()...)
	}
	return b
}

// forwardedFor says why the origin was asked (RFC 9211, section 2.2).
func (r *request) forwardedFor() string {
	switch {
	case r.passedOver:
		return "request"
	case r.stale.Page != nil:
		return "stale"
	case r.result.variants:
		return "vary-miss"
	}
	return "uri-miss"
}

// tier is the word for where a pulled page was found. A stale one is in memory
// by the time that it is served.
func (s source) tier() string {
	switch s {
	case sourceDisk:
		return pagecache.DiskTier
	case sourceMemcache:
		return "memcache"
	}
	return pagecache.MemoryTier
}
