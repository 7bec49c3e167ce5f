package edge

import (
	"testing"

	"github.com/ssiedge/ssiedge/ssi"
)

// TestAdmits: -A of expressions asks nobody, and holds for what an include
// could be asked for.
func TestAdmits(t *testing.T) {
	e := newEdge(t, withFiles(t, map[string]string{
		"p.html": `<!--#if expr="-A /p" -->1<!--#endif --><!--#if expr="-A none?q" -->2<!--#endif -->` +
			`<!--#if expr="! -A /%00" -->3<!--#endif --><!--#if expr="! -A /..%2fx" -->4<!--#endif -->`,
	}))
	e.get("/p").is(t, 200, "1234")
}

// TestExpressionsInFragments: ap_expr speaks of the document at hand, as in
// Apache, also where its variables are the page's.
func TestExpressionsInFragments(t *testing.T) {
	inner := "<!--#if expr=\"%{REQUEST_URI} = '/d/f.html' && %{QUERY_STRING} = 'z=1' && %{IS_SUBREQ} = 'true' && %{DOCUMENT_URI} = '/p.html'\" -->ok<!--#endif -->"
	e := newEdge(t, withSite(func(s *Site) { s.SSI.Dialect = ssi.DialectApache }), withFiles(t, map[string]string{
		"p.html": `<!--#include virtual="/d/f.html?z=1" -->`, "d/f.html": inner,
	}))
	e.get("/p").is(t, 200, "ok")
}
