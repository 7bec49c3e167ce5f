package ssi

import (
	"sync/atomic"
)

// piece is something printed: bytes, or all that another document prints.
type piece struct {
	b   []byte
	sub *document
}

// document is one document of a run: the page, or what an include turned out to be. One goroutine at a time runs it.
// It may stop at an include that it has to wait for; whoever completes that include then goes on with it.
type document struct {
	run     *Run
	up      *document // the document that includes it; nil: the page
	t       *Template // nil: nothing to run
	pc, end int
	vars    Variables
	scope   *scope
	own     scope // where scope points, unless it is that of up
	depth   int
	list    *listState // it is a list of includes; nil: none, or one that has ended

	// What config changes.
	errText, echoText []byte
	timefmt           string
	dated             [len(dates)][]byte // in that timefmt; nil: not asked for yet
	sizeInBytes       bool

	pieces  []piece
	gather  int      // number of pieces when the last of them was one to append to
	capture *capture // nil: the document is printed; else what gathers it for set=
	pending *document
	include Include // the one at hand

	// Of the include that it answers.
	op       *includeOp
	pos      position // of the directive, in up
	url      string
	stub     *block
	failText []byte
	void     bool // set= keeps the old value

	// Guarded by Run.mu.
	shown []piece // what a reader may see of pieces
	ended bool    // shown is all
	open  int     // 1 until ended, and 1 for each include that is not complete and not waited for
	wake  bool    // up stopped for this document
}

// capture bounds what set= gathers.
type capture struct{ n atomic.Int64 }

// begin makes instructions [pc, end) of t what the document runs.
func (d *document) begin(t *Template, pc, end int, vars Variables) {
	d.t, d.pc, d.end, d.vars = t, pc, end, vars
	d.errText, d.echoText, d.timefmt, d.sizeInBytes = t.errText, t.echoText, DefaultTimeFormat, false
	clear(d.dated[:])
}

// exec runs the document until it ends or has to wait. When it ends, a document that waited for it goes on here.
func (d *document) exec() {
	for d != nil {
		ended := false
		for !ended {
			var parked bool
			if parked, ended = d.steps(); parked {
				return
			}
		}
		if d = d.finish(); d != nil {
			d.settle()
		}
	}
}

// steps runs instructions. A panic, which only the surroundings can cause, is an error of the directive at hand: the
// error message stands for it, and neither flag is set.
func (d *document) steps() (parked, ended bool) {
	defer func() {
		if v := recover(); v != nil {
			d.run.panicked(v)
			d.failed(d.t.code[d.pc-1].pos, KindPanic, errPanic)
			d.instead()
		}
	}()
	for d.pc < d.end && !d.run.stopped.Load() {
		in := &d.t.code[d.pc]
		d.pc++
		switch in.op {
		case opInclude:
			parked = d.doInclude(in)
		case opMember:
			parked = d.list.wants(&d.t.includes[in.a]) && d.doInclude(in)
		case opList:
			parked = d.doList(in)
		default:
			d.step(in)
		}
		if parked {
			return true, false
		}
	}
	return false, true
}

func (d *document) step(in *instr) {
	switch in.op {
	case opText:
		d.print(d.t.src[in.a:in.b])
	case opError:
		d.print(d.errText)
	case opJump:
		d.pc = in.b
	case opUnless:
		d.doUnless(in)
	case opEcho:
		d.doEcho(in)
	case opSet:
		d.doSet(in)
	case opConfig:
		d.doConfig(in)
	case opStat:
		d.doStat(in)
	case opPrintenv:
		d.doPrintenv(in)
	case opListEnd:
		d.endList()
	case opBlock:
		d.scope.blocks = &block{op: &d.t.blocks[in.a], t: d.t, rest: d.scope.blocks}
		d.pc = in.b
	}
}

// doUnless takes a branch or not. An expression that fails prints the error message and hides the rest of its chain.
func (d *document) doUnless(in *instr) {
	op := &d.t.conds[in.a]
	holds, kind, err := d.holds(op.cond)
	if err != nil {
		d.wrong(in, kind, err)
		d.pc = op.end
	} else if !holds {
		d.pc = in.b
	}
}

// holds evaluates a condition. A panic, which only the surroundings can cause, is an error of the expression: neither
// side of the condition is printed.
func (d *document) holds(c condition) (holds bool, kind string, err error) {
	defer func() {
		if v := recover(); v != nil {
			d.run.panicked(v)
			kind, err = KindPanic, errPanic
		}
	}()
	holds, err = c.eval(d)
	return holds, KindExpression, err
}

// wrong prints the error message in place of a directive that failed at run time.
func (d *document) wrong(in *instr, kind string, err error) {
	d.report(in.pos, kind, err)
	d.print(d.errText)
}

// failed notes that an include failed.
func (d *document) failed(pos position, kind string, err error) {
	d.run.failed.Store(true)
	d.report(pos, kind, err)
}

// maxReports bounds what one run tells about itself.
const maxReports = 1000

// report survives a panic in Report: a document that is not finished would be waited for without end.
func (d *document) report(pos position, kind string, err error) {
	defer func() {
		if v := recover(); v != nil {
			d.run.panicked(v)
		}
	}()
	if d.run.env.Report != nil && d.run.reports.Add(1) <= maxReports {
		d.run.env.Report(Problem{Name: d.t.name, Line: int(pos.line), Col: int(pos.col), Kind: kind, Message: err.Error(), From: d.vars})
	}
}

// finish shows all of a document that ended, and tells those that it completes. It returns the document that waited
// for that and has to go on.
func (d *document) finish() *document {
	r := d.run
	r.mu.Lock()
	defer r.mu.Unlock()
	d.shown, d.ended = d.pieces, true
	r.changed.Broadcast()
	for {
		if d.open--; d.open > 0 {
			return nil
		}
		switch {
		case d.up == nil:
			r.complete = true
			if r.done != nil {
				close(r.done)
			}
			return nil
		case d.op.wait && d.wake:
			return d.up
		case d.op.wait:
			return nil
		}
		d = d.up
	}
}
