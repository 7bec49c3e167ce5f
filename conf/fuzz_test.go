package conf

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzParse: no panic, every problem at a place that is in the file, none said
// twice, and a Config only without mistakes.
func FuzzParse(f *testing.F) {
	paths, _ := filepath.Glob("testdata/*.txt")
	for _, path := range paths {
		a := readSeeds(f, path)
		for i := 0; i < len(a.texts); i += 2 {
			f.Add(a.texts[i])
		}
	}
	f.Add(everyDefault)
	f.Add(everySetting)
	f.Fuzz(func(t *testing.T, src string) {
		cfg, err := Parse("ssiedge.toml", []byte(src), environment)
		list, ok := errors.AsType[ErrorList](err)
		if err != nil && !ok {
			t.Fatalf("the error is a %T, want an ErrorList", err)
		}
		if err == nil && (len(cfg.Listen) == 0 || len(cfg.Edge.Sites) == 0) {
			t.Fatalf("no mistake, and no listener or no site: %+v", cfg)
		}
		checkPlaces(t, src, cfg.Warnings)
		checkPlaces(t, src, list)
	})
}

func readSeeds(f *testing.F, path string) archive {
	f.Helper()
	a, err := loadArchive(path)
	if err != nil {
		f.Fatal(err)
	}
	return a
}

func checkPlaces(t *testing.T, src string, problems []Problem) {
	t.Helper()
	lines := strings.Split(strings.TrimPrefix(src, "\ufeff"), "\n")
	seen := map[string]bool{}
	last := Problem{}
	for _, p := range problems {
		if p.Line < 1 || p.Line > len(lines) || p.Col < 1 || p.Col > len(lines[p.Line-1])+1 {
			t.Errorf("not in the file: %v", p)
		}
		if p.Message == "" || p.File != "ssiedge.toml" {
			t.Errorf("no message or no file: %+v", p)
		}
		if seen[p.Error()] {
			t.Errorf("said twice: %v", p)
		}
		if p.Line < last.Line || p.Line == last.Line && p.Col < last.Col {
			t.Errorf("out of order: %v behind %v", p, last)
		}
		seen[p.Error()], last = true, p
	}
}
