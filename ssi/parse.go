package ssi

// opcode says what an instruction does.
type opcode uint8

const (
	opText     opcode = iota // print src[a:b]
	opError                  // print the error message
	opJump                   // go on at b
	opUnless                 // evaluate conds[a]; false: go on at b
	opEcho                   // echoes[a]
	opSet                    // sets[a]
	opInclude                // includes[a]
	opList                   // includes[a], a list: its instructions follow; go on at b
	opMember                 // includes[a], of the list at hand
	opListEnd                // what stands for the list at hand if it failed
	opConfig                 // configs[a]
	opStat                   // stats[a]; if that fails go on at b
	opPrintenv               // print all variables
	opBlock                  // remember blocks[a], whose instructions follow; go on at b
)

// instr is one step of a program. A document is a flat list of them, so that a run can stop anywhere and go on later.
type instr struct {
	op   opcode
	pos  position // of the directive
	a, b int
}

// condOp is an if or elif. end is behind its endif: where an expression that fails at run time goes.
type condOp struct {
	cond condition
	end  int
}

type blockOp struct {
	name     string
	from, to int // its instructions
}

// parser turns directives into a program.
type parser struct {
	t          *Template
	o          Options
	lex        lexer
	faults     faults
	lines      lineCounter
	lastClosed int // the last endblock among the directives; -1: none
	inBlock    bool
	open       nesting // of the document or block at hand
}

func (p *parser) run() {
	p.lex.run()
	p.lastClosed = -1
	var count [len(specs)]int
	for i := range p.lex.items {
		if p.endsBlock(&p.lex.items[i]) {
			p.lastClosed = i
		}
		count[p.lex.items[i].cmd]++
	}
	p.t.code = make([]instr, 0, 2*len(p.lex.items)+1)
	p.t.echoes = make([]echoOp, 0, count[cmdEcho])
	p.t.sets = make([]setOp, 0, count[cmdSet])
	p.t.includes = make([]includeOp, 0, count[cmdInclude])
	p.program(0, len(p.lex.items), 0, len(p.t.src))
}

// program compiles the directives [i, end), with the text from offset text up to offset stop.
func (p *parser) program(i, end, text, stop int) {
	for ; i < end; i++ {
		it := &p.lex.items[i]
		p.text(text, it.at)
		if it.cmd == cmdBlock && !it.broken {
			i = p.block(i)
		} else {
			p.directive(it)
		}
		text = p.lex.items[i].end
	}
	p.text(text, stop)
	p.closeChains()
}

func (p *parser) text(from, to int) {
	if from < to {
		p.emit(instr{op: opText, a: from, b: to})
	}
}

func (p *parser) emit(in instr) int {
	p.t.code = append(p.t.code, in)
	return len(p.t.code) - 1
}

func (p *parser) here() int { return len(p.t.code) }

// place is the position of a directive. It is asked for in document order.
func (p *parser) place(it *item) position { return p.lines.at(it.at) }

// wrong prints the error message in place of a directive. why may be nil where a fault has been noted already.
func (p *parser) wrong(it *item, why *fault) {
	if why != nil {
		p.faults.note(*why)
	}
	p.emit(instr{op: opError, pos: p.place(it)})
}

func (p *parser) directive(it *item) {
	if it.broken && it.cmd != cmdIf && it.cmd != cmdElif {
		p.wrong(it, nil)
		return
	}
	switch it.cmd {
	case cmdUnknown:
		p.faults.unknown(it.at, it.word, "")
		p.wrong(it, nil)
	case cmdExec:
		p.wrong(it, &fault{off: it.at, kind: KindRefused, message: "exec is never run", cure: "include a URL of the app instead"})
	case cmdIf, cmdElif, cmdElse, cmdEndif:
		p.branch(it)
	case cmdComment:
	case cmdEndblock:
		p.strayEndblock(it)
	default:
		p.simple(it)
	}
}

// simple compiles the directives that stand for themselves.
func (p *parser) simple(it *item) {
	var bad *fault
	switch it.cmd {
	case cmdEcho:
		bad = p.echo(it)
	case cmdSet:
		bad = p.set(it)
	case cmdInclude:
		bad = p.include(it)
	case cmdConfig:
		bad = p.config(it)
	case cmdFsize, cmdFlastmod:
		bad = p.stat(it)
	case cmdPrintenv:
		bad = p.printenv(it)
	}
	if bad != nil {
		p.wrong(it, bad)
	}
}

