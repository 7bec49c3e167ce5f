package conf

import (
	"os"
	"strings"
	"testing"
)

// TestSSIManual: docs/ssi.md has a row for every setting of [site.ssi], with its
// default.
func TestSSIManual(t *testing.T) {
	src, err := os.ReadFile("../docs/ssi.md")
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, g := range groups {
		if g.name != "site.ssi" {
			continue
		}
		found = true
		for _, s := range g.settings {
			if row := "\n| `" + s.name + "` | `" + s.value + "` | "; !strings.Contains(string(src), row) {
				t.Errorf("docs/ssi.md lacks the row%s", row)
			}
		}
	}
	if !found {
		t.Error("no settings of [site.ssi] are known")
	}
}
