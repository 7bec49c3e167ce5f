package ssiedge_test

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Methods of fasthttp that are not for a proxy.
var (
	// These parse and rewrite the Cookie field of a request: what goes to the
	// app afterwards is not what the visitor sent.
	rewritesCookies = []string{"All", "VisitAll", "VisitAllCookie", "Cookie", "Cookies", "CookieBytes"}
	// A panic in the function given to these ends the process.
	endsProcess = []string{"SetBodyStreamWriter"}
)

// TestCalls type-checks the packages that handle requests and looks at every
// method of fasthttp that they name.
func TestCalls(t *testing.T) {
	for _, name := range []string{"internal/edge", "origin"} {
		named := 0
		for position, called := range fasthttpMethods(t, name) {
			named++
			switch {
			case strings.HasPrefix(called, "RequestHeader.") && slices.Contains(rewritesCookies, strings.TrimPrefix(called, "RequestHeader.")):
				t.Errorf("%s: %s rewrites the visitor's Cookie field", position, called)
			case slices.Contains(endsProcess, called[strings.IndexByte(called, '.')+1:]):
				t.Errorf("%s: a panic under %s ends the process", position, called)
			}
		}
		if named == 0 {
			t.Errorf("no method of fasthttp is named in %s: the check sees nothing", name)
		}
	}
}

// fasthttpMethods gives each method of fasthttp that a package names, as
// "Type.Method", by its place.
func fasthttpMethods(t *testing.T, name string) map[string]string {
	t.Helper()
	exports := map[string]string{}
	var this listed
	for _, p := range list(t, "-deps", "-export", "./"+name) {
		exports[p.ImportPath] = p.Export
		if p.name() == name {
			this = p
		}
	}
	files := token.NewFileSet()
	var trees []*ast.File
	for _, file := range this.GoFiles {
		tree, err := parser.ParseFile(files, filepath.Join(this.Dir, file), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		trees = append(trees, tree)
	}
	info := &types.Info{Selections: map[*ast.SelectorExpr]*types.Selection{}}
	lookup := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	config := types.Config{Importer: importer.ForCompiler(files, "gc", lookup)}
	if _, err := config.Check(this.ImportPath, files, trees, info); err != nil {
		t.Fatal(err)
	}
	called := map[string]string{}
	for expr, selection := range info.Selections {
		if owner := fasthttpType(selection.Recv()); owner != "" && selection.Kind() != types.FieldVal {
			place := files.Position(expr.Sel.Pos())
			place.Filename = name + "/" + filepath.Base(place.Filename)
			called[place.String()] = owner + "." + expr.Sel.Name
		}
	}
	return called
}

// fasthttpType gives the name of a type of fasthttp, "" for any other.
func fasthttpType(of types.Type) string {
	if pointer, ok := of.(*types.Pointer); ok {
		of = pointer.Elem()
	}
	named, ok := of.(*types.Named)
	if !ok || named.Obj().Pkg() == nil || named.Obj().Pkg().Path() != fasthttp {
		return ""
	}
	return named.Obj().Name()
}
