package check

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ssiedge/ssiedge/conf"
)

var update = flag.Bool("update", false, "rewrite the wanted output in testdata")

// part is a file of a golden archive: what stands below a line "-- NAME --".
type part struct{ name, text string }

// readArchive reads a golden archive: the configuration, called ssiedge.toml,
// files, and "want", what is printed. Some names are commands instead:
//
//	link NAME -> TARGET   makes a symlink
//	fill NAME SIZE        makes a file of that size, the text followed by spaces
//
// What stands before the first part is a comment.
func readArchive(t *testing.T, path string) (comment string, parts []part) {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(src)) {
		if name, ok := strings.CutPrefix(line, "-- "); ok && strings.HasSuffix(name, " --\n") {
			parts = append(parts, part{name: strings.TrimSuffix(name, " --\n")})
			continue
		}
		if len(parts) == 0 {
			comment += line
			continue
		}
		parts[len(parts)-1].text += line
	}
	return comment, parts
}

// unpack makes what a part says, below the working directory. A file lacks the
// line break before the next part.
func (p part) unpack(t *testing.T) {
	t.Helper()
	name, target, isLink := strings.Cut(strings.TrimPrefix(p.name, "link "), " -> ")
	text := strings.TrimSuffix(p.text, "\n")
	if rest, ok := strings.CutPrefix(p.name, "fill "); ok {
		file, size, _ := strings.Cut(rest, " ")
		n, err := strconv.Atoi(size)
		if err != nil {
			t.Fatal(err)
		}
		name, text = file, text+strings.Repeat(" ", n-len(text))
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	var err error
	if isLink {
		err = os.Symlink(target, name)
	} else {
		err = os.WriteFile(name, []byte(text), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// printed is what Run says of the configuration in the working directory.
func printed(t *testing.T) string {
	t.Helper()
	cfg, err := conf.Load("ssiedge.toml", os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	counts, err := Run(cfg.Edge, func(p Problem) { fmt.Fprintln(&b, p) })
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&b, "%d files, %d with directives, %d problems, %d warnings\n", counts.Files, counts.Pages, counts.Problems, counts.Warnings)
	return b.String()
}

func TestGolden(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, path := range archives {
		path, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) { testArchive(t, path) })
	}
}

func testArchive(t *testing.T, path string) {
	comment, parts := readArchive(t, path)
	dir := t.TempDir()
	t.Chdir(dir)
	var want *part
	for i := range parts {
		if parts[i].name == "want" {
			want = &parts[i]
			continue
		}
		parts[i].unpack(t)
	}
	if want == nil {
		t.Fatalf("%s: no part is called want", path)
	}
	// Messages about links name real paths.
	real, err := realPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.ReplaceAll(printed(t), real, "$DIR")
	if got == want.text {
		return
	}
	if !*update {
		t.Errorf("got\n%s\nwant\n%s", got, want.text)
		return
	}
	want.text = got
	var b strings.Builder
	b.WriteString(comment)
	for _, p := range parts {
		fmt.Fprintf(&b, "-- %s --\n%s", p.name, p.text)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
