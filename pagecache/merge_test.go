package pagecache

import (
	"strings"
	"testing"
	"time"
)

// withHead makes a page of fields, one a line, and of those for the edge alone.
func withHead(fields, own string) *Page {
	lines := func(s string) string {
		s = dated(s)
		if s == "" {
			return "\r\n"
		}
		return strings.ReplaceAll(s, "\n", "\r\n") + "\r\n\r\n"
	}
	head := "HTTP/1.1 200 OK\r\n" + lines(fields)
	if own != "" {
		head += lines(own)
	}
	return NewPulledPage(200, exactCopy([]byte(head)), []byte("body"), Freshness{Measured: came.UnixMilli()}, 1)
}

func TestPulledPageFields(t *testing.T) {
	p := withHead("Content-Type: text/plain\nX-A: 1\nx-a: 2\nETag: \"a\"", "Surrogate-Control: max-age=5\nContent-Type: text/html")
	if p.Type != "text/plain" || p.ETag != `"a"` {
		t.Errorf("%q %q: fields for the edge alone count", p.Type, p.ETag)
	}
	for name, want := range map[string]string{"x-a": "1", "surrogate-control": "max-age=5", "x-b": ""} {
		if got := p.Field(name); string(got) != want || got == nil != (want == "") {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestPageUntil(t *testing.T) {
	p := withHead("X-A: 1", "")
	p.Lifetime, p.StaleError = 60, 5
	if got := p.Until(); !got.Equal(came.Add(65 * time.Second)) {
		t.Errorf("until %v", got)
	}
	for _, fields := range []string{"ETag: a", "Last-Modified: {now}"} {
		p := withHead(fields, "")
		p.Lifetime = 60
		if got := p.Until(); !got.Equal(came.Add(validationTime)) {
			t.Errorf("%s: until %v", fields, got)
		}
		p.Lifetime = 30 * 24 * 3600
		if got := p.Until(); !got.Equal(came.Add(30 * 24 * time.Hour)) {
			t.Errorf("%s: until %v", fields, got)
		}
	}
}

// MRG-1: which page a 304 is about.
func TestValidated(t *testing.T) {
	for _, c := range []struct {
		pages string // their validators, one a page
		reply string
		want  int // -1: none
	}{
		{`ETag: "a"`, `ETag: "a"`, 0},
		{`ETag: "a"`, `ETag: "b"`, -1},
		{`ETag: "a"`, `ETag: W/"a"`, 0},
		{`ETag: W/"a"`, `ETag: "a"`, -1},
		{`ETag: W/"a"`, `ETag: W/"a"`, 0},
		{`ETag: W/"a"`, `ETag: W/"b"`, -1},
		{`ETag: a`, `ETag: a`, 0},
		{`ETag: "a"`, "", 0},
		{`Last-Modified: {now}`, "", 0},
		{`Last-Modified: {now}`, "Last-Modified: {now}", 0},
		{`Last-Modified: {now}`, "Last-Modified: {now-1}", -1},
		{`Last-Modified: {now}`, `ETag: "a"` + "\nLast-Modified: {now}", -1},
		{`Last-Modified: {now}`, "Last-Modified: yesterday", 0},
		{`ETag: "a"|ETag: "b"`, `ETag: "b"`, 1},
		{`ETag: "a"|ETag: "b"`, `ETag: W/"a"`, 0},
		{`ETag: "a"|ETag: W/"a"`, `ETag: W/"a"`, 1}, // the younger one
		{`ETag: "a"|ETag: "b"`, "", -1},
		{`ETag: "a"|Last-Modified: {now}`, "Last-Modified: {now}", 1},
	} {
		var pages []*Page
		for i, validator := range strings.Split(c.pages, "|") {
			p := withHead(validator, "")
			p.Measured += int64(i)
			pages = append(pages, p)
		}
		got := -1
		found := Validated(pages, replyOf("304\n"+c.reply))
		for i, p := range pages {
			if p == found {
				got = i
			}
		}
		if got != c.want {
			t.Errorf("%s, %q: page %d, want %d", c.pages, c.reply, got, c.want)
		}
	}
	if Validated(nil, replyOf("304")) != nil {
		t.Error("a page where there is none")
	}
}

// MRG-2 to MRG-4: what a page is after a 304.
func TestUpdated(t *testing.T) {
	for _, c := range []struct{ fields, own, reply, want string }{
		{"A: 1\nB: 2", "", "B: 3\nC: 4", "A: 1\nB: 3\nC: 4"},
		{"A: 1\nA: 2\nB: 3", "", "a: 4\na: 5", "B: 3\na: 4\na: 5"},
		{"Content-Length: 4\nA: 1", "", "Content-Length: 9\nA: 2\nContent-Range: bytes 0-1/2\nConnection: a\nProxy-Authenticate: x", "Content-Length: 4\nA: 2"},
		{"Content-Type: text/html", "", "Content-Type: text/plain\nContent-Encoding: gzip", "Content-Type: text/plain"},
		{"Content-Encoding: odd", "", "Content-Encoding: even", "Content-Encoding: even"},
		{"Date: {now-60}\nA: 1", "", "", "A: 1"},
		{"Date: {now-60}", "", "Date: {now}\nAge: 5", "Date: {now}\nAge: 5"},
		{"A: 1", "Surrogate-Control: max-age=5", "A: 2", "Surrogate-Control: max-age=5\nA: 2"},
		{"A: 1", "Surrogate-Control: max-age=5", "surrogate-control: max-age=6", "A: 1\nsurrogate-control: max-age=6"},
	} {
		p := withHead(c.fields, c.own)
		before := string(p.Head)
		r := replyOf("304\n" + c.reply)
		r.RequestTime = came.Add(-time.Second)
		u := p.Updated(r)
		var lines []string
		for _, f := range u.Fields {
			lines = append(lines, string(f.Name)+": "+string(f.Value))
		}
		if got, want := strings.Join(lines, "\n"), dated(c.want); got != want {
			t.Errorf("%q and %q: %q, want %q", c.fields, c.reply, got, want)
		}
		if u.Status != 200 || u.RequestTime != r.RequestTime || u.ResponseTime != r.ResponseTime || string(p.Head) != before {
			t.Errorf("%q and %q: %+v", c.fields, c.reply, u)
		}
	}
}

// MRG-5, AGE-7 and TCC-11: freshness is that of the merged fields, from now on.
func TestUpdatedIsJudgedAnew(t *testing.T) {
	for _, c := range []struct{ fields, own, reply, want string }{
		{"Cache-Control: max-age=60\nDate: {now-600}", "", "Date: {now}", "60"},
		{"Cache-Control: max-age=60", "", "Cache-Control: max-age=5", "5"},
		{"Cache-Control: max-age=60", "", "Age: 60", "expired"},
		{"Cache-Control: max-age=60\nETag: a", "", "Cache-Control: no-cache", "validate: no-cache"},
		{"Cache-Control: max-age=60", "", "Cache-Control: no-store", "no-store"},
		{"Cache-Control: max-age=60", "", "Cache-Control: private, max-age=60", "private"},
		{"Cache-Control: max-age=60", "SSIEdge-Cache-Control: max-age=9", "Cache-Control: max-age=70", "9"},
		{"Cache-Control: max-age=60", "SSIEdge-Cache-Control: max-age=9", "SSIEdge-Cache-Control: max-age=10", "10"},
		{"Cache-Control: no-cache\nETag: a", "Surrogate-Control: max-age=9", "Cache-Control: no-cache", "9"},
		{"CDN-Cache-Control: max-age=60\nCache-Control: no-store", "", "CDN-Cache-Control: no-store", "no-store"},
		{"Expires: {now-60}\nDate: {now-120}\nETag: a", "", "Date: {now}", "validate: expired"},
	} {
		got := verdict(Decide(withHead(c.fields, c.own).Updated(replyOf("304\n"+c.reply)), Asked{}, &Policy{}))
		if got != c.want {
			t.Errorf("%q, %q and %q: %s, want %s", c.fields, c.own, c.reply, got, c.want)
		}
	}
}

// A renewed page shares the body, and what was derived as long as that is of
// the same type; the page before it does not change.
func TestRenewed(t *testing.T) {
	m := NewMemory(1 << 20)
	old := withHead("Content-Type: text/html\nETag: a", "")
	old.Derive(func(*Page) (any, int) { return "template", 1000 })
	m.Put([]byte("a"), old)
	used := m.Stats().Bytes
	n := old.Renewed(exactCopy([]byte("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nETag: b\r\n\r\n")), Freshness{Lifetime: 5}, 9)
	if &n.Body[0] != &old.Body[0] || n.ETag != "b" || n.Lifetime != 5 || n.Seq != 9 || !n.Kept || n.Length != 4 {
		t.Errorf("%+v", n)
	}
	if got := n.Derive(func(*Page) (any, int) { return "anew", 5 }); got != "template" {
		t.Errorf("derived %v", got)
	}
	m.Put([]byte("a"), n)
	if got := m.Stats().Bytes; got != used {
		t.Errorf("%d bytes with the renewed page, %d before", got, used)
	}
	if old.ETag != "a" || old.Lifetime != 0 {
		t.Errorf("the old page became %+v", old)
	}
	other := old.Renewed([]byte("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"), Freshness{}, 9)
	if got := other.Derive(func(*Page) (any, int) { return "anew", 5 }); got != "anew" {
		t.Errorf("derived %v for another type", got)
	}
}

// What is derived while the page is renewed is counted, whoever builds it.
func TestRenewedWhileDerived(t *testing.T) {
	m := NewMemory(1 << 20)
	old := withHead("Content-Type: text/html", "")
	m.Put([]byte("a"), old)
	var n *Page
	build := func(*Page) (any, int) { return "template", 1000 }
	old.Derive(func(p *Page) (any, int) {
		n = p.Renewed(exactCopy(p.Head), Freshness{Lifetime: 5}, 9)
		m.Put([]byte("a"), n)
		return build(p)
	})
	n.Derive(build)
	m.audit(t)
	if got, want := m.Stats().Bytes, footprint("a", n)+1000; got != want {
		t.Errorf("%d bytes are counted, want %d", got, want)
	}
}
