package ssiedge_test

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/ssiedge/ssiedge"

// Imports of other modules, by the names used in policy.
const (
	fasthttp   = "github.com/valyala/fasthttp"
	simplelru  = "github.com/hashicorp/golang-lru/v2/simplelru"
	memcache   = "github.com/bradfitz/gomemcache/memcache"
	unix       = "golang.org/x/sys/unix"
	prometheus = "github.com/prometheus/client_golang/prometheus"
	promhttp   = "github.com/prometheus/client_golang/prometheus/promhttp"
	collectors = "github.com/prometheus/client_golang/prometheus/collectors"
	toml       = "github.com/pelletier/go-toml/v2"
	tomlUnsafe = "github.com/pelletier/go-toml/v2/unstable"
	cobra      = "github.com/spf13/cobra"
	errgroup   = "golang.org/x/sync/errgroup"
	term       = "golang.org/x/term"
	progress   = "github.com/schollz/progressbar/v3"
	chromedp   = "github.com/chromedp/chromedp"
	cdpNetwork = "github.com/chromedp/cdproto/network"
)

// may says what a package may import beside the standard library.
type may struct {
	ours   []string // packages of this module, from its root
	others []string // packages of other modules
	tests  []string // what only its tests may import, of either
}

// policy is the whole house: who may import what. A package that is not in it
// fails the test, so that a new one has to find its place.
var policy = map[string]may{
	"":                   {},
	"ssi":                {},
	"pagecache":          {others: []string{simplelru, memcache, unix}},
	"origin":             {others: []string{fasthttp, unix}, tests: []string{fasthttp + "/fasthttputil"}},
	"internal/accesslog": {},
	"internal/edge": {
		ours:   []string{"ssi", "pagecache", "origin", "internal/accesslog"},
		others: []string{fasthttp, simplelru, memcache, unix, prometheus},
		tests:  []string{fasthttp + "/fasthttputil"},
	},
	"conf": {
		ours:   []string{"internal/edge", "ssi", "pagecache", "origin", "internal/accesslog"},
		others: []string{toml, tomlUnsafe},
	},
	"internal/admin": {others: []string{prometheus, promhttp}},
	"internal/check": {ours: []string{"ssi", "internal/edge"}, tests: []string{module + "/conf", module + "/pagecache"}},
	"internal/demo":  {tests: []string{module + "/ssi"}},
	"internal/warm":  {others: []string{progress}},
	"cmd/ssiedge": {
		ours:   []string{"conf", "internal/edge", "internal/admin", "internal/check", "internal/demo", "internal/warm", "internal/accesslog", "ssi", "pagecache", "origin"},
		others: []string{cobra, errgroup, fasthttp, prometheus, promhttp, collectors, unix, term},
	},
	"internal/conformance": {tests: []string{module + "/conf", module + "/internal/edge", module + "/pagecache"}},

	"bench/speed": {others: []string{fasthttp}},

	"internal/realtest": {others: []string{unix}},
	"internal/e2e":      {tests: []string{memcache, chromedp, cdpNetwork}},
	"internal/oracle":   {},
}

// testLibraries may be imported by every package's tests.
var testLibraries = []string{
	module + "/internal/realtest",
	"github.com/google/go-cmp/cmp",
	"github.com/rogpeppe/go-internal/testscript",
	"github.com/rogpeppe/go-internal/txtar",
	"pgregory.net/rapid",
}

// listed is what go list says of a package.
type listed struct {
	ImportPath   string
	Dir          string
	GoFiles      []string
	Imports      []string
	TestImports  []string
	XTestImports []string
	Export       string
}

// list runs go list -json for patterns.
func list(t *testing.T, args ...string) []listed {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Dir,GoFiles,Imports,TestImports,XTestImports,Export"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var packages []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

// name gives a package's path from the root of the module.
func (p listed) name() string {
	return strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
}

func TestArrows(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range list(t, "./...") {
		name := p.name()
		seen[name] = true
		m, ok := policy[name]
		if !ok {
			t.Errorf("package %q has no line in the table of imports", name)
			continue
		}
		code := append(full(m.ours), m.others...)
		for _, path := range forbidden(p.Imports, code) {
			t.Errorf("package %q imports %s", name, path)
		}
		tests := slices.Concat(code, m.tests, testLibraries, []string{p.ImportPath})
		for _, path := range forbidden(slices.Concat(p.TestImports, p.XTestImports), tests) {
			t.Errorf("a test of package %q imports %s", name, path)
		}
	}
	for name := range policy {
		if !seen[name] {
			t.Errorf("the table of imports has a line for %q, which is no package", name)
		}
	}
}

// full gives import paths for packages of this module.
func full(names []string) []string {
	var paths []string
	for _, name := range names {
		paths = append(paths, module+"/"+name)
	}
	return paths
}

// forbidden gives the imports, each once, that are neither allowed nor of the
// standard library, whose paths have no dot in their first element.
func forbidden(imports, allowed []string) []string {
	found := map[string]bool{}
	for _, path := range imports {
		first, _, _ := strings.Cut(path, "/")
		if strings.Contains(first, ".") && !slices.Contains(allowed, path) {
			found[path] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// The libraries do not know each other, and know nothing of internal: the
// heart of the table, said again so that no edit of the table undoes it.
func TestLibrariesStandAlone(t *testing.T) {
	for _, library := range []string{"ssi", "pagecache", "origin"} {
		if m := policy[library]; len(m.ours) != 0 {
			t.Errorf("%s may import %q, want nothing of ours", library, m.ours)
		}
	}
	if len(policy["ssi"].others) != 0 {
		t.Errorf("ssi may import %q, want the standard library only", policy["ssi"].others)
	}
	for _, upward := range []string{"internal/edge", "conf"} {
		if slices.Contains(policy["internal/admin"].ours, upward) {
			t.Errorf("internal/admin may import %s", upward)
		}
	}
}

func TestFiles(t *testing.T) {
	const longest = 500
	vague := []string{"util.go", "utils.go", "helper.go", "helpers.go", "types.go", "common.go", "misc.go"}
	err := filepath.WalkDir(".", func(path string, entry os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != "." && strings.HasPrefix(entry.Name(), "."):
			return filepath.SkipDir
		case filepath.Ext(path) != ".go":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if lines := strings.Count(string(text), "\n"); lines > longest {
			t.Errorf("%s has %d lines, want at most %d", path, lines, longest)
		}
		if slices.Contains(vague, entry.Name()) {
			t.Errorf("%s: the name says no idea", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestEveryPackageHasDoc(t *testing.T) {
	for _, p := range list(t, "./...") {
		if strings.HasPrefix(p.name(), "cmd/") {
			continue // its comment stands above main
		}
		if _, err := os.Stat(filepath.Join(p.Dir, "doc.go")); err != nil {
			t.Errorf("package %q has no doc.go", p.name())
		}
	}
}
