package conformance

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// Section 26: Cache-Status.

// cacheStatuses are members for all kinds of answers.
func cacheStatuses(w *world) map[string]string {
	w.on("/kept", tagged(`"a"`))
	w.on("/not", ok("x", cc("no-store")))
	w.on("/old", inTurn(ok("old", cc("max-age=10, stale-while-revalidate=600"), "Age: 60"), ok("old", cc("max-age=10, stale-while-revalidate=600"), "Age: 60")))
	w.on("/error", inTurn(ok("old", cc("max-age=10, stale-if-error=600"), "Age: 60"), say(503, "failed")))
	all := map[string]string{
		"miss": w.get("/kept").cacheStatus(), "hit": w.get("/kept").cacheStatus(), "304": w.get("/kept", inm(`"a"`)).cacheStatus(),
		"206": w.get("/kept", rng("0-1")).cacheStatus(), "not": w.get("/not").cacheStatus(), "POST": w.post("POST", "/p", "x").cacheStatus(),
	}
	w.get("/old")
	w.get("/error")
	all["while"], all["error"] = w.get("/old").cacheStatus(), w.get("/error").cacheStatus()
	return all
}

func TestCST_2(t *testing.T) {
	t.Parallel()
	w := given(t, ok("x"))
	form := regexp.MustCompile(`^ssiedge(; (hit|stored|collapsed|collapsed=\?0|fwd=[a-z-]+|fwd-status=\d{3}|ttl=-?\d+|detail=[a-z0-9-]+|key="[ -~]*"))+$`)
	for what, s := range cacheStatuses(w) {
		if !form.MatchString(s) {
			t.Errorf("%s: %q", what, s)
		}
	}
}

func TestCST_3(t *testing.T) {
	t.Parallel()
	w := given(t, ok("x"))
	for what, s := range cacheStatuses(w) {
		hit, forwarded := strings.Contains(s, "; hit"), strings.Contains(s, "; fwd=")
		if hit == forwarded {
			t.Errorf("%s: %q", what, s)
		}
		switch what {
		case "hit", "304", "206", "while":
			if !hit {
				t.Errorf("%s is no hit: %q", what, s)
			}
		case "miss", "not", "POST":
			if !forwarded {
				t.Errorf("%s did not go to the app: %q", what, s)
			}
		}
	}
}

// DESIGN.md: detail is always there, key never.
func TestCST_8(t *testing.T) {
	t.Parallel()
	w := given(t, ok("x"))
	for what, s := range cacheStatuses(w) {
		if strings.Contains(s, "key=") {
			t.Errorf("%s: %q", what, s)
		}
	}
	w.on("/p", tagged(`"a"`))
	w.get("/p")
	w.get("/p").says("detail=memory")
}

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

func cutAuth() (value, name string) {
	name, value = cut(auth)
	return value, name
}

// A request with Authorization gets nobody's answer but his own, unless it may
// be stored; one that is unsafe, or wants a new answer, waits for nobody.
func TestCOL_6(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	w := given(t, atGate(gate, cc("max-age=60")), honour)
	open := w.waiting("/p", []string{auth}, []string{auth, "Foo: 2"}, []string{"Foo: 3"})
	close(gate)
	own, _ := cutAuth()
	for i, g := range open() {
		g.is(200, []string{own, "2" + own, "3"}[i])
	}
	gate = make(chan struct{})
	first := true
	w = given(t, func(q *asked) string {
		if q.n == 1 && first {
			<-gate
		}
		return message(200, q.Method, cc("max-age=60"))
	}, honour)
	open = w.waiting("/p", nil)
	w.post("POST", "/p", "x").is(200, "POST")
	w.get("/p", cc("no-cache")).is(200, "GET")
	w.get("/p", cc("no-store")).is(200, "GET")
	close(gate)
	open()
}

func TestCST_9(t *testing.T) {
	t.Parallel()
	w := given(t, nil, "[[site.rule]]\npath = [\"/inner\"]\ninternal = true", honour)
	for _, g := range []*got{w.get("/inner"), w.do("TRACE", "/p"), w.get("/%00"), w.get("/none", cc("only-if-cached"))} {
		g.has("Cache-Status", "")
	}
	w.die()
	w.get("/p").has("Cache-Status", "")
}

func TestCST_4(t *testing.T) {
	t.Parallel()
	w := given(t, numbered(cc("max-age=60")), honour, "[[site.rule]]\npath = [\"/bypass\"]\nbypass = {headers = [\"X-Bypass\"]}")
	w.get("/p").says("fwd=uri-miss")
	w.post("POST", "/p", "x").says("fwd=method")
	w.get("/bypass", "X-Bypass: 1").says("fwd=bypass")
	w.on("/stale", numbered(staleFrom(`ETag: "a"`)...))
	w.get("/stale").says("fwd=uri-miss")
	w.get("/stale").says("fwd=stale")
	w.on("/vary", numbered(cc("max-age=60"), "Vary: Foo"))
	w.get("/vary", "Foo: 1").says("fwd=uri-miss")
	w.get("/vary", "Foo: 2").says("fwd=vary-miss")
	w.get("/p")
	w.get("/p", cc("no-cache")).says("fwd=request")
}
