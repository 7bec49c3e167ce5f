package ssi

// Literal is an include whose URL holds no variable, so that where it leads is known before any run.
type Literal struct {
	URL         string // as in Include
	Line, Col   int    // of the directive, from 1; columns count bytes
	Conditional bool   // it stands inside an if or a block, or is an onerror: a run may pass it by
}

// Literals gives the includes without variables in their URL, in document order. The list belongs to the caller and
// keeps nothing of the source.
func (t *Template) Literals() []Literal {
	var list []Literal
	// Whatever lies between a jump and where it leads to may be passed by.
	landing := 0
	for pc, in := range t.code {
		switch in.op {
		case opJump, opUnless, opBlock:
			landing = max(landing, in.b)
		case opInclude, opMember:
			if op := &t.includes[in.a]; op.value.constant() && !op.climbs {
				list = append(list, Literal{op.url, int(in.pos.line), int(in.pos.col), pc < landing || op.onerror})
			}
		}
	}
	return list
}
