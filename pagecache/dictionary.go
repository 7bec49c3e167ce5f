package pagecache

import (
	"bytes"
	"encoding/hex"
	"unicode/utf8"
)

// dictionary is a structured field of type Dictionary (RFC 9651, section
// 4.2.2), as far as directives need it: parameters are checked and dropped,
// inner lists are kept as such only.
type dictionary struct{ members []dictMember }

// dictMember is a member of a dictionary.
type dictMember struct {
	key   []byte
	kind  itemKind
	value []byte // of an Integer its sign and digits, of a String what stands between its quotes
	yes   bool   // of a Boolean
}

type itemKind uint8

const (
	itemInvalid itemKind = iota
	itemInteger
	itemString
	itemBoolean
	itemOther // Decimal, Token, Byte Sequence, Date, Display String, Inner List
)

// line adds the members of one field line; false: it is no dictionary. Of
// members with the same key the last one counts.
func (d *dictionary) line(b []byte) bool {
	p := itemParser{bytes.Trim(b, " ")}
	for len(p.rest) > 0 {
		m := dictMember{key: p.key()}
		if len(m.key) == 0 {
			return false
		}
		m.kind, m.yes = itemBoolean, true
		if p.next('=') {
			if m.kind, m.value, m.yes = p.member(); m.kind == itemInvalid {
				return false
			}
		}
		if !p.parameters() {
			return false
		}
		d.set(m)
		p.space()
		if len(p.rest) == 0 {
			return true
		}
		if !p.next(',') {
			return false
		}
		if p.space(); len(p.rest) == 0 {
			return false // a comma that nothing follows
		}
	}
	return true
}

func (d *dictionary) set(m dictMember) {
	for i := range d.members {
		if bytes.Equal(d.members[i].key, m.key) {
			d.members[i] = m
			return
		}
	}
	d.members = append(d.members, m)
}

// itemParser takes structured items apart from the left.
type itemParser struct{ rest []byte }

// next takes c, if it is what comes.
func (p *itemParser) next(c byte) bool {
	if len(p.rest) == 0 || p.rest[0] != c {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

func (p *itemParser) space() { p.rest = bytes.TrimLeft(p.rest, " \t") }

// while takes the bytes that ok says yes to.
func (p *itemParser) while(ok func(c byte) bool) []byte {
	n := 0
	for n < len(p.rest) && ok(p.rest[n]) {
		n++
	}
	taken := p.rest[:n]
	p.rest = p.rest[n:]
	return taken
}

// key takes a key; empty: there is none.
func (p *itemParser) key() []byte {
	if len(p.rest) == 0 || !isLower(p.rest[0]) && p.rest[0] != '*' {
		return nil
	}
	return p.while(func(c byte) bool {
		return isLower(c) || isDigit(c) || c == '_' || c == '-' || c == '.' || c == '*'
	})
}

// member takes an item or an inner list.
func (p *itemParser) member() (kind itemKind, value []byte, yes bool) {
	if !p.next('(') {
		return p.item()
	}
	for {
		p.rest = bytes.TrimLeft(p.rest, " ")
		if p.next(')') {
			return itemOther, nil, false
		}
		if kind, _, _ := p.item(); kind == itemInvalid || !p.parameters() {
			return itemInvalid, nil, false
		}
		if len(p.rest) == 0 || p.rest[0] != ' ' && p.rest[0] != ')' {
			return itemInvalid, nil, false
		}
	}
}

// item takes a bare item.
func (p *itemParser) item() (kind itemKind, value []byte, yes bool) {
	if len(p.rest) == 0 {
		return itemInvalid, nil, false
	}
	switch c := p.rest[0]; {
	case c == '?':
		return p.boolean()
	case c == '"':
		return p.quoted()
	case c == '-' || isDigit(c):
		kind, value = p.number()
	case c == ':':
		kind = p.byteSequence()
	case c == '@':
		p.next('@')
		if kind, _ = p.number(); kind == itemInteger {
			kind = itemOther
		} else {
			kind = itemInvalid
		}
	case c == '%':
		kind = p.displayString()
	case isAlpha(c) || c == '*':
		p.while(isTokenByte)
		kind = itemOther
	}
	return kind, value, false
}

func (p *itemParser) boolean() (itemKind, []byte, bool) {
	if len(p.rest) < 2 || p.rest[1] != '0' && p.rest[1] != '1' {
		return itemInvalid, nil, false
	}
	yes := p.rest[1] == '1'
	p.rest = p.rest[2:]
	return itemBoolean, nil, yes
}

func (p *itemParser) quoted() (itemKind, []byte, bool) {
	for i := 1; i < len(p.rest); i++ {
		switch c := p.rest[i]; {
		case c == '"':
			value := p.rest[1:i]
			p.rest = p.rest[i+1:]
			return itemString, value, false
		case c == '\\':
			i++
			if i == len(p.rest) || p.rest[i] != '"' && p.rest[i] != '\\' {
				return itemInvalid, nil, false
			}
		case c < ' ' || c > '~':
			return itemInvalid, nil, false
		}
	}
	return itemInvalid, nil, false
}

// number takes an Integer of up to 15 digits, or a Decimal of up to 12 and 3.
func (p *itemParser) number() (itemKind, []byte) {
	start := p.rest
	p.next('-')
	whole := len(p.while(isDigit))
	if !p.next('.') {
		if whole == 0 || whole > 15 {
			return itemInvalid, nil
		}
		return itemInteger, start[:len(start)-len(p.rest)]
	}
	part := len(p.while(isDigit))
	if whole == 0 || whole > 12 || part == 0 || part > 3 {
		return itemInvalid, nil
	}
	return itemOther, nil
}

func (p *itemParser) byteSequence() itemKind {
	p.next(':')
	p.while(func(c byte) bool { return isAlpha(c) || isDigit(c) || c == '+' || c == '/' || c == '=' })
	if !p.next(':') {
		return itemInvalid
	}
	return itemOther
}

// displayString takes a Display String: its escapes are of lower case, and the
// bytes that it stands for UTF-8.
func (p *itemParser) displayString() itemKind {
	p.next('%')
	if !p.next('"') {
		return itemInvalid
	}
	var text []byte
	for !p.next('"') {
		if len(p.rest) == 0 || p.rest[0] < ' ' || p.rest[0] > '~' {
			return itemInvalid
		}
		n := 1
		if c := p.rest[0]; c != '%' {
			text = append(text, c)
		} else if n = 3; len(p.rest) < n || bytes.ContainsFunc(p.rest[1:n], isUpper) {
			return itemInvalid
		} else if decoded, err := hex.AppendDecode(text, p.rest[1:n]); err != nil {
			return itemInvalid
		} else {
			text = decoded
		}
		p.rest = p.rest[n:]
	}
	if !utf8.Valid(text) {
		return itemInvalid
	}
	return itemOther
}

func isUpper(c rune) bool { return 'A' <= c && c <= 'Z' }

// parameters takes those that follow an item.
func (p *itemParser) parameters() bool {
	for p.next(';') {
		p.rest = bytes.TrimLeft(p.rest, " ")
		if len(p.key()) == 0 {
			return false
		}
		if p.next('=') {
			if kind, _, _ := p.item(); kind == itemInvalid {
				return false
			}
		}
	}
	return true
}

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isAlpha(c byte) bool { return isLower(c) || 'A' <= c && c <= 'Z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isTokenByte says whether c may stand in a Token after its first byte.
func isTokenByte(c byte) bool {
	return isAlpha(c) || isDigit(c) || bytes.IndexByte([]byte("!#$%&'*+-.^_`|~:/"), c) >= 0
}
