package admin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
)

// purger notes what it is asked, and answers as it was told.
type purger struct {
	asked   []PurgeRequest
	receipt PurgeReceipt
	err     error
	ctxErr  error // of the context, when it was asked
}

func (p *purger) Purge(ctx context.Context, r PurgeRequest) (PurgeReceipt, error) {
	p.asked = append(p.asked, r)
	p.ctxErr = ctx.Err()
	return p.receipt, p.err
}

// postPurge sends a body to POST /purge of a server without a token.
func postPurge(s *Server, body string) *http.Response {
	r := httptest.NewRequest("POST", "/purge", strings.NewReader(body))
	r.Host = "127.0.0.1:8081"
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Result()
}

func withPurger(p *purger) *Server {
	o := complete()
	o.Purge = p
	return New(o)
}

func TestPurgeCalls(t *testing.T) {
	tests := []struct {
		body string
		want PurgeRequest
	}{
		{`{"urls":["/a","http://www.example.com/b?c=d"]}`, PurgeRequest{URLs: []string{"/a", "http://www.example.com/b?c=d"}}},
		{`{"all":true}`, PurgeRequest{All: true}},
		{` {"all" : true } ` + "\n", PurgeRequest{All: true}},
		{`{"all":true,"site":"www.example.com","soft":true}`, PurgeRequest{All: true, Site: "www.example.com", Soft: true}},
		{`{"urls":["/a"],"dry_run":true,"count":true}`, PurgeRequest{URLs: []string{"/a"}, DryRun: true, Count: true}},
		{`{"urls":["/a"],"prefixes":[],"tags":[],"regex":[],"all":false,"site":"","soft":false,"dry_run":false,"count":false}`, PurgeRequest{URLs: []string{"/a"}}},
		{`{"urls":["/a"],"prefixes":null,"tags":null,"all":null,"site":null}`, PurgeRequest{URLs: []string{"/a"}}},
		{`{"urls":["/\u00e9\"é"]}`, PurgeRequest{URLs: []string{`/é"é`}}},
	}
	for _, tt := range tests {
		p := &purger{receipt: PurgeReceipt{ID: "x-1", Seq: 1}}
		r := postPurge(withPurger(p), tt.body)
		if r.StatusCode != 200 {
			t.Errorf("%s: %d %s", tt.body, r.StatusCode, body(t, r))
		} else if len(p.asked) != 1 || !reflect.DeepEqual(p.asked[0], tt.want) {
			t.Errorf("%s: asked %+v, want %+v", tt.body, p.asked, tt.want)
		}
	}
}

func TestBadPurgeCalls(t *testing.T) {
	tests := []struct{ body, wrong, cure string }{
		{``, "the body is no JSON object", "send a JSON object"},
		{`null`, "the body is no JSON object", ""},
		{`["/a"]`, "the body is no JSON object", ""},
		{`"all"`, "the body is no JSON object", ""},
		{`urls=/a`, "the body is no JSON object", ""},
		{"{\"urls\":[\"/\xff\"]}", "the body is no UTF-8", ""},
		{`{}`, "nothing to purge", "urls"},
		{`{"urls":[]}`, "nothing to purge", ""},
		{`{"urls":null,"all":false}`, "nothing to purge", ""},
		{`{"site":"www.example.com"}`, "nothing to purge", `"all": true`},
		{`{"soft":true,"dry_run":true,"count":true}`, "nothing to purge", ""},
		{`{"url":["/a"]}`, `unknown field "url"`, "urls, prefixes, tags, regex, all, site, soft, dry_run, count"},
		{`{"urls":["/a"],"hard":true}`, `unknown field "hard"`, ""},
		{`{"ALL":true}`, `unknown field "ALL"`, ""},
		{`{"":true}`, `unknown field ""`, ""},
		{`{"all":false,"all":true}`, `field "all" twice`, "once"},
		{`{"urls":"/a"}`, `field "urls" holds a JSON string`, "list of strings"},
		{`{"urls":[1]}`, `field "urls" holds a JSON number`, "list of strings"},
		{`{"urls":{"a":"/a"}}`, `field "urls" holds a JSON object`, "list of strings"},
		{`{"all":"true"}`, `field "all" holds a JSON string`, "true or false"},
		{`{"all":1}`, `field "all" holds a JSON number`, "true or false"},
		{`{"site":["a"],"all":true}`, `field "site" holds a JSON array`, "a string"},
		{`{"urls":["/a"]`, "malformed JSON: it ends too early", ""},
		{`{"urls":["/a"`, "malformed JSON: it ends too early", ""},
		{`{"urls":`, "malformed JSON: it ends too early", ""},
		{`{"urls"`, "malformed JSON: it ends too early", ""},
		{`{`, "malformed JSON: it ends too early", ""},
		{`{"all":tru}`, "malformed JSON: ", ""},
		{`{"all":true,}`, "malformed JSON: ", ""},
		{`{all:true}`, "malformed JSON: ", ""},
		{`{"all" true}`, "malformed JSON: ", ""},
		{`{"all":true "soft":true}`, "malformed JSON: ", ""},
		{`{"all":true} x`, "something follows the JSON object", ""},
		{`{"all":true}{"all":true}`, "something follows the JSON object", ""},
		{`{"all":true}]`, "something follows the JSON object", ""},
		{`{"tags":["a"]}`, "purging by tags is not built yet", "urls or all"},
		{`{"urls":["/a"],"prefixes":["/a"]}`, "purging by prefixes is not built yet", ""},
		{`{"all":true,"regex":["a"]}`, "purging by regex is not built yet", ""},
	}
	for _, tt := range tests {
		p := new(purger)
		r := postPurge(withPurger(p), tt.body)
		v := decoded(t, r)
		wrong, _ := v["error"].(string)
		cure, _ := v["cure"].(string)
		if r.StatusCode != 400 || !strings.HasPrefix(wrong, tt.wrong) || cure == "" || !strings.Contains(cure, tt.cure) {
			t.Errorf("%s: %d %q, cure %q; want 400 %q and %q", tt.body, r.StatusCode, wrong, cure, tt.wrong, tt.cure)
		}
		if len(p.asked) > 0 {
			t.Errorf("%s: purged %+v", tt.body, p.asked)
		}
	}
}

