package check

import (
	"fmt"
	"iter"
	"strings"

	"github.com/ssiedge/ssiedge/ssi"
)

// graph is which files include which, as far as URLs without variables tell.
type graph struct {
	nodes   []node
	numbers map[fileID]int
	order   []int // the nodes with edges, as the walk came by
}

// node is a file that has includes or is included.
type node struct {
	name  string // below root; "": it has no includes
	edges []edgeTo
}

// edgeTo is an include.
type edgeTo struct {
	node        int
	line, col   int
	conditional bool // a run may pass it by
}

// edges gathers the includes of one file, of several to one file one.
type edges struct {
	list []edgeTo
	at   map[int]int // node -> place in list
}

// add takes an include in. One that no run can pass by counts for more.
func (e *edges) add(node int, l *ssi.Literal) {
	next := edgeTo{node, l.Line, l.Col, l.Conditional}
	if i, ok := e.at[node]; ok {
		if e.list[i].conditional && !l.Conditional {
			e.list[i] = next
		}
		return
	}
	if e.at == nil {
		e.at = map[int]int{}
	}
	e.at[node] = len(e.list)
	e.list = append(e.list, next)
}

// number gives the node of a file.
func (g *graph) number(id fileID) int {
	n, ok := g.numbers[id]
	if !ok {
		n = len(g.nodes)
		g.nodes = append(g.nodes, node{})
		g.numbers[id] = n
	}
	return n
}

// connect says what the file of a node includes, and under which name it was
// looked at.
func (g *graph) connect(n int, name string, list []edgeTo) {
	g.nodes[n] = node{name, list}
	g.order = append(g.order, n)
}

// loop is a chain of files each of which includes the next, and the last the
// first.
type loop struct {
	files       []int  // nodes
	closing     edgeTo // of the last to the first
	conditional bool   // a condition may end it
}

// step is a file on the way of a search, and its next include to go along.
type step struct{ node, edge int }

// loops gives each include that closes a loop, with one loop that it closes:
// without these includes there would be none. The search goes deep, file by
// file in the order of the walk, and along each include once.
func (g *graph) loops() iter.Seq[loop] {
	return func(yield func(loop) bool) {
		const done = -1
		depth := make([]int, len(g.nodes)) // 0: not seen; else its place on the way, from 1
		for _, first := range g.order {
			if depth[first] != 0 {
				continue
			}
			depth[first] = 1
			for way := []step{{node: first}}; len(way) > 0; {
				top := &way[len(way)-1]
				if top.edge == len(g.nodes[top.node].edges) {
					depth[top.node] = done
					way = way[:len(way)-1]
					continue
				}
				to := g.nodes[top.node].edges[top.edge]
				top.edge++
				switch d := depth[to.node]; {
				case d == 0:
					way = append(way, step{node: to.node})
					depth[to.node] = len(way)
				case d > 0 && !yield(g.loop(way[d-1:])):
					return
				}
			}
		}
	}
}

// loop makes one of a way whose last step leads to its first.
func (g *graph) loop(way []step) loop {
	var l loop
	for _, s := range way {
		l.files = append(l.files, s.node)
		l.closing = g.nodes[s.node].edges[s.edge-1]
		l.conditional = l.conditional || l.closing.conditional
	}
	return l
}

// longestChain is how many files of a loop are named.
const longestChain = 12

// loopProblem says that files include each other, at the include that closes
// the loop.
func (s *site) loopProblem(l loop) Problem {
	var names []string
	for _, n := range append(l.files, l.files[0]) {
		names = append(names, printable(s.graph.nodes[n].name))
	}
	if more := len(names) - longestChain; more > 0 {
		cut := longestChain / 2
		names = append(append(names[:cut:cut], fmt.Sprintf("(%d more)", more)), names[cut+more:]...)
	}
	p := Problem{
		File: s.path(s.graph.nodes[l.files[len(l.files)-1]].name), Line: l.closing.line, Col: l.closing.col,
		Message: "includes in a loop: " + strings.Join(names, " -> "),
		Cure:    "take one of them out",
	}
	if l.conditional {
		p.Warning = true
		p.Cure = "make sure that a condition ends it, or take one of them out"
	}
	return p
}
