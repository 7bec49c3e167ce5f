package ssi

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func manual(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile("../docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// inBackquotes are the words in backquotes of a text.
func inBackquotes(text string) []string {
	var list []string
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(text, -1) {
		list = append(list, m[1])
	}
	return list
}

// documented are the commands that docs/ssi.md describes, each with the parameters that its table has.
func documented(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	var at []string
	for line := range strings.Lines(manual(t, "ssi.md")) {
		switch {
		case strings.HasPrefix(line, "### `"):
			at = inBackquotes(line)
			for _, name := range at {
				out[name] = nil
			}
		case strings.HasPrefix(line, "#"):
			at = nil
		case strings.HasPrefix(line, "| `"):
			first, _, _ := strings.Cut(line[2:], " | ")
			for _, name := range at {
				out[name] = append(out[name], inBackquotes(first)...)
			}
		}
	}
	return out
}

func TestDocsHaveEveryCommand(t *testing.T) {
	docs := documented(t)
	for c := cmdInclude; c <= cmdExec; c++ {
		s := specs[c]
		var params []string
		for _, p := range s.params {
			params = append(params, p.name)
		}
		got, ok := docs[s.name]
		slices.Sort(params)
		slices.Sort(got)
		if !ok || !slices.Equal(got, params) {
			t.Errorf("%s takes %v, docs/ssi.md says %v", s.name, params, got)
		}
		delete(docs, s.name)
	}
	for _, name := range slices.Sorted(maps.Keys(docs)) {
		t.Errorf("docs/ssi.md describes %s, which is no command", name)
	}
}

func TestDocsHaveEveryWordOfExpressions(t *testing.T) {
	var words []string
	for line := range strings.Lines(manual(t, "ssi.md")) {
		words = append(words, inBackquotes(line)...)
	}
	has := func(name string) {
		if !slices.Contains(words, name) {
			t.Errorf("docs/ssi.md lacks `%s`", name)
		}
	}
	for _, f := range functions {
		has(f.name)
	}
	for _, v := range requestVariables {
		has(strings.ToUpper(v.name))
	}
	for _, v := range computed {
		has(strings.ToUpper(v.name))
	}
	for _, name := range encodingNames {
		has(name)
	}
	for _, name := range dates {
		has(name)
	}
}

// TestDocsExamples: whoever copies one gets no problem.
func TestDocsExamples(t *testing.T) {
	html := regexp.MustCompile("(?s)```html\n(.*?)```").FindAllStringSubmatch(manual(t, "ssi.md"), -1)
	if len(html) < 3 {
		t.Fatalf("docs/ssi.md has %d examples", len(html))
	}
	for _, m := range html {
		tm := Compile("docs/ssi.md", []byte(m[1]), Options{})
		if tm.Static() || len(tm.Problems()) > 0 {
			t.Errorf("%v in\n%s", tm.Problems(), m[1])
		}
	}
}

// TestDocsLimits: the numbers are those of the code.
func TestDocsLimits(t *testing.T) {
	text := strings.Join(strings.Fields(manual(t, "ssi.md")), " ")
	for _, limit := range []struct {
		is   bool
		says string
	}{
		{DefaultMaxDirective == 64<<10, "| a directive | 64 KiB |"},
		{DefaultMaxValue == 16<<10, "| a value, as written | 16 KiB ("},
		{maxExpanded == 64<<10, "what `set` takes of a fragment | 64 KiB ("},
		{DefaultMaxParams == 32, "| parameters of a directive | 32 ("},
		{maxNesting == 64, "| `if` in `if` | 64 |"},
		{maxParens == 100, "| parentheses, functions and variables in each other | 100 |"},
		{maxPattern == 4000, "| a regular expression | 4,000 parts"},
		{maxTried == 128<<10, "| 128 KiB of distinct patterns |"},
		{workPerByte == 4, "| 4 bytes for each that `max_page` allows |"},
		{maxProblems == 1000, "| problems of a document | 1,000 |"},
		{maxTime == 2047, "more than 2047 bytes is an error"},
	} {
		if !limit.is || !strings.Contains(text, limit.says) {
			t.Errorf("docs/ssi.md lacks %q, or the code has another limit", limit.says)
		}
	}
}
