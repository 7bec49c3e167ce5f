package ssi

import "bytes"

// opcode says what an instruction does.
type opcode uint8

const (
	opText    opcode = iota // print src[a:b]
	opError                 // print the error message
	opJump                  // go on at b
	opUnless                // evaluate conds[a]; false: go on at b
	opEcho                  // echoes[a]
	opSet                   // sets[a]
	opInclude               // includes[a]
	opConfig                // configs[a]
	opBlock                 // remember blocks[a], whose instructions follow; go on at b
)

// instr is one step of a program. A document is a flat list of them, so that a run can stop anywhere and go on later.
type instr struct {
	op   opcode
	pos  position // of the directive
	a, b int
}

type echoOp struct {
	name    string
	enc     encoding
	missing []byte // what is printed for an unknown variable, encoded
}

type setOp struct {
	name  string
	value phrase
}

type includeOp struct {
	url        string // where value has no variables
	value      phrase
	file, wait bool
	set, stub  *string
}

// condOp is an if or elif. end is behind its endif: where an expression that fails at run time goes.
type condOp struct {
	cond condition
	end  int
}

type configOp struct {
	errmsg  []byte  // nil: left as it is
	timefmt *string // nil: left as it is
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
	for i := range p.lex.items {
		if p.endsBlock(&p.lex.items[i]) {
			p.lastClosed = i
		}
	}
	p.t.code = make([]instr, 0, 2*len(p.lex.items)+1)
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
	args, bad := p.args(it)
	if bad == nil {
		switch it.cmd {
		case cmdEcho:
			p.echo(it, &args)
		case cmdSet:
			bad = p.set(it, &args)
		case cmdInclude:
			bad = p.include(it, &args)
		case cmdConfig:
			p.config(it, &args)
		}
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
		arg := s.arg(pm.name)
		if arg < 0 {
			return a, parameter(pm.at, "unknown parameter "+quoted(pm.name)+" of "+s.name, s.cure())
		}
		if a[arg] != nil {
			return a, parameter(pm.at, "parameter "+quoted(pm.name)+" is there twice", "remove one")
		}
		a[arg] = pm
	}
	for _, ps := range s.params {
		if ps.required && a[ps.arg] == nil {
			return a, parameter(it.at, s.name+" without "+ps.name, "add "+ps.name+`="..."`)
		}
	}
	return a, nil
}

func parameter(off int, message, cure string) *fault {
	return &fault{off: off, kind: KindParameter, message: message, cure: cure}
}

func (p *parser) echo(it *item, a *arguments) {
	op := echoOp{name: lowerString(a[argVar].value)}
	if e := a[argEncoding]; e != nil {
		var ok bool
		if op.enc, ok = encodingOf(e.value); !ok {
			p.faults.note(*parameter(e.valueAt, "unknown encoding "+quoted(e.value)+", entity is used", "use none, url, entity, urlencoded or base64"))
		}
	}
	op.missing = []byte("(none)")
	if a[argDefault] != nil {
		op.missing = a[argDefault].value
	}
	op.missing = encode(op.missing, op.enc)
	p.t.echoes = append(p.t.echoes, op)
	p.emit(instr{op: opEcho, pos: p.place(it), a: len(p.t.echoes) - 1})
}

func (p *parser) set(it *item, a *arguments) *fault {
	name := lowerString(a[argVar].value)
	if name == "" {
		return parameter(a[argVar].at, "set of a variable without a name", "name it")
	}
	value, bad := parsePhrase(a[argValue].value, a[argValue].valueAt)
	if bad != nil {
		return bad
	}
	p.t.sets = append(p.t.sets, setOp{name, value})
	p.emit(instr{op: opSet, pos: p.place(it), a: len(p.t.sets) - 1})
	return nil
}

func (p *parser) include(it *item, a *arguments) *fault {
	op := includeOp{file: a[argFile] != nil}
	if bad := checkInclude(it, a, &op); bad != nil {
		return bad
	}
	url := a[argVirtual]
	if op.file {
		url = a[argFile]
	}
	var bad *fault
	if op.value, bad = parsePhrase(url.value, url.valueAt); bad != nil {
		return bad
	}
	if op.value.constant() {
		if op.url = string(op.value.lit); op.file && hasDotDot(op.url) {
			return parameter(url.valueAt, "file= that climbs with two dots", "use virtual=")
		}
	}
	p.t.includes = append(p.t.includes, op)
	p.emit(instr{op: opInclude, pos: p.place(it), a: len(p.t.includes) - 1})
	return nil
}

// checkInclude knows which parameters of an include go together.
func checkInclude(it *item, a *arguments, op *includeOp) *fault {
	switch {
	case a[argVirtual] == nil && a[argFile] == nil:
		return parameter(it.at, "include without virtual or file", `add virtual="..."`)
	case a[argVirtual] != nil && a[argFile] != nil:
		return parameter(a[argFile].at, "include with both virtual and file", "remove one")
	case a[argWait] != nil && a[argFile] != nil:
		return parameter(a[argWait].at, "wait with file", "remove wait: file waits anyway")
	case a[argSet] != nil && a[argStub] != nil:
		return parameter(a[argStub].at, "stub with set", "remove one")
	}
	if w := a[argWait]; w != nil {
		op.wait = equalFold(w.value, "yes")
		if !op.wait && !equalFold(w.value, "no") {
			return parameter(w.valueAt, "wait is "+quoted(w.value), "write yes or no")
		}
	}
	if s := a[argSet]; s != nil {
		name := lowerString(s.value)
		if name == "" {
			return parameter(s.at, "set of a variable without a name", "name it")
		}
		op.set = &name
	}
	if s := a[argStub]; s != nil {
		name := string(s.value)
		op.stub = &name
	}
	op.wait = op.wait || op.file || op.set != nil
	return nil
}

func (p *parser) config(it *item, a *arguments) {
	var op configOp
	if e := a[argErrmsg]; e != nil {
		op.errmsg = e.value
	}
	if f := a[argTimefmt]; f != nil {
		format := string(f.value)
		op.timefmt = &format
	}
	p.t.configs = append(p.t.configs, op)
	p.emit(instr{op: opConfig, pos: p.place(it), a: len(p.t.configs) - 1})
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

func (s *spec) arg(name []byte) int {
	for _, ps := range s.params {
		if equalFold(name, ps.name) {
			return ps.arg
		}
	}
	return -1
}

// cure lists what a command takes.
func (s *spec) cure() string {
	if len(s.params) == 0 {
		return s.name + " takes none: remove it"
	}
	var b bytes.Buffer
	b.WriteString(s.name + " takes")
	for _, ps := range s.params {
		b.WriteString(" " + ps.name)
	}
	return b.String()
}
