package ssi

// setOp sets a variable. An empty name is one like others, as in nginx and Apache.
type setOp struct {
	name  string
	value phrase
	more  *setMore
}

// setMore is what only the apache dialect has: variables in the name, codings of the value.
type setMore struct {
	name phrase
	codings
}

// set compiles a set. In the nginx dialect there is one pair, in any order.
func (p *parser) set(it *item) *fault {
	if p.o.Dialect == DialectApache {
		return p.setInOrder(it)
	}
	a, bad := p.args(it)
	if bad != nil {
		return bad
	}
	name := lowerString(a[argVar].value)
	value, bad := p.phrase(a[argValue], false)
	if bad != nil {
		return bad
	}
	p.emitSet(it, setOp{name: name, value: value})
	return nil
}

// setInOrder compiles the set of Apache: several values, each for the var and with the codings that stand before it.
func (p *parser) setInOrder(it *item) *fault {
	var c codings
	var name *param
	values := 0
	bad := p.inOrder(it, func(arg int, pm *param) *fault {
		switch arg {
		case argEncoding, argDecoding:
			return c.read(arg, pm)
		case argVar:
			name = pm
		case argValue:
			if name == nil {
				return parameter(pm.at, "value without a var before it", `write var="..." first`)
			}
			values++
			return p.setPair(it, name, pm, c)
		}
		return nil
	})
	if bad == nil && values == 0 {
		if name == nil {
			return missing(it, "var")
		}
		return missing(it, "value")
	}
	return bad
}

func (p *parser) setPair(it *item, name, pm *param, c codings) *fault {
	called, bad := p.phrase(name, true)
	if bad != nil {
		return bad
	}
	value, bad := p.phrase(pm, false)
	if bad != nil {
		return bad
	}
	op := setOp{value: value, more: &setMore{called, c}}
	if called.constant() && c.none() {
		op.name, op.more = lowerString(called.lit), nil
	}
	p.emitSet(it, op)
	return nil
}

func (p *parser) emitSet(it *item, op setOp) {
	p.t.sets = append(p.t.sets, op)
	p.emit(instr{op: opSet, pos: p.place(it), a: len(p.t.sets) - 1})
}

func (d *document) doSet(in *instr) {
	op := &d.t.sets[in.a]
	v, err := d.expand(&op.value)
	if err == nil && op.more != nil {
		err = d.setCoded(op.more, v)
	} else if err == nil {
		d.scope.set(op.name, v)
	}
	if err != nil {
		d.wrong(in, KindLimit, err)
	}
}

func (d *document) setCoded(more *setMore, v []byte) error {
	name, err := d.expand(&more.name)
	if err == nil {
		err = d.run.spend(more.cost(v))
	}
	if err != nil {
		return err
	}
	if v = more.apply(v); len(v) > maxExpanded {
		return errExpanded
	}
	d.scope.set(lowerString(name), v)
	return d.run.spend(len(v))
}
