package pagecache

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

// when is a time that tests give records.
var when = time.Date(2026, 11, 30, 17, 5, 0, 123456789, time.UTC)

func urlRecord(pattern string) Record { return Record{Kind: KindURL, Pattern: pattern, Time: when} }

// numbered gives records the numbers from first on.
func numbered(first uint64, records ...Record) []Record {
	for i := range records {
		records[i].Seq = first + uint64(i)
	}
	return records
}

// replayed are a journal's records after a number.
func replayed(t testing.TB, j Journal, from uint64) []Record {
	t.Helper()
	var records []Record
	if err := j.Replay(from, func(r Record) error { records = append(records, r); return nil }); err != nil {
		t.Fatal(err)
	}
	return records
}

func mustAppend(t testing.TB, j Journal, records ...Record) uint64 {
	t.Helper()
	last, err := j.Append(records)
	if err != nil {
		t.Fatal(err)
	}
	return last
}

func openJournal(t testing.TB, dir string) *fileJournal {
	t.Helper()
	j, err := OpenFileJournal(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j.(*fileJournal)
}

// eachJournal runs a test on every implementation. reopen closes the journal
// and opens it again, where it outlives its process.
func eachJournal(t *testing.T, f func(t *testing.T, j Journal, reopen func() Journal)) {
	t.Run("memory", func(t *testing.T) {
		j := NewMemoryJournal()
		f(t, j, func() Journal { return j })
	})
	t.Run("file", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "state")
		j := openJournal(t, dir)
		f(t, j, func() Journal {
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			j = openJournal(t, dir)
			return j
		})
	})
}

func TestJournalKeepsRecords(t *testing.T) {
	eachJournal(t, func(t *testing.T, j Journal, reopen func() Journal) {
		name := j.Name()
		if name == "" || strings.ContainsAny(name, " \n") || j.Head() != 0 || j.Floor() != 0 || replayed(t, j, 0) != nil {
			t.Errorf("a fresh journal: name %q, head %d, floor %d", name, j.Head(), j.Floor())
		}
		here := time.FixedZone("here", 3600)
		given := []Record{
			{Seq: 77, Kind: KindURL, Pattern: "www.example.com/a?b=c", Site: "shop", Soft: true, Time: when.In(here)},
			{Kind: KindAll, Site: "a \"b\"\n\x00\xff\u00e9", Time: when},
			{Kind: KindURL, Pattern: "/\xff\u2028 \\", Time: time.Now()},
		}
		if last := mustAppend(t, j, given[0]); last != 1 {
			t.Errorf("the first record is %d, want 1", last)
		}
		if last := mustAppend(t, j, given[1], given[2]); last != 3 {
			t.Errorf("the third record is %d, want 3", last)
		}
		if given[0].Seq != 77 || given[0].Time.Location() != here || given[1].Seq != 0 {
			t.Error("Append changed what it was given")
		}
		if last := mustAppend(t, j); last != 3 {
			t.Errorf("nothing appended: %d, want 3", last)
		}
		want := numbered(1, given...)
		want[0].Time, want[2].Time = when, want[2].Time.Round(0).UTC()
		for range 3 {
			if j.Name() != name || j.Head() != 3 || j.Floor() != 0 {
				t.Errorf("name %q, head %d, floor %d; want %q, 3, 0", j.Name(), j.Head(), j.Floor(), name)
			}
			for from := range uint64(5) {
				got, want := replayed(t, j, from), want[min(from, 3):]
				if len(got) != len(want) || len(got) > 0 && !reflect.DeepEqual(got, want) {
					t.Errorf("after %d: %+v, want %+v", from, got, want)
				}
			}
			j = reopen()
		}
		if last := mustAppend(t, j, given[0]); last != 4 {
			t.Errorf("%d, want 4", last)
		}
	})
}

