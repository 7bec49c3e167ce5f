package edge

import (
	"bytes"
	"slices"
	"strings"
)

// parameter is one part of a query between "&"s, and where its name ends.
type parameter struct {
	text []byte
	name int
}

// parseQuery fills c.query with what q leaves of query. What stays keeps its
// bytes, malformed escapes and empty parameters included, since an app may
// tell them apart, and its order, unless q sorts.
//
// Only a space, which no request line can carry and only an include can have,
// becomes %20. A control byte would end the line to the origin: refused.
func (c *canonical) parseQuery(query []byte, q *QueryFilter) error {
	c.query = c.query[:0]
	if len(query) == 0 {
		return nil
	}
	if err := checkQuery(query); err != nil {
		return err
	}
	switch {
	case q.Mode == QueryNone:
		return nil
	case q.Mode == QueryAll && !q.Sort:
		c.query = appendQuery(c.query, query)
		return nil
	}
	c.split(query, q)
	if q.Sort {
		slices.SortStableFunc(c.params, compareNames)
	}
	for i, p := range c.params {
		if i > 0 {
			c.query = append(c.query, '&')
		}
		c.query = appendQuery(c.query, p.text)
	}
	clear(c.params) // they are slices of the target
	return nil
}

// checkQuery refuses what can stand in no query.
func checkQuery(query []byte) error {
	for i, b := range query {
		switch {
		case b == 0 || b == '%' && bytes.HasPrefix(query[i:], []byte("%00")):
			return errNUL
		case b == '#':
			return errFragment
		case b < ' ' || b == 0x7f:
			return errQueryControl
		}
	}
	return nil
}

func appendQuery(dst, text []byte) []byte {
	for {
		i := bytes.IndexByte(text, ' ')
		if i < 0 {
			return append(dst, text...)
		}
		dst = append(append(dst, text[:i]...), "%20"...)
		text = text[i+1:]
	}
}

// split fills c.params with the parameters that q leaves.
func (c *canonical) split(query []byte, q *QueryFilter) {
	c.params = c.params[:0]
	for more := true; more; {
		var text []byte
		text, query, more = bytes.Cut(query, []byte("&"))
		p := parameter{text, len(text)}
		if i := bytes.IndexByte(text, '='); i >= 0 {
			p.name = i
		}
		if q.keeps(p.text[:p.name]) {
			c.params = append(c.params, p)
		}
	}
}

// keeps says whether a parameter of that name, as written, stays.
func (q *QueryFilter) keeps(name []byte) bool {
	switch q.Mode {
	case QueryKeep:
		return q.names(name)
	case QueryDrop:
		return !q.names(name)
	default:
		return true
	}
}

func (q *QueryFilter) names(name []byte) bool {
	for _, n := range q.Names {
		if matchesName(name, n) {
			return true
		}
	}
	return false
}

// matchesName compares a name as written, escapes undone, with a pattern that
// may end in "*".
func matchesName(name []byte, pattern string) bool {
	prefix, wild := strings.CutSuffix(pattern, "*")
	r := nameReader{name}
	for i := range len(prefix) {
		if b, ok := r.next(); !ok || b != prefix[i] {
			return false
		}
	}
	return wild || len(r.rest) == 0
}

// compareNames orders parameters by their names, escapes undone.
func compareNames(a, b parameter) int {
	x, y := nameReader{a.text[:a.name]}, nameReader{b.text[:b.name]}
	for {
		p, more := x.next()
		q, moreToo := y.next()
		switch {
		case !more && !moreToo:
			return 0
		case !more:
			return -1
		case !moreToo:
			return 1
		case p != q:
			return int(p) - int(q)
		}
	}
}

// nameReader undoes the escapes of a name as it goes.
type nameReader struct{ rest []byte }

func (r *nameReader) next() (b byte, ok bool) {
	s := r.rest
	switch {
	case len(s) == 0:
		return 0, false
	case s[0] == '%' && len(s) > 2 && isHex(s[1]) && isHex(s[2]):
		r.rest = s[3:]
		return unhex(s[1])<<4 | unhex(s[2]), true
	default:
		r.rest = s[1:]
		return s[0], true
	}
}
