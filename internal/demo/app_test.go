package demo

import (
	"context"
	"io"
	"io/fs"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// testApp is the app with the embedded site, quick where the demo is slow.
func testApp(t *testing.T) *app {
	t.Helper()
	site, err := fs.Sub(embedded, "site")
	if err != nil {
		t.Fatal(err)
	}
	a, err := newApp(site)
	if err != nil {
		t.Fatal(err)
	}
	a.slow = time.Millisecond
	a.now = func() time.Time { return time.Date(2026, 5, 1, 13, 50, 0, 0, time.UTC) }
	return a
}

// serve runs a with a client that keeps cookies and follows no redirect.
func serve(t *testing.T, a *app) (*http.Client, string) {
	t.Helper()
	s := httptest.NewServer(a.handler())
	t.Cleanup(s.Close)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := s.Client()
	c.Jar = jar
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c, s.URL
}

// ask sends a request and gives the answer and its body. form nil: a GET.
func ask(t *testing.T, c *http.Client, url string, form url.Values, fields ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequest("GET", url, nil)
	if form != nil {
		r, err = http.NewRequest("POST", url, strings.NewReader(form.Encode()))
	}
	if err != nil {
		t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(fields); i += 2 {
		r.Header.Set(fields[i], fields[i+1])
	}
	res, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(b)
}

func TestAnswers(t *testing.T) {
	c, base := serve(t, testApp(t))
	tests := []struct {
		path   string
		form   url.Values
		status int
		holds  string
	}{
		{"/today", nil, 200, `<!--# include virtual="/fragments/tide" -->`},
		{"/today", nil, 200, "Today, Friday, 1 May"},
		{"/today", nil, 200, `<!--# set var="page" value="today" -->`},
		{"/towns?q=market", nil, 200, "2 towns match"},
		{"/towns", url.Values{"q": {"SOUP"}}, 200, "1 town matches"},
		{"/towns", url.Values{"q": {"zebra"}}, 200, "No town matches"},
		{"/towns", url.Values{"q": {`"><!--# include virtual="/x" -->`}}, 200, `value="&#34;&gt;&lt;!--# include`},
		{"/towns/atlantis", url.Values{}, 404, "Nothing there but sea"},
		{"/no<b>where", nil, 404, "/no&lt;b&gt;where"},
		{"/towns/old-quay", url.Values{}, 303, ""},
		{"/login", url.Values{"user": {" "}}, 422, "A name has 1 to 40 characters."},
		{"/fragments/login", nil, 200, `<a href="/login">Sign in</a>`},
		{"/fragments/trip", nil, 200, "Sign in"},
		{"/fragments/tide", nil, 200, "read at <time>13:50:00.000</time>"},
		{"/fragments/ferries", nil, 200, "<td>14:00</td>"},
		{"/fragments/radio", nil, 500, "the radio is on fire"},
		{"/fragments/anatomy?page=how", nil, 200, "<code>how.html</code>"},
		{"/fragments/anatomy?page=../demo", nil, 404, ""},
		{"/fragments/anatomy", nil, 404, ""},
		{"/fragments/ledger", nil, 200, "<code>GET /today</code>"},
	}
	for _, tt := range tests {
		res, body := ask(t, c, base+tt.path, tt.form)
		if res.StatusCode != tt.status || !strings.Contains(body, tt.holds) {
			t.Errorf("%s %v: status %d, want %d with %q, got\n%s", tt.path, tt.form, res.StatusCode, tt.status, tt.holds, body)
		}
	}
}

func TestSignInAndOut(t *testing.T) {
	c, base := serve(t, testApp(t))
	name := `<b>Zoë</b><!--# echo var="x" -->`
	res, _ := ask(t, c, base+"/login", url.Values{"user": {name}}, "Referer", base+"/login")
	if res.StatusCode != 303 || res.Header.Get("Location") != "/" {
		t.Fatalf("login: status %d to %q, want 303 to /", res.StatusCode, res.Header.Get("Location"))
	}
	res, body := ask(t, c, base+"/fragments/login", nil)
	if want := "&lt;b&gt;Zoë&lt;/b&gt;&lt;!--# echo"; !strings.Contains(body, want) {
		t.Errorf("greeting holds no %q:\n%s", want, body)
	}
	if got := res.Header.Get("Cache-Control"); got != "private, no-store" {
		t.Errorf("greeting: Cache-Control %q, want private, no-store", got)
	}
	res, _ = ask(t, c, base+"/towns/old-quay", url.Values{}, "Referer", base+"/")
	if res.StatusCode != 303 || res.Header.Get("Location") != "/towns/old-quay" {
		t.Errorf("adding a town: status %d to %q, want 303 to /towns/old-quay", res.StatusCode, res.Header.Get("Location"))
	}
	if _, body = ask(t, c, base+"/fragments/trip", nil); !strings.Contains(body, "Old Quay") {
		t.Errorf("the trip lacks Old Quay:\n%s", body)
	}
	res, _ = ask(t, c, base+"/logout", url.Values{}, "Referer", base+"/towns")
	if res.StatusCode != 303 || res.Header.Get("Location") != "/towns" {
		t.Errorf("logout: status %d to %q, want 303 to /towns", res.StatusCode, res.Header.Get("Location"))
	}
	if _, body = ask(t, c, base+"/fragments/login", nil); !strings.Contains(body, "Sign in") {
		t.Errorf("still greeted after signing out:\n%s", body)
	}
}

func TestFormsOfOtherSitesAreRefused(t *testing.T) {
	c, base := serve(t, testApp(t))
	form := url.Values{"user": {"Eve"}}
	tests := []struct {
		name   string
		fields []string
		status int
	}{
		{"the site's own page", []string{"Sec-Fetch-Site", "same-origin", "Origin", base}, 303},
		{"no browser", nil, 303},
		{"another site", []string{"Sec-Fetch-Site", "cross-site", "Origin", "http://evil.example"}, 403},
		{"another site, old browser", []string{"Origin", "http://evil.example"}, 403},
		{"another port of this host", []string{"Origin", "http://127.0.0.1:1"}, 403},
	}
	for _, tt := range tests {
		if res, _ := ask(t, c, base+"/login", form, tt.fields...); res.StatusCode != tt.status {
			t.Errorf("%s: status %d, want %d", tt.name, res.StatusCode, tt.status)
		}
	}
}

func TestBackStaysOnTheSite(t *testing.T) {
	tests := []struct{ referer, want string }{
		{"http://here.example/towns/old-quay", "/towns/old-quay"},
		{"http://here.example/towns?q=x", "/towns"},
		{"http://here.example/S%C3%A3o", "/S%C3%A3o"},
		{"http://here.example", "/"},
		{"http://here.example//evil.example/x", "/"},
		{`http://here.example/\evil.example`, "/%5Cevil.example"},
		{"http://evil.example/towns", "/"},
		{"/towns", "/"},
		{"", "/"},
		{":", "/"},
	}
	for _, tt := range tests {
		r := httptest.NewRequest("POST", "http://here.example/logout", nil)
		r.Header.Set("Referer", tt.referer)
		if got := back(r); got != tt.want {
			t.Errorf("from %q back to %q, want %q", tt.referer, got, tt.want)
		}
	}
}

func TestLargeFormIsRefused(t *testing.T) {
	c, base := serve(t, testApp(t))
	res, _ := ask(t, c, base+"/login", url.Values{"user": {strings.Repeat("a", maxForm+1)}})
	if res.StatusCode != 422 {
		t.Errorf("status %d, want 422", res.StatusCode)
	}
}

func TestBuoyEndsWithItsRequest(t *testing.T) {
	a := testApp(t)
	a.silent = time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		a.handler().ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", "/fragments/buoy", nil))
	}()
	cancel()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Fatal("the buoy goes on after its request was cancelled")
	}
}

