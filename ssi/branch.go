package ssi

// maxNesting bounds the ifs in ifs of one document.
const maxNesting = 64

// chain is an open if with its elifs and else. Its branches are laid out one after another; what has to jump to a
// place not yet known waits in a list.
//
// At any place of a chain a run is on one of three tracks: in the branch at hand; past a condition that was false,
// looking for the next one (next); or past a branch that was taken, hidden up to the endif (taken).
type chain struct {
	it     *item
	next   []int // instructions whose b is the next elif, else or endif
	taken  []int // instructions whose b is the endif
	conds  []int // their condOp.end is the endif
	inElse bool
	broken bool // a condition could not be compiled: nothing more of the chain is printed
}

// nesting is what is open at a place of a document.
type nesting struct {
	chains []chain
	deeper int // ifs beyond maxNesting, which are only counted
	over   int // the instruction that jumps over them
}

// branch compiles if, elif, else and endif.
func (p *parser) branch(it *item) {
	if it.cmd == cmdIf {
		p.openChain(it)
		return
	}
	if p.open.deeper > 0 {
		if it.cmd == cmdEndif && !it.broken {
			p.closeDeeper()
		}
		return
	}
	if len(p.open.chains) == 0 {
		p.wrong(it, structure(it, specs[it.cmd].name+" without an if"))
		return
	}
	c := &p.open.chains[len(p.open.chains)-1]
	if it.cmd == cmdElif {
		p.elif(c, it)
		return
	}
	_, bad := p.args(it)
	switch {
	case it.cmd == cmdElse && c.inElse:
		p.stray(c, it, structure(it, "second else"))
	case bad != nil:
		p.stray(c, it, bad)
	case it.cmd == cmdElse:
		p.endBranch(c)
		c.inElse = true
	default:
		p.closeChain()
	}
}

func structure(it *item, message string) *fault {
	return &fault{off: it.at, kind: KindStructure, message: message, cure: "pair each if with one endif, and at most one else before it"}
}

func (p *parser) openChain(it *item) {
	if p.open.deeper > 0 {
		p.open.deeper++
		return
	}
	if len(p.open.chains) == maxNesting {
		p.wrong(it, structure(it, "ifs are nested too deep"))
		p.open.over = p.emit(instr{op: opJump})
		p.open.deeper = 1
		return
	}
	p.open.chains = append(p.open.chains, chain{it: it})
	c := &p.open.chains[len(p.open.chains)-1]
	if args, bad := p.args(it); it.broken || bad != nil {
		p.breakChain(c, it, bad)
	} else {
		p.condition(c, it, &args)
	}
}

// condition compiles the expression of an if or elif. One that cannot be compiled prints the error message, and
// hides the rest of its chain.
func (p *parser) condition(c *chain, it *item, args *arguments) {
	expr := args[argExpr]
	g, text := grammar{p.t, p.o}, p.value(expr, false)
	cond, bad := g.parse(text, expr.valueAt)
	doubt := g.doubt(text, expr.valueAt)
	if bad != nil {
		if doubt != nil {
			bad = doubt // what was meant to be more is why it cannot be compiled
		}
		p.breakChain(c, it, bad)
		return
	}
	if doubt != nil {
		p.faults.note(*doubt)
	}
	p.t.conds = append(p.t.conds, condOp{cond: cond})
	c.conds = append(c.conds, len(p.t.conds)-1)
	c.next = append(c.next, p.emit(instr{op: opUnless, pos: p.place(it), a: len(p.t.conds) - 1}))
}

func (p *parser) breakChain(c *chain, it *item, why *fault) {
	p.wrong(it, why)
	c.broken = true
	c.taken = append(c.taken, p.emit(instr{op: opJump}))
}

// elif begins another branch. What is wrong with its expression shows only where that would be evaluated; what is
// wrong with its parameters shows on every track, as in nginx.
func (p *parser) elif(c *chain, it *item) {
	switch args, bad := p.args(it); {
	case c.inElse:
		p.stray(c, it, structure(it, "elif after else"))
	case c.broken:
		p.endBranch(c)
	case it.broken, bad != nil:
		p.land(&c.next)
		p.land(&c.taken)
		p.breakChain(c, it, bad)
	default:
		p.endBranch(c)
		p.condition(c, it, &args)
	}
}

// endBranch ends the branch at hand: what ran it goes to the endif, what looks for a branch goes on here.
func (p *parser) endBranch(c *chain) {
	c.taken = append(c.taken, p.emit(instr{op: opJump}))
	p.land(&c.next)
}

// land makes the waiting jumps arrive here.
func (p *parser) land(jumps *[]int) {
	for _, i := range *jumps {
		p.t.code[i].b = p.here()
	}
	*jumps = nil
}

// stray prints the error message for a directive that does not fit into its chain, on every track, as nginx does:
// also where the branch is hidden.
func (p *parser) stray(c *chain, it *item, why *fault) {
	if c.broken {
		p.faults.note(*why)
		return
	}
	shown := p.emit(instr{op: opJump})
	for _, track := range []*[]int{&c.taken, &c.next} {
		if len(*track) > 0 {
			p.land(track)
			p.emit(instr{op: opError, pos: p.place(it)})
			*track = append(*track, p.emit(instr{op: opJump}))
		}
	}
	p.t.code[shown].b = p.here()
	p.wrong(it, why)
}

// closeDeeper ends one of the ifs beyond maxNesting; what follows the outermost of them runs again.
func (p *parser) closeDeeper() {
	if p.open.deeper--; p.open.deeper == 0 {
		p.t.code[p.open.over].b = p.here()
	}
}

func (p *parser) closeChain() {
	c := &p.open.chains[len(p.open.chains)-1]
	p.land(&c.next)
	p.land(&c.taken)
	for _, i := range c.conds {
		p.t.conds[i].end = p.here()
	}
	p.open.chains = p.open.chains[:len(p.open.chains)-1]
}

// closeChains ends what is still open where the document or block ends: hidden text stays hidden.
func (p *parser) closeChains() {
	for p.open.deeper > 0 {
		p.closeDeeper()
	}
	for len(p.open.chains) > 0 {
		it := p.open.chains[len(p.open.chains)-1].it
		p.faults.add(it.at, KindStructure, "if is not closed", "add <!--#endif -->")
		p.closeChain()
	}
}
