package oracle

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// maker makes documents at random in what nginx and ssiedge have in common:
// what TestOracle records as a difference does not come up. ifs are not nested,
// echo always names its encoding, and what may depend on who is faster is
// waited for.
type maker struct {
	t *rapid.T
	// inBlock: nginx writes directives of a block anew, with double quotes
	// around the values.
	inBlock bool
	blocks  int // that may be named as a stub
}

// texts have no number sign: text never becomes a directive.
var texts = []string{
	"a", "text ", "\n", "\r\n", "\t", "<", "<!", "<!-", "<!--", "<<", "-->", "--", "-", ">", "\"", "'", "`", "\\", "$v1", "${v2}", "=", "&amp;", "<b>", "</b>",
	"é", "\xff", "\x01", "<!-- comment -->", "<a href=\"", "\">", "<script>if (a < b && c > d) {}</script>", "[", "]",
}

// blockTexts are texts of a block: there nginx loses what looks like the
// beginning of a directive right before one.
var blockTexts = slices.DeleteFunc(slices.Clone(texts), func(s string) bool { return strings.HasPrefix("<!--", s) || s == "<<" })

// pieces are parts of a value, each whole in itself.
var pieces = []string{
	"a", "B", "1", " ", "-", "-->", "<", ">", "&", "'", "`", "=", "/", ".", "x y", "<!--#echo var=", "|",
	`\"`, `\\`, `\$`, `\'`, `\x`, `\/`, "$v1", "${v2}", "$v3", "$nope", "${V1}", "$uri", "$arg_q", "$args", "$1", "$0", "${2}", "$cookie_c",
}

var (
	names     = []string{"v1", "v2", "V3", "v3", "uri", "1"}
	asked     = []string{"v1", "v2", "v3", "V1", "nope", "uri", "args", "arg_q", "arg_none", "0", "1", "2", "9", "cookie_c", "http_host", "document_uri", "request_uri", "is_args"}
	encodings = []string{"none", "entity", "url"}
	patterns  = []string{"a", "^a", "b$", "(a)(b)?c", "(?P<v1>[a-z]+)", `\d+`, "x|y", "[<>]", "", "(?i)B", "a*", `\/`, "q=([^&]*)", "x$nope", "^([a-z]*)=(.*)", `\.html`}
	wrong     = []string{`echo`, `echo var="a" foo="b"`, `include`, `set var="v1"`, `include virtual="/../x"`, `config foo="x"`, `unknown x="y"`, `endif`, `else`, `elif expr="1"`}
	broken    = []string{`echo var`, `echo "x"`, `echo var="a"b`, `set var="v1" value="1"x="2"`, `echo var="a" -x`}
)

func (m *maker) one(label string, of []string) string { return rapid.SampledFrom(of).Draw(m.t, label) }

func (m *maker) number(label string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(m.t, label) }

// join gives some parts in a row.
func (m *maker) join(label string, of []string, most int) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(of), 0, most).Draw(m.t, label), "")
}

func (m *maker) text(most int) string {
	if m.inBlock {
		return m.join("text", blockTexts, most)
	}
	return m.join("text", texts, most)
}

// page makes a whole document. It ends with a letter: what stands at the very
// end and looks like the beginning of a directive is a difference.
func (m *maker) page() string {
	var b strings.Builder
	for range m.number("blocks", 0, 2) {
		b.WriteString(m.block())
	}
	for range m.number("parts", 1, 12) {
		b.WriteString(m.part(true))
	}
	return b.String() + "z"
}

// fragment makes a document to be included: without includes of its own.
// The one for a variable has no errors, where nginx gives up the page.
func (m *maker) fragment() string {
	var b strings.Builder
	for range m.number("parts", 0, 4) {
		b.WriteString(m.part(false))
	}
	return b.String() + "y"
}

func (m *maker) part(includes bool) string {
	switch kind := m.number("kind", 0, 11); {
	case kind < 3:
		return m.text(5)
	case kind < 5:
		return m.set()
	case kind < 7:
		return m.echo()
	case kind < 9:
		return m.chain(includes)
	case kind == 9:
		return m.directive(m.one("wrong", wrong))
	case kind == 10 && !m.inBlock:
		return m.directive(m.one("broken", broken))
	case includes:
		return m.include()
	}
	return m.directive(`config errmsg="[` + m.one("message", []string{"e", "é", "<i>oops</i>"}) + `]"`)
}

// directive writes one with odd spacing.
func (m *maker) directive(inside string) string {
	return "<!--#" + m.one("before", []string{"", "", "", " ", "\n\t"}) + inside + m.one("after", []string{" ", " ", "", "\r\n", "   "}) + "-->"
}