func TestLedger(t *testing.T) {
	l := newLedger()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				l.add("GET /b", 2)
				l.add("GET /a", 3)
				l.lines()
			}
		})
	}
	wg.Wait()
	got := l.lines()
	want := []line{{"GET /a", 400, 1200}, {"GET /b", 400, 800}}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestLedgerNamesRoutesOnly(t *testing.T) {
	a := testApp(t)
	c, base := serve(t, a)
	for _, path := range []string{"/x1", "/x2", "/towns?q=a", "/fragments/tide"} {
		ask(t, c, base+path, nil)
	}
	var routes []string
	for _, l := range a.ledger.lines() {
		routes = append(routes, l.Route)
		if l.Bytes == 0 {
			t.Errorf("%s: no bytes counted", l.Route)
		}
	}
	if got, want := strings.Join(routes, ", "), "GET /fragments/tide, GET /towns, anything else"; got != want {
		t.Errorf("routes %s, want %s", got, want)
	}
}

func TestAnatomyAddsUp(t *testing.T) {
	a := testApp(t)
	n, err := a.takeApart(httptest.NewRequest("GET", "/fragments/anatomy?page=how", nil))
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, f := range n.Files {
		b, err := embedded.ReadFile("site/" + f.Name)
		if err != nil {
			t.Fatal(err)
		}
		if want := strings.Count(string(b), "<!--#"); f.Directives != want {
			t.Errorf("%s: %d directives, want %d", f.Name, f.Directives, want)
		}
		if f.Text <= 0 || f.Text >= len(b) {
			t.Errorf("%s: %d bytes of text in a file of %d", f.Name, f.Text, len(b))
		}
		sum += f.Text
	}
	if n.File != sum || n.Asked != n.App[0].Text+n.App[1].Text || n.Asked == 0 {
		t.Errorf("sums are wrong: %+v", n)
	}
	if n.Share()+n.FileShare() != 100 || n.Share() < 1 {
		t.Errorf("shares %d and %d, want 100 together", n.Share(), n.FileShare())
	}
}

