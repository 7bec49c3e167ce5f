package edge

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// lines are those of the log that tell of a problem of a kind.
func (l *logBuffer) lines(kind string) (found []string) {
	for line := range strings.Lines(l.String()) {
		if strings.Contains(line, "problem="+kind+" ") {
			found = append(found, line)
		}
	}
	return found
}

// TestOneLineAKind: whatever a page does wrong, and how often, it is one line a
// kind, and all is counted.
func TestOneLineAKind(t *testing.T) {
	e := newEdge(t, withFiles(t, map[string]string{
		"p.html": strings.Repeat(`<!--#include virtual="/none" -->`, 500) + strings.Repeat(`<!--#ecko -->`, 7) + strings.Repeat(`<!--#if expr="$" -->`, 3),
	}))
	for range 3 {
		e.get("/p")
	}
	for kind, times := range map[string]int{"include": 500, "unknown": 7, "structure": 3} {
		lines := e.log.lines(kind)
		if len(lines) != 1 || !strings.Contains(lines[0], fmt.Sprintf(" times=%d\n", times)) || !strings.Contains(lines[0], "page=/p ") {
			t.Errorf("%s: lines %q, want one for %d times", kind, lines, times)
		}
	}
	if n := e.reports.totals()["unknown"]; n == 0 || n%7 != 0 { // each time that the page is compiled
		t.Errorf("%d unknown commands were counted, want 7 a time", n)
	}
	if n := counted(t, e.Edge, "ssiedge_problems_total", "include"); n != 1500 {
		t.Errorf("the metrics tell of %v failed includes, want 1500", n)
	}
}

// counted is a counter as /metrics has it.
func counted(t *testing.T, e *Edge, name, label string) float64 {
	t.Helper()
	r := prometheus.NewRegistry()
	r.MustRegister(e)
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == name && len(m.GetLabel()) == 1 && m.GetLabel()[0].GetValue() == label {
				return m.GetCounter().GetValue()
			}
		}
	}
	return 0
}

// TestReportsInTime: the same is told once a minute, with what came since; and of
// one kind so many pages a minute.
func TestReportsInTime(t *testing.T) {
	log := new(logBuffer)
	rp := newReporter(slog.New(slog.NewTextHandler(log, nil)))
	now := time.Now()
	due := func(page string, count, times, leftOut int) {
		t.Helper()
		if n, left := rp.due("include", page, count, now); n != times || left != leftOut {
			t.Errorf("%s: a line for %d times, %d left out; want %d, %d", page, n, left, times, leftOut)
		}
	}
	due("/a", 1, 1, 0)
	due("/a", 5, 0, 0)
	now = now.Add(reportEvery - 1)
	due("/a", 2, 0, 0)
	now = now.Add(1)
	due("/a", 3, 10, 0)
	for i := range linesOfKind - 1 {
		due(fmt.Sprint("/page", i), 1, 1, 0)
	}
	due("/too-many", 1, 0, 0)
	due("/too-many", 1, 0, 0)
	if n, _ := rp.due("origin", "/other-kind", 1, now); n != 1 {
		t.Error("one kind keeps another from being told")
	}
	now = now.Add(reportEvery)
	due("/b", 1, 1, 2)
	due("/a", 1, 1, 0)
	if n := rp.totals()["include"]; n != 11+linesOfKind-1+2+2 {
		t.Errorf("counted %d", n)
	}
}

// TestLoopsAreNamed in the log, and so is the way to an include that is too deep.
func TestLoopsAreNamed(t *testing.T) {
	files := map[string]string{
		"a.html":    `<!--#include virtual="/b" -->`,
		"b.html":    `<!--#include virtual="/app/c" -->`,
		"self.html": `<!--#include virtual="self.html" --><!--#include virtual="self.html" -->`,
		"deep.html": `<!--#include virtual="/app/count?n=" -->`,
		"page.html": `<!--#include virtual="self.html" -->`,
	}
	e := newEdge(t, withFiles(t, files), withApp(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/app/c":
			fmt.Fprint(w, `<!--#include virtual="/a" -->`)
		default:
			fmt.Fprintf(w, `<!--#include virtual="/app/count?n=%sx" -->`, r.URL.Query().Get("n"))
		}
	}), withSite(func(s *Site) { s.SSI.MaxDepth, s.SSI.MaxIncludes, s.SSI.FlushAfter = 5, 20, patience }))
	for target, want := range map[string]string{
		"/a":    "(includes in a loop: /app/c -> /a.html -> /b.html -> /app/c)",
		"/self": "(includes in a loop: /self.html -> /self.html)",
		"/page": "(includes in a loop: /self.html -> /self.html)",
		"/deep": "(includes in includes: /deep.html -> /app/count?n= -> /app/count?n=x -> /app/count?n=xx -> /app/count?n=xxx -> /app/count?n=xxxx)",
	} {
		e.get(target)
		found := false
		for _, line := range e.log.lines("limit") {
			found = found || strings.Contains(line, "page="+target+" ") && strings.Contains(line, want)
		}
		if !found {
			t.Errorf("%s: the log does not tell of %q:\n%s", target, want, e.log)
		}
	}
}
