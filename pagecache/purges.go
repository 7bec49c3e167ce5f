package pagecache

import (
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// How much of the past is kept: a page that is older than all of it is filled
// again. Between two compactions there may be journalSlack records more.
const (
	journalKeep  = 100_000
	journalSlack = 10_000
	journalAge   = 30 * 24 * time.Hour
)

// Verdict says what the purges leave of a page.
type Verdict uint8

const (
	Gone    Verdict = iota // not to be used: purged, or nobody knows that it was not
	Expired                // purged softly: it counts as expired, and may be served while it is filled again
	Valid                  // no purge hit it
)

var verdictNames = [...]string{Gone: "gone", Expired: "expired", Valid: "valid"}

func (v Verdict) String() string { return verdictNames[v] }

// Purges knows what a journal's records hit. A page carries the number that
// Applied gave when its fill began, and Check compares that with the records
// that came since: no clock, and no difference between a page in memory, on a
// disk, in memcached, or still being filled.
//
// Checks may run on any number of goroutines, and do not wait for an Add that
// writes to the journal. The journal is for one Purges only, which does not
// close it.
type Purges struct {
	journal Journal
	name    string
	limits  purgeLimits
	applied atomic.Uint64 // rises after the records are in the index
	failed  atomic.Uint64

	adding sync.Mutex // one Add at a time; the fields up to mu are its own
	lines  int        // records in the journal, superseded ones too
	tidyAt int        // compact when lines are that many
	oldest time.Time  // of the records in the journal

	mu    sync.RWMutex
	index *purgeIndex
	floor uint64
}

// purgeLimits are the constants above, but for tests.
type purgeLimits struct {
	keep, slack int
	age         time.Duration
}

// NewPurges reads the journal j.
func NewPurges(j Journal) (*Purges, error) {
	return newPurges(j, purgeLimits{journalKeep, journalSlack, journalAge}, time.Now())
}

func newPurges(j Journal, limits purgeLimits, now time.Time) (*Purges, error) {
	x := &Purges{journal: j, name: j.Name(), limits: limits}
	if err := x.load(); err != nil {
		return nil, err
	}
	x.applied.Store(j.Head())
	if garbage := x.lines - x.index.live; garbage >= limits.slack || x.index.live > limits.keep || x.aged(now) {
		x.tidy(now)
	}
	return x, nil
}

// load makes the index anew from the journal.
func (x *Purges) load() error {
	index, lines := newPurgeIndex(), 0
	var oldest time.Time
	err := x.journal.Replay(0, func(r Record) error {
		if lines == 0 {
			oldest = r.Time
		}
		lines++
		index.add(&r)
		return nil
	})
	if err != nil {
		return err
	}
	x.lines, x.oldest, x.tidyAt = lines, oldest, lines+x.limits.slack
	x.mu.Lock()
	defer x.mu.Unlock()
	x.index, x.floor = index, x.journal.Floor()
	return nil
}

// Name is the journal's: what keeps pages beyond this process keeps it with
// them, for their numbers mean nothing to another journal.
func (x *Purges) Name() string { return x.name }

// Applied is the number of the newest record that Check knows: what a fill that
// begins now writes on its page.
func (x *Purges) Applied() uint64 { return x.applied.Load() }

// Floor is the number below which no page that was not checked since is valid.
func (x *Purges) Floor() uint64 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.floor
}

// Add purges: when it returns, the records are on disk and in force. Their Seq
// is not looked at, and a Time that is zero is now. The receipt id names them
// among all purges of all journals; last is the number of the last of them. An
// error that is ErrRecord says that one of them is none; any other, that they
// could not be recorded. After an error nothing has changed.
func (x *Purges) Add(records []Record) (id string, last uint64, err error) {
	x.adding.Lock()
	defer x.adding.Unlock()
	now := time.Now()
	timed := make([]Record, len(records))
	for i, r := range records {
		if r.Time.IsZero() {
			r.Time = now
		}
		timed[i] = r
	}
	if last, err = x.journal.Append(timed); err != nil {
		x.failed.Add(1)
		return "", 0, err
	}
	x.apply(timed, last)
	if x.lines >= x.tidyAt || x.aged(now) {
		x.tidy(now)
	}
	return x.name + "-" + strconv.FormatUint(last, 10), last, nil
}

// apply puts records into the index, of which the last has the number last, and
// then raises applied: who sees a number sees its record.
func (x *Purges) apply(records []Record, last uint64) {
	if len(records) == 0 {
		return
	}
	if x.lines == 0 {
		x.oldest = records[0].Time
	}
	x.lines += len(records)
	x.mu.Lock()
	for i := range records {
		r := &records[i]
		r.Seq = last - uint64(len(records)-1-i)
		x.index.add(r)
	}
	x.mu.Unlock()
	x.applied.Store(last)
}

// aged says that the journal has records that are a day older than they may get:
// with a day to spare it is not written anew for every single one.
func (x *Purges) aged(now time.Time) bool {
	return x.lines > 0 && now.Sub(x.oldest) > x.limits.age+24*time.Hour
}

// tidy compacts. That it cannot is no failure of a purge: the records are there,
// and it is tried again when more have come.
func (x *Purges) tidy(now time.Time) {
	err := x.journal.Compact(x.limits.keep, now.Add(-x.limits.age))
	if err == nil {
		err = x.load()
	}
	if err != nil {
		x.tidyAt, x.oldest = x.lines+x.limits.slack, now
	}
}

// Check says what the purges leave of a page of u that carries seq, and of an
// expired one, since when. It is valid if floor <= seq <= applied and no record
// that matches it is newer.
//
// checked is the page's memory of the record up to which it was found valid: it
// starts at 0, and the same page must always come with the same one; nil: the
// page has none. A page that was checked against the newest record is valid at
// the cost of two atomic loads. Nothing is allocated, unless the host, path and
// query are longer than 320 bytes.
func (x *Purges) Check(seq uint64, checked *atomic.Uint64, u PageURL) (Verdict, time.Time) {
	applied := x.applied.Load()
	var last uint64
	if checked != nil {
		if last = checked.Load(); last == applied && seq <= applied {
			return Valid, time.Time{}
		}
	}
	v, since := x.check(seq, last, applied, &u)
	if v == Valid && checked != nil && last < applied {
		checked.CompareAndSwap(last, applied)
	}
	return v, since
}

// check looks at the records after what the page knows: its own number, or the
// record up to which it was found valid, which is as good as having been filled
// after that one.
func (x *Purges) check(seq, last, applied uint64, u *PageURL) (Verdict, time.Time) {
	if seq > applied {
		return Gone, time.Time{} // of a journal that had more than ours
	}
	from := max(seq, last)
	x.mu.RLock()
	defer x.mu.RUnlock()
	if from < x.floor {
		return Gone, time.Time{}
	}
	newest := x.index.newest(u)
	switch {
	case newest.hard > from:
		return Gone, time.Time{}
	case newest.soft > from:
		return Expired, time.Unix(0, newest.softAt)
	}
	return Valid, time.Time{}
}

// PurgeStats are counts of one moment.
type PurgeStats struct {
	Applied uint64 // number of the newest record
	Floor   uint64
	Live    int    // records that Check knows
	Failed  uint64 // calls of Add that were refused
}

// Stats returns the counts of now.
func (x *Purges) Stats() PurgeStats {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return PurgeStats{Applied: x.applied.Load(), Floor: x.floor, Live: x.index.live, Failed: x.failed.Load()}
}
