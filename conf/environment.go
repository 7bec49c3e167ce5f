package conf

import (
	"fmt"
	"strings"
)

// expandAll puts the environment in for ${NAME} in every string of a tree. Names
// and tables are left as they are. A value that cannot be had is marked broken.
func (r *reader) expandAll(n *node, env Env) {
	if n.kind == textKind {
		text, m := expand(n.text, env)
		n.text, n.broken = text, !r.fault(n, m)
	}
	for _, item := range n.items {
		r.expandAll(item, env)
	}
	for _, f := range n.fields {
		r.expandAll(f.value, env)
	}
}

// expand puts the environment into a string. $${ is a literal ${; what a variable
// holds is not looked at again.
func expand(s string, env Env) (string, *mistake) {
	var b strings.Builder
	for {
		i := strings.Index(s, "${")
		if i < 0 {
			b.WriteString(s)
			return b.String(), nil
		}
		if i > 0 && s[i-1] == '$' {
			b.WriteString(s[:i-1] + "${")
			s = s[i+2:]
			continue
		}
		b.WriteString(s[:i])
		name, rest, closed := strings.Cut(s[i+2:], "}")
		if !closed || !variableName(name) {
			return "", &mistake{fmt.Sprintf("%q names no variable", s[i:]), "write ${NAME} with letters, digits and _; a literal ${ is $${"}
		}
		value, ok := env(name)
		if !ok {
			return "", &mistake{fmt.Sprintf("the environment has no %s", name), "set " + name + ", or write $${" + name + "} if that text is meant"}
		}
		b.WriteString(value)
		s = rest
	}
}

func variableName(s string) bool {
	for i, c := range []byte(s) {
		letter := c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}
