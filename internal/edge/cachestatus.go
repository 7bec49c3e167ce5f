package edge

import "strconv"

// outcome is what else there is to say of how a request was answered.
type outcome struct {
	reason    string // why the answer is not kept; "": nothing to say
	kept      bool
	collapsed bool // the page came of another's fill
	whole     bool // the app was asked for the whole page, without the visitor's conditions
	cookies   [][]byte
	ttl       int64
}

// appendStatus appends the Cache-Status member (RFC 9211) of the answer.
func (r *request) appendStatus(b []byte) []byte {
	switch r.source {
	case sourceMemory, sourceMemcache, sourceStale:
		b = strconv.AppendInt(append(b, "ssiedge; hit; ttl="...), r.result.ttl, 10)
		if r.source == sourceMemcache {
			return append(b, "; detail=memcache"...)
		}
		return append(b, "; detail=memory"...)
	case sourceStored, sourceMiss:
		return r.appendForwarded(b)
	}
	return append(b, cacheStatus[r.source]...)
}

func (r *request) appendForwarded(b []byte) []byte {
	b = append(b, "ssiedge; fwd="...)
	if r.stale.Page != nil {
		b = append(b, "stale"...)
	} else {
		b = append(b, "uri-miss"...)
	}
	if r.result.kept {
		b = append(b, "; stored"...)
	}
	if r.result.collapsed {
		b = append(b, "; collapsed"...)
	}
	if r.result.reason != "" {
		b = append(append(b, "; detail="...), r.result.reason...)
	}
	return b
}
