package warm

import "strings"

// edgeName is the name of ssiedge's member of Cache-Status.
const edgeName = "ssiedge"

// cacheStatus is what ssiedge's member of Cache-Status says (RFC 9211).
type cacheStatus struct {
	hit, stored, collapsed bool
	fwd, detail            string
}

// parseCacheStatus finds ssiedge's member in the lines of the field: the last,
// for each cache adds its own behind those of the caches nearer to the origin.
// Each line is read alone: what somebody else wrote badly into another does not
// hide what the edge says.
func parseCacheStatus(lines []string) (s cacheStatus, found bool) {
	for _, line := range lines {
		p := fieldParser{s: line}
		if member, ok := p.list(); ok && member != nil {
			s, found = *member, true
		}
	}
	return s, found
}

// fieldParser reads a List of structured fields (RFC 9651 section 4.2) whose
// members are Items, as those of Cache-Status are. Its methods report whether
// what they read is well-formed.
type fieldParser struct {
	s string // what is left
}

// bareItem is a value: a string or token with its text, true and false, or one of
// the kinds that no parameter of interest has.
type bareItem struct {
	kind itemKind
	text string
}

type itemKind uint8

const (
	itemOther itemKind = iota
	itemString
	itemToken
	itemTrue
	itemFalse
)

// list gives ssiedge's last member, nil if there is none.
func (p *fieldParser) list() (last *cacheStatus, ok bool) {
	p.spaces(" ")
	for p.s = strings.TrimRight(p.s, " "); p.s != ""; {
		member, ok := p.member()
		if !ok {
			return nil, false
		}
		if member != nil {
			last = member
		}
		p.spaces(" \t")
		if p.s == "" {
			break
		}
		if !p.take(',') {
			return nil, false
		}
		if p.spaces(" \t"); p.s == "" { // a comma with nothing behind it
			return nil, false
		}
	}
	return last, true
}

// member gives the next member if it is ssiedge's, else nil.
func (p *fieldParser) member() (*cacheStatus, bool) {
	name, ok := p.item()
	if !ok {
		return nil, false
	}
	var s cacheStatus
	for p.take(';') {
		p.spaces(" ")
		key, ok := p.key()
		if !ok {
			return nil, false
		}
		value := bareItem{kind: itemTrue}
		if p.take('=') {
			if value, ok = p.item(); !ok {
				return nil, false
			}
		}
		s.set(key, value)
	}
	if (name.kind != itemToken && name.kind != itemString) || name.text != edgeName {
		return nil, true
	}
	return &s, true
}

// set takes over a parameter; of several with one name the last counts.
func (s *cacheStatus) set(key string, v bareItem) {
	switch key {
	case "hit":
		s.hit = v.kind == itemTrue
	case "stored":
		s.stored = v.kind == itemTrue
	case "collapsed":
		s.collapsed = v.kind == itemTrue
	case "fwd":
		s.fwd = v.text
	case "detail":
		s.detail = v.text
	}
}

func (p *fieldParser) item() (bareItem, bool) {
	if p.s == "" {
		return bareItem{}, false
	}
	switch c := p.s[0]; {
	case c == '"':
		return p.string()
	case c == '*' || isAlpha(c):
		return bareItem{itemToken, p.run(isTokenItemByte)}, true
	case c == '-' || isDigit(c):
		return bareItem{}, p.number()
	case c == '@': // a date
		p.s = p.s[1:]
		return bareItem{}, p.integer()
	case c == ':':
		return bareItem{}, p.bytes()
	case c == '%':
		return bareItem{}, p.display()
	case strings.HasPrefix(p.s, "?1"):
		p.s = p.s[2:]
		return bareItem{kind: itemTrue}, true
	case strings.HasPrefix(p.s, "?0"):
		p.s = p.s[2:]
		return bareItem{kind: itemFalse}, true
	}
	return bareItem{}, false
}

func (p *fieldParser) string() (bareItem, bool) {
	var b strings.Builder
	for i := 1; i < len(p.s); i++ {
		switch c := p.s[i]; {
		case c == '"':
			p.s = p.s[i+1:]
			return bareItem{itemString, b.String()}, true
		case c == '\\':
			i++
			if i == len(p.s) || p.s[i] != '"' && p.s[i] != '\\' {
				return bareItem{}, false
			}
			b.WriteByte(p.s[i])
		case c < ' ' || c > '~':
			return bareItem{}, false
		default:
			b.WriteByte(c)
		}
	}
	return bareItem{}, false
}

// number is for Integers of up to 15 digits, and Decimals of up to 12 and 3.
func (p *fieldParser) number() bool {
	p.take('-')
	whole := len(p.run(isDigit))
	if !p.take('.') {
		return whole >= 1 && whole <= 15
	}
	part := len(p.run(isDigit))
	return whole >= 1 && whole <= 12 && part >= 1 && part <= 3
}

func (p *fieldParser) integer() bool {
	p.take('-')
	n := len(p.run(isDigit))
	return n >= 1 && n <= 15 && !strings.HasPrefix(p.s, ".")
}

func (p *fieldParser) bytes() bool {
	p.take(':')
	p.run(func(c byte) bool { return isAlpha(c) || isDigit(c) || c == '+' || c == '/' || c == '=' })
	return p.take(':')
}

// display is for a Display String: escaped UTF-8 in quotes.
func (p *fieldParser) display() bool {
	if p.take('%'); !p.take('"') {
		return false
	}
	for !p.take('"') {
		if p.take('%') {
			if len(p.s) < 2 || strings.Trim(p.s[:2], "0123456789abcdef") != "" {
				return false
			}
			p.s = p.s[2:]
			continue
		}
		if p.s == "" || p.s[0] < ' ' || p.s[0] > '~' {
			return false
		}
		p.s = p.s[1:]
	}
	return true
}

func (p *fieldParser) key() (string, bool) {
	if p.s == "" || p.s[0] != '*' && !isLower(p.s[0]) {
		return "", false
	}
	return p.run(func(c byte) bool {
		return isLower(c) || isDigit(c) || strings.IndexByte("_-.*", c) >= 0
	}), true
}

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }

func isTokenItemByte(c byte) bool { return isTokenByte(c) || c == ':' || c == '/' }

// run takes the bytes up to the first that is not of a kind.
func (p *fieldParser) run(of func(byte) bool) string {
	n := 0
	for n < len(p.s) && of(p.s[n]) {
		n++
	}
	taken := p.s[:n]
	p.s = p.s[n:]
	return taken
}

func (p *fieldParser) spaces(set string) { p.s = strings.TrimLeft(p.s, set) }

// take takes c if it is next.
func (p *fieldParser) take(c byte) bool {
	if p.s == "" || p.s[0] != c {
		return false
	}
	p.s = p.s[1:]
	return true
}
