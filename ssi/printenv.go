package ssi

import (
	"bytes"
	"iter"
	"maps"
	"slices"
	"strings"
)

// Lister is what Variables may be too: printenv prints what it lists, beside what the document has set.
type Lister interface {
	// List gives names in any case and their values, which are not changed and not kept beyond the run. What must not be
	// shown to pages is not among them.
	List() iter.Seq2[string, []byte]
}

// printenv compiles a printenv. It shows all that the surroundings tell, so Options have to allow it.
func (p *parser) printenv(it *item) *fault {
	if _, bad := p.args(it); bad != nil {
		return bad
	}
	if !p.o.Printenv {
		return &fault{off: it.at, kind: KindRefused, message: "printenv is not allowed", cure: "remove it, or allow it where nobody else can see it (printenv = true)"}
	}
	p.emit(instr{op: opPrintenv, pos: p.place(it)})
	return nil
}

// doPrintenv prints a line for each variable, in the order of the names, which are in capitals as in CGI.
func (d *document) doPrintenv(in *instr) {
	seen := map[string][]byte{}
	if l, ok := d.vars.(Lister); ok {
		for name, value := range l.List() {
			seen[strings.ToUpper(name)] = value
		}
	}
	for _, name := range dates {
		if v, ok := d.variable(name); ok {
			seen[strings.ToUpper(name)] = v
		}
	}
	d.scope.each(func(name string, value []byte) { seen[strings.ToUpper(name)] = value })
	var out bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		out.Write(encodeEntities([]byte(name)))
		out.WriteByte('=')
		out.Write(encodeEntities(seen[name]))
		out.WriteByte('\n')
	}
	if err := d.run.spend(out.Len()); err != nil {
		d.wrong(in, KindLimit, err)
		return
	}
	d.print(out.Bytes())
}
