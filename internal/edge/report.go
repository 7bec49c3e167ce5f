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
	kind    string // "origin", "body", "include", ...: one of few
	message string
	count   int // how many times; 0 is once
}

// reporter counts reports and writes them to the log, each page and kind once a
// minute, and of each kind no more than so many pages a minute: a broken page
// under load is one line, and a broken template of a large site is no flood.
type reporter struct {
	log *slog.Logger

	mu    sync.Mutex
	seen  *simplelru.LRU[string, *silence] // page and kind
	kinds map[string]*kind
}

// silence is the time after a line in which the same is counted only.
type silence struct {
	since time.Time
	more  int // reports since
}

// kind is what is known of all reports of a kind.
type kind struct {
	total   uint64
	since   time.Time // of the minute at hand
	lines   int       // in it
	leftOut int       // lines that were too many
}

const (
	reportsRemembered = 4096
	reportEvery       = time.Minute
	linesOfKind       = 60 // within reportEvery
)

func newReporter(log *slog.Logger) *reporter {
	seen, _ := simplelru.NewLRU[string, *silence](reportsRemembered, nil) // errs for a size below 1 only
	return &reporter{log: log, seen: seen, kinds: map[string]*kind{}}
}

// add writes a report unless the same page said the same lately. Nothing of it
// is kept.
func (rp *reporter) add(x report) {
	where := ""
	if x.site != nil {
		where = x.site.options.Where
	}
	times, leftOut := rp.due(x.kind, where+" "+string(x.path), max(x.count, 1), time.Now())
	if leftOut > 0 {
		rp.log.Warn("more pages had such a problem than are told of", "problem", x.kind, "lines_left_out", leftOut)
	}
	switch {
	case times == 1:
		rp.log.Warn(x.message, "problem", x.kind, "page", string(x.path), "site", where)
	case times > 1:
		rp.log.Warn(x.message, "problem", x.kind, "page", string(x.path), "site", where, "times", times)
	}
}

// due counts reports of a kind and a page. times is how many a line would stand
// for, those that got none included; 0: it is not time for a line. leftOut is
// how many lines of other pages the minute before had too many.
func (rp *reporter) due(of, page string, count int, now time.Time) (times, leftOut int) {
	rp.mu.Lock()
	defer rp.mu.Unlock()
	k := rp.kinds[of]
	if k == nil {
		k = new(kind)
		rp.kinds[of] = k
	}
	k.total += uint64(count)
	key := of + " " + page
	last, known := rp.seen.Get(key)
	if known && now.Sub(last.since) < reportEvery {
		last.more += count
		return 0, 0
	}
	if now.Sub(k.since) >= reportEvery {
		leftOut = k.leftOut
		k.since, k.lines, k.leftOut = now, 0, 0
	}
	if k.lines == linesOfKind {
		k.leftOut++
		return 0, 0
	}
	k.lines++
	if known {
		count += last.more
	}
	rp.seen.Add(key, &silence{since: now})
	return count, leftOut
}

// totals gives how many reports of each kind there were.
func (rp *reporter) totals() map[string]uint64 {
	rp.mu.Lock()
	defer rp.mu.Unlock()
	n := make(map[string]uint64, len(rp.kinds))
	for name, k := range rp.kinds {
		n[name] = k.total
	}
	return n
}
