package ssi

// includeOp is an include, or a member of a list of them. A list has an op of its own, which says what its members have
// in common.
type includeOp struct {
	url        string // where value has no variables
	value      phrase
	file, wait bool
	climbs     bool // a file= of which it is known that it may not be asked for
	onerror    bool // a member that is asked for if one before it failed
	member     bool
	set, stub  *string
	from, to   int // of a list: its instructions
}

// includeParams are the parameters of an include: several members, and what is said once.
type includeParams struct {
	members         []includeOp
	urls            int // of the members: those that are no onerror
	wait, set, stub *param
}

// include compiles an include: one URL, or a list of them with what to do on an error.
func (p *parser) include(it *item) *fault {
	var in includeParams
	bad := p.inOrder(it, func(arg int, pm *param) *fault { return p.includeParam(&in, arg, pm) })
	if bad != nil && (p.o.Dialect == DialectNginx || len(in.members) == 0) {
		return bad
	}
	if bad == nil && in.urls == 0 && (p.o.Dialect == DialectNginx || len(in.members) == 0) {
		return parameter(it.at, "include without virtual or file", `add virtual="..."`)
	}
	op := includeOp{wait: p.o.Dialect == DialectApache}
	if bad := in.common(&op); bad != nil {
		return bad
	}
	if len(in.members) == 1 && in.urls == 1 {
		p.includeOne(it, &in, op)
	} else {
		p.includeList(it, &in, op)
	}
	return bad
}

func (p *parser) includeParam(in *includeParams, arg int, pm *param) *fault {
	var once **param
	switch arg {
	case argWait:
		once = &in.wait
	case argSet:
		once = &in.set
	case argStub:
		once = &in.stub
	default:
		return p.includeMember(in, arg, pm)
	}
	if *once != nil {
		return twice(pm)
	}
	*once = pm
	return nil
}

func (p *parser) includeMember(in *includeParams, arg int, pm *param) *fault {
	value, bad := p.phrase(pm, true)
	if bad != nil {
		return bad
	}
	op := includeOp{value: value, file: arg == argFile, onerror: arg == argOnerror, member: true, wait: true}
	if value.constant() {
		op.url = string(value.lit)
		if op.climbs = op.file && hasDotDot(op.url); op.climbs {
			p.faults.note(*climbs(pm))
		}
	}
	if !op.onerror {
		in.urls++
	}
	in.members = append(in.members, op)
	return nil
}

// common reads what is said once, and knows what goes together.
func (in *includeParams) common(op *includeOp) *fault {
	for _, m := range in.members {
		op.wait = op.wait || m.file
	}
	switch {
	case in.wait != nil && len(in.members) == 1 && in.members[0].file:
		return parameter(in.wait.at, "wait with file", "remove wait: file waits anyway")
	case in.set != nil && in.stub != nil:
		return parameter(in.stub.at, "stub with set", "remove one")
	case in.set != nil && in.urls > 1:
		return parameter(in.set.at, "set with several includes", "write a directive for each")
	}
	if w := in.wait; w != nil {
		if !equalFold(w.value, "yes") && !equalFold(w.value, "no") {
			return parameter(w.valueAt, "wait is "+quoted(w.value), "write yes or no")
		}
		op.wait = op.wait || equalFold(w.value, "yes")
	}
	if s := in.set; s != nil {
		name := lowerString(s.value)
		op.set, op.wait = &name, true
	}
	if s := in.stub; s != nil {
		name := string(s.value)
		op.stub = &name
	}
	return nil
}

func climbs(pm *param) *fault {
	return parameter(pm.valueAt, "file= that climbs with two dots", "use virtual=")
}

func (p *parser) includeOne(it *item, in *includeParams, op includeOp) {
	m := &in.members[0]
	if m.climbs {
		p.wrong(it, nil)
		return
	}
	op.url, op.value, op.file = m.url, m.value, m.file
	p.t.includes = append(p.t.includes, op)
	p.emit(instr{op: opInclude, pos: p.place(it), a: len(p.t.includes) - 1})
}

// includeList compiles a list. It becomes a document between the page and its fragments, whose instructions are the
// members; each is waited for, since what becomes of one decides about those after it.
func (p *parser) includeList(it *item, in *includeParams, op includeOp) {
	pos, list := p.place(it), len(p.t.includes)
	at := p.emit(instr{op: opList, pos: pos, a: list})
	p.t.includes = append(append(p.t.includes, op), in.members...)
	for i := range in.members {
		p.emit(instr{op: opMember, pos: pos, a: list + 1 + i})
	}
	p.emit(instr{op: opListEnd, pos: pos})
	p.t.includes[list].from, p.t.includes[list].to = at+1, p.here()
	p.t.code[at].b = p.here()
}
