package oracle

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A file of testdata holds cases. A case begins with a line "=== name", then
// come lines "key: value":
//
//	rows     the rows of the dialect's description that it is about
//	run      the pairs that it is run by (see pairs); without it: nginx
//	request  [METHOD] target; may come again; without one: /page.html
//	header   Name: value; of the request above it, or of /page.html
//	body     of the request above it
//	show     header fields that are compared, too
//	edge     a line of ssiedge's [site.ssi]
//	rule     the lines of a [[site.rule]], with ";" between them
//	nginx    a directive of nginx's server
//	apache   a directive of Apache's virtual host
//	clock    yes: the time is printed; both sides are asked again until they are asked in the same second
//	differs PAIR: why ssiedge differs there
//
// then parts, each with a line "-- name [words] --" before it. The line break
// before the next part does not belong to a part. A part whose name begins with
// "app/" is an answer of the app, to the target that follows; its words are
// status=N, type=T, field=Name:value, empty (no body at all), cut (it breaks off
// behind the body), reset (it breaks off before an answer), hang (no answer),
// slow (later than the others), gzip, show=Name,Name (the body is followed by
// the request, with those fields). Every other part is a file. "escaped" among
// the words says that backslashes are escapes of Go: \r \n \x00 \\.
//
// The answers of a pair that differs are in parts "PAIR theirs" and "PAIR ours".
type archive struct {
	path  string
	head  string // what stands before the first case
	cases []*testCase
}

// testCase is one case.
type testCase struct {
	name  string
	keys  []pairOf // of the head, in order
	parts []part

	run      []string
	rows     []string
	requests []request
	show     []string
	clock    bool
	differs  map[string]string // pair: reason
}

type pairOf struct{ key, value string }

type part struct {
	title string // as it stands in its line
	name  string
	words []string
	body  string
}

type request struct {
	method, target, body string
	header               []pairOf
}

// recorded are the names of the parts that -update writes.
func recorded(pair string) (theirs, ours string) { return pair + " theirs", pair + " ours" }

// readArchives reads all files of testdata.
func readArchives(t testing.TB) []*archive {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []*archive
	seen := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		a := parseArchive(path, string(text))
		for _, c := range a.cases {
			if err := c.read(); err != nil {
				t.Fatalf("%s: case %s: %v", path, c.name, err)
			}
			if seen[c.name] != "" {
				t.Fatalf("%s: case %s: there is one in %s", path, c.name, seen[c.name])
			}
			seen[c.name] = path
		}
		all = append(all, a)
	}
	return all
}

// parseArchive cuts a file into cases and their parts.
func parseArchive(path, text string) *archive {
	a := &archive{path: path}
	var c *testCase
	var body *string
	for line := range strings.SplitAfterSeq(text, "\n") {
		bare := strings.TrimSuffix(line, "\n")
		switch name, begins := strings.CutPrefix(bare, "=== "); {
		case begins:
			c, body = &testCase{name: name}, nil
			a.cases = append(a.cases, c)
		case c == nil:
			a.head += line
		case strings.HasPrefix(bare, "-- ") && strings.HasSuffix(bare, " --") && len(bare) > len("--  --"):
			c.parts = append(c.parts, newPart(bare[len("-- "):len(bare)-len(" --")]))
			body = &c.parts[len(c.parts)-1].body
		case body != nil:
			*body += line
		case bare != "":
			key, value, _ := strings.Cut(bare, ": ")
			c.keys = append(c.keys, pairOf{key, value})
		}
	}
	for _, c := range a.cases {
		for i := range c.parts {
			c.parts[i].body = strings.TrimSuffix(c.parts[i].body, "\n")
		}
	}
	return a
}

func newPart(title string) part {
	words := strings.Fields(title)
	return part{title: title, name: words[0], words: words[1:]}
}

