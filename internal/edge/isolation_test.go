package edge

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// TestVisitorsAreNeverMixed has fifty visitors at once, each with a cookie of
// his own: what he gets must show it, in the page, in its fragments and in the
// app's answers, and nobody else's. Pages are of many sizes, so that a buffer
// that is given back too early shows too.
func TestVisitorsAreNeverMixed(t *testing.T) {
	const visitors, rounds = 50, 12
	app := func(w http.ResponseWriter, r *http.Request) {
		who, _ := r.Cookie("who")
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Set-Cookie", "seen="+who.Value)
		fill := strings.Repeat(who.Value+",", len(who.Value)*len(r.URL.RawQuery)*5)
		if r.URL.Path == "/page" {
			fmt.Fprintf(w, `{%s %s <!--#include virtual="/frag?%s" --> %s}`, who.Value, body, who.Value, fill)
			return
		}
		fmt.Fprintf(w, `{%s <!--#echo var="cookie_who" --> %s}`, who.Value, fill)
	}
	e := newEdge(t, withApp(t, app), withFiles(t, map[string]string{
		"p.html":   `{<!--#echo var="cookie_who" --> <!--#include virtual="/frag?1" --> <!--#include virtual="/inc" --> <!--#include virtual="/frag?2222" --> <!--#echo var="http_x_who" -->}`,
		"inc.html": `{<!--#echo var="cookie_who" --><!--#include virtual="/frag?33" -->}`,
	}))
	var wg sync.WaitGroup
	for v := range visitors {
		wg.Go(func() {
			c := realtest.Client(e.addr)
			defer c.CloseIdleConnections()
			me := fmt.Sprintf("visitor-%d-%s", v, strings.Repeat("x", v%7))
			for round := range rounds {
				visit(t, c, me, round)
			}
		})
	}
	wg.Wait()
}

// visit sends one request as me and looks at what comes.
func visit(t *testing.T, c *http.Client, me string, round int) {
	method, target, body := "GET", "/p", ""
	switch round % 4 {
	case 1:
		target = "/page?" + strings.Repeat("q", round)
	case 2:
		method, target, body = "POST", "/page?xyz", "body of "+me
	case 3:
		target = "/direct?abc"
	}
	q, err := http.NewRequest(method, "http://a"+target, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return
	}
	q.Header.Set("Cookie", "who="+me)
	q.Header.Set("X-Who", me)
	response, err := c.Do(q)
	if err != nil {
		t.Error(err)
		return
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != 200 {
		t.Errorf("%s: %d (%v)", me, response.StatusCode, err)
	}
	if cookie := response.Header.Get("Set-Cookie"); cookie != "" && cookie != "seen="+me {
		t.Errorf("%s got the cookie %q", me, cookie)
	}
	if cc := response.Header.Get("Cache-Control"); !strings.Contains(cc, "private") {
		t.Errorf("%s %s: Cache-Control %q of a personal answer", method, target, cc)
	}
	text := string(got)
	if strings.Count(text, me) < 2 || strings.Count(text, "{") != strings.Count(text, "}") || strings.Contains(text, "[error]") {
		t.Errorf("%s: %s %s gave %.300q", me, method, target, text)
	}
	if rest := strings.ReplaceAll(text, me, ""); strings.Contains(rest, "visitor-") {
		t.Errorf("%s got what is another visitor's: %.300q", me, text)
	}
}
