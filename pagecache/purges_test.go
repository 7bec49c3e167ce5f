package pagecache

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func mustPurges(t testing.TB, j Journal) *Purges {
	t.Helper()
	x, err := NewPurges(j)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func mustAdd(t testing.TB, x *Purges, records ...Record) uint64 {
	t.Helper()
	_, last, err := x.Add(records)
	if err != nil {
		t.Fatal(err)
	}
	return last
}

// kept is a page as far as purges are concerned.
type kept struct {
	seq     uint64
	checked atomic.Uint64
	url     PageURL
}

func (p *kept) check(x *Purges) Verdict {
	v, _ := x.Check(p.seq, &p.checked, p.url)
	return v
}

func TestPurge(t *testing.T) {
	eachJournal(t, func(t *testing.T, j Journal, reopen func() Journal) {
		x := mustPurges(t, j)
		home := pageURL("shop", "www.example.com", "/", "")
		before := &kept{seq: x.Applied(), url: home}
		other := &kept{seq: x.Applied(), url: pageURL("shop", "www.example.com", "/other", "")}
		if before.check(x) != Valid || other.check(x) != Valid {
			t.Fatal("not valid before any purge")
		}
		id, last, err := x.Add([]Record{urlRecord("www.example.com/")})
		if err != nil || last != 1 || x.Applied() != 1 || id != x.Name()+"-1" || x.Name() != j.Name() {
			t.Fatalf("receipt %q, %d (%v), applied %d", id, last, err, x.Applied())
		}
		after := &kept{seq: x.Applied(), url: home}
		for range 2 {
			for range 2 { // once looked at, and once remembered
				if before.check(x) != Gone || other.check(x) != Valid || after.check(x) != Valid {
					t.Errorf("before %v, other %v, after %v", before.check(x), other.check(x), after.check(x))
				}
			}
			x = mustPurges(t, reopen())
			for _, p := range []*kept{before, other, after} {
				p.checked.Store(0) // from a disk
			}
		}
	})
}

func TestSoftPurge(t *testing.T) {
	x := mustPurges(t, NewMemoryJournal())
	p := &kept{seq: x.Applied(), url: pageURL("shop", "h", "/a", "")}
	soft := func(r Record, at time.Time) Record {
		r.Soft, r.Time = true, at
		return r
	}
	mustAdd(t, x, soft(urlRecord("/a"), when))
	want := func(verdict Verdict, since time.Time) {
		t.Helper()
		for range 2 {
			v, at := x.Check(p.seq, &p.checked, p.url)
			if v != verdict || !at.Equal(since) {
				t.Errorf("%v since %v, want %v since %v", v, at, verdict, since)
			}
		}
	}
	want(Expired, when)
	mustAdd(t, x, soft(Record{Kind: KindAll}, when.Add(time.Minute)))
	want(Expired, when.Add(time.Minute))
	mustAdd(t, x, soft(urlRecord("/b"), when.Add(time.Hour)))
	want(Expired, when.Add(time.Minute))
	mustAdd(t, x, urlRecord("h/a"))
	want(Gone, time.Time{})
	mustAdd(t, x, soft(urlRecord("/a"), when.Add(time.Hour)))
	want(Gone, time.Time{})
	p.seq = x.Applied()
	want(Valid, time.Time{})
}

// Outside the numbers that are known, nothing is valid.
func TestUnknownNumbers(t *testing.T) {
	j := NewMemoryJournal()
	x := mustPurges(t, j)
	u := pageURL("shop", "h", "/z", "")
	if v, _ := x.Check(1, new(atomic.Uint64), u); v != Gone {
		t.Errorf("of the future, in an empty journal: %v", v)
	}
	mustAdd(t, x, urlRecord("/a"), urlRecord("/b"), urlRecord("/c"))
	if err := j.Compact(1, time.Time{}); err != nil {
		t.Fatal(err)
	}
	x = mustPurges(t, j)
	if x.Floor() != 2 || x.Applied() != 3 {
		t.Fatalf("floor %d, applied %d; want 2, 3", x.Floor(), x.Applied())
	}
	for seq, want := range []Verdict{Gone, Gone, Valid, Valid, Gone, Gone} {
		for _, checked := range []*atomic.Uint64{nil, new(atomic.Uint64)} {
			for range 2 {
				if v, _ := x.Check(uint64(seq), checked, u); v != want {
					t.Errorf("number %d: %v, want %v", seq, v, want)
				}
			}
		}
	}
}

// A page that was found valid stays so when the floor passes its number: what
// is forgotten did not hit it.
func TestCheckedPagePassesTheFloor(t *testing.T) {
	j := NewMemoryJournal()
	x, err := newPurges(j, purgeLimits{keep: 2, slack: 2, age: time.Hour}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	looked, forgotten := &kept{url: pageURL("s", "h", "/z", "")}, &kept{url: pageURL("s", "h", "/z", "")}
	for i := range 20 {
		mustAdd(t, x, Record{Kind: KindURL, Pattern: fmt.Sprintf("/%d", i)})
		if looked.check(x) != Valid {
			t.Fatalf("gone after %d purges, floor %d", i+1, x.Floor())
		}
	}
	if x.Floor() < 10 {
		t.Fatalf("floor %d: nothing was compacted", x.Floor())
	}
	if v := forgotten.check(x); v != Gone {
		t.Errorf("a page that nobody looked at is %v, want gone", v)
	}
}

// What cannot be recorded is refused, and hits nothing.
func TestPurgeNotRecorded(t *testing.T) {
	j := NewMemoryJournal()
	x := mustPurges(t, j)
	mustAdd(t, x, urlRecord("/a"))
	p := &kept{seq: x.Applied(), url: pageURL("shop", "h", "/a", "")}
	if id, last, err := x.Add([]Record{urlRecord("/b"), {Kind: KindURL, Pattern: "b"}}); !errors.Is(err, ErrRecord) || id != "" || last != 0 {
		t.Errorf("%q, %d, %v; want ErrRecord", id, last, err)
	}
	j.Close()
	if _, _, err := x.Add([]Record{{Kind: KindAll}}); err == nil || errors.Is(err, ErrRecord) {
		t.Errorf("%v, want an error of the journal", err)
	}
	if v := p.check(x); v != Valid || x.Applied() != 1 {
		t.Errorf("%v, applied %d; want valid, 1", v, x.Applied())
	}
	if got, want := x.Stats(), (PurgeStats{Applied: 1, Live: 1, Failed: 2}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if _, err := NewPurges(j); err == nil {
		t.Error("a closed journal was read")
	}
}

func TestPurgeTimes(t *testing.T) {
	j := NewMemoryJournal()
	x := mustPurges(t, j)
	given := []Record{{Kind: KindAll, Soft: true}, {Kind: KindURL, Pattern: "/a", Time: when}}
	before := time.Now()
	mustAdd(t, x, given...)
	got := replayed(t, j, 0)
	if got[0].Time.Before(before.Round(0)) || got[0].Time.After(time.Now()) || !got[1].Time.Equal(when) {
		t.Errorf("times %v and %v", got[0].Time, got[1].Time)
	}
	if !given[0].Time.IsZero() || given[0].Seq != 0 {
		t.Errorf("Add changed what it was given: %+v", given[0])
	}
	if last := mustAdd(t, x); last != 2 || x.Applied() != 2 {
		t.Errorf("nothing added: %d, applied %d; want 2", last, x.Applied())
	}
}

// The journal does not grow for ever: copies go first, then the oldest.
func TestPurgesCompact(t *testing.T) {
	eachJournal(t, func(t *testing.T, j Journal, reopen func() Journal) {
		limits := purgeLimits{keep: 10, slack: 5, age: 30 * 24 * time.Hour}
		x, err := newPurges(j, limits, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		for i := range 100 {
			mustAdd(t, x, Record{Kind: KindURL, Pattern: fmt.Sprintf("/%d", i%3)})
			if n := len(replayed(t, j, 0)); n > 3+limits.slack {
				t.Fatalf("%d records after %d purges of 3 URLs", n, i+1)
			}
		}
		if x.Floor() != 0 || x.Stats().Live != 3 {
			t.Errorf("floor %d, %d live; want 0, 3", x.Floor(), x.Stats().Live)
		}
		for i := range 100 {
			mustAdd(t, x, Record{Kind: KindURL, Pattern: fmt.Sprintf("/many/%d", i)})
			if n := len(replayed(t, j, 0)); n > limits.keep+limits.slack || n != x.Stats().Live {
				t.Fatalf("%d records after %d purges, %d live", n, i+1, x.Stats().Live)
			}
		}
		if floor := x.Floor(); floor != j.Floor() || floor < 185 || floor > 190 {
			t.Errorf("floor %d, the journal's %d, want nearly 190", floor, j.Floor())
		}
		mustAdd(t, x, Record{Kind: KindAll})
		if got := x.Stats(); got.Live != 1 || got.Applied != 201 {
			t.Errorf("after all: %+v", got)
		}
		// Old ones go, too, at the start and when there is a purge.
		later := time.Now().Add(32 * 24 * time.Hour)
		if x, err = newPurges(reopen(), limits, later); err != nil || x.Floor() != 201 || x.Stats().Live != 0 || x.Applied() != 201 {
			t.Errorf("a month later: %+v (%v)", x.Stats(), err)
		}
		mustAdd(t, x, Record{Kind: KindURL, Pattern: "/old", Time: time.Now().Add(-32 * 24 * time.Hour)})
		if x.Floor() != 202 || x.Stats().Live != 0 {
			t.Errorf("after a purge of last month: %+v", x.Stats())
		}
	})
}

// More than is kept is cut down at the start as well, and a young journal is
// left alone.
func TestPurgesCompactAtStart(t *testing.T) {
	j := NewMemoryJournal()
	limits := purgeLimits{keep: 10, slack: 5, age: 30 * 24 * time.Hour}
	var records []Record
	for i := range 9 {
		records = append(records, Record{Kind: KindURL, Pattern: fmt.Sprintf("/%d", i), Time: time.Now()})
	}
	mustAppend(t, j, records...)
	mustAppend(t, j, records[0]) // one copy
	if _, err := newPurges(j, limits, time.Now()); err != nil || len(replayed(t, j, 0)) != 10 {
		t.Errorf("%d records (%v), want all 10", len(replayed(t, j, 0)), err)
	}
	mustAppend(t, j, records[:5]...)
	if _, err := newPurges(j, limits, time.Now()); err != nil || len(replayed(t, j, 0)) != 9 || j.Floor() != 0 {
		t.Errorf("%d records (%v), floor %d; want 9, 0", len(replayed(t, j, 0)), err, j.Floor())
	}
	mustAppend(t, j, Record{Kind: KindURL, Pattern: "/x", Time: time.Now()}, Record{Kind: KindURL, Pattern: "/y", Time: time.Now()})
	x, err := newPurges(j, limits, time.Now())
	if err != nil || len(replayed(t, j, 0)) != 10 || x.Floor() == 0 || x.Floor() != j.Floor() {
		t.Errorf("%d records (%v), floor %d; want 10 and a floor", len(replayed(t, j, 0)), err, x.Floor())
	}
}

// A journal that cannot be compacted is one that grows, no purge that fails.
func TestPurgesCompactFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	j := openJournal(t, dir)
	x, err := newPurges(j, purgeLimits{keep: 2, slack: 2, age: time.Hour}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	j.dir = filepath.Join(dir, "none") // where nothing can be written aside
	for i := range 10 {
		mustAdd(t, x, Record{Kind: KindURL, Pattern: fmt.Sprintf("/%d", i)})
	}
	p := &kept{seq: 9, url: pageURL("s", "h", "/9", "")}
	if n := len(replayed(t, j, 0)); n != 10 || x.Floor() != 0 || p.check(x) != Gone {
		t.Errorf("%d records, floor %d, the page purged last %v", n, x.Floor(), p.check(x))
	}
	j.dir = dir
	for i := range 3 {
		mustAdd(t, x, Record{Kind: KindURL, Pattern: fmt.Sprintf("/%d", i)})
	}
	if x.Floor() == 0 {
		t.Error("it is not tried again")
	}
}

// When Add has returned, no goroutine finds the page any more; and whoever sees
// a number sees its record.
func TestPurgesRace(t *testing.T) {
	x, err := newPurges(NewMemoryJournal(), purgeLimits{keep: 1 << 20, slack: 50, age: time.Hour}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	shared := &kept{url: pageURL("s", "h", "/shared", "")}
	done := make(chan struct{})
	var readers, writers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			hot := pageURL("s", "h", "/hot", "")
			for {
				select {
				case <-done:
					return
				default:
				}
				if a := x.Applied(); a > 0 {
					if v, _ := x.Check(a-1, new(atomic.Uint64), hot); v != Gone {
						t.Errorf("a page from before record %d, which hits it, is %v", a, v)
						return
					}
				}
				if shared.check(x) != Valid {
					t.Error("a page that nobody purged is gone")
					return
				}
				x.Stats()
			}
		})
	}
	for w := range 4 {
		writers.Go(func() {
			u := pageURL("s", "h", fmt.Sprintf("/own/%d", w), "")
			for range 100 {
				p := &kept{seq: x.Applied(), url: u}
				if p.check(x) != Valid {
					t.Error("a page is gone before its purge")
				}
				// Applied rises once a call, to the number of a record of /hot.
				if _, _, err := x.Add([]Record{urlRecordNow(string(u.Path)), urlRecordNow("/hot")}); err != nil {
					t.Error(err)
				}
				if p.check(x) != Gone {
					t.Error("a page is there after its purge")
				}
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
	if x.Applied() != 800 {
		t.Errorf("applied %d, want 800", x.Applied())
	}
}

func urlRecordNow(pattern string) Record { return Record{Kind: KindURL, Pattern: pattern} }

// manyPurges has a hundred thousand records, half of them for one site.
func manyPurges(t testing.TB) *Purges {
	t.Helper()
	x := mustPurges(t, NewMemoryJournal())
	records := make([]Record, journalKeep)
	for i := range records {
		records[i] = urlRecordNow(fmt.Sprintf("www.example.com/articles/%d", i))
		if i%2 == 0 {
			records[i].Site = "shop"
		}
	}
	mustAdd(t, x, records...)
	return x
}

// Check allocates nothing, also for a page that has to be looked at.
func TestCheckAllocatesNothing(t *testing.T) {
	x := manyPurges(t)
	u := pageURL("shop", "www.example.com", "/articles/"+strings.Repeat("a", 200), "page=2")
	known := &kept{seq: x.Applied(), url: u}
	for name, f := range map[string]func(){
		"known": func() { known.check(x) },
		"not known": func() {
			if v, _ := x.Check(0, nil, u); v != Valid {
				t.Fatal(v)
			}
		},
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	x := manyPurges(b)
	u := pageURL("shop", "www.example.com", "/articles/none", "page=2")
	b.Run("known", func(b *testing.B) {
		b.ReportAllocs()
		p := &kept{url: u}
		for b.Loop() {
			if p.check(x) != Valid {
				b.Fatal("not valid")
			}
		}
	})
	b.Run("looked at", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if v, _ := x.Check(0, nil, u); v != Valid {
				b.Fatal(v)
			}
		}
	})
	b.Run("known, in parallel", func(b *testing.B) {
		p := &kept{url: u}
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				p.check(x)
			}
		})
	})
}
