package ssi

// wildcard matches with * ? and [...]: -strmatch, -strcmatch (in any case) and -fnmatch (none of them matches a slash).
type wildcard struct {
	left, pattern operand
	fold, path    bool
}

func (c *wildcard) eval(d *document) (bool, error) {
	left, pattern, err := both(d, c.left, c.pattern)
	if err != nil {
		return false, err
	}
	// A star may try the rest of the pattern at each byte.
	if err := d.run.spend(len(left) * (1 + len(pattern)/4)); err != nil {
		return false, err
	}
	return newGlob(pattern, c.fold, c.path).match(left), nil
}

// glob matches in time of at most pattern times text: only the last star is ever tried again.
type glob struct {
	pattern    []byte
	fold, path bool
	closing    int // the last ] that no backslash protects; -1: none
}

func newGlob(pattern []byte, fold, path bool) *glob {
	g := &glob{pattern, fold, path, -1}
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case ']':
			g.closing = i
		}
	}
	return g
}

func (g *glob) match(text []byte) bool {
	pattern := g.pattern
	p, t := 0, 0
	star, from := -1, 0 // behind the last star, and how far it has swallowed
	for p < len(pattern) || t < len(text) {
		if p < len(pattern) && pattern[p] == '*' {
			p++
			star, from = p, t
			continue
		}
		if p < len(pattern) && t < len(text) {
			if n, ok := g.one(p, text[t]); ok {
				p += n
				t++
				continue
			}
		}
		if star < 0 || from == len(text) || g.path && text[from] == '/' {
			return false
		}
		from++
		p, t = star, from
	}
	return true
}

// one matches a byte with the element at p, and says how long that is.
func (g *glob) one(p int, c byte) (n int, ok bool) {
	switch pattern := g.pattern[p:]; pattern[0] {
	case '?':
		return 1, !g.path || c != '/'
	case '[':
		if n, ok := g.class(p, c); n > 0 {
			return n, ok && (!g.path || c != '/')
		}
	case '\\':
		if len(pattern) > 1 {
			return 2, g.equal(pattern[1], c)
		}
	}
	return 1, g.equal(g.pattern[p], c)
}

// class matches a byte with the bracketed class at p; n is 0 where the bracket is not closed and so an ordinary byte.
// A ] in the first place is a member.
func (g *glob) class(p int, c byte) (n int, ok bool) {
	i := p + 1
	not := i < len(g.pattern) && (g.pattern[i] == '!' || g.pattern[i] == '^')
	if not {
		i++
	}
	if g.closing <= i {
		return 0, false
	}
	in := false
	for first := true; first || g.pattern[i] != ']'; first = false {
		lo, m := bracketByte(g.pattern[i:])
		i += m
		hi := lo
		if g.pattern[i] == '-' && g.pattern[i+1] != ']' {
			hi, m = bracketByte(g.pattern[i+1:])
			i += 1 + m
		}
		in = in || g.between(lo, c, hi)
	}
	return i + 1 - p, in != not
}

// bracketByte is one byte of a class, behind a backslash if there is one.
func bracketByte(s []byte) (c byte, n int) {
	if s[0] == '\\' && len(s) > 1 {
		return s[1], 2
	}
	return s[0], 1
}

func (g *glob) between(lo, c, hi byte) bool {
	if lo <= c && c <= hi {
		return true
	}
	return g.fold && (lo <= lower(c) && lower(c) <= hi || lo <= upper(c) && upper(c) <= hi)
}

func (g *glob) equal(a, b byte) bool { return a == b || g.fold && lower(a) == lower(b) }

func upper(c byte) byte {
	if 'a' <= c && c <= 'z' {
		return c - ('a' - 'A')
	}
	return c
}
