package ssi

import "fmt"

// configOp changes one setting of the document, from here on.
type configOp struct {
	arg   int
	value phrase
}

// config compiles a config. The apache dialect inserts variables, and wants a parameter.
func (p *parser) config(it *item) *fault {
	first := len(p.t.code)
	var given [argCount]bool
	bad := p.inOrder(it, func(arg int, pm *param) *fault {
		if given[arg] && p.o.Dialect == DialectNginx {
			return twice(pm)
		}
		given[arg] = true
		return p.configure(it, arg, pm)
	})
	if bad == nil && it.lo == it.hi && p.o.Dialect == DialectApache {
		bad = parameter(it.at, "config without a parameter", "add errmsg, timefmt, sizefmt or echomsg")
	}
	p.endsAt(first)
	return bad
}

// endsAt makes the instructions of a directive, from first on, end here where one of them fails.
func (p *parser) endsAt(first int) {
	for i := first; i < len(p.t.code); i++ {
		p.t.code[i].b = p.here()
	}
}

func (p *parser) configure(it *item, arg int, pm *param) (bad *fault) {
	op := configOp{arg: arg, value: phrase{lit: pm.value}}
	if p.o.Dialect == DialectApache {
		if op.value, bad = p.phrase(pm, false); bad != nil {
			return bad
		}
	}
	if arg == argSizefmt && op.value.constant() {
		if _, err := sizeFormat(op.value.lit); err != nil {
			return parameter(pm.valueAt, err.Error(), "write bytes or abbrev")
		}
	}
	if arg == argErrmsg && p.o.SilentErrors {
		return nil
	}
	p.t.configs = append(p.t.configs, op)
	p.emit(instr{op: opConfig, pos: p.place(it), a: len(p.t.configs) - 1})
	return nil
}

// sizeFormat says whether sizes are printed in full.
func sizeFormat(name []byte) (inBytes bool, err error) {
	switch string(name) {
	case "bytes":
		return true, nil
	case "abbrev":
		return false, nil
	}
	return false, fmt.Errorf("sizefmt is %s", quoted(name))
}

func (d *document) doConfig(in *instr) {
	op := &d.t.configs[in.a]
	v, err := d.expand(&op.value)
	if err == nil {
		err = d.configure(op.arg, present(v))
	}
	if err != nil {
		d.wrong(in, KindParameter, err)
		d.pc = in.b
	}
}

func (d *document) configure(arg int, v []byte) (err error) {
	switch arg {
	case argErrmsg:
		d.errText = v
	case argEchomsg:
		d.echoText = v
	case argSizefmt:
		d.sizeInBytes, err = sizeFormat(v)
	case argTimefmt:
		format := string(v)
		if len(appendTime(nil, format, d.run.env.Now)) > maxTime {
			return fmt.Errorf("timefmt gives more than %d bytes", maxTime)
		}
		d.timefmt = format
		clear(d.dated[:])
	}
	return err
}
