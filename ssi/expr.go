package ssi

import (
	"bytes"
	"regexp"
)

// condition is a compiled expression. The set of them is closed.
type condition interface {
	eval(d *document) (bool, error)
}

// truth holds if its value is not empty; "0" is true.
type truth struct{ value phrase }

// comparison is exact, byte by byte.
type comparison struct {
	left, right phrase
	not         bool
}

// match searches left for a regular expression, and leaves captures.
type match struct {
	left    phrase
	re      *regexp.Regexp // nil: the pattern has variables
	pattern phrase
	not     bool
	t       *Template // whose cache holds patterns with variables
}

func (c *truth) eval(d *document) (bool, error) {
	v, err := d.expand(&c.value)
	return len(v) > 0, err
}

func (c *comparison) eval(d *document) (bool, error) {
	left, err := d.expand(&c.left)
	if err != nil {
		return false, err
	}
	right, err := d.expand(&c.right)
	return bytes.Equal(left, right) != c.not, err
}

func (c *match) eval(d *document) (bool, error) {
	left, err := d.expand(&c.left)
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

// keepGroups keeps the groups of a match. Named ones become variables, as in nginx; a group without part in it is empty.
func (d *document) keepGroups(re *regexp.Regexp, subject []byte, pairs []int) {
	d.scope.caps = &captures{subject: subject, pairs: pairs}
	for i, name := range re.SubexpNames() {
		if name != "" {
			v, _ := d.scope.caps.group(i)
			d.scope.set(lowerString([]byte(name)), v)
		}
	}
}

// parseExpr compiles an expression, which stands at off: as nginx reads it where nginx can, else by the grammar that
// Apache had before 2.4. What nginx would compare with text that looks like more (==, =~, &&, ||) is not left to nginx.
func parseExpr(raw []byte, off int, t *Template) (condition, *fault) {
	if o, ok := splitNginx(raw); ok && !o.looksLegacy() {
		return o.compile(off, t)
	}
	return parseLegacy(raw, off, t)
}

func expression(off int, message, cure string) *fault {
	return &fault{off: off, kind: KindExpression, message: message, cure: cure}
}

// operands are an expression in the grammar of nginx.
type operands struct {
	left, right []byte
	rightAt     int  // offset of right in the expression
	compared    bool // there is a right side
	not         bool
	regex       bool // the right side is one, its slashes taken off
}

// splitNginx cuts an expression as nginx does: the longest run of name characters, dollars, braces and quotes is the
// left side, in lower case; then nothing, or = or != and the rest of the string, which is a regular expression if it
// begins with a slash and then has to end with one. ok = false: not of this grammar.
func splitNginx(raw []byte) (o operands, ok bool) {
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

// looksLegacy finds what the other grammar would understand on the right side.
func (o *operands) looksLegacy() bool {
	text := o.right
	if o.regex {
		// A slash that ends one regular expression before a logical operator: two comparisons, not one.
		_, text, _ = bytes.Cut(text, []byte("/ "))
		text = append([]byte(" "), text...)
	} else if len(text) > 0 && (text[0] == '=' || text[0] == '~') {
		return true
	}
	return bytes.Contains(text, []byte(" && ")) || bytes.Contains(text, []byte(" || "))
}

func (o *operands) compile(off int, t *Template) (condition, *fault) {
	left, bad := parsePhrase(o.left, off)
	if bad != nil {
		return nil, bad
	}
	if !o.compared {
		return &truth{left}, nil
	}
	right, bad := parsePhrase(o.right, off+o.rightAt)
	if bad != nil {
		return nil, bad
	}
	if !o.regex {
		return &comparison{left: left, right: right, not: o.not}, nil
	}
	return newMatch(match{left: left, pattern: right, not: o.not, t: t}, off+o.rightAt)
}

// newMatch compiles the pattern if it has no variables.
func newMatch(m match, off int) (condition, *fault) {
	if m.pattern.constant() {
		re, err := m.t.patterns.compile(string(m.pattern.lit))
		if err != nil {
			return nil, expression(off, err.Error(), "use RE2 syntax: no look-around, no back references")
		}
		m.re = re
	}
	return &m, nil
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
