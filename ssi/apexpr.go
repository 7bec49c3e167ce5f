package ssi

import "bytes"

// apParser reads ap_expr, the grammar of Apache since 2.4, as far as pages may use it:
//
//	cond    = and { ("||" | "or") and }
//	and     = not { ("&&" | "and") not }
//	not     = { "!" | "not" } ( "true" | "false" | "(" cond ")" | unary word | word comparison )
//	unary   = "-n" | "-z" | "-T" | "-R" | "-A" | "-U"
//	comparison = ("=" | "==" | "!=" | "<" | "<=" | ">" | ">=") word
//	        | ["-"] ("eq" | "ne" | "lt" | "le" | "gt" | "ge") word
//	        | ("=~" | "!~") regex | ["-"] "in" "{" word { "," word } "}"
//	        | ("-strmatch" | "-strcmatch" | "-fnmatch" | "-ipmatch") word
//	regex   = "/" pattern "/" [flags] | "m" separator pattern separator [flags]
//
// Words are read in apexprword.go. Beyond Apache 2.4 the flags i, s and m go together, a separator in a pattern may be
// written behind a backslash, and $1 to $9 are kept behind the expression as $0 is.
type apParser struct {
	s     []byte
	p     int
	off   int // of s in the document
	depth int
	grammar
}

// conjunction holds if all terms do; it looks no further than the first that does not.
type conjunction struct{ terms []condition }

// disjunction holds if one term does; it looks no further than that.
type disjunction struct{ terms []condition }

// constant is true or false.
type constant bool

func (c *conjunction) eval(d *document) (bool, error) {
	for _, term := range c.terms {
		if holds, err := term.eval(d); !holds || err != nil {
			return false, err
		}
	}
	return true, nil
}

func (c *disjunction) eval(d *document) (bool, error) {
	for _, term := range c.terms {
		if holds, err := term.eval(d); holds || err != nil {
			return holds, err
		}
	}
	return false, nil
}

func (c constant) eval(*document) (bool, error) { return bool(c), nil }

func parseAp(raw []byte, off int, g grammar) (condition, *fault) {
	a := apParser{s: raw, off: off, grammar: g}
	c, bad := a.cond()
	if a.blanks(); bad == nil && a.p < len(a.s) {
		bad = a.wrong(a.p, "expression goes on with "+a.next()+" where it should end", "join conditions with && or ||")
	}
	if bad != nil {
		return nil, bad
	}
	return c, nil
}

func (a *apParser) wrong(at int, message, cure string) *fault {
	return expression(a.off+at, message, cure)
}

// next shows what comes next in a message.
func (a *apParser) next() string {
	n := 1
	if word := a.name(a.p); len(word) > 0 {
		n = len(word)
	}
	return quoted(a.s[a.p:min(a.p+n, len(a.s))])
}

func (a *apParser) blanks() {
	for a.p < len(a.s) && isSpace(a.s[a.p]) {
		a.p++
	}
}

// takes reads an operator made of signs, if it comes next.
func (a *apParser) takes(op string) bool {
	a.blanks()
	if !bytes.HasPrefix(a.s[a.p:], []byte(op)) {
		return false
	}
	a.p += len(op)
	return true
}

// takesName reads an operator made of letters, if it comes next.
func (a *apParser) takesName(op string) bool {
	a.blanks()
	if string(a.name(a.p)) != op {
		return false
	}
	a.p += len(op)
	return true
}

// name is the identifier at p, or nothing.
func (a *apParser) name(p int) []byte {
	q := p
	for q < len(a.s) && isWordByte(a.s[q]) {
		q++
	}
	if q > p && '0' <= a.s[p] && a.s[p] <= '9' {
		return nil
	}
	return a.s[p:q]
}

// deeper guards against parentheses, functions and variables nested without end.
func (a *apParser) deeper() *fault {
	if a.depth++; a.depth > maxParens {
		return a.wrong(a.p, "expression is nested too deep", "take out parentheses, or use set and a second condition")
	}
	return nil
}

func (a *apParser) cond() (condition, *fault) {
	var terms []condition
	for {
		term, bad := a.and()
		if bad != nil {
			return nil, bad
		}
		terms = append(terms, term)
		if !a.takes("||") && !a.takesName("or") {
			break
		}
	}
	if len(terms) == 1 {
		return terms[0], nil
	}
	a.took(1)
	return &disjunction{terms}, nil
}

func (a *apParser) and() (condition, *fault) {
	var terms []condition
	for {
		term, bad := a.not()
		if bad != nil {
			return nil, bad
		}
		terms = append(terms, term)
		if !a.takes("&&") && !a.takesName("and") {
			break
		}
	}
	if len(terms) == 1 {
		return terms[0], nil
	}
	a.took(1)
	return &conjunction{terms}, nil
}

func (a *apParser) not() (condition, *fault) {
	not := false
	for a.takes("!") || a.takesName("not") {
		not = !not
	}
	c, bad := a.primary()
	if bad != nil {
		return nil, bad
	}
	a.took(1)
	if not {
		return &negation{c}, nil
	}
	return c, nil
}