func TestJournalRefusesBadRecords(t *testing.T) {
	long := "/" + strings.Repeat("a", maxPattern)
	bad := map[string]Record{
		"no kind":              {Pattern: "/a"},
		"an unknown kind":      {Kind: 200, Pattern: "/a"},
		"all with a pattern":   {Kind: KindAll, Pattern: "/a"},
		"url without one":      {Kind: KindURL},
		"a host":               {Kind: KindURL, Pattern: "www.example.com"},
		"a query before":       {Kind: KindURL, Pattern: "host?a=/b"},
		"a long pattern":       {Kind: KindURL, Pattern: long},
		"a long site":          {Kind: KindAll, Site: strings.Repeat("a", maxSite+1)},
		"a year of six digits": {Kind: KindAll, Time: time.Date(100000, 1, 1, 0, 0, 0, 0, time.UTC)},
		"a year before Christ": {Kind: KindAll, Time: time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC)},
	}
	eachJournal(t, func(t *testing.T, j Journal, reopen func() Journal) {
		for name, r := range bad {
			if _, err := j.Append([]Record{urlRecord("/good"), r}); !errors.Is(err, ErrRecord) {
				t.Errorf("%s: %v, want ErrRecord", name, err)
			}
		}
		if j = reopen(); j.Head() != 0 || replayed(t, j, 0) != nil {
			t.Errorf("head %d, %v: want nothing", j.Head(), replayed(t, j, 0))
		}
		longest := strings.Repeat("\x01", maxPattern-1)
		mustAppend(t, j, Record{Kind: KindURL, Pattern: "/" + longest, Site: strings.Repeat("\xff", maxSite), Time: when})
		if got := replayed(t, reopen(), 0); len(got) != 1 || got[0].Pattern != "/"+longest {
			t.Error("the longest record is not there")
		}
	})
}

func TestJournalReplayStops(t *testing.T) {
	eachJournal(t, func(t *testing.T, j Journal, _ func() Journal) {
		mustAppend(t, j, urlRecord("/a"), urlRecord("/b"), urlRecord("/c"))
		enough := errors.New("enough")
		seen := 0
		if err := j.Replay(0, func(Record) error { seen++; return enough }); err != enough || seen != 1 {
			t.Errorf("%v after %d records, want the error after 1", err, seen)
		}
	})
}

func TestClosedJournal(t *testing.T) {
	eachJournal(t, func(t *testing.T, j Journal, _ func() Journal) {
		mustAppend(t, j, urlRecord("/a"))
		for range 2 {
			if err := j.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
				t.Fatal(err)
			}
		}
		_, appendErr := j.Append([]Record{urlRecord("/a")})
		for what, err := range map[string]error{
			"Append":  appendErr,
			"Replay":  j.Replay(0, func(Record) error { return nil }),
			"Compact": j.Compact(1, time.Time{}),
		} {
			if !errors.Is(err, errJournalClosed) {
				t.Errorf("%s: %v, want that it is closed", what, err)
			}
		}
	})
}

