package conf

import (
	"bytes"
	"sort"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// kind is what a node holds.
type kind uint8

const (
	tableKind kind = iota
	listKind
	textKind
	integerKind
	floatKind
	booleanKind
	dateKind
)

// place is where something stands in the file, from 1; zero: nowhere in it.
type place struct{ line, col int }

// node is one value of the file, with its place and its key.
type node struct {
	kind   kind
	at     place   // of its first byte; of the name, where a header makes the table
	key    string  // "site.origin.servers"; items of a list have the list's
	text   string  // the string, or the token of a number, boolean or date
	items  []*node // of a list
	fields []field // of a table, in file order
	broken bool    // its problem is noted: readers take the default and say no more
}

// field is one name of a table.
type field struct {
	name  string
	at    place // of the name
	value *node
}

// field finds a name of a table; nil: not there.
func (n *node) field(name string) *field {
	for i := range n.fields {
		if n.fields[i].name == name {
			return &n.fields[i]
		}
	}
	return nil
}

// parseTree makes a tree of src. A mistake of syntax comes alone: a tree made of
// guesses would only add mistakes that are none.
func parseTree(file string, src []byte) (*node, *Problem) {
	var sink map[string]any // the library's decoder knows what its parser does not: names given twice, days that do not exist
	if err := toml.Unmarshal(src, &sink); err != nil {
		return nil, syntaxProblem(file, err)
	}
	return newBuilder(src).build(), nil
}

// builder makes a tree of the library's expressions. It trusts that the document
// is valid.
type builder struct {
	parser  unstable.Parser
	lines   []int // offset at which each line begins
	src     []byte
	root    *node
	current *node // the table of the last header
	nowhere bool  // the text is no file: nodes have no place
}

func newBuilder(src []byte) *builder {
	b := &builder{src: src, lines: []int{0}, root: &node{at: place{1, 1}}}
	for i, c := range src {
		if c == '\n' {
			b.lines = append(b.lines, i+1)
		}
	}
	b.current = b.root
	b.parser.Reset(src)
	return b
}

func (b *builder) build() *node {
	for b.parser.NextExpression() {
		e := b.parser.Expression()
		switch e.Kind {
		case unstable.Table:
			b.current = b.header(e)
		case unstable.ArrayTable:
			b.current = b.listHeader(e)
		case unstable.KeyValue:
			b.keyValue(b.current, e)
		}
	}
	return b.root
}

// header goes to the table of [a.b.c], making what is missing.
func (b *builder) header(e *unstable.Node) *node {
	at := b.root
	for it := e.Key(); it.Next(); {
		at = b.child(at, it.Node(), tableKind)
	}
	return at
}

// listHeader adds a table to the list of [[a.b.c]].
func (b *builder) listHeader(e *unstable.Node) *node {
	at := b.root
	for it := e.Key(); it.Next(); {
		if !it.IsLast() {
			at = b.child(at, it.Node(), tableKind)
			continue
		}
		list := b.make(at, it.Node(), listKind)
		at = &node{at: b.place(it.Node().Raw.Offset), key: list.key}
		list.items = append(list.items, at)
	}
	return at
}

// child is the table called name; of a list of tables it is the last.
func (b *builder) child(parent *node, name *unstable.Node, k kind) *node {
	n := b.make(parent, name, k)
	if n.kind == listKind && len(n.items) > 0 {
		return n.items[len(n.items)-1]
	}
	return n
}

// make finds the node called name, or makes it.
func (b *builder) make(parent *node, name *unstable.Node, k kind) *node {
	if f := parent.field(string(name.Data)); f != nil {
		return f.value
	}
	at := b.place(name.Raw.Offset)
	n := &node{kind: k, at: at, key: join(parent.key, string(name.Data))}
	parent.fields = append(parent.fields, field{name: string(name.Data), at: at, value: n})
	return n
}

// keyValue puts "a.b = value" into a table.
func (b *builder) keyValue(table *node, e *unstable.Node) {
	at := table
	for it := e.Key(); it.Next(); {
		name := it.Node()
		if !it.IsLast() {
			at = b.child(at, name, tableKind)
			continue
		}
		key := join(at.key, string(name.Data))
		start := b.skip(name.Raw.Offset+name.Raw.Length, " \t=")
		v, _ := b.value(e.Value(), key, start)
		at.fields = append(at.fields, field{name: string(name.Data), at: b.place(name.Raw.Offset), value: v})
	}
}

// value makes a node of the value that begins at start, and tells where it ends:
// the library has no place for lists, and no end for tables.
func (b *builder) value(v *unstable.Node, key string, start uint32) (*node, uint32) {
	n := &node{at: b.place(start), key: key}
	switch v.Kind {
	case unstable.Array:
		n.kind = listKind
		end := b.skip(start+1, between)
		for it := v.Children(); it.Next(); {
			var item *node
			item, end = b.value(it.Node(), key, end)
			n.items = append(n.items, item)
			end = b.skip(end, between)
		}
		return n, end + 1
	case unstable.InlineTable:
		end := start + 1
		for it := v.Children(); it.Next(); {
			b.keyValue(n, it.Node())
			end = it.Node().Raw.Offset + it.Node().Raw.Length
		}
		return n, b.skip(end, between) + 1
	default:
		n.kind, n.text = scalarKind(v.Kind), string(v.Data)
		return n, start + v.Raw.Length
	}
}

// between is what may stand between the items of a list, beside comments.
const between = " \t\r\n,"

// skip is the first offset from i on at which none of chars and no comment stands.
func (b *builder) skip(i uint32, chars string) uint32 {
	for int(i) < len(b.src) {
		switch c := b.src[i]; {
		case c == '#':
			i += uint32(max(0, bytes.IndexByte(b.src[i:], '\n')))
		case strings.IndexByte(chars, c) < 0:
			return i
		}
		i++
	}
	return i
}

func scalarKind(k unstable.Kind) kind {
	switch k {
	case unstable.String:
		return textKind
	case unstable.Integer:
		return integerKind
	case unstable.Float:
		return floatKind
	case unstable.Bool:
		return booleanKind
	default:
		return dateKind
	}
}

func (b *builder) place(offset uint32) place {
	if b.nowhere {
		return place{}
	}
	line := sort.SearchInts(b.lines, int(offset)+1) // the first line that begins behind it
	return place{line, int(offset) - b.lines[line-1] + 1}
}

// join adds a name to a key.
func join(key, name string) string {
	if key == "" {
		return name
	}
	return key + "." + name
}
