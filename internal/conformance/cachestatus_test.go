package conformance

import (
	"regexp"
	"strings"
	"testing"
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

func TestCST_9(t *testing.T) {
	t.Parallel()
	w := given(t, nil, "[[site.rule]]\npath = [\"/inner\"]\ninternal = true", honour)
	for _, g := range []*got{w.get("/inner"), w.do("TRACE", "/p"), w.get("/%00"), w.get("/none", cc("only-if-cached"))} {
		g.has("Cache-Status", "")
	}
	w.die()
	w.get("/p").has("Cache-Status", "")
}
