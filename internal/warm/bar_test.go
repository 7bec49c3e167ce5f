package warm

import (
	"bytes"
	"strings"
	"testing"
)

func TestBar(t *testing.T) {
	var out bytes.Buffer
	b := NewBar(&out)
	b.Clear() // nothing was drawn
	if out.Len() > 0 {
		t.Errorf("%q, want nothing", out.String())
	}
	show := func(p Progress, want string) {
		t.Helper()
		out.Reset()
		b.bar = nil // else it draws ten times a second at most
		b.Show(p)
		if got := out.String(); !strings.Contains(got, want) || !strings.HasPrefix(strings.TrimLeft(got, "\r "), "warm") {
			t.Errorf("%+v: %q, want %q", p, got, want)
		}
	}
	show(Progress{Done: 1, Listed: 1}, "(1/2") // never full while more may come
	show(Progress{Done: 25, Listed: 100, All: true}, "(25/100")
	b.Clear()
	if got := out.String(); !strings.HasSuffix(got, "\r") {
		t.Errorf("%q, want the line cleared", got)
	}
}

// TestBarMoves: the end moves along with the source, and a full bar is gone.
func TestBarMoves(t *testing.T) {
	var out bytes.Buffer
	b := NewBar(&out)
	for i := range int64(50) {
		b.Show(Progress{Done: i + 1, Listed: i + 1 + 10})
	}
	b.Show(Progress{Done: 60, Listed: 60, All: true})
	if !b.bar.IsFinished() {
		t.Errorf("the bar is not finished: %q", out.String())
	}
	if got := out.String(); !strings.HasSuffix(got, "\r") || strings.Contains(got, "\n") {
		t.Errorf("%q, want one line, cleared in the end", got)
	}
}
