package conf

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// section reads the settings of one table. What the file does not say has its
// default; who reads a setting that has none makes sure that it is there.
type section struct {
	r     *reader
	table *node // nil: not in the file
	group string
}

// open begins to read a table: it judges its names. A nil n is a table that the
// file does not have.
func (r *reader) open(n *node, group string) section {
	s := section{r: r, group: group}
	switch {
	case n == nil:
	case n.kind == tableKind:
		s.table = n
		r.judgeNames(n, group)
	case n.kind == listKind && len(n.items) > 0 && n.items[0].kind == tableKind:
		r.wrongType(n, "one table", fmt.Sprintf("write [%s]", n.key))
	default:
		r.wrongType(n, "a table", fmt.Sprintf("write [%s] and its settings below", n.key))
	}
	return s
}

// written is the value that the file gives to a name; nil: none.
func (s section) written(name string) *node {
	if s.table == nil {
		return nil
	}
	if f := s.table.field(name); f != nil {
		return f.value
	}
	return nil
}

// get is the value of a name: the file's, else the default; nil: neither. A
// value whose problem is noted already counts as not written.
func (s section) get(name string) *node {
	if n := s.written(name); n != nil && !n.broken {
		return n
	}
	for _, known := range settingsOf(s.group) {
		if known.name == name && known.value != "" {
			return parseDefault(join(s.group, name), known.value)
		}
	}
	return nil
}

// says reports whether the file gives a name something that is not empty.
func (s section) says(name string) bool {
	n := s.written(name)
	empty := n != nil && (n.kind == textKind && n.text == "" || n.kind == listKind && len(n.items) == 0)
	return n != nil && (n.broken || !empty)
}

// broken reports whether the file's value of a name has had its problem noted.
func (s section) broken(name string) bool {
	n := s.written(name)
	return n != nil && n.broken
}

// text is a string; "" where the value is none.
func (s section) text(name string) string {
	n := s.get(name)
	if n.kind != textKind {
		cure := ""
		if n.kind != tableKind && n.kind != listKind {
			cure = fmt.Sprintf("write %q", n.text)
		}
		s.r.wrongType(n, "a string", cure)
		return ""
	}
	return n.text
}

// word is one of some words.
func (s section) word(name string, words ...string) string {
	n := s.get(name)
	if n.kind != textKind {
		s.r.wrongType(n, quoted(words), "")
		return words[0]
	}
	if !slices.Contains(words, n.text) {
		cure := "use " + quoted(words)
		if near := nearest(n.text, words); near != "" {
			cure = fmt.Sprintf("did you mean %q? Known are %s", near, quoted(words))
		}
		s.r.problem(n, fmt.Sprintf("%q is not known here", n.text), cure)
		return words[0]
	}
	return n.text
}

// flag is a boolean; false where the value is none.
func (s section) flag(name string) bool {
	n := s.get(name)
	if n.kind != booleanKind {
		cure := "write true or false"
		if n.kind == textKind && (n.text == "true" || n.text == "false") {
			cure = fmt.Sprintf("write %s, without quotes", n.text)
		}
		s.r.wrongType(n, "true or false", cure)
	}
	return n.text == "true"
}

// integer is a whole number from low to high.
func (s section) integer(name string, low, high int) int {
	n := s.get(name)
	if n.kind != integerKind {
		cure := ""
		if _, err := strconv.Atoi(n.text); err == nil {
			cure = fmt.Sprintf("write %s, without quotes", n.text)
		}
		s.r.wrongType(n, "a whole number", cure)
		return low
	}
	v, ok := integerValue(n)
	if !ok || v < int64(low) || v > int64(high) {
		s.r.problem(n, n.text+" is out of range", fmt.Sprintf("use %d to %d", low, high))
		return low
	}
	return int(v)
}

// integerValue is the value of an integer, in any of TOML's ways to write it.
func integerValue(n *node) (int64, bool) {
	v, err := strconv.ParseInt(strings.ReplaceAll(n.text, "_", ""), 0, 64)
	return v, err == nil
}

// size is a number of bytes from low to high.
func (s section) size(name string, low, high int64) int64 {
	n := s.get(name)
	if n.kind != textKind && n.kind != integerKind {
		s.r.wrongType(n, `a size such as "64MiB"`, "")
		return low
	}
	var v int64
	var m *mistake
	if n.kind == textKind {
		v, m = parseSize(n.text)
	} else {
		v, _ = integerValue(n)
	}
	if m == nil && (v < low || v > high) {
		m = &mistake{n.text + " is out of range", fmt.Sprintf("use %s to %s", sizeText(low), sizeText(high))}
	}
	s.r.fault(n, m)
	return v
}

// duration is a time from low to high.
func (s section) duration(name string, low, high time.Duration) time.Duration {
	return s.r.duration(s.get(name), low, high)
}

// duration reads a time from low to high.
func (r *reader) duration(n *node, low, high time.Duration) time.Duration {
	if n.kind != textKind {
		cure := ""
		if n.kind == integerKind {
			cure = fmt.Sprintf("write %q if seconds are meant", n.text+"s")
		}
		r.wrongType(n, `a time such as "30s"`, cure)
		return low
	}
	v, m := parseDuration(n.text)
	if m == nil && (v < low || v > high) {
		m = &mistake{n.text + " is out of range", fmt.Sprintf("use %s to %s", durationText(low), durationText(high))}
	}
	r.fault(n, m)
	return v
}

// texts is the strings of a list, as nodes for their places. A string alone
// will do for a list of one.
func (s section) texts(name string) []*node {
	n := s.get(name)
	if n == nil {
		return nil
	}
	return s.r.texts(n)
}

func (r *reader) texts(n *node) []*node {
	if n.kind == textKind {
		return []*node{n}
	}
	if n.kind != listKind {
		r.wrongType(n, "a list of strings", "")
		return nil
	}
	var out []*node
	for _, item := range n.items {
		switch {
		case item.broken:
		case item.kind != textKind:
			r.wrongType(item, "a string", "")
		default:
			out = append(out, item)
		}
	}
	return out
}

// values is what nodes of strings hold.
func values(nodes []*node) []string {
	var out []string
	for _, n := range nodes {
		out = append(out, n.text)
	}
	return out
}
