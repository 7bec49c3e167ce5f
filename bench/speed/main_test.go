package main

import (
	"strings"
	"testing"
)

func TestAnswers(t *testing.T) {
	const fine = "Running 2s test @ http://127.0.0.1:1/\n  1 threads and 64 connections\n" +
		"  24660 requests in 2.10s, 250.01MB read\nRequests/sec:  11742.86\n"
	for name, c := range map[string]struct {
		printed string
		want    int // 0: an error
	}{
		"all well":  {fine, 24660},
		"refused":   {fine + "  Non-2xx or 3xx responses: 3093\n", 0},
		"broken":    {fine + "  Socket errors: connect 0, read 1, write 0, timeout 0\n", 0},
		"no answer": {"  0 requests in 2.10s, 0.00B read\n", 0},
		"nothing":   {"", 0},
	} {
		if got, err := answers(c.printed); got != c.want || (err != nil) != (c.want == 0) {
			t.Errorf("%s: %d requests, %v, want %d", name, got, err, c.want)
		}
	}
}

func TestParseStat(t *testing.T) {
	const rest = " S 17 1 1 0 -1 4194560 100 0 0 0 120 30 0 0 20 0 1 0 5 1 1"
	for _, name := range []string{"4 (nginx)", "4 (a) S 9 (b)"} {
		s, err := parseStat([]byte(name + rest))
		if want := (stat{parent: 17, ticks: 150}); err != nil || s != want {
			t.Errorf("%s: %+v, %v, want %+v", name, s, err, want)
		}
	}
	if s, err := parseStat([]byte("4 (nginx) S 17 1")); err == nil {
		t.Errorf("a line that is cut off gives %+v, want an error", s)
	}
}

func TestPrint(t *testing.T) {
	us := &subject{name: "us", samples: []sample{{rate: 900, cost: 9}, {rate: 100, cost: 50}, {rate: 1000, cost: 10}}}
	they := &subject{name: "they", contract: 1.2, samples: []sample{{rate: 500, cost: 30}, {rate: 400, cost: 24}}}
	var b strings.Builder
	if err := print(&b, []*work{{name: "page", subjects: []*subject{us, they}}}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	for i, want := range []string{"", "page us 900 10.00", "page they 450 27.00 2.00 2.70 1.20"} {
		if got := strings.Join(strings.Fields(lines[i]), " "); i > 0 && got != want {
			t.Errorf("line %d: %q, want %q", i, got, want)
		}
	}
}

// The pages of all servers have the same size, or their figures say nothing.
func TestContent(t *testing.T) {
	if n := len(page()); n != pageSize {
		t.Errorf("a page has %d bytes, want %d", n, pageSize)
	}
	const directive = "<!--#directive -->"
	before, after, ok := strings.Cut(pageWith(directive), directive)
	if n := len(before) + len(filler(fragmentSize)) + len(after); !ok || n != pageSize {
		t.Errorf("a page with its fragment has %d bytes, want %d", n, pageSize)
	}
}
