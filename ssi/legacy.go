package ssi

import "bytes"

// maxParens bounds parentheses in parentheses, and exclamation marks in a row.
const maxParens = 100

// legacyParser reads the grammar that Apache had before 2.4:
//
//	expr = term [ ("&&" | "||") expr ]       one precedence, from the right: a && b || c is a && (b || c)
//	term = "!" not | "(" expr ")" | "-A" str | str [ ("=" | "==" | "!=") (str | regex) | ("<" | "<=" | ">" | ">=") str ]
//	not  = "!" not | "(" expr ")" | "-A" str | str
//	str  = words, joined by one blank; 'quoted', or up to white space, a parenthesis or an operator; one that begins with
//	       a slash is quoted, but behind -A
//
// Captures follow nginx, and what Apache takes silently for true or empty (an unclosed quote or regular expression,
// one that does not compile) is an error.
type legacyParser struct {
	s     []byte
	p     int
	off   int // of s in the document
	depth int
	grammar
}

// junction joins terms; ors[i] stands between terms[i] and the rest, which begins with terms[i+1]. All terms are
// evaluated, as Apache does where a regular expression is among them, so that captures do not depend on what stands
// before.
type junction struct {
	terms []condition
	ors   []bool
}

func (j *junction) eval(d *document) (bool, error) {
	settled, holds := false, false
	for i, term := range j.terms {
		next, err := term.eval(d)
		if err != nil {
			return false, err
		}
		if !settled {
			// A term that decides leaves nothing to the rest.
			holds = next
			settled = i < len(j.ors) && j.ors[i] == next
		}
	}
	return holds, nil
}

type negation struct{ of condition }

func (n *negation) eval(d *document) (bool, error) {
	holds, err := n.of.eval(d)
	return !holds, err
}

func parseLegacy(raw []byte, off int, g grammar) (condition, *fault) {
	l := legacyParser{s: raw, off: off, grammar: g}
	c, bad := l.expr()
	if bad == nil && l.p < len(l.s) {
		bad = l.wrong("what is after the expression cannot be read")
	}
	if bad != nil {
		return nil, bad
	}
	return c, nil
}

func (l *legacyParser) wrong(message string) *fault {
	return expression(l.off+l.p, message, "write $name, $name = text, $name != text or $name = /regex/, joined by && or ||")
}

// takes reads an operator, if it comes next.
func (l *legacyParser) takes(op string) bool {
	for l.p < len(l.s) && isSpace(l.s[l.p]) {
		l.p++
	}
	if !bytes.HasPrefix(l.s[l.p:], []byte(op)) {
		return false
	}
	l.p += len(op)
	return true
}

func (l *legacyParser) expr() (condition, *fault) {
	first, bad := l.term()
	j := &junction{terms: []condition{first}}
	for bad == nil {
		or := l.takes("||")
		if !or && !l.takes("&&") {
			break
		}
		var next condition
		next, bad = l.term()
		j.terms, j.ors = append(j.terms, next), append(j.ors, or)
	}
	if bad != nil {
		return nil, bad
	}
	if len(j.ors) == 0 {
		return first, nil
	}
	return j, nil
}

func (l *legacyParser) term() (condition, *fault) {
	switch {
	case l.takes("!"):
		return l.not()
	case l.takes("("):
		return l.parens()
	case l.takesAccess():
		return l.access()
	}
	left, bad := l.str(false)
	if bad != nil {
		return nil, bad
	}
	switch {
	case l.takes("!="):
		return l.equality(left, true)
	case l.takes("=="), l.takes("="):
		return l.equality(left, false)
	case l.takes("<="):
		return l.order(left, outcomes{less: true, equal: true})
	case l.takes("<"):
		return l.order(left, outcomes{less: true})
	case l.takes(">="):
		return l.order(left, outcomes{equal: true, greater: true})
	case l.takes(">"):
		return l.order(left, outcomes{greater: true})
	}
	return &truth{left}, nil
}

// not reads what an exclamation mark stands before: one string, no comparison.
func (l *legacyParser) not() (condition, *fault) {
	if l.depth++; l.depth > maxParens {
		return nil, l.wrong("expression is nested too deep")
	}
	defer func() { l.depth-- }()
	var of condition
	var bad *fault
	switch {
	case l.takes("!"):
		of, bad = l.not()
	case l.takes("("):
		of, bad = l.parens()
	case l.takesAccess():
		of, bad = l.access()
	default:
		var s *phrase
		s, bad = l.str(false)
		of = &truth{s}
	}
	if bad != nil {
		return nil, bad
	}
	return &negation{of}, nil
}

