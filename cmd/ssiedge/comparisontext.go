package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/ssiedge/ssiedge/internal/edge"
)

// printComparison prints x for people: the verdict, what differs, and what each
// of the two gets.
func printComparison(w io.Writer, x *edge.Comparison) {
	t := explainText{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)}
	share := "no"
	if x.Share {
		share = "yes"
	}
	t.line("share", "%s: %s", share, x.Why)
	for i := range x.Differences {
		t.difference(&x.Differences[i])
	}
	t.side("first", &x.First)
	t.side("second", &x.Second)
	t.w.Flush()
}

func (t *explainText) difference(d *edge.ExplainedDifference) {
	word := "alike"
	if d.Apart {
		word = "apart"
	}
	t.line(word, "%s: %s, %s", strings.TrimSpace(d.Part+" "+d.Name), valueText(d.First), valueText(d.Second))
	t.line("", "  %s", d.Why)
	if d.Cure != "" {
		t.line("", "  cure: %s", d.Cure)
	}
}

func valueText(v *string) string {
	if v == nil {
		return "absent"
	}
	return fmt.Sprintf("%q", *v)
}

// side prints one of the two requests: what is to be known of it here.
func (t *explainText) side(word string, x *edge.Explanation) {
	t.line(word, "%s", x.URL)
	t.line("", "  site %s", x.Site.Where)
	for _, r := range x.Rules {
		t.line("", "  rule %s", r.Where)
	}
	if x.Key != nil {
		t.line("", "  key %s", keyText(x.Key))
	}
	t.line("", "  answer %s: %s", x.Answer.By, x.Answer.Why)
}
