package ssi

import "slices"

// scope is what a document sees and sets: variables, captures and blocks. An include that is waited for works in the
// scope of its page; any other gets a snapshot, which costs nothing until one side writes: both then put a layer of
// their own over the one they share.
type scope struct {
	top    *layer
	own    bool // top belongs to this scope alone
	caps   *captures
	blocks *block
}

// snapshot gives a scope that shares all so far, and sees nothing of what comes later, as the other way round.
func (s *scope) snapshot() scope {
	s.own = false
	return *s
}

// indexFrom is the number of variables in a layer from which on a map finds them.
const indexFrom = 8

// layer holds variables over those of the layers under it. Shared layers are never written again.
type layer struct {
	under *layer
	list  []variable
	index map[string]int
}

type variable struct {
	name  string
	value []byte
}

func (s *scope) set(name string, value []byte) {
	if !s.own {
		s.top, s.own = &layer{under: s.top}, true
	}
	l := s.top
	if i := l.find(name); i >= 0 {
		l.list[i].value = value
		return
	}
	l.list = append(l.list, variable{name, value})
	if l.index == nil && len(l.list) < indexFrom {
		return
	}
	if l.index == nil {
		l.index = make(map[string]int, 2*indexFrom)
		for i, v := range l.list {
			l.index[v.name] = i
		}
	}
	l.index[name] = len(l.list) - 1
}

func (s *scope) lookup(name string) ([]byte, bool) {
	for l := s.top; l != nil; l = l.under {
		if i := l.find(name); i >= 0 {
			return l.list[i].value, true
		}
	}
	return nil, false
}

// each gives all variables, those that are hidden before those that hide them.
func (s *scope) each(do func(name string, value []byte)) {
	var layers []*layer
	for l := s.top; l != nil; l = l.under {
		layers = append(layers, l)
	}
	for _, l := range slices.Backward(layers) {
		for _, v := range l.list {
			do(v.name, v.value)
		}
	}
}

func (l *layer) find(name string) int {
	if l.index != nil {
		if i, ok := l.index[name]; ok {
			return i
		}
		return -1
	}
	for i := range l.list {
		if l.list[i].name == name {
			return i
		}
	}
	return -1
}

// captures are what the last successful match left: pairs of offsets into subject, -1 for a group that took no part.
type captures struct {
	subject []byte
	pairs   []int
}

// group is the text of group n; false: the expression had no such group.
func (c *captures) group(n int) ([]byte, bool) {
	if c == nil || 2*n >= len(c.pairs) {
		return nil, false
	}
	lo, hi := c.pairs[2*n], c.pairs[2*n+1]
	if lo < 0 {
		return nil, true
	}
	return c.subject[lo:hi], true
}

// block is a defined block; the newest comes first.
type block struct {
	op   *blockOp
	t    *Template
	rest *block
}

// blockWork is what looking at one block costs of the budget, in bytes.
const blockWork = 8

// find gives the block of a name: of several the one that was defined first, as in nginx. looked is at how many blocks
// it had to look.
func (b *block) find(name string) (first *block, looked int) {
	for ; b != nil; b = b.rest {
		if looked++; b.op.name == name {
			first = b
		}
	}
	return first, looked
}

// dates are the variables that are made by timefmt.
var dates = [...]string{"date_local", "date_gmt", "last_modified"}

// variable looks a name up: captures, what was set, the dates, and what the surroundings know.
func (d *document) variable(name string) ([]byte, bool) {
	if len(name) == 1 && '0' <= name[0] && name[0] <= '9' {
		if v, ok := d.scope.caps.group(int(name[0] - '0')); ok {
			return v, true
		}
	}
	if v, ok := d.scope.lookup(name); ok {
		return v, true
	}
	for i := range dates {
		if dates[i] != name {
			continue
		}
		if v, ok := d.date(i); ok {
			return v, true
		}
	}
	if d.vars == nil {
		return nil, false
	}
	return d.vars.Lookup(name)
}

// date is the variable of dates at i, in the timefmt at hand. Each is made once: a document may ask for it often.
func (d *document) date(i int) ([]byte, bool) {
	if d.dated[i] != nil {
		return d.dated[i], true
	}
	t := d.run.env.Now
	switch dates[i] {
	case "date_local":
		t = t.In(d.run.env.Location)
	case "date_gmt":
		t = t.In(gmt)
	case "last_modified":
		dated, ok := d.vars.(Dated)
		if ok {
			t, ok = dated.Modified()
		}
		if !ok {
			return nil, false
		}
		t = t.In(d.run.env.Location)
	}
	d.dated[i] = present(appendTime(nil, d.timefmt, t))
	return d.dated[i], true
}
