package ssi

import "bytes"

var (
	opening = []byte("<!--#")
	remark  = []byte("<!--")
	closing = []byte("-->")
)

// maxWord is more than the length of any command; a longer word need not be read to be known as none.
const maxWord = 32

// usualDirective is fewer bytes than most directives take.
const usualDirective = 16

// item is one directive of a document. What is no item is text.
type item struct {
	cmd     command
	word    []byte // the command as written
	at, end int    // src[at:end] is the directive with its brackets
	lo, hi  int    // its parameters: lexer.params[lo:hi]
	broken  bool   // it cannot be read; a fault was noted, and the error message stands for it
}

// param is one parameter; name and value are slices of the document, the value without quotes and with its backslashes.
type param struct {
	name, value []byte
	at, valueAt int
}

// lexer cuts a document into directives, in one pass. A directive that has no end is text, and the search goes on
// right behind its opening. That can only happen behind the last "-->" or inside a quote that never ends, of which there
// are three kinds; a directive has a bounded number of parameters, but for comments, which remember where they were read
// already. So the whole stays linear.
type lexer struct {
	src    []byte
	o      Options // with the defaults filled in
	last   int     // offset of the last "-->", -1 without one
	limit  int     // where the directive at hand ends at the latest
	items  []item
	params []param
	faults *faults

	passed []bool // of the last bytes, as many as a directive may have: a comment was read from there to no end
}

func (l *lexer) run() {
	p := l.remark(0)
	if p < 0 {
		return
	}
	l.last = bytes.LastIndex(l.src, closing) // many times slower than looking for a remark
	// Counted first, as far as they can be directives: lists of thousands that grow would be copied several times over.
	// Most directives have one parameter.
	n := min(bytes.Count(l.src[p:], opening[1:]), len(l.src)/usualDirective+1)
	l.items, l.params = make([]item, 0, n), make([]param, 0, n)
	for ; p >= 0; p = l.remark(p) {
		if bytes.HasPrefix(l.src[p:], opening) {
			p = l.directive(p)
			continue
		}
		l.lint(p)
		p += len(remark)
	}
}

// remark finds the next "<!--" from p on; -1: there is none. It looks for the exclamation mark: pages are full of "<",
// and bytes.Index is as fast as what it looks for is rare.
func (l *lexer) remark(p int) int {
	for from := p; ; {
		i := bytes.Index(l.src[from:], remark[1:])
		if i < 0 {
			return -1
		}
		from += i
		if from > p && l.src[from-1] == '<' {
			return from - 1
		}
		from += len(remark) - 1
	}
}

// lint notes "<!-- #include": the blank makes it an ordinary comment, which is seldom meant.
func (l *lexer) lint(at int) {
	p := l.skipSpace(at+len(remark), len(l.src))
	if p == at+len(remark) || p == len(l.src) || l.src[p] != '#' {
		return
	}
	if word := l.word(p + 1); commandOf(word) != cmdUnknown {
		l.faults.add(at, KindUnknown, "blank before #"+string(word)+": this is a comment, not a directive", "write <!--#"+string(word))
	}
}

// directive reads what begins with the opening at at, and returns where to go on.
func (l *lexer) directive(at int) int {
	inside := at + len(opening)
	l.limit = min(len(l.src), at+l.o.MaxDirective)
	p := l.skipSpace(inside, len(l.src))
	word := l.word(p)
	cmd := commandOf(word)
	switch {
	case len(word) == 0 && l.closesEmpty(p):
		cmd = cmdNone
	case cmd == cmdUnknown && !l.o.UnknownIsError:
		l.faults.unknown(at, word, ", and is kept as text")
		return inside
	}
	it := item{cmd: cmd, word: word, at: at, lo: len(l.params)}
	if p > l.last {
		return l.unclosed(it, "directive is not closed", "end it with -->")
	}
	end, bad := l.arguments(&it, p+len(word))
	if bad == nil {
		it.hi, it.end = len(l.params), end
		l.items = append(l.items, it)
		return it.end
	}
	l.params = l.params[:it.lo]
	return l.resync(it, bad)
}

// resync goes on behind the next "-->" after a syntax error, quotes or not, as nginx does.
func (l *lexer) resync(it item, bad *fault) int {
	i := bytes.Index(l.src[bad.off:], closing)
	if bad.unclosed {
		return l.unclosed(it, bad.message, bad.cure)
	}
	if i < 0 {
		return l.unclosed(it, "directive is not closed", "end it with -->")
	}
	it.hi, it.broken, it.end = it.lo, true, bad.off+i+len(closing)
	l.faults.note(*bad)
	l.items = append(l.items, it)
	return it.end
}

// unclosed leaves the directive as text. In the apache dialect the rest of the document is the directive, and the error
// message stands for it.
func (l *lexer) unclosed(it item, message, cure string) int {
	if l.o.Dialect == DialectApache {
		l.faults.add(it.at, KindSyntax, message+", and the rest of the document is lost", cure)
		it.hi, it.broken, it.end = it.lo, true, len(l.src)
		l.items = append(l.items, it)
		return it.end
	}
	at := it.at
	l.faults.add(at, KindSyntax, message+", and is kept as text", cure)
	return at + len(opening)
}

// closesEmpty recognises <!--#--> and its kin; all else without a command word is decoration, not a directive.
func (l *lexer) closesEmpty(p int) bool {
	rest := l.src[p:]
	return bytes.HasPrefix(rest, closing) || bytes.HasPrefix(rest, []byte("--->"))
}

