package warm

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

const (
	maxFailures = 10  // that a report names
	maxReasons  = 100 // that it counts one by one; the rest is "other"
	otherReason = "other"
)

// Report is what came of a run.
type Report struct {
	Edge string
	// URLs is the sum of the four below, one of which each outcome is.
	URLs, Kept, Present, NotKept, Failed int64
	// NotKeptBy and FailedBy say why, and how often each.
	NotKeptBy, FailedBy map[string]int64
	// First holds the first failures, ten at most.
	First []Failure
	// Excluded and Duplicates were not asked for.
	Excluded, Duplicates int64
	// Retries were made after a broken connection, or a 503 with Retry-After.
	Retries int64
	// Bytes is the sum of the bodies.
	Bytes int64
	Took  time.Duration
	// Interrupted is set if the run was ended before it was done.
	Interrupted bool
}

// Failure is one outcome that failed.
type Failure struct {
	Place  string `json:"place"` // file:line of the source; empty: the source itself
	URL    string `json:"url"`   // as the source has it; empty where it has none
	Reason string `json:"reason"`
	Error  string `json:"error"`
}

// String gives the failure on one line of printable characters.
func (f Failure) String() string {
	var b strings.Builder
	for _, s := range []string{f.Place, f.URL} {
		if s != "" {
			b.WriteString(printable(s) + ": ")
		}
	}
	return b.String() + printable(f.Error)
}

// printable quotes what could disturb a terminal: it comes from files and servers.
func printable(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }) {
		return strconv.QuoteToASCII(s)
	}
	return s
}

func newReport(edge string) *Report {
	return &Report{Edge: edge, NotKeptBy: map[string]int64{}, FailedBy: map[string]int64{}, First: []Failure{}}
}

// add counts an outcome.
func (r *Report) add(o result) {
	r.URLs++
	r.Bytes += o.bytes
	switch o.outcome {
	case kept:
		r.Kept++
	case present:
		r.Present++
	case notKept:
		r.NotKept++
		count(r.NotKeptBy, o.reason)
	case failed:
		r.Failed++
		count(r.FailedBy, o.reason)
		if len(r.First) < maxFailures {
			r.First = append(r.First, o.failure())
		}
	}
}

// count counts a reason; they come from outside, so their number is bounded.
func count(m map[string]int64, reason string) {
	if _, known := m[reason]; !known && len(m) >= maxReasons {
		reason = otherReason
	}
	m[reason]++
}

// OK reports whether all was done and nothing failed.
func (r *Report) OK() bool { return r.Failed == 0 && !r.Interrupted }

// WriteText writes the report as a table for people.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d %s in %.1f s, %s\n", r.Edge, r.URLs, plural(r.URLs, "URL"), r.Took.Seconds(), size(r.Bytes))
	if r.Interrupted {
		fmt.Fprintln(&b, "interrupted: this is what was done until then")
	}
	fmt.Fprintln(&b)
	writeRows(&b, r.rows())
	if len(r.First) > 0 {
		fmt.Fprintf(&b, "\nfirst failures:\n")
		for _, f := range r.First {
			fmt.Fprintf(&b, "  %s\n", f)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// row is a line of the table.
type row struct {
	label string
	n     int64
}

func (r *Report) rows() []row {
	rows := []row{{"kept", r.Kept}, {"already there", r.Present}, {"not kept", r.NotKept}}
	rows = append(rows, reasonRows(r.NotKeptBy)...)
	rows = append(rows, row{"failed", r.Failed})
	rows = append(rows, reasonRows(r.FailedBy)...)
	for _, extra := range []row{{"excluded", r.Excluded}, {"named again", r.Duplicates}, {"asked again", r.Retries}} {
		if extra.n > 0 {
			rows = append(rows, extra)
		}
	}
	return rows
}

// reasonRows gives reasons in order of their number.
func reasonRows(m map[string]int64) []row {
	reasons := slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		return cmp.Or(cmp.Compare(m[b], m[a]), cmp.Compare(a, b))
	})
	rows := make([]row, len(reasons))
	for i, reason := range reasons {
		rows[i] = row{"  " + reason, m[reason]}
	}
	return rows
}

func writeRows(w io.Writer, rows []row) {
	label, number := 0, 0
	for _, r := range rows {
		label = max(label, len(r.label))
		number = max(number, len(strconv.FormatInt(r.n, 10)))
	}
	for _, r := range rows {
		fmt.Fprintf(w, "%-*s  %*d\n", label, r.label, number, r.n)
	}
}

func plural(n int64, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

// size gives a number of bytes with a unit.
func size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 999_950:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	case n < 999_950_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}

// reportJSON is the report for programs. Its keys are documented in docs/warm.md
// and always all there.
type reportJSON struct {
	Edge           string           `json:"edge"`
	URLs           int64            `json:"urls"`
	Kept           int64            `json:"kept"`
	Present        int64            `json:"already_there"`
	NotKept        int64            `json:"not_kept"`
	NotKeptReasons map[string]int64 `json:"not_kept_reasons"`
	Failed         int64            `json:"failed"`
	FailedReasons  map[string]int64 `json:"failed_reasons"`
	FirstFailures  []Failure        `json:"first_failures"`
	Excluded       int64            `json:"excluded"`
	Duplicates     int64            `json:"duplicates"`
	Retries        int64            `json:"retries"`
	Bytes          int64            `json:"bytes"`
	Seconds        float64          `json:"seconds"`
	Interrupted    bool             `json:"interrupted"`
}

// WriteJSON writes the report as one JSON object on one line.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(reportJSON{
		Edge: r.Edge, URLs: r.URLs, Kept: r.Kept, Present: r.Present,
		NotKept: r.NotKept, NotKeptReasons: r.NotKeptBy, Failed: r.Failed, FailedReasons: r.FailedBy,
		FirstFailures: r.First, Excluded: r.Excluded, Duplicates: r.Duplicates, Retries: r.Retries,
		Bytes: r.Bytes, Seconds: math.Round(r.Took.Seconds()*1000) / 1000, Interrupted: r.Interrupted,
	})
}
