package ssi

import "bytes"

// Words of ap_expr:
//
//	word = atom { "." atom }
//	atom = number | 'text' | "text" | %{NAME} | %{function:text} | $digit | function "(" word ")"
//
// In text, %{...} and $digit are inserted; \n \r \t \b \f and \ with one to three octal digits are those bytes; any
// other byte behind a backslash is itself. $name is plain text, as in Apache.

// literal is a constant.
type literal []byte

// group is what one of the last match caught.
type group int

// outside is a variable of the surroundings, whatever the page has set under its name.
type outside string

// joined are operands one behind the other.
type joined []operand

func (l literal) value(*document) ([]byte, error) { return l, nil }

func (c group) value(d *document) ([]byte, error) {
	v, _ := d.scope.caps.group(int(c))
	return v, nil
}

func (o outside) value(d *document) ([]byte, error) {
	if d.vars == nil {
		return nil, nil
	}
	v, _ := d.vars.Lookup(string(o))
	return v, nil
}

func (j joined) value(d *document) ([]byte, error) {
	var out []byte
	for _, o := range j {
		v, err := o.value(d)
		if err != nil {
			return nil, err
		}
		if len(out)+len(v) > maxExpanded {
			return nil, errExpanded
		}
		if err := d.run.spend(len(v)); err != nil {
			return nil, err
		}
		out = append(out, v...)
	}
	return out, nil
}

// join makes one operand of parts.
func (a *apParser) join(parts []operand) operand {
	switch len(parts) {
	case 0:
		return literal(nil)
	case 1:
		return parts[0]
	}
	a.took(1)
	return joined(parts)
}

func (a *apParser) word() (operand, *fault) {
	var parts []operand
	for {
		atom, bad := a.atom()
		if bad != nil {
			return nil, bad
		}
		a.took(1)
		parts = append(parts, atom)
		if !a.takes(".") {
			return a.join(parts), nil
		}
	}
}

func (a *apParser) atom() (operand, *fault) {
	a.blanks()
	if a.p == len(a.s) {
		return nil, a.wrong(a.p, "expression ends where a word is wanted", "write text in quotes, or v('name') for a variable")
	}
	switch c := a.s[a.p]; {
	case c == '\'' || c == '"':
		a.p++
		return a.text(c)
	case c == '%' && bytes.HasPrefix(a.s[a.p:], []byte("%{")):
		return a.variable()
	case c == '$':
		return a.dollar()
	case isDigit(c) || c == '-' && a.p+1 < len(a.s) && isDigit(a.s[a.p+1]):
		return a.number(), nil
	}
	name := a.name(a.p)
	if len(name) == 0 {
		return nil, a.wrong(a.p, a.next()+" where a word is wanted", "write text in quotes, or v('name') for a variable")
	}
	return a.call(name)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func (a *apParser) number() operand {
	from := a.p
	a.p++
	for a.p < len(a.s) && isDigit(a.s[a.p]) {
		a.p++
	}
	return literal(a.s[from:a.p])
}

func (a *apParser) dollar() (operand, *fault) {
	if a.p+1 < len(a.s) && isDigit(a.s[a.p+1]) {
		a.p += 2
		return group(a.s[a.p-1] - '0'), nil
	}
	name := "name"
	if n := a.name(a.p + 1); len(n) > 0 {
		name = clip(n)
	}
	return nil, a.wrong(a.p, "$ begins no variable in ap_expr", `write v('`+name+`'), or set expressions = "legacy"`)
}

// call reads function "(" word ")".
func (a *apParser) call(name []byte) (operand, *fault) {
	at := a.p
	a.p += len(name)
	if !a.takes("(") {
		a.p = at
		return nil, a.wrong(at, quoted(name)+" is neither quoted nor a function", "put text in quotes, or write v('"+clip(name)+"') for a variable")
	}
	if bad := a.deeper(); bad != nil {
		return nil, bad
	}
	arg, bad := a.word()
	a.depth--
	if bad != nil {
		return nil, bad
	}
	if !a.takes(")") {
		return nil, a.wrong(a.p, "function is not closed", "close it with ); functions take one word")
	}
	return a.function(name, at, arg)
}

// variable reads %{NAME} or %{function:text}.
func (a *apParser) variable() (operand, *fault) {
	at := a.p
	a.p += 2
	name := a.name(a.p)
	a.p += len(name)
	switch {
	case len(name) > 0 && a.p < len(a.s) && a.s[a.p] == '}':
		a.p++
		return a.builtin(name, at)
	case len(name) == 0 || a.p == len(a.s) || a.s[a.p] != ':':
		return nil, a.wrong(at, "variable is not closed, or has no name", "write %{NAME} or %{function:text}")
	}
	a.p++
	if bad := a.deeper(); bad != nil {
		return nil, bad
	}
	arg, bad := a.text('}')
	a.depth--
	if bad != nil {
		return nil, bad
	}
	return a.function(name, at, arg)
}

// text reads on up to stop.
func (a *apParser) text(stop byte) (operand, *fault) {
	from := a.p - 1
	var parts []operand
	var lit []byte
	for a.p < len(a.s) {
		c := a.s[a.p]
		if c == stop {
			a.p++
			return a.join(a.plain(parts, lit)), nil
		}
		inserted, bad := a.inserted()
		if bad == nil && inserted == nil {
			c, bad = a.char()
			lit = append(lit, c)
		}
		if bad != nil {
			return nil, bad
		}
		if inserted != nil {
			parts, lit = append(a.plain(parts, lit), inserted), nil
			a.took(1)
		}
	}
	return nil, a.wrong(from, "text is not closed", "close it with "+string(stop))
}

func (a *apParser) plain(parts []operand, lit []byte) []operand {
	if len(lit) == 0 {
		return parts
	}
	a.took(1)
	return append(parts, literal(lit))
}

// inserted reads what is inserted into text; nil: an ordinary byte comes next.
func (a *apParser) inserted() (operand, *fault) {
	switch rest := a.s[a.p:]; {
	case rest[0] == '$' && len(rest) > 1 && isDigit(rest[1]):
		return a.dollar()
	case bytes.HasPrefix(rest, []byte("%{")):
		return a.variable()
	}
	return nil, nil
}

// char reads one byte of text.
func (a *apParser) char() (byte, *fault) {
	c := a.s[a.p]
	a.p++
	switch {
	case c == '\\' && a.p < len(a.s):
		return a.escaped()
	case c < ' ' || c == 0x7f:
		return 0, a.wrong(a.p-1, "control byte "+quoted([]byte{c})+" in text", `write \n, \r, \t or its octal number behind a backslash`)
	}
	return c, nil
}

// escaped reads what stands behind a backslash.
func (a *apParser) escaped() (byte, *fault) {
	c := a.s[a.p]
	if isDigit(c) {
		return a.octal()
	}
	a.p++
	switch c {
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case 'b':
		return '\b', nil
	case 'f':
		return '\f', nil
	}
	if c < ' ' || c == 0x7f {
		a.p--
		return a.char()
	}
	return c, nil
}

func (a *apParser) octal() (byte, *fault) {
	at, n := a.p-1, 0
	for a.p < len(a.s) && a.p-at <= 3 && '0' <= a.s[a.p] && a.s[a.p] <= '7' {
		n = n*8 + int(a.s[a.p]-'0')
		a.p++
	}
	if a.p == at+1 || n == 0 || n > 255 {
		return 0, a.wrong(at, "no byte has the octal number behind this backslash", `write \1 to \377, or \\ for a backslash`)
	}
	return byte(n), nil
}
