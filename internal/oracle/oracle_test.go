package oracle

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

var (
	update = flag.Bool("update", false, "write what is recorded of the differences anew")
	only   = flag.String("oracle.case", "", "run only this case")
	paired = flag.String("oracle.pairs", "", "run the cases by these pairs only, with commas between them")
)

// TestOracle asks both sides of every pair, and wants the same answer or the
// recorded difference.
func TestOracle(t *testing.T) {
	archives := readArchives(t)
	w := start(t, chosen(archives))
	nginx, apache, edge := realtest.Client(w.nginx.Addr), realtest.Client(w.other.Addr), realtest.Client(w.edge.Addr)
	for _, a := range archives {
		for _, c := range a.cases {
			records := map[string]string{}
			for _, name := range c.run {
				p, server := pairNamed(name), nginx
				if p.apache {
					server = apache
				}
				t.Run(c.name+"/"+name, func(t *testing.T) {
					theirs, ours := c.ask(t, p, server, edge)
					c.judge(t, p, theirs, ours, records)
				})
			}
			if *update {
				a.record(c.name, records)
			}
		}
	}
}

// chosen leaves in the archives what the flags say, and gives all of it.
func chosen(archives []*archive) []*testCase {
	var cases []*testCase
	for _, a := range archives {
		a.cases = slices.DeleteFunc(a.cases, func(c *testCase) bool {
			c.run = slices.DeleteFunc(c.run, func(name string) bool {
				return *paired != "" && !slices.Contains(strings.Split(*paired, ","), name)
			})
			return *only != "" && c.name != *only || len(c.run) == 0
		})
		cases = append(cases, a.cases...)
	}
	return cases
}

// ask gives the answers of both sides.
func (c *testCase) ask(t *testing.T, p *pair, server, edge *http.Client) (theirs, ours string) {
	t.Helper()
	if !c.clock {
		return c.answers(t, p, server), c.answers(t, p, edge)
	}
	// The two differ where a second ends between them; seldom twice.
	for range 50 {
		if theirs, ours = c.answers(t, p, server), c.answers(t, p, edge); theirs == ours {
			break
		}
	}
	return theirs, ours
}

// judge compares two answers.
func (c *testCase) judge(t *testing.T, p *pair, theirs, ours string, records map[string]string) {
	t.Helper()
	reason, differs := c.differs[p.name]
	if !differs {
		if theirs != ours {
			t.Errorf("not the same\n%s:\n%s\nssiedge:\n%s", p.name, theirs, ours)
		}
		return
	}
	if theirs == ours {
		t.Errorf("both answer\n%s\nthis is no difference any more: %s", theirs, reason)
	}
	theirTitle, ourTitle := recorded(p.name)
	records[theirTitle], records[ourTitle] = theirs, ours
	if *update {
		return
	}
	for title, got := range map[string]string{theirTitle: theirs, ourTitle: ours} {
		if want, ok := c.part(title); !ok || got != want {
			t.Errorf("recorded as %q is\n%s\nbut it answers\n%s\n(-update writes it)", title, want, got)
		}
	}
}

// answers sends the requests of a case and describes the answers: status,
// fields to show, body, with escapes for what is not plain text.
func (c *testCase) answers(t *testing.T, p *pair, client *http.Client) string {
	t.Helper()
	var all []string
	for _, r := range c.requests {
		in, err := client.Do(r.http(p.host(c)))
		if err != nil {
			all = append(all, "no answer")
			continue
		}
		body, err := io.ReadAll(in.Body)
		in.Body.Close()
		answer := strconv.Itoa(in.StatusCode)
		for _, name := range c.show {
			answer += fmt.Sprintf("\n%s: %s", name, strings.Join(in.Header.Values(name), ", "))
		}
		answer += "\n" + plain(body)
		if err != nil {
			answer += "\n(broken off)"
		}
		all = append(all, answer)
	}
	return strings.Join(all, "\n")
}

// http makes the request as it is written; the target is sent as it is.
func (r *request) http(host string) *http.Request {
	out := &http.Request{
		Method: r.method, Host: host, Header: http.Header{},
		URL: &url.URL{Scheme: "http", Host: host, Opaque: r.target},
	}
	out.Header.Set("User-Agent", "oracle")
	for _, f := range r.header {
		out.Header.Add(f.key, f.value)
	}
	if r.body != "" {
		out.Body, out.ContentLength = io.NopCloser(strings.NewReader(r.body)), int64(len(r.body))
	}
	return out
}

// plain escapes what is not printable ASCII, but for line breaks.
func plain(body []byte) string {
	var b strings.Builder
	for _, c := range body {
		switch {
		case c == '\n' || ' ' <= c && c <= '~' && c != '\\':
			b.WriteByte(c)
		case c == '\\':
			b.WriteString(`\\`)
		default:
			fmt.Fprintf(&b, `\x%02x`, c)
		}
	}
	return b.String()
}
