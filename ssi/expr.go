package ssi

import (
	"bytes"
	"regexp"
)

// condition is a compiled expression. The set of them is closed.
type condition interface {
	eval(d *document) (bool, error)
}

// operand is a side of a comparison. Its value may belong to a variable: it is not to be changed.
type operand interface {
	value(d *document) ([]byte, error)
}

func (p *phrase) value(d *document) ([]byte, error) { return d.expand(p) }

// truth holds if its value is not empty; "0" is true.
type truth struct{ of operand }

// outcomes says for which results of comparing left with right a comparison holds.
type outcomes struct{ less, equal, greater bool }

func (o outcomes) hold(c int) bool { return c < 0 && o.less || c == 0 && o.equal || c > 0 && o.greater }

// comparison is exact, byte by byte.
type comparison struct {
	left, right operand
	outcomes
}

// match searches left for a regular expression, and leaves captures.
type match struct {
	left    operand
	re      *regexp.Regexp // nil: the pattern has variables
	pattern phrase
	not     bool
	t       *Template // whose cache holds patterns with variables
}

func (c *truth) eval(d *document) (bool, error) {
	v, err := c.of.value(d)
	return len(v) > 0, err
}

func (c *comparison) eval(d *document) (bool, error) {
	left, right, err := both(d, c.left, c.right)
	return c.hold(bytes.Compare(left, right)), err
}

func both(d *document, l, r operand) (left, right []byte, err error) {
	if left, err = l.value(d); err == nil {
		right, err = r.value(d)
	}
	return left, right, err
}

func (c *match) eval(d *document) (bool, error) {
	left, err := c.left.value(d)
	if err != nil {
		return false, err
	}
	re := c.re
	if re == nil {
		if re, err = c.compile(d); err != nil {
			return false, err
		}
	}
	// Matching costs at most text times program; the budget keeps a hostile pair from holding a core.
	if err := d.run.spend(len(left) * (1 + len(re.String())/4)); err != nil {
		return false, err
	}
	pairs := re.FindSubmatchIndex(left)
	if pairs == nil {
		return c.not, nil
	}
	d.keepGroups(re, left, pairs)
	return !c.not, nil
}

// compile makes the expression of a pattern with variables. Compiling costs much more than reading, so it is charged.
func (c *match) compile(d *document) (*regexp.Regexp, error) {
	source, err := d.expand(&c.pattern)
	if err != nil {
		return nil, err
	}
	if err := d.run.spend(64 * len(source)); err != nil {
		return nil, err
	}
	return c.t.patterns.at(string(source))
}

// keepGroups keeps the groups of a match. Named ones become variables, as in nginx; a group without part in it is empty,
// and unknown if no later one has a part.
func (d *document) keepGroups(re *regexp.Regexp, subject []byte, pairs []int) {
	for pairs[len(pairs)-1] < 0 {
		pairs = pairs[:len(pairs)-2]
	}
	d.scope.caps = &captures{subject: subject, pairs: pairs}
	for i, name := range re.SubexpNames() {
		if name != "" {
			v, _ := d.scope.caps.group(i)
			d.scope.set(lowerString([]byte(name)), v)
		}
	}
}

// grammar compiles the expressions of a document.
type grammar struct {
	t *Template
	o Options
}

// parse compiles an expression, which stands at off. In the apache dialect that is ap_expr or, if so set, the grammar
// that Apache had before 2.4. In the nginx dialect it is as nginx reads it where nginx can, else the older one of
// Apache. What nginx would compare with text that looks like more (==, &&, ||) is not left to nginx.
func (g grammar) parse(raw []byte, off int) (condition, *fault) {
	switch {
	case g.o.Dialect == DialectApache && g.o.Expressions == ExpressionsAp:
		return parseAp(raw, off, g)
	case g.o.Dialect == DialectApache:
		return parseLegacy(raw, off, g)
	}
	if n, ok := splitNginx(raw); ok && !n.looksLegacy() {
		return n.compile(off, g)
	}
	return parseLegacy(raw, off, g)
}

// doubt finds in an expression of the nginx dialect what is read as text and was surely meant to be more.
func (g grammar) doubt(raw []byte, off int) *fault {
	if g.o.Dialect != DialectNginx {
		return nil
	}
	if i := bytes.Index(raw, []byte("%{")); i >= 0 {
		return expression(off+i, "%{ is plain text in the nginx dialect", `write $name, or set dialect = "apache"`)
	}
	n, ok := splitNginx(raw)
	if ok && n.compared && !n.regex && bytes.HasPrefix(n.right, []byte("~")) {
		return expression(off+n.rightAt-1, "=~ compares with the text "+quoted(n.right), "write = /pattern/ or != /pattern/")
	}
	return nil
}