func TestTide(t *testing.T) {
	const quarter = (12*time.Hour + 25*time.Minute) / 4
	at := func(quarters int, d time.Duration) time.Time {
		return time.Unix(0, 0).Add(time.Duration(quarters)*quarter + d)
	}
	tests := []struct {
		at     time.Time
		metres string
		rising bool
	}{
		{at(0, 0), "3.100", true},
		{at(1, -time.Minute), "5.500", true},
		{at(1, time.Minute), "5.500", false},
		{at(2, 0), "3.100", false},
		{at(3, -time.Minute), "0.700", false},
		{at(3, time.Minute), "0.700", true},
		{at(5, time.Minute), "5.500", false},
	}
	for _, tt := range tests {
		if got := tideAt(tt.at); got.Metres != tt.metres || got.Rising != tt.rising {
			t.Errorf("tide at %v: %+v, want %s, rising %v", tt.at, got, tt.metres, tt.rising)
		}
	}
	if a, b := tideAt(at(1, 0)), tideAt(at(1, time.Millisecond)); a.Time == b.Time {
		t.Error("two readings a millisecond apart say the same time")
	}
}

func TestDepartures(t *testing.T) {
	board := departures(time.Date(2026, 5, 1, 13, 50, 0, 0, time.UTC))
	var times, to []string
	for _, d := range board {
		times, to = append(times, d.Time), append(to, d.To)
		if d.Boat == "" {
			t.Errorf("the boat at %s has no name", d.Time)
		}
	}
	if got, want := strings.Join(times, " "), "14:00 14:20 14:40 15:00"; got != want {
		t.Errorf("times %s, want %s", got, want)
	}
	slices.Sort(to)
	if got, want := strings.Join(slices.Compact(to), ", "), "Kestrel Bay, Salter Point"; got != want {
		t.Errorf("boats go to %s, want %s", got, want)
	}
}
