package oracle

import (
	"fmt"
	"maps"
	"slices"
	"testing"
)

// Every row of the description of the dialect has a case that is about it, and
// no case claims one that is not there.
func TestEveryRowHasACase(t *testing.T) {
	want := map[string]bool{}
	for section, rows := range map[string]int{"L": 11, "P": 5, "C": 7, "E": 5, "I": 5, "V": 8, "F": 12, "H": 5} {
		for n := range rows {
			want[fmt.Sprintf("%s%d", section, n+1)] = false
		}
	}
	documents := 0
	for _, a := range readArchives(t) {
		for _, c := range a.cases {
			documents++
			if len(c.rows) == 0 {
				t.Errorf("%s: case %s names no row", a.path, c.name)
			}
			for _, row := range c.rows {
				if _, ok := want[row]; !ok {
					t.Errorf("%s: case %s names row %s, which is not there", a.path, c.name, row)
				}
				want[row] = true
			}
		}
	}
	for _, row := range slices.Sorted(maps.Keys(want)) {
		if !want[row] {
			t.Errorf("no case is about row %s", row)
		}
	}
	if documents < 250 {
		t.Errorf("%d cases, want at least 250", documents)
	}
}
