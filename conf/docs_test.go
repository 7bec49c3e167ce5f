package conf

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// documented reads docs/configuration.md: "group.name" of each row, with its default
// and whether it is built.
func documented(t *testing.T) map[string]string {
	t.Helper()
	src, err := os.ReadFile("../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	heading := regexp.MustCompile("^##+ `([^`]*)`")
	row := regexp.MustCompile("^\\| `([a-z_]+)` \\| (none|`[^|]*`) \\| (yes|not yet) \\| (.*) \\|\n$")
	group, rows := "", map[string]string{}
	for line := range strings.Lines(string(src)) {
		if m := heading.FindStringSubmatch(line); m != nil {
			group = strings.Trim(m[1], "[]")
			continue
		}
		m := row.FindStringSubmatch(line)
		if m == nil {
			if strings.HasPrefix(line, "| `") {
				t.Errorf("no row of a setting: %s", line)
			}
			continue
		}
		if _, twice := rows[join(group, m[1])]; twice {
			t.Errorf("%s is documented twice", join(group, m[1]))
		}
		if !strings.Contains(m[4], "Example: `"+m[1]+" = ") && !strings.Contains(m[4], "{") && !strings.HasPrefix(m[4], "Table") {
			t.Errorf("%s has no example", join(group, m[1]))
		}
		rows[join(group, m[1])] = strings.Trim(m[2], "`") + ", built: " + m[3]
	}
	return rows
}

// known is the same of the settings that this package knows.
func known() map[string]string {
	out := map[string]string{}
	for _, g := range groups {
		for _, s := range g.settings {
			value := s.value
			if value == "" {
				value = "none"
			}
			out[join(g.name, s.name)] = value + ", built: " + built(g.name, s.name)
		}
	}
	return out
}

func built(group, name string) string {
	if slices.Contains(unbuilt, join(group, name)) || slices.Contains(unbuilt, group) {
		return "not yet"
	}
	return "yes"
}

func TestDocsListEverySetting(t *testing.T) {
	docs, code := documented(t), known()
	for _, key := range slices.Sorted(maps.Keys(code)) {
		if docs[key] != code[key] {
			t.Errorf("%s: docs/configuration.md says %q, the code %q", key, docs[key], code[key])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(docs)) {
		if _, ok := code[key]; !ok {
			t.Errorf("%s: documented, and not known", key)
		}
	}
}

func TestUnbuiltAreSettings(t *testing.T) {
	code := known()
	for _, key := range unbuilt {
		if _, ok := code[key]; !ok {
			t.Errorf("%s: not built, and not a setting either", key)
		}
	}
}

// TestDocsExamples parses each example, so that none shows what is refused for
// another reason than not being built.
func TestDocsExamples(t *testing.T) {
	src, err := os.ReadFile("../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	group := ""
	for line := range strings.Lines(string(src)) {
		if m := regexp.MustCompile("^##+ `([^`]*)`").FindStringSubmatch(line); m != nil {
			group = strings.Trim(m[1], "[]")
			continue
		}
		if m := regexp.MustCompile("Example: `([^`]*)`").FindStringSubmatch(line); m != nil {
			testExample(t, group, m[1])
		}
	}
}

// testExample parses an example within a file that gives it what it needs.
func testExample(t *testing.T, group, example string) {
	t.Helper()
	file := map[string]string{
		"":                           "%\n[[site]]\nroot = 'testdata'",
		"admin":                      "[admin]\ntoken = 'x'\n%\n[[site]]\nroot = 'testdata'",
		"disk":                       "[disk]\npath = 'testdata'\n%\n[[site]]\norigin = {servers = ['h:1']}",
		"memcache":                   "[memcache]\nservers = ['h:1']\n%\n[[site]]\nroot = 'testdata'",
		namedOrigin:                  "[[site]]\n[site.origin]\nservers = ['h:1']\n%",
		namedOrigin + ".health":      "[[site]]\n[site.origin]\nservers = ['h:1']\n%",
		"site":                       "[memcache]\nservers = ['h:1']\n[origin.widgets]\nservers = ['h:1']\n[[site]]\nroot = 'testdata'\n%",
		"site.query":                 "[[site]]\nroot = 'testdata'\n%",
		"site.cache":                 "[[site]]\nroot = 'testdata'\n[site.cache]\n%",
		"site.cache.set_cookie":      "[[site]]\nroot = 'testdata'\n[site.cache]\n%",
		"site.ssi":                   "[[site]]\nroot = 'testdata'\n[site.ssi]\n%",
		"site.rule":                  "[origin.widgets]\nservers = ['h:1']\n[[site]]\nroot = 'testdata'\n[[site.rule]]\npath = '*'\n%",
		"site.rule.bypass":           "[[site]]\nroot = 'testdata'\n[[site.rule]]\npath = '*'\n%",
		"site.rule.response_headers": "[[site]]\nroot = 'testdata'\n[[site.rule]]\npath = '*'\n%",
	}[group]
	if file == "" {
		file = "[" + group + "]\n%\n[[site]]\nroot = 'testdata'"
	}
	name, _, _ := strings.Cut(example, " ")
	for line := range strings.Lines(file) {
		if strings.HasPrefix(line, name+" =") { // the example takes the place of what it needs
			file = strings.Replace(file, line, "", 1)
		}
	}
	_, err := Parse("ssiedge.toml", []byte(strings.Replace(file, "%", example, 1)), func(string) (string, bool) { return "x", true })
	list, _ := err.(ErrorList)
	for _, p := range list {
		missing := strings.HasPrefix(p.Message, "there is no directory") || strings.Contains(p.Message, "cannot be written") // examples name folders of a real machine
		if p.Message != "not built yet in this version" && !missing {
			t.Errorf("%s, %s: %v", group, example, p)
		}
	}
}

func TestExampleFile(t *testing.T) {
	cfg, err := Load("../docs/ssiedge.example.toml", environment)
	if err != nil {
		t.Fatal(err)
	}
	if len(cfg.Warnings) > 0 || len(cfg.Edge.Sites) != 2 || len(cfg.Edge.Sites[0].Rules) != 7 {
		t.Errorf("got %d sites with warnings %v, want 2 without", len(cfg.Edge.Sites), cfg.Warnings)
	}
}
