package edge

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestVariablesInDocs: docs/ssi.md names every variable that pages see.
func TestVariablesInDocs(t *testing.T) {
	var src []byte
	for _, name := range []string{"variables.go", "pagevariables.go"} {
		file, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		src = append(src, file...)
	}
	manual, err := os.ReadFile("../../docs/ssi.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(manual), "\n## Variables\n")
	section, _, _ = strings.Cut(section, "\n## ")
	names := regexp.MustCompile(`"([a-z][a-z0-9_]+)"`)
	n := 0
	for _, c := range regexp.MustCompile(`(?m)^\tcase (".*"):$`).FindAllStringSubmatch(string(src), -1) {
		for _, name := range names.FindAllStringSubmatch(c[1], -1) {
			n++
			if !strings.Contains(section, "`"+name[1]+"`") {
				t.Errorf("docs/ssi.md lacks the variable `%s`", name[1])
			}
		}
	}
	if n < 20 {
		t.Errorf("only %d variables were found in variables.go", n)
	}
}
