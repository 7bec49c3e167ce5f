package oracle

import (
	"flag"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// TestGenerated compares documents made at random with nginx. They are the same
// ones in every run; -rapid.seed makes others, -rapid.checks more of them.
func TestGenerated(t *testing.T) {
	if seed := flag.Lookup("rapid.seed").Value; seed.String() == "0" {
		if err := seed.Set("4"); err != nil {
			t.Fatal(err)
		}
		defer seed.Set("0")
	}
	c := &testCase{name: "generated", run: []string{"nginx"}, keys: []pairOf{{"edge", `unknown = "error"`}}, requests: []request{{method: "GET"}}}
	c.requests[0].header = []pairOf{{"Cookie", "c=<&x"}}
	c.parts = []part{
		newPart("app/show show="), newPart("app/none status=204 empty"), newPart("plain.txt"),
	}
	c.parts[2].body = "plain <!--#echo var=\"v1\" --> & <text>"
	w := start(t, []*testCase{c})
	nginx, edge := realtest.Client(w.nginx.Addr), realtest.Client(w.edge.Addr)
	pair := pairNamed("nginx")
	documents := 0
	rapid.Check(t, func(rt *rapid.T) {
		// Two documents a check: rapid makes 100 checks where nothing else is said.
		for range 2 {
			documents++
			dir := fmt.Sprintf("d%d/", documents)
			m := &maker{t: rt}
			page := m.page()
			c.parts = append(c.parts[:3], part{name: dir + "page.html", body: page},
				part{name: dir + "f1.inc", body: m.fragment()}, part{name: dir + "f2.inc", body: m.fragment()}, part{name: dir + "f3.inc", body: "x" + m.branch(false) + "x"},
				part{name: dir + "plain.txt", body: "below"})
			w.write(t, c)
			c.requests[0].target = "/" + dir + "page.html?q=" + rapid.SampledFrom([]string{"abc", "B", "1", "x=y", "%3C", "a&q=b"}).Draw(rt, "query")
			theirs, ours := c.answers(t, pair, nginx), c.answers(t, pair, edge)
			if theirs != ours {
				rt.Fatalf("not the same\n%s\nnginx:\n%s\nssiedge:\n%s\nfragments:\n%s\n%s\n%s", page, theirs, ours, c.parts[4].body, c.parts[5].body, c.parts[6].body)
			}
		}
	})
}
