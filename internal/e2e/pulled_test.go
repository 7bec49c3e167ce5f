package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// visitors is how many come to a cold page at once.
const visitors = 1000

// Many visitors, one cold page: once as it is, once just after a purge, and once
// with an app that fails at first (case O14); and what may come in between.
func TestPulledCrowd(t *testing.T) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, *stage, *realtest.EdgeServer)
	}{
		{"one request for all", crowdOnColdPage},
		{"after a purge", crowdAfterPurge},
		{"the first one leaves", crowdWithoutLeader},
		{"the app fails", crowdOnFailure},
		{"the app fails those who have cookies", crowdWithCookiesOnFailure},
		{"a purge comes in between", crowdAcrossPurge},
	} {
		t.Run(test.name, func(t *testing.T) {
			app := newStage()
			s := setup{app: app, top: "[limits]\nconnections = 3000\nheader_timeout = " + waits}
			test.run(t, app, s.start(t))
		})
	}
}

func anybody(target string) func(int) request { return func(int) request { return get(target) } }

// crowdOnColdPage: while the app works on the page, a thousand ask for it.
func crowdOnColdPage(t *testing.T, app *stage, edge *realtest.EdgeServer) {
	release := make(chan struct{})
	p := app.on("/cold", act{fields: []string{"Cache-Control: max-age=3600"}, body: "page %d", release: release})
	c := gather(edge.Addr, visitors, anybody("/cold"))
	connected(t, edge, visitors)
	<-p.asked
	close(release)
	wantShared(t, c.answers(t), "page 1")
	p.wantRequests(t, 1)
	wantKept(t, send(t, edge.Addr, get("/cold")), "page 1")
}

// wantShared fails the test unless all got the page, which was asked for once.
func wantShared(t *testing.T, all []answer, body string) {
	t.Helper()
	wantAll(t, all, body)
	asked, collapsed := 0, 0
	for _, a := range all {
		switch m := member(t, a); {
		case has(m, "collapsed"):
			collapsed++
		case !has(m, "hit"):
			asked++
		}
	}
	if asked != 1 || collapsed == 0 {
		t.Errorf("%d say that they asked the app, %d that they waited for another; want 1 and most of them", asked, collapsed)
	}
}

func has(m map[string]string, name string) bool {
	_, ok := m[name]
	return ok
}

func crowdAfterPurge(t *testing.T, app *stage, edge *realtest.EdgeServer) {
	app.on("/cold", fresh("old"))
	wantStored(t, send(t, edge.Addr, get("/cold")), "old")
	wantKept(t, send(t, edge.Addr, get("/cold")), "old")
	release := make(chan struct{})
	p := app.on("/cold", act{fields: []string{"Cache-Control: max-age=3600"}, body: "new %d", release: release})
	purge(t, edge, "/cold")
	c := gather(edge.Addr, visitors, anybody("/cold"))
	connected(t, edge, visitors)
	<-p.asked
	close(release)
	wantShared(t, c.answers(t), "new 1")
	p.wantRequests(t, 1)
}

// crowdWithoutLeader: the visitor who started the fill is gone before the app
// answers. It is for all the others, and would be for none.
func crowdWithoutLeader(t *testing.T, app *stage, edge *realtest.EdgeServer) {
	for _, others := range []int{visitors, 0} {
		release := make(chan struct{})
		p := app.on("/cold", act{fields: []string{"Cache-Control: max-age=3600"}, body: "page %d", release: release})
		conn, err := realtest.Dial(edge.Addr)
		if err != nil {
			t.Fatal(err)
		}
		conn.Write(get("/cold").bytes())
		<-p.asked
		c := gather(edge.Addr, others, anybody("/cold"))
		connected(t, edge, others+1)
		conn.Close()
		close(release)
		wantAll(t, c.answers(t), "page 1")
		realtest.Eventually(t, "the page is kept", func() bool {
			return has(member(t, send(t, edge.Addr, get("/cold"))), "hit")
		})
		p.wantRequests(t, 1)
		purge(t, edge, "/cold")
	}
}