// read makes what the lines of the head say.
func (c *testCase) read() error {
	c.differs = map[string]string{}
	for _, k := range c.keys {
		if err := c.readKey(k.key, k.value); err != nil {
			return err
		}
	}
	if c.run == nil {
		c.run = []string{"nginx"}
	}
	if len(c.requests) == 0 {
		c.request("/page.html")
	}
	for _, name := range c.run {
		if pairNamed(name) == nil {
			return fmt.Errorf("no pair is called %q", name)
		}
	}
	for name := range c.differs {
		if !slices.Contains(c.run, name) {
			return fmt.Errorf("differs in %q, by which it is not run", name)
		}
	}
	return c.unescape()
}

func (c *testCase) readKey(key, value string) error {
	if pair, ok := strings.CutPrefix(key, "differs "); ok {
		c.differs[pair] = value
		return nil
	}
	switch key {
	case "rows":
		c.rows = strings.Fields(value)
	case "run":
		c.run = strings.Fields(value)
	case "request":
		c.request(value)
	case "header":
		name, content, ok := strings.Cut(value, ":")
		if !ok {
			return fmt.Errorf("header %q, want Name: value", value)
		}
		r := c.last()
		r.header = append(r.header, pairOf{name, strings.TrimPrefix(content, " ")})
	case "body":
		c.last().body = value
	case "show":
		c.show = strings.Fields(value)
	case "clock":
		c.clock = true
	case "edge", "rule", "nginx", "apache":
	default:
		return fmt.Errorf("unknown key %q", key)
	}
	return nil
}

func (c *testCase) request(value string) {
	r := request{method: "GET", target: value}
	if method, target, ok := strings.Cut(value, " "); ok {
		r.method, r.target = method, target
	}
	c.requests = append(c.requests, r)
}

// last is the request that a line is about.
func (c *testCase) last() *request {
	if len(c.requests) == 0 {
		c.request("/page.html")
	}
	return &c.requests[len(c.requests)-1]
}

// values gives what a key says, each time that it is there.
func (c *testCase) values(key string) []string {
	var values []string
	for _, k := range c.keys {
		if k.key == key {
			values = append(values, k.value)
		}
	}
	return values
}

// unescape undoes the escapes of the parts that have some.
func (c *testCase) unescape() error {
	for i := range c.parts {
		p := &c.parts[i]
		if !slices.Contains(p.words, "escaped") {
			continue
		}
		body, err := strconv.Unquote(`"` + strings.NewReplacer(`"`, `\"`, "\n", `\n`).Replace(p.body) + `"`)
		if err != nil {
			return fmt.Errorf("part %s: an escape that Go does not know", p.name)
		}
		p.body = body
	}
	return nil
}

// part finds a part by its whole title.
func (c *testCase) part(title string) (string, bool) {
	for _, p := range c.parts {
		if p.title == title {
			return p.body, true
		}
	}
	return "", false
}

// isRecord says whether a part is what -update writes.
func (p *part) isRecord() bool {
	return len(p.words) == 1 && (p.words[0] == "theirs" || p.words[0] == "ours") && pairNamed(p.name) != nil
}

// record puts the answers of a pair that differs into the text of the archive.
func (a *archive) record(name string, records map[string]string) {
	text, err := os.ReadFile(a.path)
	if err != nil {
		panic(err)
	}
	blocks := strings.SplitAfter("\n"+string(text), "\n=== ")
	for i, block := range blocks {
		if strings.HasPrefix(block, name+"\n") {
			blocks[i] = rewrite(block, records)
		}
	}
	if err := os.WriteFile(a.path, []byte(strings.Join(blocks, "")[1:]), 0o644); err != nil {
		panic(err)
	}
}

// rewrite replaces the records of one case's text.
func rewrite(block string, records map[string]string) string {
	body, next := strings.CutSuffix(block, "\n=== ")
	kept := strings.TrimSuffix(body, "\n")
	if next {
		kept = body
	}
	for _, pair := range pairs {
		theirs, _ := recorded(pair.name)
		if i := strings.Index(kept, "\n-- "+theirs+" --"); i >= 0 {
			kept = kept[:i]
		}
	}
	kept += "\n"
	for _, pair := range pairs {
		theirs, ours := recorded(pair.name)
		for _, title := range []string{theirs, ours} {
			if answer, ok := records[title]; ok {
				kept += "-- " + title + " --\n" + answer + "\n"
			}
		}
	}
	if next {
		kept += "=== "
	}
	return kept
}