// parens reads on behind an opening parenthesis.
func (l *legacyParser) parens() (condition, *fault) {
	if l.depth++; l.depth > maxParens {
		return nil, l.wrong("expression is nested too deep")
	}
	defer func() { l.depth-- }()
	c, bad := l.expr()
	if bad == nil && !l.takes(")") {
		bad = l.wrong("parenthesis is not closed")
	}
	return c, bad
}

// takesAccess reads -A, if it comes next as a word of its own.
func (l *legacyParser) takesAccess() bool {
	from := l.p
	if l.takes("-A") && (l.p == len(l.s) || isSpace(l.s[l.p])) {
		return true
	}
	l.p = from
	return false
}

// access reads on behind -A.
func (l *legacyParser) access() (condition, *fault) {
	url, bad := l.str(true)
	if bad != nil {
		return nil, bad
	}
	return &admitted{url}, nil
}

func (l *legacyParser) equality(left *phrase, not bool) (condition, *fault) {
	if l.takes("/") {
		return l.regex(left, not)
	}
	right, bad := l.str(false)
	if bad != nil {
		return nil, bad
	}
	return equality(left, right, not), nil
}

// regex reads on behind a slash, up to the next one without a backslash before it.
func (l *legacyParser) regex(left *phrase, not bool) (condition, *fault) {
	from := l.p
	for l.p < len(l.s) && l.s[l.p] != '/' {
		if l.s[l.p] == '\\' {
			l.p++
		}
		l.p++
	}
	if l.p >= len(l.s) {
		l.p = from
		return nil, l.wrong("regular expression is not closed")
	}
	source := l.s[from:l.p]
	l.p++
	if l.o.Dialect == DialectNginx {
		return l.match(left, source, l.off+from, not)
	}
	c, bad := l.match(left, bare(source), 0, not)
	if bad != nil {
		bad.off = l.off + from + before(source, bad.off)
	}
	return c, bad
}

// bare takes each backslash from the byte behind it. Apache does so in all words, and in regular expressions too:
// there \\. is a full stop, and \. is any byte.
func bare(s []byte) []byte {
	if bytes.IndexByte(s, '\\') < 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		out = append(out, s[i])
	}
	return out
}

// before is the offset in s of what bare moved to offset n.
func before(s []byte, n int) int {
	i := 0
	for ; n > 0 && i < len(s); n-- {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		i++
	}
	return i
}

func (l *legacyParser) order(left *phrase, o outcomes) (condition, *fault) {
	right, bad := l.str(false)
	if bad != nil {
		return nil, bad
	}
	return &comparison{left, right, o}, nil
}

// str reads one or more words, which are joined by a blank each. A slash that a word begins with is the opening of a
// regular expression, which has no place here; path: but that of the first word.
func (l *legacyParser) str(path bool) (*phrase, *fault) {
	var text []byte
	l.takes("") // white space
	from := l.p
	for words := 0; ; words++ {
		if l.takes(""); l.p == len(l.s) || l.special() {
			if words == 0 {
				return nil, l.wrong("a string is missing")
			}
			return l.phrase(text, l.off+from)
		}
		if l.s[l.p] == '/' && !path {
			return nil, l.misplaced()
		}
		if len(text) > 0 { // an empty word is joined without a blank
			text = append(text, ' ')
		}
		path = false
		word, bad := l.word()
		if bad != nil {
			return nil, bad
		}
		text = append(text, word...)
	}
}

// misplaced is the fault of a word that begins with a slash.
func (l *legacyParser) misplaced() *fault {
	return expression(l.off+l.p, "regular expression stands where text has to be",
		"write it behind = or !=; text that begins with a slash goes into single quotes")
}

// special says whether an operator or parenthesis comes next.
func (l *legacyParser) special() bool {
	rest := l.s[l.p:]
	return bytes.IndexByte([]byte("()=!<>"), rest[0]) >= 0 ||
		bytes.HasPrefix(rest, []byte("&&")) || bytes.HasPrefix(rest, []byte("||"))
}

// word reads a word; a backslash makes the next byte an ordinary one.
func (l *legacyParser) word() (word []byte, bad *fault) {
	quote := l.s[l.p] == '\''
	if quote {
		l.p++
	}
	for l.p < len(l.s) {
		switch c := l.s[l.p]; {
		case quote && c == '\'':
			l.p++
			return word, nil
		case c == '\\' && l.p+1 < len(l.s):
			// In the nginx dialect $ is protected from being inserted, too. In Apache's it is only where one more backslash
			// stands before it.
			if next := l.s[l.p+1]; l.o.Dialect == DialectNginx && (next == '$' || next == '\\') {
				word = append(word, c)
			}
			word = append(word, l.s[l.p+1])
			l.p += 2
		case !quote && (isSpace(c) || l.special()):
			return word, nil
		default:
			word = append(word, c)
			l.p++
		}
	}
	if quote {
		return nil, l.wrong("quote is not closed")
	}
	return word, nil
}
