package admin

import (
	"context"
	"errors"
	"net/url"
	"reflect"
	"strings"
	"testing"
)

// explainer notes what it is asked, and answers as it was told.
type explainer struct {
	asked []ExplainRequest
	err   error
}

func (e *explainer) Explain(_ context.Context, r ExplainRequest) (any, error) {
	e.asked = append(e.asked, r)
	return map[string]string{"url": r.URL}, e.err
}

func withExplainer(e *explainer) *Server {
	o := complete()
	o.Explain = e
	return New(o)
}

func TestExplainCalls(t *testing.T) {
	x := new(explainer)
	r := call{method: "GET", path: "/explain?header=Cookie:+a%3D1&url=" + url.QueryEscape("http://www.example.com/a?b=c&d=<e>") + "&header=Host:+x"}.do(withExplainer(x))
	want := ExplainRequest{URL: "http://www.example.com/a?b=c&d=<e>", Fields: []string{"Cookie: a=1", "Host: x"}}
	if got := body(t, r); r.StatusCode != 200 || got != `{"url":"http://www.example.com/a?b=c&d=<e>"}`+"\n" {
		t.Errorf("%d %s", r.StatusCode, got)
	}
	if len(x.asked) != 1 || !reflect.DeepEqual(x.asked[0], want) {
		t.Errorf("asked %+v, want %+v", x.asked, want)
	}
}

func TestCompareCalls(t *testing.T) {
	for query, want := range map[string]*ExplainAgainst{
		"&vs=/b": {URL: "/b"},
		"&vs=%2Fb%3Fx&vs_header=A:+1&vs_header=B:": {URL: "/b?x", Fields: []string{"A: 1", "B:"}},
		"&vs_header=A:+1":                          {Fields: []string{"A: 1"}},
	} {
		x := new(explainer)
		r := call{method: "GET", path: "/explain?url=/a&header=C:+2" + query}.do(withExplainer(x))
		all := ExplainRequest{URL: "/a", Fields: []string{"C: 2"}, Against: want}
		if r.StatusCode != 200 || len(x.asked) != 1 || !reflect.DeepEqual(x.asked[0], all) {
			t.Errorf("%s: %d, asked %+v", query, r.StatusCode, x.asked)
		}
	}
}

func TestBadExplainCalls(t *testing.T) {
	for _, tt := range []struct {
		query string
		err   error
		asked int
		want  int
		wrong string
	}{
		{"", nil, 0, 400, "want one url"},
		{"?url=", nil, 0, 400, "want one url"},
		{"?url=/a&url=/b", nil, 0, 400, "want one url"},
		{"?url=http://a/?b&c=d", nil, 0, 400, `unknown parameter "c"`},
		{"?url=/a&vs=", nil, 0, 400, "want one vs, or none"},
		{"?url=/a&vs=/b&vs=/c", nil, 0, 400, "want one vs, or none"},
		{"?vs=/a", nil, 0, 400, "want one url"},
		{"?url=%zz", nil, 0, 400, "malformed"},
		{"?url=/a", &BadExplain{"no host", "give one"}, 1, 400, "no host"},
		{"?url=/a", errors.New("broken"), 1, 500, "not explained: broken"},
	} {
		x := &explainer{err: tt.err}
		r := call{method: "GET", path: "/explain" + tt.query}.do(withExplainer(x))
		v := decoded(t, r)
		if r.StatusCode != tt.want || !strings.Contains(v["error"].(string), tt.wrong) || v["cure"] == "" || len(x.asked) != tt.asked {
			t.Errorf("%s: %d %v, asked %d; want %d %q", tt.query, r.StatusCode, v, len(x.asked), tt.want, tt.wrong)
		}
	}
}

func TestExplainIsGuarded(t *testing.T) {
	if r := (call{method: "GET", path: "/explain?url=/a"}).do(New(complete())); r.StatusCode != 404 {
		t.Errorf("without an Explainer: %d, want 404", r.StatusCode)
	}
	x := new(explainer)
	if r := (call{method: "GET", path: "/explain?url=/a", fields: []string{"Origin: http://evil.example"}}).do(withExplainer(x)); r.StatusCode != 403 {
		t.Errorf("from another origin: %d, want 403", r.StatusCode)
	}
	o := complete()
	o.Token, o.Explain = token, x
	if r := (call{method: "GET", path: "/explain?url=/a"}).do(New(o)); r.StatusCode != 401 {
		t.Errorf("without the token: %d, want 401", r.StatusCode)
	}
	if len(x.asked) > 0 {
		t.Errorf("asked %+v", x.asked)
	}
}
