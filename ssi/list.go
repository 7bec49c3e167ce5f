package ssi

// Of a list of includes Apache tries one after another. One that fails skips those after it, but for file=, up to an
// onerror, which stands for it. If the last that was tried failed, the stub or the error message stands for the list.

// doList runs a list of includes as a document of its own; true: the document at hand has to wait for it.
func (d *document) doList(in *instr) (parked bool) {
	op := &d.t.includes[in.a]
	d.pc = in.b
	stub, err := d.stubOf(op)
	if err != nil {
		d.refused(in.pos, err)
		return false
	}
	c := d.child(op, in.pos, stub)
	c.depth = d.depth // it is no include by itself
	c.begin(d.t, op.from, op.to, d.vars)
	c.list = &listState{}
	c.errText = d.errText
	c.exec()
	return op.wait && d.waitFor(c)
}

// listState is what a list of includes has come to.
type listState struct {
	failed bool      // the last that was tried
	vars   Variables // of the fragment that failed; nil: those of the document
}

// wants says whether a member of the list is to be tried.
func (l *listState) wants(op *includeOp) bool {
	return op.file || op.onerror == l.failed
}

// endList prints what stands for a list that failed. A block runs as the rest of the document.
func (d *document) endList() {
	list := d.list
	d.list = nil
	if !list.failed {
		return
	}
	switch {
	case d.op.set != nil:
		d.void = true
	case d.stub != nil:
		if list.vars == nil {
			list.vars = d.vars
		}
		d.begin(d.stub.t, d.stub.op.from, d.stub.op.to, list.vars)
	default:
		d.print(d.errText)
	}
}
