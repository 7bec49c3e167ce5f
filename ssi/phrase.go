package ssi

import (
	"bytes"
	"errors"
	"strings"
)

// maxExpanded bounds a value after interpolation, and what set= takes from a fragment (nginx: one memory page).
const maxExpanded = 64 << 10

var errExpanded = errors.New("value is larger than 64 KiB with its variables inserted")

// phrase is a parameter's value in which variables are inserted. What is inserted is never looked at again.
type phrase struct {
	lit   []byte // the value, where no variable is in it
	parts []part // nil: none
}

// part of a phrase: a literal, or a variable's name.
type part struct {
	lit  []byte
	name string
}

func (p *phrase) constant() bool { return p.parts == nil }

// phrase reads a parameter's value in which variables are inserted. entities: the apache dialect decodes them in it.
func (p *parser) phrase(pm *param, entities bool) (phrase, *fault) {
	if p.o.Dialect == DialectNginx {
		return parsePhrase(pm.value, pm.valueAt)
	}
	return parseEscaped(p.value(pm, entities), pm.valueAt, escapesApache)
}

// value is a parameter's value as the dialect has it before variables are inserted: Apache takes the backslash from the
// quote that the value stands in, and here and there decodes entities.
func (p *parser) value(pm *param, entities bool) []byte {
	if p.o.Dialect == DialectNginx {
		return pm.value
	}
	v := pm.value
	if quote := p.t.src[pm.valueAt-1]; isQuote(quote) {
		v = unescapeQuote(v, quote)
	}
	if entities {
		v = decodeEntities(v)
	}
	return v
}

func unescapeQuote(v []byte, quote byte) []byte {
	if !bytes.Contains(v, []byte{'\\', quote}) {
		return v
	}
	out := make([]byte, 0, len(v))
	for i := 0; i < len(v); i++ {
		if v[i] == '\\' && i+1 < len(v) {
			if i++; v[i] != quote {
				out = append(out, '\\')
			}
		}
		out = append(out, v[i])
	}
	return out
}

// What a backslash may stand before, to be taken away.
const (
	escapesNginx  = `$\"'`
	escapesApache = `$`
)

// parsePhrase reads $name and ${name}, and takes the backslash from \$ \\ \" \'. A $ that begins no name is itself.
// off is where raw stands in the document.
func parsePhrase(raw []byte, off int) (phrase, *fault) {
	return parseEscaped(raw, off, escapesNginx)
}

func parseEscaped(raw []byte, off int, escapes string) (phrase, *fault) {
	if bytes.IndexByte(raw, '$') < 0 && bytes.IndexByte(raw, '\\') < 0 {
		return phrase{lit: raw}, nil
	}
	var ph phrase
	lit := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		n, name, bad := reference(raw[i:], off+i)
		switch {
		case bad != nil:
			return phrase{}, bad
		case n > 0:
			ph.parts = appendLiteral(ph.parts, lit)
			lit = lit[len(lit):]
			ph.parts = append(ph.parts, part{name: name})
			i += n
		case unescapes(raw[i:], escapes):
			lit = append(lit, raw[i+1])
			i += 2
		default:
			lit = append(lit, raw[i])
			i++
		}
	}
	if ph.parts == nil {
		return phrase{lit: lit}, nil
	}
	ph.parts = appendLiteral(ph.parts, lit)
	return ph, nil
}

// unescapes says whether s begins with a backslash that only protects the byte behind it.
func unescapes(s []byte, escapes string) bool {
	return s[0] == '\\' && len(s) > 1 && strings.IndexByte(escapes, s[1]) >= 0
}

func appendLiteral(parts []part, lit []byte) []part {
	if len(lit) == 0 {
		return parts
	}
	return append(parts, part{lit: lit[:len(lit):len(lit)]})
}