func (a *apParser) primary() (condition, *fault) {
	switch {
	case a.takes("("):
		if bad := a.deeper(); bad != nil {
			return nil, bad
		}
		c, bad := a.cond()
		a.depth--
		if bad == nil && !a.takes(")") {
			bad = a.wrong(a.p, "parenthesis is not closed", "close it with )")
		}
		return c, bad
	case a.takesName("true"):
		return constant(true), nil
	case a.takesName("false"):
		return constant(false), nil
	case a.p+1 < len(a.s) && a.s[a.p] == '-' && len(a.name(a.p+1)) > 0:
		return a.unary()
	}
	return a.comparison()
}

func (a *apParser) unary() (condition, *fault) {
	at := a.p
	name := string(a.name(at + 1))
	a.p += 1 + len(name)
	if bad := a.noTest(name, at); bad != nil {
		return nil, bad
	}
	from := a.p
	of, bad := a.word()
	if bad != nil {
		return nil, bad
	}
	switch name {
	case "n":
		return &truth{of}, nil
	case "z":
		return &negation{&truth{of}}, nil
	case "T":
		return &affirmative{of}, nil
	case "R":
		return a.within(outside("remote_addr"), of, from)
	}
	return &admitted{of}, nil
}

// noTest says why -name, which stands at at, tests nothing; nil: it is a test.
func (a *apParser) noTest(name string, at int) *fault {
	switch name {
	case "n", "z", "T", "A", "U", "R":
		return nil
	case "e", "f", "d", "s", "F", "L", "h", "x":
		return &fault{off: a.off + at, kind: KindRefused, message: "-" + name + " looks at files, which pages may not", cure: "leave it out"}
	case "eq", "ne", "lt", "le", "gt", "ge", "in", "strmatch", "strcmatch", "fnmatch", "ipmatch":
		return a.wrong(at, "nothing stands before -"+name, "write what to compare, as in v('name') -"+name+" ...")
	}
	return a.wrong(at, quoted(a.s[at:a.p])+" is no test", "tests are -n -z -T -R -A -U")
}

// symbols are the comparisons of text made of signs, longer ones first.
var symbols = [...]struct {
	sign string
	outcomes
}{
	{"==", outcomes{equal: true}},
	{"!=", outcomes{less: true, greater: true}},
	{"<=", outcomes{less: true, equal: true}},
	{">=", outcomes{equal: true, greater: true}},
	{"=", outcomes{equal: true}},
	{"<", outcomes{less: true}},
	{">", outcomes{greater: true}},
}

// integers are the comparisons of numbers, with or without a dash before them.
var integers = [...]struct {
	name string
	outcomes
}{
	{"eq", outcomes{equal: true}},
	{"ne", outcomes{less: true, greater: true}},
	{"lt", outcomes{less: true}},
	{"le", outcomes{less: true, equal: true}},
	{"gt", outcomes{greater: true}},
	{"ge", outcomes{equal: true, greater: true}},
}

func (a *apParser) comparison() (condition, *fault) {
	left, bad := a.word()
	if bad != nil {
		return nil, bad
	}
	switch {
	case a.takes("=~"):
		return a.regex(left, false)
	case a.takes("!~"):
		return a.regex(left, true)
	}
	for _, s := range symbols {
		if a.takes(s.sign) {
			right, bad := a.word()
			return &comparison{left, right, s.outcomes}, bad
		}
	}
	return a.named(left)
}

// named reads a comparison whose name is made of letters.
func (a *apParser) named(left operand) (condition, *fault) {
	a.blanks()
	at, from := a.p, a.p
	if from < len(a.s) && a.s[from] == '-' {
		from++
	}
	name := string(a.name(from))
	a.p = from + len(name)
	if name == "in" {
		return a.list(left)
	}
	for _, i := range integers {
		if i.name == name {
			right, bad := a.word()
			return &numeric{left, right, i.outcomes}, bad
		}
	}
	if from > at {
		switch name {
		case "strmatch", "strcmatch", "fnmatch":
			pattern, bad := a.word()
			return &wildcard{left, pattern, name == "strcmatch", name == "fnmatch"}, bad
		case "ipmatch":
			from := a.p
			network, bad := a.word()
			if bad != nil {
				return nil, bad
			}
			return a.within(left, network, from)
		}
	}
	return nil, a.wrong(at, "a word alone is no condition", "compare it, as in v('name') = 'text', or test it with -n or -z")
}

// list reads on behind in.
func (a *apParser) list(left operand) (condition, *fault) {
	if !a.takes("{") {
		return nil, a.wrong(a.p, "no list behind in", "write {'one', 'two'}")
	}
	m := &member{of: left}
	for {
		w, bad := a.word()
		if bad != nil {
			return nil, bad
		}
		m.list = append(m.list, w)
		if a.takes("}") {
			return m, nil
		}
		if !a.takes(",") {
			return nil, a.wrong(a.p, "list is not closed", "separate words with commas, and close the list with }")
		}
	}
}
