package ssi

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Stater is an Includer that knows the size and the time of what an include leads to: what fsize and flastmod print. For
// one that is no Stater they print the error message.
type Stater interface {
	// Stat gives the size in bytes and the time of the last change of the page that would answer, without asking the
	// origin. A zero time is an unknown one. It is called on the goroutine of the run; inc is not kept after the call.
	Stat(inc *Include) (size int64, modified time.Time, err error)
}

var (
	errNoStat = errors.New("nobody tells sizes and times here")
	errNoTime = errors.New("the time of its last change is not known")
)

// statWork is what a look at a file counts, in bytes inserted.
const statWork = 256

// statOp is one file or virtual of an fsize or flastmod.
type statOp struct {
	value      phrase
	file, time bool
}

// stat compiles fsize and flastmod: each file and virtual is printed, up to the first that is wrong.
func (p *parser) stat(it *item) *fault {
	first := len(p.t.code)
	bad := p.inOrder(it, func(arg int, pm *param) *fault {
		value, bad := p.phrase(pm, true)
		if bad != nil {
			return bad
		}
		op := statOp{value, arg == argFile, it.cmd == cmdFlastmod}
		if op.file && value.constant() && hasDotDot(string(value.lit)) {
			return climbs(pm)
		}
		p.t.stats = append(p.t.stats, op)
		p.emit(instr{op: opStat, pos: p.place(it), a: len(p.t.stats) - 1})
		return nil
	})
	if bad == nil && it.lo == it.hi {
		bad = parameter(it.at, specs[it.cmd].name+" without virtual or file", `add virtual="..."`)
	}
	p.endsAt(first)
	return bad
}

func (d *document) doStat(in *instr) {
	text, err := d.stat(&d.t.stats[in.a])
	if err != nil {
		d.failed(in.pos, KindFile, err)
		d.print(d.errText)
		d.pc = in.b
		return
	}
	d.print(text)
}

func (d *document) stat(op *statOp) ([]byte, error) {
	url, err := d.urlOf(&op.value, op.file)
	if err != nil {
		return nil, err
	}
	s, ok := d.run.env.Includer.(Stater)
	if !ok {
		return nil, errNoStat
	}
	if err := d.run.spend(statWork); err != nil {
		return nil, err
	}
	inc := Include{URL: url, File: op.file, From: d.vars, Depth: d.depth + 1}
	size, modified, err := s.Stat(&inc)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%q: %w", url, err)
	case !op.time && d.sizeInBytes:
		return appendGrouped(nil, size), nil
	case !op.time:
		return appendAbbreviated(nil, size), nil
	case modified.IsZero():
		return nil, fmt.Errorf("%q: %w", url, errNoTime)
	}
	return appendTime(nil, d.timefmt, modified.In(d.run.env.Location)), nil
}

// appendGrouped prints 1234567 as 1,234,567.
func appendGrouped(dst []byte, n int64) []byte {
	s := strconv.FormatInt(n, 10)
	for i := range len(s) {
		if i > 0 && (len(s)-i)%3 == 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, s[i])
	}
	return dst
}

// appendAbbreviated prints a size in four columns, as Apache does: below 973 bytes in full, with a blank for the unit;
// else in the unit that leaves less than 973 of it, with a decimal below 9.95.
func appendAbbreviated(dst []byte, n int64) []byte {
	if n < 973 {
		return append(fmt.Appendf(dst, "%3d", n), ' ')
	}
	const units = "KMGTPE"
	rest, unit := int64(0), -1
	for n >= 973 {
		n, rest = n/1024, n%1024
		unit++
	}
	if n < 9 || n == 9 && rest < 973 {
		tenths := (rest*5 + 256) / 512
		if tenths >= 10 {
			n, tenths = n+1, 0
		}
		return append(fmt.Appendf(dst, "%d.%d", n, tenths), units[unit])
	}
	if rest >= 512 {
		n++
	}
	return append(fmt.Appendf(dst, "%3d", n), units[unit])
}
