package pagecache

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// modelPage is a page of the property test, and the record up to which it is
// known to be valid.
type modelPage struct {
	*kept
	known uint64
}

// hits is what DESIGN says of a match, the slow way.
func hits(r *Record, u PageURL) bool {
	if r.Site != "" && r.Site != u.Site {
		return false
	}
	if r.Kind == KindAll {
		return true
	}
	for _, host := range []string{"", string(u.Host)} {
		name := host + string(u.Path)
		if r.Pattern == name || len(u.Query) > 0 && r.Pattern == name+"?"+string(u.Query) {
			return true
		}
	}
	return false
}

// Whatever is purged, kept, compacted and restarted in whatever order: Check
// says what a list of all records says.
func TestPurgesAgreeWithAModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one := func(label string, of ...string) string { return rapid.SampledFrom(of).Draw(t, label) }
		limits := purgeLimits{
			keep:  rapid.SampledFrom([]int{3, 8, 1000}).Draw(t, "keep"),
			slack: rapid.SampledFrom([]int{1, 4, 1000}).Draw(t, "slack"),
			age:   time.Hour,
		}
		j := NewMemoryJournal()
		start := func() *Purges {
			x, err := newPurges(j, limits, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			return x
		}
		x := start()
		var records []Record
		var pages []*modelPage
		at := time.Now()
		check := func(p *modelPage) {
			want, since := Valid, time.Time{}
			for _, r := range records {
				if r.Seq <= p.known || !hits(&r, p.url) {
					continue
				}
				if !r.Soft {
					want, since = Gone, time.Time{}
					break
				}
				want, since = Expired, r.Time
			}
			if p.known < x.Floor() {
				want, since = Gone, time.Time{}
			}
			v, got := x.Check(p.seq, &p.checked, p.url)
			if v != want || !got.Equal(since) {
				t.Fatalf("a page of %d (known up to %d) is %v since %v, want %v since %v; floor %d", p.seq, p.known, v, got, want, since, x.Floor())
			}
			if v == Valid {
				p.known = x.Applied()
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"purge": func(*rapid.T) {
				var batch []Record
				for range rapid.IntRange(1, 3).Draw(t, "records") {
					at = at.Add(time.Millisecond)
					r := Record{Kind: KindURL, Site: one("record's site", "", "", "s", "t"), Soft: rapid.Bool().Draw(t, "soft"), Time: at}
					if rapid.IntRange(0, 9).Draw(t, "kind") == 0 {
						r.Kind = KindAll
					} else {
						r.Pattern = one("record's host", "", "a", "b:81") + one("record's path", "/", "/x", "/x/y") + one("record's query", "", "", "?q", "?q&r=/x")
					}
					batch = append(batch, r)
				}
				id, last, err := x.Add(batch)
				if err != nil || last != uint64(len(records)+len(batch)) || id != fmt.Sprintf("%s-%d", j.Name(), last) {
					t.Fatalf("%q, %d, %v", id, last, err)
				}
				for i, r := range batch {
					r.Seq = uint64(len(records) + 1)
					for _, p := range pages {
						if got := r.Matches(p.url); got != hits(&batch[i], p.url) {
							t.Fatalf("%+v matches %q %s%s?%s: %v", r, p.url.Site, p.url.Host, p.url.Path, p.url.Query, got)
						}
					}
					records = append(records, r)
				}
			},
			"keep": func(*rapid.T) {
				u := pageURL(one("site", "s", "t"), one("host", "a", "b:81"), one("path", "/", "/x", "/x/y"), one("query", "", "q", "q&r=/x"))
				pages = append(pages, &modelPage{&kept{seq: x.Applied(), url: u}, x.Applied()})
			},
			"check": func(*rapid.T) {
				if len(pages) > 0 {
					check(rapid.SampledFrom(pages).Draw(t, "page"))
				}
			},
			"restart": func(*rapid.T) {
				x = start()
				for _, p := range pages {
					p.checked.Store(0)
					p.known = p.seq
				}
			},
		})
		for _, p := range pages {
			check(p)
		}
	})
}