// phrase compiles text with $name in it, and counts what it takes.
func (g grammar) phrase(raw []byte, off int) (*phrase, *fault) {
	ph, bad := parseEscaped(raw, off, g.escapes())
	if bad != nil {
		return nil, bad
	}
	g.took(1 + len(ph.parts))
	return &ph, nil
}

// escapes are the bytes that a backslash may stand before in text with $name in it.
func (g grammar) escapes() string {
	if g.o.Dialect == DialectApache {
		return escapesApache
	}
	return escapesNginx
}

// exprPartBytes is about what a part of a compiled expression takes: an operand, a condition, a piece of a phrase.
const exprPartBytes = 80

// took counts parts of compiled expressions, so that a template knows its size.
func (g grammar) took(parts int) { g.t.exprParts += parts }

func expression(off int, message, cure string) *fault {
	return &fault{off: off, kind: KindExpression, message: message, cure: cure}
}

// nginxExpr is an expression in the grammar of nginx.
type nginxExpr struct {
	left, right []byte
	rightAt     int  // offset of right in the expression
	compared    bool // there is a right side
	not         bool
	regex       bool // the right side is one, its slashes taken off
}

// splitNginx cuts an expression as nginx does: the longest run of name characters, dollars, braces and quotes is the
// left side, in lower case; then nothing, or = or != and the rest of the string, which is a regular expression if it
// begins with a slash and then has to end with one. ok = false: not of this grammar.
func splitNginx(raw []byte) (o nginxExpr, ok bool) {
	i := 0
	for i < len(raw) && isLeft(raw[i]) {
		i++
	}
	o.left = bytes.ToLower(raw[:i])
	if i = skipBlanks(raw, i); i == len(raw) {
		return o, true
	}
	if raw[i] == '!' {
		o.not = true
		i++
	}
	if i == len(raw) || raw[i] != '=' {
		return o, false
	}
	o.compared = true
	o.rightAt = skipBlanks(raw, i+1)
	o.right = raw[o.rightAt:]
	switch last := len(o.right) - 1; {
	case last < 1 || o.right[0] != '/':
		if bytes.HasPrefix(o.right, []byte(`\/`)) {
			o.right = o.right[1:]
			o.rightAt++
		}
	case o.right[last] != '/':
		return o, false
	default:
		o.regex, o.right = true, o.right[1:last]
		o.rightAt++
	}
	return o, true
}

// looksLegacy finds what the other grammar would understand on the right side. It knows no =~ either: that stays text.
func (o *nginxExpr) looksLegacy() bool {
	text := o.right
	if o.regex {
		// A slash that ends one regular expression before a logical operator: two comparisons, not one.
		_, text, _ = bytes.Cut(text, []byte("/ "))
		text = append([]byte(" "), text...)
	} else if len(text) > 0 && text[0] == '=' {
		return true
	}
	return bytes.Contains(text, []byte(" && ")) || bytes.Contains(text, []byte(" || "))
}

func (o *nginxExpr) compile(off int, g grammar) (condition, *fault) {
	left, bad := g.phrase(o.left, off)
	if bad != nil {
		return nil, bad
	}
	if !o.compared {
		return &truth{left}, nil
	}
	right, bad := g.phrase(o.right, off+o.rightAt)
	if bad != nil {
		return nil, bad
	}
	if !o.regex {
		return equality(left, right, o.not), nil
	}
	return g.match(left, o.right, off+o.rightAt, o.not)
}

func equality(left, right operand, not bool) condition {
	return &comparison{left, right, outcomes{less: not, equal: !not, greater: not}}
}

// match compiles a search for the pattern source, which stands at off and may hold variables.
func (g grammar) match(left operand, source []byte, off int, not bool) (condition, *fault) {
	pattern, bad := g.phrase(source, off)
	if bad != nil {
		return nil, bad
	}
	m := &match{left: left, pattern: *pattern, not: not, t: g.t}
	if !pattern.constant() {
		g.t.patterns.varying = true
		return m, nil
	}
	re, err := g.t.patterns.compile(string(pattern.lit))
	if err != nil {
		return nil, err.fault(off + beforeUnescape(source, err.at, g.escapes()))
	}
	m.re = re
	return m, nil
}

// beforeUnescape is the offset in raw of what parseEscaped moved to offset n.
func beforeUnescape(raw []byte, n int, escapes string) int {
	i := 0
	for ; n > 0 && i < len(raw); n-- {
		if unescapes(raw[i:], escapes) {
			i++
		}
		i++
	}
	return i
}

func skipBlanks(s []byte, i int) int {
	for i < len(s) && s[i] == ' ' {
		i++
	}
	return i
}

func isLeft(c byte) bool {
	return isWordByte(c) || c == '$' || c == '{' || c == '}' || c == '"' || c == '\''
}
