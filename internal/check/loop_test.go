package check

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ssiedge/ssiedge/ssi"
	"pgregory.net/rapid"
)

// newGraph makes a graph of n files with the given includes, each at the column
// that is its number.
func newGraph(n int, includes [][2]int) *graph {
	g := &graph{numbers: map[fileID]int{}}
	for i := range n {
		g.number(fileID{inode: uint64(i)})
	}
	for i := range n {
		var e edges
		for at, include := range includes {
			if include[0] == i {
				e.add(include[1], &ssi.Literal{Line: 1, Col: at})
			}
		}
		if len(e.list) > 0 {
			g.connect(i, fmt.Sprint(i), e.list)
		}
	}
	return g
}

// cyclic says by taking away, over and over, what includes nothing, whether
// anything stays.
func cyclic(n int, includes [][2]int) bool {
	for range n {
		includes = slices.DeleteFunc(slices.Clone(includes), func(e [2]int) bool {
			return !slices.ContainsFunc(includes, func(next [2]int) bool { return next[0] == e[1] })
		})
	}
	return len(includes) > 0
}

// Every loop that is told is one, none is told twice, and without the includes
// that are blamed there is no loop.
func TestLoops(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "files")
		file := rapid.IntRange(0, n-1)
		includes := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) [2]int {
			return [2]int{file.Draw(t, "from"), file.Draw(t, "to")}
		}), 0, 20).Draw(t, "includes")
		left := slices.Clone(includes)
		told := map[string]bool{}
		for l := range newGraph(n, includes).loops() {
			for i, from := range l.files {
				to := l.files[(i+1)%len(l.files)]
				if !slices.Contains(includes, [2]int{from, to}) {
					t.Fatalf("%v: %d does not include %d", l.files, from, to)
				}
			}
			blamed := [2]int{l.files[len(l.files)-1], l.files[0]}
			if at := slices.Index(includes, blamed); l.closing.col != at || l.closing.node != blamed[1] {
				t.Fatalf("%v: closed by %+v, want include %d", l.files, l.closing, at)
			}
			if key := fmt.Sprint(l.files); told[key] {
				t.Fatalf("%s is told twice", key)
			} else {
				told[key] = true
			}
			left = slices.DeleteFunc(left, func(e [2]int) bool { return e == blamed })
		}
		if (len(told) > 0) != cyclic(n, includes) {
			t.Fatalf("%d loops told; is there one: %v", len(told), cyclic(n, includes))
		}
		if cyclic(n, left) {
			t.Fatalf("without the includes that are blamed there still is a loop: %v", left)
		}
	})
}

// A loop of many files is one loop.
func TestLoopsOfALongChain(t *testing.T) {
	const n = 20_000
	g := &graph{numbers: map[fileID]int{}}
	for i := range n {
		g.number(fileID{inode: uint64(i)})
	}
	for i := range n {
		g.connect(i, fmt.Sprint(i), []edgeTo{{node: (i + 1) % n}})
	}
	var found []loop
	for l := range g.loops() {
		found = append(found, l)
	}
	if len(found) != 1 || len(found[0].files) != n {
		t.Errorf("%d loops, want one of %d files", len(found), n)
	}
}

func TestLoopsStop(t *testing.T) {
	g := newGraph(2, [][2]int{{0, 0}, {1, 1}})
	told := 0
	for range g.loops() {
		told++
		break
	}
	if told != 1 {
		t.Errorf("%d loops, want 1", told)
	}
}

// Of several includes of one file that counts which no run can pass by.
func TestEdgesOfOneFile(t *testing.T) {
	var e edges
	for _, l := range []ssi.Literal{{Col: 1, Conditional: true}, {Col: 2}, {Col: 3, Conditional: true}, {Col: 4}} {
		e.add(7, &l)
	}
	e.add(8, &ssi.Literal{Col: 5, Conditional: true})
	want := []edgeTo{{node: 7, col: 2}, {node: 8, col: 5, conditional: true}}
	if !slices.Equal(e.list, want) {
		t.Errorf("got %+v, want %+v", e.list, want)
	}
}