// crowdOnFailure: the first answer is an error. Who waited gets it, nobody waits
// for another one, and the next visitor is not told that the page cannot be kept.
func crowdOnFailure(t *testing.T, app *stage, edge *realtest.EdgeServer) {
	release := make(chan struct{})
	p := app.on("/cold", act{status: http.StatusInternalServerError, body: "broken %d", release: release}, fresh("page %d"))
	c := gather(edge.Addr, visitors, anybody("/cold"))
	connected(t, edge, visitors)
	<-p.asked
	close(release)
	// Who came late may have got the page that the second question brought.
	got := tally(c.answers(t))
	if failures := got[`500 "broken 1"`]; failures < 2 || failures+got[`200 "page 2"`] != visitors {
		t.Errorf("the visitors got %v, want the app's own error for all who waited, and the page else", got)
	}
	if n := p.requests(); n > 2 {
		t.Errorf("the app was asked %d times, want twice at most", n)
	}
	send(t, edge.Addr, get("/cold"))
	if a := send(t, edge.Addr, get("/cold")); !has(member(t, a), "hit") {
		t.Errorf("after the app is well again: %d %s (%s), want the page from memory", a.status, short(a.body), a.header.Get("Cache-Status"))
	}
}

// crowdWithCookiesOnFailure: what failed for one who is signed in is his alone.
func crowdWithCookiesOnFailure(t *testing.T, app *stage, edge *realtest.EdgeServer) {
	const others = 20
	release := make(chan struct{})
	p := app.on("/cold", act{status: http.StatusInternalServerError, body: "ann's %d", release: release}, fresh("page %d"))
	ann := background(edge.Addr, get("/cold", "Cookie: session=ann"))
	<-p.asked
	c := gather(edge.Addr, others, anybody("/cold"))
	connected(t, edge, others+1)
	close(release)
	for got := range tally(c.answers(t)) {
		if !strings.HasPrefix(got, `200 "page `) {
			t.Errorf("a stranger got %s, want a page", got)
		}
	}
	if r := <-ann; r.err != nil || r.status != http.StatusInternalServerError || r.body != "ann's 1" {
		t.Errorf("who asked got %d %s (%v), want the app's answer to him", r.status, short(r.body), r.err)
	}
}

// crowdAcrossPurge: a purge comes while the app works on the old page. Who asks
// after the purge never sees it, though the fill ends later than theirs.
func crowdAcrossPurge(t *testing.T, app *stage, edge *realtest.EdgeServer) {
	releaseOld, releaseNew := make(chan struct{}), make(chan struct{})
	p := app.on("/cold",
		act{fields: []string{"Cache-Control: max-age=3600"}, body: "old", release: releaseOld},
		act{fields: []string{"Cache-Control: max-age=3600"}, body: "new", release: releaseNew},
		fresh("newer"))
	first := background(edge.Addr, get("/cold"))
	<-p.asked
	early := gather(edge.Addr, visitors/2, anybody("/cold"))
	connected(t, edge, visitors/2+1)
	purge(t, edge, "/cold")
	late := gather(edge.Addr, visitors/2, anybody("/cold"))
	<-p.asked // not for the old page: it asks for itself
	connected(t, edge, visitors+1)
	close(releaseNew)
	wantAll(t, late.answers(t), "new")
	close(releaseOld)
	if r := <-first; r.err != nil || r.body != "old" {
		t.Errorf("who asked for the old page got %s (%v)", short(r.body), r.err)
	}
	wantAll(t, early.answers(t), "new")
	wantKept(t, send(t, edge.Addr, get("/cold")), "new")
	p.wantRequests(t, 2)
}

// The page is stored without the slash that the purge has, and the other way
// round.
func TestCaseO4(t *testing.T) {
	app := newStage()
	s := setup{app: app}
	edge := s.start(t)
	purges := map[string]func(*testing.T, string){
		"POST":        func(t *testing.T, path string) { purge(t, edge, path) },
		"POST of URL": func(t *testing.T, path string) { purge(t, edge, "http://"+host+path) },
		"PURGE": func(t *testing.T, path string) {
			if a := call(t, "PURGE", edge.Admin+path, "Host: "+host); a.status != http.StatusOK || !strings.Contains(a.body, `"seq"`) {
				t.Errorf("PURGE gives %d %s, want 200 and a receipt", a.status, short(a.body))
			}
		},
		"command": func(t *testing.T, path string) {
			if e := command(t, "purge", "--admin", edge.Admin, path); e.code != 0 {
				t.Errorf("ssiedge purge ends with %d: %s", e.code, e.stderr)
			}
		},
	}
	for how, purge := range purges {
		for _, paths := range [][2]string{{"/page", "/page/"}, {"/page/", "/page"}, {"/page?a=1", "/page/"}} {
			t.Run(how+" "+paths[0], func(t *testing.T) {
				app.on("/page", fresh("page %d"))
				purge(t, "/page")
				wantStored(t, send(t, edge.Addr, get(paths[0])), "page 1")
				wantKept(t, send(t, edge.Addr, get(paths[0])), "page 1")
				purge(t, paths[1])
				wantStored(t, send(t, edge.Addr, get(paths[0])), "page 2")
			})
		}
	}
}