func TestLargePurge(t *testing.T) {
	for size, want := range map[int]int{maxPurgeBody: 200, maxPurgeBody + 1: 413} {
		p := new(purger)
		const frame = `{"urls":["/"]}`
		r := postPurge(withPurger(p), strings.Replace(frame, "/", "/"+strings.Repeat("a", size-len(frame)), 1))
		if r.StatusCode != want || (want == 200) != (len(p.asked) == 1) {
			t.Errorf("%d bytes: %d, %d purged, want %d", size, r.StatusCode, len(p.asked), want)
		}
	}
}

// A body that breaks off is no call, however well it begins.
func TestPurgeBodyBreaksOff(t *testing.T) {
	p := new(purger)
	r := httptest.NewRequest("POST", "/purge", io.MultiReader(strings.NewReader(`{"all":true}`), brokenReader{}))
	r.Host = "localhost"
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	withPurger(p).ServeHTTP(w, r)
	if w.Code != 400 || len(p.asked) > 0 {
		t.Errorf("%d, %d purged; want 400 and none", w.Code, len(p.asked))
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errors.New("connection reset") }

func TestPurgeReceipts(t *testing.T) {
	tests := []struct {
		receipt PurgeReceipt
		want    string
	}{
		{PurgeReceipt{ID: "ab-42", Seq: 42, Matched: map[string]int{"memory": 3, "disk": 5}}, `{"id":"ab-42","seq":42,"matched":{"disk":5,"memory":3},"dry_run":false}`},
		{PurgeReceipt{ID: "ab-43", Seq: 43}, `{"id":"ab-43","seq":43,"matched":null,"dry_run":false}`},
		{PurgeReceipt{Seq: 43, Matched: map[string]int{}, DryRun: true}, `{"id":"","seq":43,"matched":{},"dry_run":true}`},
		{PurgeReceipt{ID: "ab-44", Seq: 44, Left: []string{"/a: a<b"}}, `{"id":"ab-44","seq":44,"matched":null,"dry_run":false,"left":["/a: a<b"]}`},
	}
	for _, tt := range tests {
		r := postPurge(withPurger(&purger{receipt: tt.receipt}), `{"all":true}`)
		if got := body(t, r); r.StatusCode != 200 || got != tt.want+"\n" {
			t.Errorf("%d %s, want %s", r.StatusCode, got, tt.want)
		}
		if got := r.Header.Get("Content-Type"); got != "application/json" {
			t.Errorf("content type %q", got)
		}
	}
}

func TestRefusedPurges(t *testing.T) {
	tests := []struct {
		err    error
		status int
		wrong  string
		cure   string
	}{
		{&BadPurge{`url "a": no slash`, "write /a"}, 400, `url "a": no slash`, "write /a"},
		{fmt.Errorf("purge: %w", &BadPurge{"b", "c"}), 400, "b", "c"},
		{&UnrecordedPurge{errors.New("disk full")}, 503, "the purge cannot be recorded: disk full; nothing was purged", "see to the state directory, then purge again"},
		{errors.New("broken"), 500, "not purged: broken", "see the log, then purge again"},
	}
	for _, tt := range tests {
		r := postPurge(withPurger(&purger{err: tt.err}), `{"all":true}`)
		if v := decoded(t, r); r.StatusCode != tt.status || v["error"] != tt.wrong || v["cure"] != tt.cure {
			t.Errorf("%v: %d %v, want %d %q %q", tt.err, r.StatusCode, v, tt.status, tt.wrong, tt.cure)
		}
	}
}

func TestPurgeErrors(t *testing.T) {
	full := errors.New("disk full")
	err := error(&UnrecordedPurge{full})
	if !errors.Is(err, full) || err.Error() != "the purge cannot be recorded: disk full" {
		t.Errorf("%q does not wrap its cause", err)
	}
	if got := (&BadPurge{"no slash", "write /a"}).Error(); got != "no slash; write /a" {
		t.Errorf("%q", got)
	}
}

// A caller who has left is purged for all the same.
func TestPurgeOutlivesItsCaller(t *testing.T) {
	p := new(purger)
	ctx, leave := context.WithCancel(t.Context())
	leave()
	r := httptest.NewRequestWithContext(ctx, "POST", "/purge", strings.NewReader(`{"all":true}`))
	r.Host = "localhost"
	r.Header.Set("Content-Type", "application/json")
	withPurger(p).ServeHTTP(httptest.NewRecorder(), r)
	if len(p.asked) != 1 || p.ctxErr != nil {
		t.Errorf("asked %v, the context's error %v", p.asked, p.ctxErr)
	}
}

func TestPurgeMethod(t *testing.T) {
	tests := []struct{ host, target, want string }{
		{"www.example.com", "/towns", "http://www.example.com/towns"},
		{"www.example.com:8080", "/towns?page=2", "http://www.example.com:8080/towns?page=2"},
		{"www.example.com", "/a%2Fb//c/../%c3%a9", "http://www.example.com/a%2Fb//c/../%c3%a9"},
		{"www.example.com", "/healthz", "http://www.example.com/healthz"},
		{"www.example.com", "/purge", "http://www.example.com/purge"},
		{"www.example.com", "http://www.example.com/towns", "http://www.example.com/towns"},
		{"127.0.0.1:8080", "/towns", "http://127.0.0.1:8080/towns"},
	}
	for _, tt := range tests {
		p := &purger{receipt: PurgeReceipt{ID: "x-1", Seq: 1, Matched: map[string]int{"memory": 1}}}
		r := call{method: "PURGE", path: tt.target, host: tt.host}.do(withPurger(p))
		if v := decoded(t, r); r.StatusCode != 200 || v["seq"] != 1.0 {
			t.Errorf("%s %s: %d %v", tt.host, tt.target, r.StatusCode, v)
		}
		if want := []PurgeRequest{{URLs: []string{tt.want}}}; !reflect.DeepEqual(p.asked, want) {
			t.Errorf("%s %s: asked %+v, want %+v", tt.host, tt.target, p.asked, want)
		}
	}
}

// Over a real connection: a Host that is the listener's own is none of a page.
func TestPurgeMethodOfOwnHost(t *testing.T) {
	p := &purger{receipt: PurgeReceipt{ID: "x-1", Seq: 1}}
	_, base := serve(t, withPurger(p))
	address := strings.TrimPrefix(base, "http://")
	_, port, _ := strings.Cut(address, ":")
	tests := []struct{ host, want string }{
		{address, "/a?b"},
		{"localhost:" + port, "/a?b"},
		{"127.0.0.1:1", "http://127.0.0.1:1/a?b"},
		{"localhost", "http://localhost/a?b"},
		{"www.example.com:" + port, "http://www.example.com:" + port + "/a?b"},
	}
	for _, tt := range tests {
		r, err := http.NewRequest("PURGE", base+"/a?b", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = tt.host
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if got := p.asked[len(p.asked)-1].URLs[0]; res.StatusCode != 200 || got != tt.want {
			t.Errorf("Host %s: %d, asked for %q, want %q", tt.host, res.StatusCode, got, tt.want)
		}
	}
}

// Who may purge, and that nothing is purged for anybody else.
func TestPurgeAccess(t *testing.T) {
	bearer := "Authorization: Bearer " + token
	tests := []struct {
		name  string
		token string
		call  call
		want  int
	}{
		{"POST", "", call{method: "POST", path: "/purge", fields: []string{jsonType}}, 200},
		{"POST of a form", "", call{method: "POST", path: "/purge", fields: []string{"Content-Type: application/x-www-form-urlencoded"}}, 415},
		{"POST of no type", "", call{method: "POST", path: "/purge"}, 415},
		{"POST from another origin", "", call{method: "POST", path: "/purge", fields: []string{jsonType, "Origin: http://evil.example"}}, 403},
		{"POST to a rebound name", "", call{method: "POST", path: "/purge", host: "evil.example", fields: []string{jsonType}}, 403},
		{"PURGE of any host", "", call{method: "PURGE", path: "/a", host: "www.example.com"}, 200},
		{"PURGE from another origin", "", call{method: "PURGE", path: "/a", fields: []string{"Origin: http://evil.example"}}, 403},
		{"PURGE from a rebound name's own origin", "", call{method: "PURGE", path: "/a", host: "evil.example:8081", fields: []string{"Origin: http://evil.example:8081"}}, 403},
		{"PURGE from our own origin", "", call{method: "PURGE", path: "/a", fields: []string{"Origin: http://127.0.0.1:8081"}}, 403},
		{"PURGE from an opaque origin", "", call{method: "PURGE", path: "/a", fields: []string{"Origin: null"}}, 403},
		{"purge in small letters", "", call{method: "purge", path: "/a"}, 404},
		{"t: POST", token, call{method: "POST", path: "/purge", host: "edge.example", fields: []string{bearer}}, 200},
		{"t: PURGE", token, call{method: "PURGE", path: "/a", host: "www.example.com", fields: []string{bearer}}, 200},
		{"t: POST without", token, call{method: "POST", path: "/purge", fields: []string{jsonType}}, 401},
		{"t: PURGE without", token, call{method: "PURGE", path: "/a"}, 401},
		{"t: PURGE of an open endpoint's path without", token, call{method: "PURGE", path: "/healthz"}, 401},
		{"t: PURGE with a wrong one", token, call{method: "PURGE", path: "/a", fields: []string{"Authorization: Bearer x"}}, 401},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := &purger{receipt: PurgeReceipt{ID: "x-1", Seq: 1}}
			o := complete()
			o.Token, o.Purge = tt.token, p
			r := tt.call.doBody(New(o), `{"all":true}`)
			if r.StatusCode != tt.want {
				t.Errorf("%d, want %d: %s", r.StatusCode, tt.want, body(t, r))
			}
			if (len(p.asked) > 0) != (tt.want == 200) {
				t.Errorf("asked %+v", p.asked)
			}
			if v := decoded(t, r); tt.want >= 400 && (v["error"] == nil || v["cure"] == nil) {
				t.Errorf("refused with %v", v)
			}
		})
	}
}

