package pagecache

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"slices"
	"sync"
	"time"
)

// Journal is the list of purges, in one order for all who use it. Its numbers
// rise: none is given twice under one name. Its methods may be called from any
// goroutine.
type Journal interface {
	// Name is random and made with the journal. A journal that may have lost
	// records takes another one: pages kept under the old name are not valid.
	Name() string
	// Append numbers records in their order, as one: all of them are on disk
	// when it returns, or none counts and the error says why. It gives the
	// number of the last. Seq of what is given is not looked at, nothing of it
	// is kept or changed, a Time is kept to the nanosecond.
	Append(records []Record) (last uint64, err error)
	// Replay calls f for each record after number from, in order, and stops at
	// f's error, which it returns. f must not call the journal.
	Replay(from uint64, f func(Record) error) error
	// Head is the number of the newest record there ever was; 0: none.
	Head() uint64
	// Floor is the number up to which records may be missing that still would
	// count: of pages older than that nobody knows whether they were purged.
	Floor() uint64
	// Compact forgets records whose effect a later one includes, then, raising
	// the floor, all but the newest keep, and the oldest as far as they are
	// from before since.
	Compact(keep int, since time.Time) error
	// Close gives back what the journal holds. It may be called twice.
	Close() error
}

// errJournalClosed is what a closed journal answers.
var errJournalClosed = errors.New("pagecache: the journal is closed")

// newJournalName makes a name that no other journal has.
func newJournalName() string {
	var b [8]byte
	rand.Read(b[:]) // never fails: crypto/rand
	return hex.EncodeToString(b[:])
}

// memoryJournal is a Journal without a file.
type memoryJournal struct {
	name string

	mu      sync.Mutex
	records []Record
	head    uint64
	floor   uint64
	closed  bool
}

var _ Journal = (*memoryJournal)(nil)

// NewMemoryJournal makes a journal that is gone with the process, and with its
// name all that was kept under it.
func NewMemoryJournal() Journal {
	return &memoryJournal{name: newJournalName()}
}

func (j *memoryJournal) Name() string { return j.name }

func (j *memoryJournal) Append(records []Record) (uint64, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return 0, errJournalClosed
	}
	numbered, err := number(records, j.head)
	if err != nil {
		return 0, err
	}
	j.records = append(j.records, numbered...)
	j.head += uint64(len(numbered))
	return j.head, nil
}

// number gives copies of records with the numbers after head.
func number(records []Record, head uint64) ([]Record, error) {
	numbered := slices.Clone(records)
	for i := range numbered {
		r := &numbered[i]
		if err := r.validate(); err != nil {
			return nil, err
		}
		r.Seq = head + 1 + uint64(i)
		r.Time = r.Time.Round(0).UTC() // what a file keeps of it
	}
	return numbered, nil
}

func (j *memoryJournal) Replay(from uint64, f func(Record) error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return errJournalClosed
	}
	for _, r := range j.records {
		if r.Seq <= from {
			continue
		}
		if err := f(r); err != nil {
			return err
		}
	}
	return nil
}

func (j *memoryJournal) Head() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.head
}

func (j *memoryJournal) Floor() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.floor
}

func (j *memoryJournal) Compact(keep int, since time.Time) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return errJournalClosed
	}
	live, dropped := compact(j.records, keep, since)
	j.records, j.floor = live, max(j.floor, dropped)
	return nil
}

func (j *memoryJournal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closed, j.records = true, nil
	return nil
}

// scope is what a record says, without when.
type scope struct {
	kind    Kind
	pattern string
	site    string
	soft    bool
}

// compact returns those of records, which are in order, that still count: first
// all whose effect no later record includes, of these the newest keep, and of
// these what begins with the first one not before since. dropped is the number
// of the newest record that went though it would have counted; 0: none did.
func compact(records []Record, keep int, since time.Time) (live []Record, dropped uint64) {
	later := make(map[scope]bool)
	for _, r := range slices.Backward(records) {
		if superseded(later, &r) {
			continue
		}
		later[scope{r.Kind, r.Pattern, r.Site, r.Soft}] = true
		live = append(live, r)
	}
	slices.Reverse(live)
	first := max(len(live)-max(keep, 0), 0)
	for first < len(live) && live[first].Time.Before(since) {
		first++
	}
	if first > 0 {
		dropped = live[first-1].Seq
	}
	return slices.Clone(live[first:]), dropped
}

// superseded says whether the effect of one of the later records includes r's:
// the same said again, or all. A soft record leaves in force what a hard one
// said.
func superseded(later map[scope]bool, r *Record) bool {
	by := func(soft bool) bool {
		return later[scope{r.Kind, r.Pattern, r.Site, soft}] ||
			later[scope{kind: KindAll, soft: soft}] ||
			later[scope{kind: KindAll, site: r.Site, soft: soft}]
	}
	return by(false) || r.Soft && by(true)
}