// An unsafe method that the app took removes what was kept of its URL, and
// nothing else.
func TestPulledInvalidation(t *testing.T) {
	app := newStage()
	s := setup{
		app: app, files: map[string]string{"published.html": "published"},
		rest: "[[site.rule]]\npath = [\"/firm\"]\ninvalidate = false\n",
	}
	edge := s.start(t)
	const made, moved, bad, broken = http.StatusCreated, http.StatusSeeOther, http.StatusUnprocessableEntity, http.StatusInternalServerError
	for _, test := range []struct {
		name, path, method, target string
		status                     int
		gone                       bool
	}{
		{"POST", "/list", http.MethodPost, "/list", made, true},
		{"POST that redirects", "/list", http.MethodPost, "/list", moved, true},
		{"POST to the same page with a slash", "/list", http.MethodPost, "/list/", made, true},
		{"PUT", "/list", http.MethodPut, "/list", http.StatusNoContent, true},
		{"DELETE", "/list", http.MethodDelete, "/list", http.StatusNoContent, true},
		{"PATCH", "/list", http.MethodPatch, "/list", http.StatusOK, true},
		{"an unknown method", "/list", "FROB", "/list", http.StatusOK, true},
		{"POST that is refused", "/list", http.MethodPost, "/list", bad, false},
		{"POST that fails", "/list", http.MethodPost, "/list", broken, false},
		{"POST to another URL", "/list", http.MethodPost, "/other", made, false},
		{"POST with another query", "/list", http.MethodPost, "/list?a=1", made, false},
		{"OPTIONS", "/list", http.MethodOptions, "/list", http.StatusNoContent, false},
		{"HEAD", "/list", http.MethodHead, "/list", http.StatusOK, false},
		{"a rule says so", "/firm", http.MethodPost, "/firm", made, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			purge(t, edge, test.path)
			app.on(test.path, fresh("first"))
			wantStored(t, send(t, edge.Addr, get(test.path)), "first")
			path, _, _ := strings.Cut(test.target, "?")
			answer := act{status: test.status}
			if test.status == moved {
				answer.fields = []string{"Location: /elsewhere"}
			}
			app.on(path, answer)
			if a := send(t, edge.Addr, request{method: test.method, target: test.target}); a.status != test.status {
				t.Fatalf("%s gives %d, want %d", test.method, a.status, test.status)
			}
			app.on(test.path, fresh("second"))
			if a := send(t, edge.Addr, get(test.path)); test.gone {
				wantStored(t, a, "second")
			} else {
				wantKept(t, a, "first")
			}
		})
	}
	t.Run("published pages stay", func(t *testing.T) {
		settle(t)
		app.on("/published", act{status: made})
		send(t, edge.Addr, form("/published", "a=1"))
		a := send(t, edge.Addr, get("/published"))
		wantBody(t, a, "published")
		wantHit(t, a, "file")
	})
	t.Run("a fill under way is not kept", func(t *testing.T) {
		release := make(chan struct{})
		p := app.on("/under-way", act{fields: []string{"Cache-Control: max-age=3600"}, body: "before", release: release}, act{status: made}, fresh("after"))
		slow := background(edge.Addr, get("/under-way"))
		<-p.asked
		if a := send(t, edge.Addr, form("/under-way", "a=1")); a.status != made {
			t.Fatalf("POST gives %d, want %d", a.status, made)
		}
		close(release)
		if r := <-slow; r.err != nil || r.body != "before" {
			t.Fatalf("who asked before got %s (%v)", short(r.body), r.err)
		} else {
			wantMember(t, r.answer, "!stored", "detail=invalidated")
		}
		wantStored(t, send(t, edge.Addr, get("/under-way")), "after")
	})
}

