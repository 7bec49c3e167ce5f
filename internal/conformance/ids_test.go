package conformance

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// ids is every line that has to have a test: what the RFCs oblige a shared cache
// to or recommend, what a setting decides, and what the public suite looks at.
var ids = map[string]string{
	"KEY": "1 4 5 7 8 9",
	"STO": "1 2 3 4 5 6 7 9 10 12",
	"CCP": "1 2 3 4 5 6 7 8 9 10 11 12 14",
	"DIR": "1 2 3 4 5 6 7 8 9 10 12",
	"TCC": "1 2 3 4 5 6 7 8 9 10 11",
	"FRE": "1 2 3 4 5 6 7 8",
	"DAT": "1 2 3 4 5 7 8",
	"AGE": "1 2 3 4 5 6 7 9",
	"HEU": "1 2 3 4",
	"USE": "1 2 3 4 5 6",
	"VAR": "1 2 3 5 6 7 8 10 11 12 13 14 15",
	"REQ": "1 2 3 4 5 7 9 10 11",
	"CON": "1 2 3 4 5 6 7 8 9 10 11 12 13 14",
	"VAL": "1 2 3 4 5 6 7 10",
	"MRG": "1 2 3 5 6 7 9",
	"HED": "1 2 3 4",
	"RNG": "1 2 3 4 7 8 9 11 12 13 14 15 16 17",
	"STL": "1 2 3 4 5 6 9 10",
	"INV": "1 2 3 4 5 6",
	"GRP": "1 2 3 6 7",
	"AUT": "1 2 3",
	"COO": "1 2 4",
	"HDR": "1 2 3 4 6 7 8 10",
	"FRM": "1 2 3 4 5 6 7",
	"INT": "1 2 3 5",
	"STA": "1 2 3 5",
	"CST": "2 3 4 8 9",
	"COL": "2 6",
	"SSI": "1 2 3 4 5",
	"SEC": "2",
}

// No line is without its test.
func TestEveryLineHasItsTest(t *testing.T) {
	tests := map[string]bool{}
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				tests[f.Name.Name] = true
			}
		}
	}
	for section, numbers := range ids {
		for n := range strings.FieldsSeq(numbers) {
			if name := "Test" + section + "_" + n; !tests[name] {
				t.Errorf("%s-%s has no %s", section, n, name)
			}
		}
	}
}
