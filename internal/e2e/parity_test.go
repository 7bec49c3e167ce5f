package e2e

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// row is one line of the parity table: a request that nginx and ssiedge have
// to answer alike.
type row struct {
	name   string
	before func(testing.TB)     // brings the world into the state that the row is about, before each side
	req    request              //
	then   func(answer) request // the request that counts, made from the answer to req, if that takes two
	status int                  // what ssiedge answers
	holds  string               // a part of ssiedge's body, so that two equal mistakes do not pass
	lacks  string               // what must not be in it
	fields []string             // header fields that must be equal too
	pick   func(string) string  // what counts of a body that differs for every request

	// differs marks a deliberate difference, with the reason. Status and body
	// are then ssiedge's; nginx has to answer something else, or the mark is
	// out of date.
	differs string
	// pastes marks a row that differs only because nginx pastes whatever came
	// as a fragment: with fragment_errors = "paste" it must not differ.
	pastes bool
}

func TestParity(t *testing.T) {
	for _, transport := range []string{"tcp", "unix"} {
		t.Run(transport, func(t *testing.T) {
			w := newWorld(t, transport == "unix")
			rows := parityRows(w)
			nginx := realtest.Nginx(t, w.nginxConfig(t))
			edge := realtest.Edge(t, realtest.EdgeOptions{Config: w.parityConfig("")})
			for _, r := range rows {
				t.Run(r.name, func(t *testing.T) { r.run(t, nginx.Addr, edge.Addr) })
			}
			t.Run("paste", func(t *testing.T) {
				edge := realtest.Edge(t, realtest.EdgeOptions{Config: w.parityConfig(`fragment_errors = "paste"`)})
				for _, r := range rows {
					if r.pastes {
						r.differs, r.holds, r.lacks = "", "", ""
						t.Run(r.name, func(t *testing.T) { r.run(t, nginx.Addr, edge.Addr) })
					}
				}
			})
		})
	}
}

// parityRows is the whole table.
func parityRows(w *world) []row {
	var rows []row
	for _, part := range []func(*world) []row{diskRows, methodRows, appRows, fileRows, targetRows, memcachedRows, ssiRows} {
		rows = append(rows, part(w)...)
	}
	return rows
}

// run sends the row to both sides and compares.
func (r row) run(t *testing.T, nginx, edge string) {
	theirs, ours := r.send(t, nginx), r.send(t, edge)
	if ours.status != r.status {
		t.Errorf("ssiedge answers %d, want %d", ours.status, r.status)
	}
	if !strings.Contains(ours.body, r.holds) {
		t.Errorf("ssiedge's body lacks %q: %s", r.holds, short(ours.body))
	}
	if r.lacks != "" && strings.Contains(ours.body, r.lacks) {
		t.Errorf("ssiedge's body holds %q: %s", r.lacks, short(ours.body))
	}
	same := ours.status == theirs.status && ours.body == theirs.body
	for _, field := range r.fields {
		if got, want := field+": "+strings.Join(ours.header.Values(field), "; "), field+": "+strings.Join(theirs.header.Values(field), "; "); got != want {
			t.Errorf("ssiedge says %q, nginx %q", got, want)
		}
	}
	switch {
	case r.differs == "" && !same:
		t.Errorf("not the same:\nnginx   %d %s\nssiedge %d %s", theirs.status, short(theirs.body), ours.status, short(ours.body))
	case r.differs != "" && same:
		t.Errorf("nginx answers the same: the row is no difference any more (%s)", r.differs)
	case r.differs == "" && ours.status < 300 && mediaType(ours) != mediaType(theirs):
		t.Errorf("ssiedge calls it %q, nginx %q", mediaType(ours), mediaType(theirs))
	}
}

// send sends the row to one side and gives what counts of the answer.
func (r row) send(t *testing.T, addr string) answer {
	t.Helper()
	if r.before != nil {
		r.before(t)
	}
	a := send(t, addr, r.req)
	if r.then != nil {
		a = send(t, addr, r.then(a))
	}
	a.body = steady(a)
	if r.pick != nil {
		a.body = r.pick(a.body)
	}
	return a
}

// passing are the parts of a body that differ for every request, with what
// stands for them.
var passing = []struct {
	part *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`rendered \S+Z by the origin`), "rendered then by the origin"},
	{regexp.MustCompile(`News at [\d:.]+`), "News at that time"},
}

// steady gives a body without what differs for every request.
func steady(a answer) string {
	body := a.body
	for _, p := range passing {
		body = p.part.ReplaceAllString(body, p.with)
	}
	if _, boundary, ok := strings.Cut(a.header.Get("Content-Type"), "multipart/byteranges; boundary="); ok {
		body = strings.ReplaceAll(body, strings.Trim(boundary, `"`), "boundary")
	}
	return body
}

// sameType are names of one type: what nginx's table of types calls the first,
// RFC 9239 and ours call the second.
var sameType = strings.NewReplacer("application/javascript", "text/javascript", "application/xml", "text/xml")

// mediaType gives the type without its parameters.
func mediaType(a answer) string {
	name, _, _ := strings.Cut(a.header.Get("Content-Type"), ";")
	return sameType.Replace(name)
}