// param writes a parameter; value is what stands between double quotes.
func (m *maker) param(name, value string) string {
	equals := m.one("equals", []string{"=", "=", "=", " = ", "\n=\t"})
	if !m.inBlock && !strings.ContainsAny(value, `'"\`) && m.number("quote", 0, 3) == 0 {
		return name + equals + "'" + value + "'"
	}
	return name + equals + `"` + value + `"`
}

func (m *maker) set() string {
	params := []string{m.param("var", m.one("name", names)), m.param("value", m.join("value", pieces, 5))}
	return m.directive("set " + m.shuffled(params))
}

func (m *maker) echo() string {
	params := []string{m.param("var", m.one("asked", asked)), m.param("encoding", m.one("encoding", encodings))}
	if m.number("default", 0, 2) == 0 {
		params = append(params, m.param("default", m.one("default value", []string{"", "d", "<d> & e", "a b"})))
	}
	return m.directive("echo " + m.shuffled(params))
}

func (m *maker) shuffled(params []string) string {
	return strings.Join(rapid.Permutation(params).Draw(m.t, "order"), m.one("between", []string{" ", " ", "\n", "  "}))
}

// chain makes an if with what belongs to it. Nothing in its branches is an
// error of syntax: nginx tells those even where they are hidden.
func (m *maker) chain(includes bool) string {
	b := m.directive("if " + m.param("expr", m.expression()))
	b += m.branch(includes)
	for range m.number("elifs", 0, 2) {
		b += m.directive("elif "+m.param("expr", m.expression())) + m.branch(includes)
	}
	if m.number("else", 0, 1) == 0 {
		b += m.directive("else") + m.branch(includes)
	}
	return b + m.directive("endif")
}

func (m *maker) branch(includes bool) string {
	var b strings.Builder
	for range m.number("in branch", 0, 3) {
		switch kind := m.number("kind", 0, 5); {
		case kind < 2:
			b.WriteString(m.text(3))
		case kind == 2:
			b.WriteString(m.set())
		case kind == 3 && includes:
			b.WriteString(m.include())
		default:
			b.WriteString(m.echo())
		}
	}
	return b.String()
}

// expression makes one in the grammar of nginx that Apache's would not read
// otherwise.
func (m *maker) expression() string {
	left := m.join("left", []string{"$v1", "${v2}", "$v3", "$nope", "$args", "$arg_q", "a", "B", "'", "_", "1", "$1", "$uri"}, 3)
	if left == "" || m.number("compared", 0, 3) == 0 {
		return left
	}
	left += m.one("operator", []string{" = ", "=", " != ", "!=", "  =  "})
	if m.number("regex", 0, 1) == 0 {
		return left + "/" + strings.ReplaceAll(m.one("pattern", patterns), "b$", `b\$`) + "/"
	}
	right := m.join("right", []string{"a", "B", "1", " ", "-", "'", "$v1", "${v2}", "$arg_q", "x y", `\$`, `\\`, "&", "(", ")"}, 4)
	return left + right
}

// include makes one that is waited for, or one of a fragment that shows nothing
// of the variables: all else is up to who is faster.
func (m *maker) include() string {
	n := m.number("fragment", 1, 2)
	switch m.number("way", 0, 6) {
	case 0:
		return m.directive(fmt.Sprintf(`include file="f%d.inc?q=%s"`, n, m.one("query", []string{"a", "x%20y", "", "b&c"})))
	case 1:
		params := []string{m.one("plain", []string{`virtual="/plain.txt"`, `virtual="/app/show?x=$arg_q"`, `virtual="/app/show?y"`})}
		// nginx prints a stub twice where a fragment before it is under way.
		if m.blocks > 0 {
			params = append(params, `wait="yes"`)
		}
		return m.directive(m.shuffledInclude(params...))
	case 2:
		return m.directive(m.shuffledInclude(`virtual="/plain.txt"`, `set="v1"`))
	case 3:
		return m.directive(m.shuffledInclude(`virtual="f3.inc"`, `set="v2"`))
	case 4:
		if m.blocks > 0 {
			return m.directive(m.shuffledInclude(`virtual="/app/none?q=s"`, `wait="yes"`, fmt.Sprintf(`stub="s%d"`, m.number("stub", 1, m.blocks))))
		}
	}
	return m.directive(m.shuffledInclude(fmt.Sprintf(`virtual="f%d.inc?q=%s"`, n, m.one("query", []string{"a", "<b>", ""})), `wait="yes"`))
}

func (m *maker) shuffledInclude(params ...string) string { return "include " + m.shuffled(params) }

// block makes a block for a stub.
func (m *maker) block() string {
	m.blocks++
	open := m.directive(fmt.Sprintf(`block name="s%d"`, m.blocks))
	m.inBlock = true
	defer func() { m.inBlock = false }()
	var b strings.Builder
	for range m.number("in block", 0, 4) {
		switch m.number("kind", 0, 3) {
		case 0, 1:
			b.WriteString(m.text(3))
		case 2:
			b.WriteString(m.echo())
		default:
			b.WriteString(m.chain(false))
		}
	}
	return open + b.String() + m.directive("endblock")
}