// What the answer says of where it came from, and how old it is.
func TestPulledStatus(t *testing.T) {
	app := newStage()
	s := setup{app: app, rest: "[[site.rule]]\npath = [\"/ruled\"]\ncache = \"1h\"\n[[site.rule]]\npath = [\"/off\"]\ncache = \"off\"\n"}
	edge := s.start(t)
	t.Run("stored, then hit", func(t *testing.T) {
		p := app.on("/p", act{fields: []string{"Age: 100", "Cache-Control: max-age=1000", `ETag: "x"`, "X-App: 1"}, body: "page"})
		stored := send(t, edge.Addr, get("/p"))
		wantBody(t, stored, "page")
		wantMember(t, stored, "fwd=uri-miss", "stored", "!hit", "!detail")
		hit := send(t, edge.Addr, get("/p"))
		wantKept(t, hit, "page")
		head := send(t, edge.Addr, request{method: http.MethodHead, target: "/p"})
		wantHit(t, head, "memory")
		for _, a := range []answer{stored, hit, head} {
			for name, want := range map[string]string{
				"Etag": `"x"`, "X-App": "1", "Via": "1.1 ssiedge", "Cache-Control": "max-age=1000", "Content-Length": "4",
				"Date": stored.header.Get("Date"), "Content-Type": "text/html; charset=utf-8",
			} {
				wantField(t, a, name, want)
			}
			if age := number(a.header.Get("Age")); age < 100 || age > 500 {
				t.Errorf("Age is %d, want the app's 100 and the time since", age)
			}
		}
		age, ttl := number(hit.header.Get("Age")), number(member(t, hit)["ttl"])
		if ttl > 900 || age+ttl < 999 || age+ttl > 1000 {
			t.Errorf("Age %d, ttl %d: want them to make up 1000", age, ttl)
		}
		p.wantRequests(t, 1)
	})
	t.Run("a rule's lifetime", func(t *testing.T) {
		app.on("/ruled", act{fields: []string{"Cache-Control: private, max-age=0"}, body: "ruled"})
		wantStored(t, send(t, edge.Addr, get("/ruled")), "ruled")
		a := send(t, edge.Addr, get("/ruled"))
		wantKept(t, a, "ruled")
		if ttl := number(member(t, a)["ttl"]); ttl < 3000 || ttl > 3600 {
			t.Errorf("ttl is %d, want an hour", ttl)
		}
	})
	for name, test := range map[string]struct {
		act
		reason string
	}{
		"private":   {act{fields: []string{"Cache-Control: private, max-age=60"}}, "private"},
		"no-store":  {act{fields: []string{"Cache-Control: no-store"}}, "no-store"},
		"silent":    {act{}, "no-lifetime"},
		"cookie":    {act{fields: []string{"Cache-Control: max-age=60", "Set-Cookie: a=1"}}, "set-cookie"},
		"vary-star": {act{fields: []string{"Cache-Control: max-age=60", "Vary: *"}}, "vary"},
		"expired":   {act{fields: []string{"Age: 61", "Cache-Control: max-age=60"}}, "expired"},
	} {
		t.Run("not kept: "+name, func(t *testing.T) {
			test.act.body = "not kept %d"
			p := app.on("/"+name, test.act)
			for range 2 {
				a := send(t, edge.Addr, get("/"+name))
				wantMember(t, a, "fwd=uri-miss", "detail="+test.reason, "!stored", "!hit", "!ttl")
			}
			p.wantRequests(t, 2)
		})
	}
	t.Run("off", func(t *testing.T) {
		p := app.on("/off", fresh("off %d"))
		send(t, edge.Addr, get("/off"))
		a := send(t, edge.Addr, get("/off"))
		wantBody(t, a, "off 2")
		wantMember(t, a, "!stored", "!hit")
		p.wantRequests(t, 2)
	})
}

// A page whose time is over is served while one request asks for the next.
func TestPulledStaleWhileRevalidate(t *testing.T) {
	app := newStage()
	s := setup{app: app}
	edge := s.start(t)
	release := make(chan struct{})
	second := fresh("page 2")
	second.release = release
	p := app.on("/p", overdue("page 1", "stale-while-revalidate=600"), second)
	wantStored(t, send(t, edge.Addr, get("/p")), "page 1")
	<-p.asked
	c := gather(edge.Addr, 50, anybody("/p"))
	all := c.answers(t) // though the app does not answer
	<-p.asked           // for the next page: perhaps after all answers
	for _, a := range all {
		wantBody(t, a, "page 1")
		wantMember(t, a, "hit")
		if age, ttl := number(a.header.Get("Age")), member(t, a)["ttl"]; age < 100 || !strings.HasPrefix(ttl, "-") {
			t.Errorf("Age %d, ttl %s of a stale page: want 100 at least, and a negative one", age, ttl)
		}
	}
	p.wantRequests(t, 2)
	close(release)
	realtest.Eventually(t, "the new page is there", func() bool { return send(t, edge.Addr, get("/p")).body == "page 2" })
	wantKept(t, send(t, edge.Addr, get("/p")), "page 2")
	p.wantRequests(t, 2)
}

