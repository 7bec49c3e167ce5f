package conformance

import (
	"testing"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// Section 27: requests for the same page at the same time.

// waiting begins requests, the first of which has led the app to a gate, and
// gives what opens it and the answers.
func (w *world) waiting(target string, requests ...[]string) (open func() []*got) {
	w.t.Helper()
	answers := make([]chan *got, len(requests))
	for i, fields := range requests {
		answers[i] = make(chan *got, 1)
		go func() { answers[i] <- w.get(target, fields...) }()
		if i == 0 {
			realtest.Eventually(w.t, "the app is asked", func() bool { return len(w.requests()) == 1 })
		}
	}
	return func() (all []*got) {
		for _, a := range answers {
			all = append(all, <-a)
		}
		return all
	}
}

// atGate is an app that answers when the gate is open, with what it was asked.
func atGate(gate chan struct{}, fields ...string) script {
	return func(q *asked) string {
		<-gate
		return message(200, q.Header.Get("Foo")+q.Header.Get("Cookie")+q.Header.Get("Authorization"), fields...)
	}
}

// Whoever waits gets what was made for another only if it may be stored, and
// its Vary matches.
func TestCOL_2(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	w := given(t, atGate(gate, cc("max-age=60"), "Vary: Foo"))
	vary := w.waiting("/p", []string{"Foo: 1"}, []string{"Foo: 1"}, []string{"Foo: 2"}, []string{"Foo: 2"})
	close(gate)
	for i, g := range vary() {
		g.is(200, []string{"1", "1", "2", "2"}[i])
	}
	gate = make(chan struct{})
	own := given(t, atGate(gate, cc("private, max-age=60")))
	private := own.waiting("/p", []string{"Foo: 1"}, []string{"Foo: 2"}, []string{"Cookie: a=b"})
	close(gate)
	for i, g := range private() {
		g.is(200, []string{"1", "2", "a=b"}[i])
	}
}

// A request with Authorization gets nobody's answer but his own, unless it may
// be stored; one that is unsafe, or wants a new answer, waits for nobody.
func TestCOL_6(t *testing.T) {
	t.Parallel()
	_, own := cut(auth)
	for _, second := range []struct {
		fields []string
		want   string
	}{
		{[]string{auth, "Foo: 2"}, "2" + own},
		{[]string{"Foo: 3"}, "3"}, // alone: what he got may be kept, and is for all
	} {
		gate := make(chan struct{})
		w := given(t, atGate(gate, cc("max-age=60")), honour)
		open := w.waiting("/p", []string{auth}, second.fields)
		close(gate)
		answers := open()
		answers[0].is(200, own)
		answers[1].is(200, second.want)
	}
	gate := make(chan struct{})
	w := given(t, func(q *asked) string {
		if q.n == 1 {
			<-gate
		}
		return message(200, q.Method, cc("max-age=60"))
	}, honour)
	open := w.waiting("/p", nil)
	w.post("POST", "/p", "x").is(200, "POST")
	w.get("/p", cc("no-cache")).is(200, "GET")
	w.get("/p", cc("no-store")).is(200, "GET")
	close(gate)
	open()
}
