package conf

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the wanted problems in testdata")

// archive is the cases of one file of testdata: "-- NAME.toml --", its text,
// "-- NAME.want --" and the problems, warnings first.
type archive struct{ names, texts []string }

func loadArchive(path string) (archive, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return archive{}, err
	}
	var a archive
	for line := range strings.Lines(string(src)) {
		if name, ok := strings.CutPrefix(line, "-- "); ok {
			a.names = append(a.names, strings.TrimSuffix(name, " --\n"))
			a.texts = append(a.texts, "")
			continue
		}
		if len(a.texts) == 0 {
			return archive{}, fmt.Errorf("%s: text before the first case", path)
		}
		a.texts[len(a.texts)-1] += line
	}
	return a, nil
}

func (a archive) String() string {
	var b strings.Builder
	for i, name := range a.names {
		b.WriteString("-- " + name + " --\n" + a.texts[i])
	}
	return b.String()
}

// environment is what ${NAME} finds in tests.
func environment(name string) (string, bool) {
	value, ok := map[string]string{"ROOT": "testdata", "PORT": "3000", "EMPTY": "", "NESTED": "${ROOT}"}[name]
	return value, ok
}

// report is what a Parse says, a line each.
func report(cfg *Config, err error) string {
	var b strings.Builder
	for _, w := range cfg.Warnings {
		b.WriteString("warning: " + w.Error() + "\n")
	}
	list, _ := errors.AsType[ErrorList](err)
	for _, p := range list {
		b.WriteString(p.Error() + "\n")
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) { testArchive(t, path) })
	}
}

func testArchive(t *testing.T, path string) {
	a, err := loadArchive(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(a.names); i += 2 {
		name, ok := strings.CutSuffix(a.names[i], ".toml")
		if !ok || a.names[i+1] != name+".want" {
			t.Fatalf("%s: want %s.toml and %s.want, got %q and %q", path, name, name, a.names[i], a.names[i+1])
		}
		got := report(Parse("ssiedge.toml", []byte(a.texts[i]), environment))
		if *update {
			a.texts[i+1] = got
		} else if got != a.texts[i+1] {
			t.Errorf("%s\n--- got\n%s--- want\n%s", name, got, a.texts[i+1])
		}
	}
	if *update {
		if err := os.WriteFile(path, []byte(a.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
