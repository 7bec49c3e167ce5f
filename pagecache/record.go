package pagecache

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Limits of a record. A longer pattern matches no URL that an edge would take.
const (
	maxPattern = 64 << 10
	maxSite    = 1 << 10
)

// Kind says what a record's pattern is compared with.
type Kind uint8

// The kinds of records. Their numbers are of this process only: a journal keeps
// their names.
const (
	KindURL Kind = iota + 1 // one URL, or one path of every host
	KindAll                 // every page
)

var kindNames = [...]string{KindURL: "url", KindAll: "all"}

// String gives the name of a kind, as in the journal.
func (k Kind) String() string {
	if k == 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("kind(%d)", uint8(k))
	}
	return kindNames[k]
}

// parseKind finds a kind by its name.
func parseKind(name string) (Kind, bool) {
	for k, n := range kindNames {
		if n == name && k > 0 {
			return Kind(k), true
		}
	}
	return 0, false
}

// Record is one purge: what it hits, and its place in the order of all purges
// and fills. Everything that was kept by a fill that began before it, and that
// it matches, is invalid.
type Record struct {
	Seq     uint64 // from 1 on, given by the journal
	Kind    Kind
	Pattern string    // of a url: "host/path" or "/path" (every host), canonical and still escaped; "?query" may follow, without one every query matches. Of all: ""
	Site    string    // the edge's name of a site; "": every site
	Soft    bool      // pages only count as expired
	Time    time.Time // when it was made: for people, for the window of a soft record and for Compact; never compared with a page's
}

// ErrRecord is in the error for a record that says nothing that can be purged.
var ErrRecord = errors.New("pagecache: invalid record")

// validate says what is wrong with a record that is to be appended.
func (r *Record) validate() error {
	switch {
	case r.Kind == KindAll && r.Pattern != "":
		return fmt.Errorf("%w: all with the pattern %q, want none", ErrRecord, r.Pattern)
	case r.Kind == KindURL:
		if err := r.validateURL(); err != nil {
			return err
		}
	case r.Kind != KindAll:
		return fmt.Errorf("%w: %v, want url or all", ErrRecord, r.Kind)
	}
	if len(r.Site) > maxSite {
		return fmt.Errorf("%w: a site of %d bytes, want at most %d", ErrRecord, len(r.Site), maxSite)
	}
	if y := r.Time.UTC().Year(); y < 0 || y > 9999 {
		return fmt.Errorf("%w: time in the year %d, want 0 to 9999", ErrRecord, y)
	}
	return nil
}

func (r *Record) validateURL() error {
	if len(r.Pattern) > maxPattern {
		return fmt.Errorf("%w: a pattern of %d bytes, want at most %d", ErrRecord, len(r.Pattern), maxPattern)
	}
	if i := strings.IndexAny(r.Pattern, "/?"); i < 0 || r.Pattern[i] != '/' {
		return fmt.Errorf("%w: url %q, want host/path or /path", ErrRecord, r.Pattern)
	}
	return nil
}

// Matches says whether the record hits a page of u, whatever their numbers. It
// is for counting and for fills under way; [Purges.Check] does not call it.
func (r *Record) Matches(u PageURL) bool {
	if r.Site != "" && r.Site != u.Site {
		return false
	}
	if r.Kind != KindURL {
		return r.Kind == KindAll
	}
	pattern, query, asks := strings.Cut(r.Pattern, "?")
	if asks && (len(u.Query) == 0 || string(u.Query) != query) {
		return false
	}
	slash := strings.IndexByte(pattern, '/')
	host, path := pattern[:slash], pattern[slash:]
	return string(u.Path) == path && (host == "" || string(u.Host) == host)
}

// PageURL is what a purge is compared with: the URL of a page, in the canonical
// form that its key has. The slices are not kept.
type PageURL struct {
	Site  string // the edge's name of it
	Host  []byte // lower case, without a default port
	Path  []byte // still escaped
	Query []byte // filtered, without "?"; empty: none
}

// Clone gives a copy that owns its bytes.
func (u PageURL) Clone() PageURL {
	u.Host, u.Path, u.Query = bytes.Clone(u.Host), bytes.Clone(u.Path), bytes.Clone(u.Query)
	return u
}