// reference reads $name or ${name} at the start of s; n is 0 where there is none.
func reference(s []byte, off int) (n int, name string, bad *fault) {
	if s[0] != '$' || len(s) == 1 {
		return 0, "", nil
	}
	if s[1] == '{' {
		end := bytes.IndexByte(s, '}')
		if end < 0 {
			return 0, "", &fault{off: off, kind: KindParameter, message: "${ without }", cure: `close the name with }, or write \$ for a dollar`}
		}
		if end == 2 {
			return 0, "", &fault{off: off, kind: KindParameter, message: "${} names no variable", cure: `write a name, or \$ for a dollar`}
		}
		return end + 1, lowerString(s[2:end]), nil
	}
	n = 1
	for n < len(s) && isWordByte(s[n]) {
		n++
	}
	if n == 1 {
		return 0, "", nil
	}
	return n, lowerString(s[1:n]), nil
}

func isWordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
}

// expand inserts the variables. The result may be the value of a variable itself: it is not to be changed.
func (d *document) expand(p *phrase) ([]byte, error) {
	if p.constant() {
		return p.lit, nil
	}
	if err := d.run.spend(0); err != nil {
		return nil, err
	}
	if len(p.parts) == 1 {
		v, _ := d.variable(p.parts[0].name)
		return v, d.run.spend(len(v)) // what the surroundings know may be made anew each time
	}
	var out []byte
	for _, pt := range p.parts {
		v := pt.lit
		if pt.name != "" {
			v, _ = d.variable(pt.name)
		}
		if len(out)+len(v) > maxExpanded {
			d.run.spend(len(out)) // the copying was done all the same
			return nil, errExpanded
		}
		out = append(out, v...)
	}
	return out, d.run.spend(len(out))
}

// expandURL is expand for a URL. What a variable puts into the path must not climb (two dots, plain or escaped),
// and nothing that it puts in may end a line or a string.
func (d *document) expandURL(p *phrase) (string, error) {
	if err := d.run.spend(0); err != nil {
		return "", err
	}
	var out []byte
	var spans [][2]int // of out: what came from variables
	for _, pt := range p.parts {
		v := pt.lit
		if pt.name != "" {
			v, _ = d.variable(pt.name)
			if bytes.ContainsAny(v, "\x00\r\n") {
				return "", errors.New("a variable puts a control byte into the URL")
			}
			spans = append(spans, [2]int{len(out), len(out) + len(v)})
		}
		if len(out)+len(v) > maxExpanded {
			d.run.spend(len(out))
			return "", errExpanded
		}
		out = append(out, v...)
	}
	for _, s := range spans {
		if reaches(pathOf(out), s[0], s[1]) {
			return "", errors.New("a variable puts two dots into the path")
		}
	}
	return string(out), d.run.spend(len(out))
}

// pathOf is what stands before the query.
func pathOf(url []byte) []byte {
	if i := bytes.IndexByte(url, '?'); i >= 0 {
		return url[:i]
	}
	return url
}

// reaches says whether path holds ".." or an escaped dot of which a byte stands in [lo, hi). The neighbours count,
// for a variable may bring only the second dot.
func reaches(path []byte, lo, hi int) bool {
	lo, hi = min(lo, len(path)), min(hi, len(path))
	if lo == hi {
		return false
	}
	if bytes.Contains(path[max(lo-1, 0):min(hi+1, len(path))], []byte("..")) {
		return true
	}
	near := path[max(lo-2, 0):min(hi+2, len(path))]
	return bytes.Contains(near, []byte("%2e")) || bytes.Contains(near, []byte("%2E"))
}

// hasDotDot says whether a segment of the path is "..", plain or escaped.
func hasDotDot(url string) bool {
	path := bytes.ToLower(pathOf([]byte(url)))
	for seg := range bytes.SplitSeq(path, []byte("/")) {
		if string(bytes.ReplaceAll(seg, []byte("%2e"), []byte("."))) == ".." {
			return true
		}
	}
	return false
}