func TestCompact(t *testing.T) {
	url := func(pattern, site string, soft bool) Record {
		return Record{Kind: KindURL, Pattern: pattern, Site: site, Soft: soft, Time: when}
	}
	all := func(site string, soft bool) Record {
		return Record{Kind: KindAll, Site: site, Soft: soft, Time: when}
	}
	at := func(r Record, days int) Record {
		r.Time = when.AddDate(0, 0, days)
		return r
	}
	tests := []struct {
		name    string
		records []Record // with the numbers from 1 on
		keep    int
		days    int // since, from when on
		live    []uint64
		dropped uint64
	}{
		{"none", nil, 10, 0, nil, 0},
		{"different", []Record{url("/a", "", false), url("/b", "", false), url("a/a", "", false), url("/a?b", "", false)}, 10, 0, []uint64{1, 2, 3, 4}, 0},
		{"copies", []Record{url("/a", "", false), url("/b", "", false), url("/a", "", false)}, 10, 0, []uint64{2, 3}, 0},
		{"copies of other sites", []Record{url("/a", "s", false), url("/a", "", false), url("/a", "t", false)}, 10, 0, []uint64{1, 2, 3}, 0},
		{"soft copies", []Record{url("/a", "", true), url("/a", "", true)}, 10, 0, []uint64{2}, 0},
		{"hard, then soft", []Record{url("/a", "", false), url("/a", "", true)}, 10, 0, []uint64{1, 2}, 0},
		{"soft, then hard", []Record{url("/a", "", true), url("/a", "", false)}, 10, 0, []uint64{2}, 0},
		{"hard, soft, soft", []Record{url("/a", "", false), url("/a", "", true), url("/a", "", true)}, 10, 0, []uint64{1, 3}, 0},
		{"all", []Record{url("/a", "", false), url("/b", "s", true), all("s", false), all("", true), all("", false), url("/a", "", false)}, 10, 0, []uint64{5, 6}, 0},
		{"all, softly", []Record{url("/a", "", false), url("/b", "s", true), all("s", false), all("s", true), all("", true)}, 10, 0, []uint64{1, 3, 5}, 0},
		{"all of a site", []Record{url("/a", "", false), url("/b", "s", true), url("/b", "t", false), all("", false), url("/c", "s", false), all("t", false), all("s", false)}, 10, 0, []uint64{4, 6, 7}, 0},
		{"all of a site, softly", []Record{url("/a", "s", false), url("/b", "s", true), all("s", true)}, 10, 0, []uint64{1, 3}, 0},
		{"the newest", []Record{url("/a", "", false), url("/b", "", false), url("/c", "", false)}, 2, 0, []uint64{2, 3}, 1},
		{"the newest, copies first", []Record{url("/c", "", false), url("/b", "", false), url("/c", "", false)}, 2, 0, []uint64{2, 3}, 0},
		{"none kept", []Record{url("/a", "", false), url("/b", "", false)}, 0, 0, nil, 2},
		{"old ones", []Record{at(url("/a", "", false), -2), at(url("/b", "", false), -1), url("/c", "", false)}, 10, 0, []uint64{3}, 2},
		{"old ones that do not count", []Record{at(url("/a", "", false), -2), at(url("/b", "", false), 0), url("/a", "", false)}, 10, 0, []uint64{2, 3}, 0},
		{"all are old", []Record{url("/a", "", false), url("/b", "", false)}, 10, 1, nil, 2},
		{"one that is old by a wrong clock", []Record{url("/a", "", false), at(url("/b", "", false), -9999), url("/c", "", false)}, 10, 0, []uint64{1, 2, 3}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			eachJournal(t, func(t *testing.T, j Journal, reopen func() Journal) {
				name := j.Name()
				for _, r := range tt.records {
					mustAppend(t, j, r)
				}
				want := map[uint64]Record{}
				for _, r := range replayed(t, j, 0) {
					want[r.Seq] = r
				}
				if err := j.Compact(tt.keep, when.AddDate(0, 0, tt.days)); err != nil {
					t.Fatal(err)
				}
				head := uint64(len(tt.records))
				for range 2 {
					var live []uint64
					for _, r := range replayed(t, j, 0) {
						live = append(live, r.Seq)
						if r != want[r.Seq] {
							t.Errorf("record %d became %+v", r.Seq, r)
						}
					}
					if !reflect.DeepEqual(live, tt.live) || j.Floor() != tt.dropped || j.Head() != head || j.Name() != name {
						t.Errorf("live %v, floor %d, head %d; want %v, %d, %d", live, j.Floor(), j.Head(), tt.live, tt.dropped, head)
					}
					j = reopen()
				}
				// The floor does not fall when there is nothing more to drop.
				if err := j.Compact(1000, time.Time{}); err != nil || j.Floor() != tt.dropped {
					t.Errorf("floor %d (%v), want %d", j.Floor(), err, tt.dropped)
				}
				if last := mustAppend(t, reopen(), urlRecord("/z")); last != head+1 {
					t.Errorf("then %d, want %d", last, head+1)
				}
			})
		})
	}
}

func TestJournalNamesDiffer(t *testing.T) {
	names := map[string]bool{}
	for i := range 100 {
		names[NewMemoryJournal().Name()] = true
		if i < 5 {
			names[openJournal(t, filepath.Join(t.TempDir(), "s")).Name()] = true
		}
	}
	if len(names) != 105 {
		t.Errorf("%d names of 105 journals", len(names))
	}
}

// Many append at once: each gets numbers of its own, in one run.
func TestJournalConcurrent(t *testing.T) {
	eachJournal(t, func(t *testing.T, j Journal, reopen func() Journal) {
		const writers, each = 8, 20
		var mu sync.Mutex
		given := map[uint64]string{}
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for i := range each {
					a, b := fmt.Sprintf("/%d/%d/a", w, i), fmt.Sprintf("/%d/%d/b", w, i)
					last, err := j.Append([]Record{urlRecord(a), urlRecord(b)})
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					given[last-1], given[last] = a, b
					mu.Unlock()
					if i%7 == 0 {
						if err := j.Compact(1000, time.Time{}); err != nil {
							t.Error(err)
						}
						j.Head()
						j.Floor()
					}
				}
			})
		}
		wg.Wait()
		got := replayed(t, reopen(), 0)
		if len(got) != 2*writers*each || len(given) != len(got) {
			t.Fatalf("%d records, %d numbers, want %d", len(got), len(given), 2*writers*each)
		}
		for _, r := range got {
			if given[r.Seq] != r.Pattern {
				t.Errorf("record %d is %s, given for %s", r.Seq, r.Pattern, given[r.Seq])
			}
		}
	})
}
