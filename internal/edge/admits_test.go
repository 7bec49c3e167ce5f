package edge

import "testing"

// TestAdmits: -A of expressions asks nobody, and holds for what an include
// could be asked for.
func TestAdmits(t *testing.T) {
	e := newEdge(t, withFiles(t, map[string]string{
		"p.html": `<!--#if expr="-A /p" -->1<!--#endif --><!--#if expr="-A none?q" -->2<!--#endif -->` +
			`<!--#if expr="! -A /%00" -->3<!--#endif --><!--#if expr="! -A /..%2fx" -->4<!--#endif -->`,
	}))
	e.get("/p").is(t, 200, "1234")
}