// arguments reads from behind the command's word to the end of the directive.
func (l *lexer) arguments(it *item, p int) (end int, bad *fault) {
	for {
		q := l.skipSpace(p, l.limit)
		switch {
		case q == l.limit:
			return 0, l.overrun("directive is not closed", "end it with -->")
		case bytes.HasPrefix(l.src[q:], closing):
			if it.cmd == cmdNone {
				return 0, syntaxFault(q, "directive without a command", "name a command, or remove it")
			}
			return q + len(closing), nil
		case l.src[q] == '-' && it.cmd != cmdComment:
			return 0, syntaxFault(q, "- that does not begin -->", "end the directive with exactly -->, and put values in quotes")
		case q == p:
			return 0, l.attached(it, q)
		}
		if it.cmd == cmdComment {
			if l.wasPassed(q) {
				return 0, l.overrun("directive is not closed", "end it with -->")
			}
			p, bad = l.remarkWord(q)
		} else {
			p, bad = l.param(it, q)
		}
		if bad != nil {
			return 0, bad
		}
	}
}

// attached is the fault of what stands at p, right behind a word or a value.
func (l *lexer) attached(it *item, p int) *fault {
	cure := "put a blank between parameters"
	if c := l.src[p]; !isWordByte(c) && !isQuote(c) && c != '=' {
		cure = "remove it"
	}
	if len(l.params) > it.lo && bytes.Contains(l.params[len(l.params)-1].value, closing) {
		cure = "close the value before it, which goes on past a -->"
	}
	return syntaxFault(p, "no white space before "+quoted(l.src[p:p+1]), cure)
}

// param reads name = value at p.
func (l *lexer) param(it *item, p int) (int, *fault) {
	if len(l.params)-it.lo == l.o.MaxParams {
		return 0, syntaxFault(p, "too many parameters", "use fewer")
	}
	q := p
	for q < l.limit && isName(l.src[q]) {
		q++
	}
	if q == p {
		return 0, syntaxFault(p, "value without a parameter's name", "write name=\"value\"")
	}
	name := l.src[p:q]
	q = l.skipSpace(q, l.limit)
	if q == l.limit {
		return 0, l.overrun("directive is not closed", "end it with -->")
	}
	if l.src[q] != '=' {
		cure := "remove it"
		if isWordByte(name[0]) {
			cure = "write " + clip(name) + "=\"value\""
		}
		return 0, syntaxFault(p, "parameter "+quoted(name)+" has no value", cure)
	}
	lo, hi, next, bad := l.value(l.skipSpace(q+1, l.limit))
	if bad != nil {
		return 0, bad
	}
	l.params = append(l.params, param{name: name, value: l.src[lo:hi], at: p, valueAt: lo})
	return next, nil
}

// value reads a value at p, quoted or up to white space or the end of the directive.
func (l *lexer) value(p int) (lo, hi, next int, bad *fault) {
	if p < l.limit && isQuote(l.src[p]) {
		lo, hi = p+1, p+1
		for hi < l.limit && l.src[hi] != l.src[p] {
			if l.src[hi] == '\\' {
				hi++
			}
			hi++
		}
		next = hi + 1
	} else {
		lo, hi = p, p
		for hi < l.limit && !isSpace(l.src[hi]) && !bytes.HasPrefix(l.src[hi:], closing) {
			hi++
		}
		next = hi
	}
	switch {
	case hi >= l.limit && hi == next:
		return 0, 0, 0, l.overrun("directive is not closed", "end it with -->")
	case hi >= l.limit:
		return 0, 0, 0, l.overrun("value is not closed", "close it with "+string(l.src[p]))
	case next == p:
		return 0, 0, 0, syntaxFault(p, "no value after =", "write a value in quotes")
	case hi-lo > l.o.MaxValue:
		return 0, 0, 0, syntaxFault(lo, "value is too long", "shorten it")
	}
	return lo, hi, next, nil
}

// remarkWord reads a word of a comment: anything but a bare quoted string, perhaps with a value.
func (l *lexer) remarkWord(p int) (int, *fault) {
	if isQuote(l.src[p]) {
		return 0, syntaxFault(p, "quoted string without a name in a comment", "remove the quotes")
	}
	q := p
	for q < l.limit && l.src[q] != '=' && !isSpace(l.src[q]) && !bytes.HasPrefix(l.src[q:], closing) {
		q++
	}
	eq := l.skipSpace(q, l.limit)
	if eq == l.limit || l.src[eq] != '=' {
		return q, nil
	}
	_, _, next, bad := l.value(l.skipSpace(eq+1, l.limit))
	return next, bad
}

// wasPassed says whether a word of a comment at p is known to lead to the end of the document, and no "-->" on the way: an
// earlier comment was read past it. One that is closed, or goes wrong in another way, is never read again.
func (l *lexer) wasPassed(p int) bool {
	if l.limit < len(l.src) {
		return false
	}
	if l.passed == nil {
		l.passed = make([]bool, min(len(l.src), l.o.MaxDirective))
	}
	i := p - (len(l.src) - len(l.passed))
	passed := l.passed[i]
	l.passed[i] = true
	return passed
}

// overrun is the fault of a directive that goes on up to the limit: the end of the document, or its largest size.
func (l *lexer) overrun(message, cure string) *fault {
	if l.limit == len(l.src) {
		return &fault{off: l.limit, kind: KindSyntax, message: message, cure: cure, unclosed: true}
	}
	return syntaxFault(l.limit, "directive is too long", cure)
}

func (l *lexer) skipSpace(p, end int) int {
	for p < end && isSpace(l.src[p]) {
		p++
	}
	return p
}

// word reads a command's word at p.
func (l *lexer) word(p int) []byte {
	q := p
	for q < len(l.src) && q-p < maxWord && isName(l.src[q]) {
		q++
	}
	return l.src[p:q]
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }
func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }
func isName(c byte) bool  { return !isSpace(c) && !isQuote(c) && c != '=' && c != '-' }
