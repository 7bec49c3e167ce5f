package edge

import (
	"log/slog"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// report is something that went wrong and that the visitor cannot do anything
// about: mostly with one page.
type report struct {
	site    *site  // nil: about no site
	path    []byte // canonical
	kind    string // "origin", "body", "include", ...
	message string
}

// reporter writes reports to the log, each page and kind once a minute, so that
// a broken page under load is one line and not a flood.
type reporter struct {
	log *slog.Logger

	mu   sync.Mutex
	seen *simplelru.LRU[string, time.Time] // page and kind -> when it was last written
}

const (
	reportsRemembered = 4096
	reportEvery       = time.Minute
)

func newReporter(log *slog.Logger) *reporter {
	seen, _ := simplelru.NewLRU[string, time.Time](reportsRemembered, nil) // errs for a size below 1 only
	return &reporter{log: log, seen: seen}
}

// add writes a report unless the same page said the same lately. Nothing of it
// is kept.
func (rp *reporter) add(x report) {
	where := ""
	if x.site != nil {
		where = x.site.options.Where
	}
	if rp.first(x.kind+" "+where+" "+string(x.path), time.Now()) {
		rp.log.Warn(x.message, "problem", x.kind, "page", string(x.path), "site", where)
	}
}

func (rp *reporter) first(key string, now time.Time) bool {
	rp.mu.Lock()
	defer rp.mu.Unlock()
	if last, ok := rp.seen.Get(key); ok && now.Sub(last) < reportEvery {
		return false
	}
	rp.seen.Add(key, now)
	return true
}
