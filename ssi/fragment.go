package ssi

import (
	"errors"
	"fmt"
)

var (
	errDepth = errors.New("includes are nested too deep: it is not asked for")
	errCount = errors.New("too many includes on the page: it is not asked for, nor are those after it")
	errClimb = errors.New("two dots in file=: it is not asked for")
)

// doInclude starts an include; true: the document has to wait for it, and is no longer the caller's.
func (d *document) doInclude(in *instr) (parked bool) {
	op := &d.t.includes[in.a]
	stub, err := d.admit(op)
	if err != nil {
		d.refused(in.pos, err)
		return false
	}
	f, ok := d.run.atHand(&d.include)
	if body := f.whole(); ok && body != nil && op.set == nil && !d.voids(&f) {
		d.print(body)
		d.listed(false)
		return false
	}
	c := d.child(op, in.pos, stub)
	switch {
	case ok:
		c.answer(f)
	case d.run.env.AtHand: // pending for good
	default:
		d.run.ask(c, d.include)
	}
	return op.wait && d.waitFor(c)
}

// refused notes that an include is not asked for.
func (d *document) refused(pos position, err error) {
	d.run.failed.Store(true)
	if !errors.Is(err, errCount) || d.run.countTold.CompareAndSwap(false, true) {
		d.report(pos, kindOfRefusal(err), err)
	}
	d.instead()
}

// kindOfRefusal tells limits from includes that are wrong themselves.
func kindOfRefusal(err error) string {
	for _, limit := range []error{errDepth, errCount, errBudget, errExpanded} {
		if errors.Is(err, limit) {
			return KindLimit
		}
	}
	return KindInclude
}

// instead prints the error message for a directive; that of a list comes at its end.
func (d *document) instead() {
	if !d.listed(true) {
		d.print(d.errText)
	}
}

// listed notes what became of a member, if a list is at hand.
func (d *document) listed(failed bool) bool {
	if d.list == nil {
		return false
	}
	d.list.failed, d.list.vars = failed, nil
	return true
}

// voids says whether a fragment leaves the variable as it is that a list with set= wants.
func (d *document) voids(f *Fragment) bool {
	return d.list != nil && d.op.set != nil && f.keeps()
}

// admit makes the include at hand of a directive, unless something forbids to ask for it.
func (d *document) admit(op *includeOp) (stub *block, err error) {
	if stub, err = d.stubOf(op); err != nil {
		return nil, err
	}
	if op.climbs {
		return nil, errClimb
	}
	url := op.url
	if !op.value.constant() {
		if url, err = d.urlOf(&op.value, op.file); err != nil {
			return nil, err
		}
	}
	if d.depth >= d.run.env.MaxDepth {
		return nil, errDepth
	}
	if d.run.includes.Add(1) > int64(d.run.env.MaxIncludes) {
		return nil, errCount
	}
	d.include = Include{URL: url, File: op.file, From: d.vars, Depth: d.depth + 1}
	return stub, nil
}

// stubOf finds the block that an include names. Members have that of their list.
func (d *document) stubOf(op *includeOp) (*block, error) {
	if op.member {
		return d.stub, nil
	}
	if op.stub == nil {
		return nil, nil
	}
	if err := d.run.spend(0); err != nil {
		return nil, err
	}
	stub, looked := d.scope.blocks.find(*op.stub)
	if err := d.run.spend(blockWork * looked); err != nil {
		return nil, err
	}
	if stub == nil {
		return nil, fmt.Errorf("no block is named %q: the include is not asked for", *op.stub)
	}
	return stub, nil
}

// urlOf inserts the variables of a URL.
func (d *document) urlOf(value *phrase, file bool) (string, error) {
	if value.constant() {
		return string(value.lit), nil
	}
	url, err := d.expandURL(value)
	if err == nil && file && hasDotDot(url) {
		err = errClimb
	}
	return url, err
}

// whole is the body of a fragment that needs no run of its own; nil: it needs one, or something else is to be done.
func (f *Fragment) whole() []byte {
	switch {
	case f.Err != nil:
		return nil
	case f.Template == nil && len(f.Body) > 0:
		return f.Body
	case f.Template != nil && f.Template.static && len(f.Template.src) > 0:
		return f.Template.src
	}
	return nil
}

// child makes the document that an include will be.
func (d *document) child(op *includeOp, pos position, stub *block) *document {
	c := &document{run: d.run, up: d, depth: d.depth + 1, capture: d.capture, open: 1,
		op: op, pos: pos, url: d.include.URL, stub: stub, failText: d.errText}
	if op.wait {
		c.scope = d.scope // d stands still meanwhile
	} else {
		c.own = d.scope.snapshot()
		c.scope = &c.own
		d.run.mu.Lock()
		d.open++
		d.run.mu.Unlock()
	}
	if op.set != nil {
		c.capture = new(capture)
		if _, ok := d.scope.lookup(*op.set); !ok {
			d.scope.set(*op.set, nil) // known to the fragment already, as in nginx
		}
	} else {
		d.pieces = append(d.pieces, piece{sub: c})
	}
	return c
}

// answer makes the document what a fragment says, and runs it.
func (d *document) answer(f Fragment) {
	d.become(f)
	d.exec()
}

// become decides which of template, body, stub and error message the document is: exactly one.
func (d *document) become(f Fragment) {
	if errors.Is(f.Err, ErrTooLarge) {
		d.run.overflow()
		return
	}
	if f.Err != nil {
		d.up.failed(d.pos, KindInclude, fmt.Errorf("include %q: %w", d.url, f.Err))
	}
	if d.op.member && d.up.failsList(f) {
		return
	}
	switch {
	case d.op.set != nil && (f.Err != nil || f.keeps()):
		d.void = true
	case f.Err == nil && f.Template != nil && len(f.Template.src) > 0:
		d.begin(f.Template, 0, len(f.Template.code), f.Variables)
	case f.Err == nil && len(f.Body) > 0:
		d.print(f.Body)
	case d.stub != nil:
		vars := f.Variables
		if vars == nil {
			vars = d.up.vars
		}
		d.begin(d.stub.t, d.stub.op.from, d.stub.op.to, vars)
	case f.Err != nil:
		d.print(d.failText)
	}
}

// keeps says that a variable keeps its old value: nginx has none for it where the status forbids a body, and wants none
// of an error. An answer that is only empty makes it empty.
func (f *Fragment) keeps() bool { return f.Status >= 300 || f.Status == 204 }

// failsList notes what became of a member of the list; true: nothing stands in its place.
func (d *document) failsList(f Fragment) bool {
	failed := f.Err != nil || d.voids(&f)
	d.listed(failed)
	d.list.vars = f.Variables
	return failed
}

// waitFor says whether d has to wait for an include. If so d belongs to whoever completes the include.
func (d *document) waitFor(c *document) (parked bool) {
	d.pending = c
	r := d.run
	r.mu.Lock()
	if c.open > 0 {
		c.wake = true
		d.shown = d.pieces
		r.changed.Broadcast()
		r.mu.Unlock()
		return true
	}
	r.mu.Unlock()
	d.settle()
	return false
}

// settle takes over from the include that d waited for what set= wants.
func (d *document) settle() {
	c := d.pending
	d.pending = nil
	if c.op.set == nil {
		return
	}
	name := *c.op.set
	n := c.capture.n.Load()
	if n <= maxExpanded && !c.void {
		d.scope.set(name, c.appendTo(make([]byte, 0, n)))
		return
	}
	if !c.void {
		d.failed(c.pos, KindLimit, fmt.Errorf("include %q: larger than the 64 KiB that set= takes", c.url))
		d.print(d.errText)
	}
}