// Where the app fails, a page whose time is over will do, if it may.
func TestPulledStaleIfError(t *testing.T) {
	app := newStage()
	s := setup{app: app}
	edge := s.start(t)
	broken := act{status: http.StatusInternalServerError, body: "broken"}
	app.on("/p", overdue("page", "stale-if-error=600"), broken)
	app.on("/strict", overdue("page", "stale-while-revalidate=0, stale-if-error=0"), broken)
	wantStored(t, send(t, edge.Addr, get("/p")), "page")
	for range 3 {
		a := send(t, edge.Addr, get("/p"))
		wantBody(t, a, "page")
		if age, ttl := number(a.header.Get("Age")), member(t, a)["ttl"]; age < 100 || !strings.HasPrefix(ttl, "-") {
			t.Errorf("Age %d, ttl %s of a stale page: want 100 at least, and a negative one (%s)", age, ttl, a.header.Get("Cache-Status"))
		}
	}
	send(t, edge.Addr, get("/strict"))
	if a := send(t, edge.Addr, get("/strict")); a.status != http.StatusInternalServerError || a.body != "broken" {
		t.Errorf("without a window: %d %s, want the app's failure", a.status, short(a.body))
	}
	app.on("/p", fresh("well again"))
	wantStored(t, send(t, edge.Addr, get("/p")), "well again")
}

// A key whose answer cannot be kept is known: nobody waits for another's, until
// an answer can be kept again.
func TestPulledNotKeepable(t *testing.T) {
	app := newStage()
	s := setup{app: app}
	edge := s.start(t)
	signedIn := get("/p", "Cookie: session=ann")

	app.on("/p", act{fields: []string{"Cache-Control: private"}, body: "private"})
	wantMember(t, send(t, edge.Addr, get("/p")), "detail=private", "!stored")
	release := make(chan struct{})
	p := app.on("/p", act{fields: []string{"Cache-Control: private"}, body: "private", release: release})
	named, unnamed := gather(edge.Addr, 20, func(int) request { return signedIn }), gather(edge.Addr, 20, anybody("/p"))
	for range 40 { // all of them are with the app at once
		<-p.asked
	}
	close(release)
	for _, a := range append(named.answers(t), unnamed.answers(t)...) {
		wantBody(t, a, "private")
		wantMember(t, a, "!stored")
	}

	p = app.on("/p", fresh("for all %d"))
	a := send(t, edge.Addr, signedIn)
	wantBody(t, a, "for all 1") // and not kept: who is signed in may have got his own
	wantMember(t, a, "!stored")
	wantStored(t, send(t, edge.Addr, get("/p")), "for all 2")
	wantKept(t, send(t, edge.Addr, signedIn), "for all 2")
	p.wantRequests(t, 2)
}

// A fill without the visitor's cookies may not sign him out: what the app
// answers to nobody is given to nobody who has cookies.
func TestPulledNobodySignedOut(t *testing.T) {
	session := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		c, err := r.Cookie("session")
		if err != nil {
			http.SetCookie(w, &http.Cookie{Name: "session", Value: "nobody"})
			w.Write([]byte("who are you?"))
			return
		}
		w.Write([]byte("hello " + c.Value))
	})
	for _, policy := range []string{`"refuse"`, `"strip"`} {
		t.Run(policy, func(t *testing.T) {
			s := setup{app: session, rest: "[[site.rule]]\npath = [\"/*\"]\ncache = \"1h\"\nset_cookie = " + policy + "\n"}
			edge := s.start(t)
			for range 2 {
				for _, target := range []string{"/p", "/q?a=1"} {
					a := send(t, edge.Addr, get(target, "Cookie: session=ann"))
					wantField(t, a, "Set-Cookie", "")
					if policy == `"refuse"` {
						wantBody(t, a, "hello ann")
					} else {
						wantBody(t, a, "who are you?") // the page is for everybody, as the rule says
					}
				}
			}
			a := send(t, edge.Addr, get("/new"))
			wantBody(t, a, "who are you?")
			wantField(t, a, "Set-Cookie", "session=nobody")
			if policy == `"strip"` {
				wantField(t, send(t, edge.Addr, get("/new")), "Set-Cookie", "")
			}
		})
	}
}
