package e2e

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// stage is an app whose answers a test may change and hold back.
type stage struct {
	mu    sync.Mutex
	plays map[string]*play // by path
}

// play is what the app does at one path.
type play struct {
	asked chan *http.Request // one for each request, before it is answered

	mu    sync.Mutex
	count int
	acts  []act // of the first request, the second ...; the last is for all that follow
}

// act is one answer.
type act struct {
	status  int             // 0: 200
	fields  []string        // "Name: value"
	body    string          // "%d" in it becomes the number of the request, from 1 on
	release <-chan struct{} // the answer waits until this is closed; nil: it does not wait
}

func newStage() *stage { return &stage{plays: map[string]*play{}} }

// on says what happens at a path from now on. Requests are counted anew.
func (s *stage) on(path string, acts ...act) *play {
	p := &play{asked: make(chan *http.Request, 4096), acts: acts}
	s.mu.Lock()
	s.plays[path] = p
	s.mu.Unlock()
	return p
}

// ServeHTTP plays what a path has; else it answers 404.
func (s *stage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	p := s.plays[r.URL.Path]
	s.mu.Unlock()
	if p == nil {
		http.NotFound(w, r)
		return
	}
	p.mu.Lock()
	p.count++
	number := p.count
	a := p.acts[min(number, len(p.acts))-1]
	p.mu.Unlock()
	io.Copy(io.Discard, r.Body)
	p.asked <- r
	if a.release != nil {
		select {
		case <-a.release:
		case <-r.Context().Done(): // the edge is gone
		}
	}
	a.write(w, number)
}

func (a act) write(w http.ResponseWriter, number int) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	for _, field := range a.fields {
		name, value, _ := strings.Cut(field, ": ")
		w.Header().Add(name, value)
	}
	if a.status != 0 {
		w.WriteHeader(a.status)
	}
	io.WriteString(w, strings.ReplaceAll(a.body, "%d", strconv.Itoa(number)))
}

// requests says how many requests have come.
func (p *play) requests() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count
}

// wantRequests fails the test unless that many requests have come.
func (p *play) wantRequests(t testing.TB, want int) {
	t.Helper()
	if got := p.requests(); got != want {
		t.Errorf("the app was asked %d times, want %d", got, want)
	}
}

// fresh is an act whose page may be kept for an hour.
func fresh(body string) act { return act{fields: []string{"Cache-Control: max-age=3600"}, body: body} }

// overdue is an act whose page is old when it comes: kept only for the windows
// that it states.
func overdue(body, windows string) act {
	return act{fields: []string{"Age: 100", "Cache-Control: max-age=60, " + windows}, body: body}
}

// crowd sends a request for each of n visitors at once, each over a connection
// of his own, and gives their answers when all have come.
type crowd struct {
	results chan result
	n       int
}

func gather(addr string, n int, of func(i int) request) *crowd {
	c := &crowd{results: make(chan result, n), n: n}
	for i := range n {
		go func() {
			a, err := exchange(addr, of(i))
			c.results <- result{a, err}
		}()
	}
	return c
}

func (c *crowd) answers(t testing.TB) []answer {
	t.Helper()
	var all []answer
	for range c.n {
		r := <-c.results
		if r.err != nil {
			t.Errorf("a visitor got no answer: %v", r.err)
			continue
		}
		all = append(all, r.answer)
	}
	return all
}

// tally counts equal answers.
func tally(all []answer) map[string]int {
	counts := map[string]int{}
	for _, a := range all {
		counts[fmt.Sprintf("%d %s", a.status, short(a.body))]++
	}
	return counts
}

// wantAll fails the test unless all got 200 and that body.
func wantAll(t testing.TB, all []answer, body string) {
	t.Helper()
	if got := tally(all); got[fmt.Sprintf("200 %q", body)] != len(all) {
		t.Errorf("%d visitors got %v, want 200 %q for each", len(all), got, body)
	}
}

// connected waits until the edge has that many connections of visitors.
func connected(t testing.TB, edge *realtest.EdgeServer, n int) {
	t.Helper()
	realtest.Eventually(t, fmt.Sprintf("%d visitors are connected", n), func() bool {
		return sum(call(t, http.MethodGet, edge.Admin+"/metrics").body, "ssiedge_connections", "") >= float64(n)
	})
}

// purge purges over the admin endpoint.
func purge(t testing.TB, edge *realtest.EdgeServer, urls ...string) {
	t.Helper()
	body := `{"urls":["` + strings.Join(urls, `","`) + `"]}`
	if a := post(t, edge.Admin+"/purge", "application/json", body); a.status != http.StatusOK {
		t.Fatalf("the purge of %s gives %d %s, want 200", body, a.status, short(a.body))
	}
}

// member is ssiedge's member of Cache-Status (RFC 9211): its parameters by
// name; "" for those without a value.
func member(t testing.TB, a answer) map[string]string {
	t.Helper()
	line := a.header.Get("Cache-Status")
	parts := strings.Split(line, ";")
	if parts[0] != "ssiedge" {
		t.Fatalf("Cache-Status is %q, want it to begin with ssiedge", line)
	}
	parameters := map[string]string{}
	for _, part := range parts[1:] {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		parameters[name] = value
	}
	return parameters
}

// wantMember fails the test unless Cache-Status has these parameters and none
// of those whose name is written with a "!" before it.
func wantMember(t testing.TB, a answer, parameters ...string) {
	t.Helper()
	got := member(t, a)
	for _, want := range parameters {
		name, value, _ := strings.Cut(want, "=")
		absent, unwanted := strings.CutPrefix(name, "!")
		if found, ok := got[absent]; ok == unwanted || !unwanted && found != value {
			t.Errorf("Cache-Status is %q, want %s", a.header.Get("Cache-Status"), want)
		}
	}
}

// wantStored fails the test unless the answer is a page of the app that is kept
// from now on.
func wantStored(t testing.TB, a answer, body string) {
	t.Helper()
	wantBody(t, a, body)
	wantMember(t, a, "stored", "!hit")
}

// wantKept fails the test unless the answer is a kept page, from memory.
func wantKept(t testing.TB, a answer, body string) {
	t.Helper()
	wantBody(t, a, body)
	wantHit(t, a, "memory")
}

// number reads a number; -1 where there is none.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}
	return n
}
