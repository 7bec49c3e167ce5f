package pagecache

import "sync"

// hushKeys bounds how many keys a hush remembers.
const hushKeys = 1024

// hush lets a message through once a key, so that a log is not flooded by
// what visitors ask for.
type hush struct {
	every int64 // milliseconds until a key may speak again; 0: never

	mu   sync.Mutex
	last map[string]int64
}

// let says whether the key may speak. When too many keys are remembered no
// other one may.
func (h *hush) let(key string, now int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if last, ok := h.last[key]; ok && !h.over(last, now) {
		return false
	}
	if len(h.last) >= hushKeys {
		h.forgetLocked(now)
	}
	if len(h.last) >= hushKeys {
		return false
	}
	if h.last == nil {
		h.last = make(map[string]int64)
	}
	h.last[key] = now
	return true
}

func (h *hush) over(last, now int64) bool { return h.every > 0 && now-last >= h.every }

func (h *hush) forgetLocked(now int64) {
	for key, last := range h.last {
		if h.over(last, now) {
			delete(h.last, key)
		}
	}
}