func TestNothingToPurge(t *testing.T) {
	s := New(complete())
	for _, c := range []call{{method: "POST", path: "/purge", fields: []string{jsonType}}, {method: "PURGE", path: "/a", host: "www.example.com"}} {
		r := c.doBody(s, `{"all":true}`)
		if v := decoded(t, r); r.StatusCode != 404 || v["error"] != "nothing to purge: no pages are kept here" {
			t.Errorf("%s: %d %v", c.method, r.StatusCode, v)
		}
	}
}

func TestPurgePanic(t *testing.T) {
	o := complete()
	o.Purge = panicking{}
	if r := postPurge(New(o), `{"all":true}`); r.StatusCode != 500 {
		t.Errorf("%d, want 500", r.StatusCode)
	}
}

type panicking struct{}

func (panicking) Purge(context.Context, PurgeRequest) (PurgeReceipt, error) { panic("broken") }

// Whatever the body, the answer to it is one of those documented, and what is
// purged is what it says.
func FuzzPurgeBody(f *testing.F) {
	for _, s := range []string{`{"urls":["/a"]}`, `{"all":true,"site":"a"}`, `{"tags":["a"]}`, `{`, `{"all":true}x`, `{"urls":[null]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		call, err := parsePurge(b)
		if err != nil {
			bad, ok := errors.AsType[*BadPurge](err)
			if !ok || bad.Reason == "" || bad.Cure == "" {
				t.Fatalf("%q: %#v", b, err)
			}
			return
		}
		if len(call.URLs) == 0 && !call.All {
			t.Fatalf("%q: an empty call", b)
		}
		if call.All && !bytes.Contains(b, []byte("true")) {
			t.Fatalf("%q: all", b)
		}
	})
}