// arguments are a directive's parameters by what they are; nil: not given.
type arguments [argCount]*param

// args checks the parameters of a directive against its spec.
func (p *parser) args(it *item) (a arguments, bad *fault) {
	if it.broken {
		return a, nil // its fault was noted when it was read
	}
	s := &specs[it.cmd]
	for i := it.lo; i < it.hi; i++ {
		pm := &p.lex.params[i]
		arg, bad := p.argOf(it, pm)
		if bad != nil {
			return a, bad
		}
		if a[arg] != nil {
			return a, twice(pm)
		}
		a[arg] = pm
	}
	for _, ps := range s.params {
		if ps.kind == required && a[ps.arg] == nil {
			return a, missing(it, ps.name)
		}
	}
	return a, nil
}

// argOf is what a parameter of the directive is.
func (p *parser) argOf(it *item, pm *param) (arg int, bad *fault) {
	s := &specs[it.cmd]
	if arg = s.arg(pm.name, p.o.Dialect); arg < 0 {
		return arg, parameter(pm.at, "unknown parameter "+quoted(pm.name)+" of "+s.name, s.cure(pm.name, p.o.Dialect))
	}
	return arg, nil
}

// inOrder goes through the parameters of a directive of which several may be there, and gives each to do. What is
// wrong with one ends that: in the nginx dialect nothing of the directive is done then, in the apache dialect what
// stands before it.
func (p *parser) inOrder(it *item, do func(arg int, pm *param) *fault) *fault {
	undo := len(p.t.code)
	for i := it.lo; i < it.hi; i++ {
		pm := &p.lex.params[i]
		arg, bad := p.argOf(it, pm)
		if bad == nil {
			bad = do(arg, pm)
		}
		if bad != nil {
			if p.o.Dialect == DialectNginx {
				p.t.code = p.t.code[:undo]
			}
			return bad
		}
	}
	return nil
}

func missing(it *item, name string) *fault {
	return parameter(it.at, specs[it.cmd].name+" without "+name, "add "+name+`="..."`)
}

func twice(pm *param) *fault {
	cure := "remove one"
	if equalFold(pm.name, "var") {
		cure = "write a directive for each"
	}
	return parameter(pm.at, "parameter "+quoted(pm.name)+" is there twice", cure)
}

func parameter(off int, message, cure string) *fault {
	return &fault{off: off, kind: KindParameter, message: message, cure: cure}
}

// endsBlock says whether a directive is a good endblock; a bad one ends nothing.
func (p *parser) endsBlock(it *item) bool {
	return it.cmd == cmdEndblock && !it.broken && it.lo == it.hi
}

// strayEndblock is one outside a block: without effect, as in nginx.
func (p *parser) strayEndblock(it *item) {
	if !p.endsBlock(it) {
		_, bad := p.args(it)
		p.wrong(it, bad)
		return
	}
	p.faults.add(it.at, KindStructure, "endblock without a block", "remove it")
}

// block compiles the block that opens at directive i up to its endblock, the first one, as a document of its own,
// and returns the endblock. Without one it is as if the opening were not there.
func (p *parser) block(i int) int {
	it := &p.lex.items[i]
	args, bad := p.args(it)
	switch {
	case bad != nil:
		p.wrong(it, bad)
		return i
	case p.inBlock:
		p.faults.add(it.at, KindStructure, "block inside a block: the opening is left out", "end the outer block first")
		return i
	case p.lastClosed < i:
		p.faults.add(it.at, KindStructure, "block is not closed: the opening is left out", "add <!--#endblock -->")
		return i
	}
	end := i + 1
	for !p.endsBlock(&p.lex.items[end]) {
		end++
	}
	at := p.emit(instr{op: opBlock, pos: p.place(it), a: len(p.t.blocks)})
	p.t.blocks = append(p.t.blocks, blockOp{name: string(args[argName].value), from: at + 1})
	outer := p.open
	p.open, p.inBlock = nesting{}, true
	p.program(i+1, end, it.end, p.lex.items[end].at)
	p.open, p.inBlock = outer, false
	p.t.code[at].b = p.here()
	p.t.blocks[p.t.code[at].a].to = p.here()
	return end
}
