package ssi

// echoOp prints a variable.
type echoOp struct {
	name    string
	enc     encoding
	missing []byte // what is printed for an unknown variable, encoded; nil: the document's echomsg
	more    *echoMore
}

// echoMore is what only the apache dialect has: variables in the name, several codings.
type echoMore struct {
	name phrase
	codings
}

// defaultEchoMessage stands for an unknown variable.
const defaultEchoMessage = "(none)"

// echo compiles an echo. In the nginx dialect there is one var, and its encoding may stand before or after it.
func (p *parser) echo(it *item) *fault {
	if p.o.Dialect == DialectApache {
		return p.echoInOrder(it)
	}
	a, bad := p.args(it)
	if bad != nil {
		return bad
	}
	op := echoOp{name: lowerString(a[argVar].value)}
	if e := a[argEncoding]; e != nil {
		var ok bool
		if op.enc, ok = encodingOf(e.value, DialectNginx); !ok {
			p.faults.note(*parameter(e.valueAt, "unknown encoding "+quoted(e.value)+", entity is used", encodingCure))
		}
	}
	if d := a[argDefault]; d != nil {
		op.missing = present(encode(d.value, op.enc))
	}
	p.emitEcho(it, op)
	return nil
}

// echoInOrder compiles the echo of Apache: several vars, each with the codings that stand before it. default is not
// Apache's, and is for all of them.
func (p *parser) echoInOrder(it *item) *fault {
	var def []byte
	for i := it.lo; i < it.hi; i++ {
		if pm := &p.lex.params[i]; specs[cmdEcho].arg(pm.name, DialectApache) == argDefault {
			def = present(p.value(pm, true))
		}
	}
	codings, found := codings{encode: []encoding{encodeEntity}}, false
	var badCoding *fault // it counts where a var follows, as in Apache
	bad := p.inOrder(it, func(arg int, pm *param) *fault {
		switch arg {
		case argEncoding, argDecoding:
			if bad := codings.read(arg, pm); bad != nil {
				badCoding = bad
			}
		case argVar:
			found = true
			if badCoding != nil {
				return badCoding
			}
			return p.echoVar(it, pm, codings, def)
		}
		return nil
	})
	if bad == nil && !found && it.lo == it.hi { // an encoding alone is no error in Apache
		bad = missing(it, "var")
	}
	return bad
}

func (p *parser) echoVar(it *item, pm *param, c codings, def []byte) *fault {
	name, bad := p.phrase(pm, true)
	if bad != nil {
		return bad
	}
	op := echoOp{more: &echoMore{name, c}}
	if def != nil {
		op.missing = present((&codings{encode: c.encode}).apply(def))
	}
	if enc, ok := c.single(); ok && name.constant() {
		op.name, op.enc, op.more = lowerString(name.lit), enc, nil
	}
	p.emitEcho(it, op)
	return nil
}

func (p *parser) emitEcho(it *item, op echoOp) {
	p.t.echoes = append(p.t.echoes, op)
	p.emit(instr{op: opEcho, pos: p.place(it), a: len(p.t.echoes) - 1})
}

// present is b, and never nil.
func present(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

func (d *document) doEcho(in *instr) {
	op := &d.t.echoes[in.a]
	name := op.name
	if op.more != nil {
		written, err := d.expand(&op.more.name)
		if err != nil {
			d.wrong(in, KindLimit, err)
			return
		}
		name = lowerString(written)
	}
	v, ok := d.variable(name)
	switch {
	case !ok && op.missing != nil:
		d.print(op.missing)
	case !ok:
		d.print(d.echoText)
	case op.more != nil:
		d.printCoded(in, v, &op.more.codings)
	default:
		d.print(encode(v, op.enc))
	}
}

// printCoded charges the codings beside what is printed, for a list of them may take long and print little.
func (d *document) printCoded(in *instr, v []byte, c *codings) {
	if err := d.run.spend(c.cost(v)); err != nil {
		d.wrong(in, KindLimit, err)
		return
	}
	d.print(c.apply(v))
}
